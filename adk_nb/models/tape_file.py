"""A tape as a file: one JSON object a line, added at the end in one write, so that many may record at once."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adk_nb.errors import ConfigurationError, TapeError


@dataclass(slots=True)
class Entry:
    """One recorded call of a model."""

    key: str
    """Key of the request."""
    take: str
    """The recording that it belongs to: of one request, only the newest take counts."""
    run: int
    """Which run of the take asked, from 1."""
    call: int
    """In which order the take's calls began, from 1."""
    agent: str
    path: str
    """Path of the node run that asked."""
    stream: bool
    request: dict[str, Any]
    responses: list[dict[str, Any]] = field(default_factory=list)
    """What the model said, pieces included."""
    error: dict[str, Any] | None = None
    """What the call failed with after these responses, `None` when it didn't."""

    def line(self) -> str:
        """Return the entry as it stands in the file."""
        said = {name: getattr(self, name) for name in self.__slots__}
        if self.error is None:
            del said["error"]
        return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


class TapeFile:
    """The file of a tape.

    Args:
        path: Where it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise ConfigurationError(f"A tape is a file: give its path, for instance 'tape.jsonl', not {path!r:.80}.")
        self.path = Path(path)
        self._lock = threading.Lock()

    def prepare(self, *, fresh: bool) -> None:
        """Make the file where there is none; end a line that a killed process left unfinished.

        Args:
            fresh: Whether to empty it.
        Raises:
            TapeError: it can't be written, or is no tape.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("wb" if fresh else "ab+") as file:
                size = file.seek(0, os.SEEK_END)
                if size:
                    file.seek(size - 1)
                    if file.read(1) != b"\n":
                        file.write(b"\n")
        except OSError as error:
            raise TapeError(
                f"The tape {str(self.path)!r} can't be written ({error.strerror or error}): give another path."
            ) from error
        self.read()

    def append(self, entry: Entry) -> None:
        """Add an entry, whole or not at all."""
        data = f"{entry.line()}\n".encode("utf-8", "backslashreplace")
        with self._lock:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(handle, data)
            finally:
                os.close(handle)

    def read(self) -> list[Entry]:
        """Return the entries in order; a line that a killed process left unfinished is left out.

        Raises:
            TapeError: there is no such file, or it is no tape.
        """
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
        except FileNotFoundError:
            raise TapeError(
                f"There is no tape {str(self.path)!r}: record one with adk_nb.record({str(self.path)!r}) around a run "
                f"that asks its models."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise TapeError(f"The tape {str(self.path)!r} can't be read ({error}): give another path.") from error
        entries = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                entries.append(self._entry(line, number))
        return [entry for entry in entries if entry is not None]

    def _entry(self, line: str, number: int) -> Entry | None:
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            if line.startswith('{"key":'):
                return None  # cut off when its process was killed
            found = None
        if not isinstance(found, dict) or "key" not in found or "request" not in found:
            raise TapeError(
                f"Line {number} of {str(self.path)!r} is no recorded model call: {line[:60]!r}. A tape is what "
                f"adk_nb.record wrote; give its path."
            )
        known = {name: found[name] for name in Entry.__slots__ if name in found}
        return Entry(**{"take": "", "run": 1, "call": number, "agent": "", "path": "", "stream": False, **known})
