"""What a race runs, and what counts as right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun

Design = Literal["loop", "graph"]
DESIGNS: tuple[Design, ...] = ("loop", "graph")
_HOLDS = ("workflow", "parallel")


@dataclass(frozen=True, slots=True)
class RaceCase:
    """One case of a race.

    Example:
        >>> case = RaceCase("Where is RF-1?", answer="on its way", path={"loop": ["look"], "graph": ["look", "say"]})
        >>> case.is_right("It is On its way."), case.expected_path("graph")
        (True, ('look', 'say'))
    """

    message: Any
    """What both designs are told."""
    answer: Any = None
    """What should come out. A text is right when the output contains it, upper and lower case alike; a function decides
    for itself; anything else has to be equal. `None` doesn't judge."""
    path: Sequence[str] | Mapping[str, Sequence[str]] | None = None
    """What should run, in order: the tools that the loop calls, and the nodes that the graph runs. One list for both,
    or one each under `loop` and `graph`; `None` doesn't judge."""
    answers: Any = None
    """Answers for the questions that a run asks, as in `adk_nb.run`."""

    def is_right(self, output: Any) -> bool | None:
        """Say whether an output is right, `None` where nothing is expected."""
        if self.answer is None:
            return None
        if callable(self.answer):
            return bool(self.answer(output))
        if isinstance(self.answer, str) and isinstance(output, str):
            return self.answer.casefold() in output.casefold()
        return bool(output == self.answer)

    def expected_path(self, design: Design) -> tuple[str, ...] | None:
        """Return what should run in one design, `None` where nothing is expected."""
        path = self.path.get(design) if isinstance(self.path, Mapping) else self.path
        return None if path is None else tuple(path)


def as_cases(given: Iterable[Any]) -> list[RaceCase]:
    """Return cases from messages, and from dictionaries or objects with the fields of a `RaceCase`.

    Raises:
        ConfigurationError: there is none, or a dictionary has other fields.
    """
    if isinstance(given, (str, bytes, Mapping)):
        raise ConfigurationError(f"cases= takes a list of cases; found {type(given).__name__}: put it into a list.")
    found = [one if isinstance(one, RaceCase) else _from_mapping(one) for one in given]
    if not found:
        raise ConfigurationError("cases= is empty: a race needs at least one message that both designs are given.")
    return found


def _from_mapping(one: Any) -> RaceCase:
    if not isinstance(one, Mapping):
        if not hasattr(one, "message"):
            return RaceCase(one)
        one = {name: getattr(one, name) for name in ("message", "answer", "path", "answers") if hasattr(one, name)}
    allowed = ("message", "answer", "path", "answers")
    unknown = [str(name) for name in one if name not in allowed]
    if unknown or "message" not in one:
        raise ConfigurationError(
            f"A case has the fields {', '.join(allowed)}, of which message is needed; found {', '.join(map(str, one))}."
        )
    return RaceCase(**one)


def path_of(design: Design, events: Iterable[Event], records: Iterable[NodeRun]) -> tuple[str, ...]:
    """Return what ran: the tools that a loop called, or the nodes of a graph, in the order in which they began.

    What an agent of a graph called, and what only holds other nodes, isn't a node of it.
    """
    if design == "loop":
        return tuple(call.name or "" for event in events if not event.partial for call in event.get_function_calls())
    kinds = {record.path: record.kind for record in records}

    def is_node(record: NodeRun) -> bool:
        above = record.parent
        return bool(above) and record.kind not in _HOLDS and kinds.get(above) in _HOLDS

    began: Callable[[NodeRun], float] = lambda record: record.started_at or record.created_at  # noqa: E731
    return tuple(record.name for record in sorted(filter(is_node, records), key=began))
