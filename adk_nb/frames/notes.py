"""`Notes`: what runs of nodes have to say to a person, each thing once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adk_nb.events.paths import parent_path
from adk_nb.events.record import NodeRun


class Notes:
    """Notes with the node that says each, in order; a graph that repeats what a run inside it says isn't heard.

    Example:
        >>> notes = Notes()
        >>> notes.add("wf@1", "wf", "a gave no output")
        >>> notes.add("wf@1/join@1", "join", "a gave no output")
        >>> notes.add("wf@1", "wf", "a gave no output")
        >>> list(notes)
        [('join', 'a gave no output')]
    """

    def __init__(self, runs: Iterable[NodeRun] = ()) -> None:
        self._found: dict[tuple[str, str], tuple[str, str]] = {}
        self._said: set[tuple[str, str]] = set()
        self._said_below: set[tuple[str, str]] = set()
        for run in runs:
            for note in run.notes:
                self.add(run.path, run.name, note)

    def add(self, path: str, node: str, note: str) -> None:
        """Take a note in, said by the run at a path; an empty path stands for nobody."""
        if (path, note) in self._said_below or (node, note) in self._said:
            return
        self._said.add((node, note))
        self._found[path, note] = (node, note)
        above = parent_path(path)
        while above:
            self._said_below.add((above, note))
            if (above, note) in self._found:
                self._said.discard(self._found.pop((above, note)))
            above = parent_path(above)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)


def sentence(node: str, note: str) -> str:
    """Return a note with its node's name, unless it begins with the name.

    Example:
        >>> sentence("a", "a gave no output"), sentence("join", "a gave no output"), sentence("", "slow")
        ('a gave no output', 'join: a gave no output', 'slow')
    """
    return f"{node}: {note}" if node and not note.startswith((f"{node} ", f"{node}: ")) else note
