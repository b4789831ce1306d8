"""The questions of one run as a view shows them, open and answered, told by events, by records or by both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adk_nb.events.paths import node_names
from adk_nb.events.questions import Asked
from adk_nb.events.record import Question
from adk_nb.events.tool_confirmation import CONFIRMATION_SCHEMA
from adk_nb.frames.plain import plain
from adk_nb.notebook.drawing.fitting import shorten
from adk_nb.notebook.view.forms import form_of
from adk_nb.notebook.view.shown_values import TEXT_LIMIT, for_page


class QuestionList:
    """Questions by key. One question is one asking, so an id that is asked again is a new question.

    Example:
        >>> asked = QuestionList()
        >>> key = asked.ask("wf@1/a@1", "a", 5.0, Asked("q", "Sure?", None, None))
        >>> asked.ask("wf@1/a@1", "a", 5.0, Question("q", "Sure?")) == key, asked.open_count
        (True, 1)
        >>> asked.close(key, "yes", 6.0)["answer"], asked.open_count
        ('yes', 0)
    """

    def __init__(self) -> None:
        self._all: dict[str, dict[str, Any]] = {}
        self._times_asked: dict[tuple[str, str, str], int] = {}
        self._open: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    @property
    def open_count(self) -> int:
        """How many wait for an answer."""
        return sum(len(keys) for keys in self._open.values())

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a question as a view shows it, `None` when there is none."""
        return self._all.get(key)

    def to_json(self, keys: Iterable[str]) -> list[dict[str, Any]]:
        """Return questions as views get them; answers are judged where the schema is."""
        return [{name: value for name, value in self._all[key].items() if name != "schema"} for key in keys]

    def ask(self, path: str, place: str, at: float, asked: Question | Asked) -> str:
        """Add a question unless its other source, event or record, has told it already; return its key.

        Args:
            path: Path of the run that asks.
            place: Where its node stands in the drawing.
            at: When it was asked.
            asked: What is asked.
        """
        key = self._next_key(path, asked)
        if key not in self._all:
            self._all[key] = {
                "key": key,
                "interrupt_id": asked.interrupt_id,
                "node": node_names(path)[-1] if path else "",
                "path": place,
                "run": path,
                "message": None if asked.message is None else plain(shorten(asked.message, TEXT_LIMIT)),
                "payload": for_page(asked.payload),
                "approval": _approval(asked),
                "schema": asked.response_schema,
                "form": form_of(asked.response_schema),
                "asked": at,
                "answered": None,
                "answer": None,
            }
            self._open.setdefault(asked.interrupt_id, []).append(key)
        return key

    def open_key(self, interrupt_id: str) -> str | None:
        """Return the key of the oldest open question with this id."""
        return next(iter(self._open.get(interrupt_id, ())), None)

    def close(self, key: str, answer: Any, at: float) -> dict[str, Any] | None:
        """Note the answer to an open question and return the question; `None` when it isn't open."""
        question = self._all.get(key)
        if question is None or question["answered"] is not None:
            return None
        question["answered"], question["answer"] = at, for_page(answer)
        self._open[question["interrupt_id"]].remove(key)
        return question

    def _next_key(self, path: str, asked: Question | Asked) -> str:
        """Return the key of what an event or a record tells now; the same for the other one that tells it."""
        place = ("record" if isinstance(asked, Question) else "event", path, asked.interrupt_id)
        number = self._times_asked[place] = self._times_asked.get(place, 0) + 1
        return f"{path}|{asked.interrupt_id}|{number}"


def _approval(asked: Question | Asked) -> dict[str, Any] | None:
    """Return the call that a question wants approved: its name, arguments and what else the person is shown.

    `None` for a question that asks something else. A node may ask for an approval in its own words: without a call,
    `name` is empty and `shown` is what it gave.
    """
    if asked.response_schema != CONFIRMATION_SCHEMA:
        return None
    payload = asked.payload
    if not isinstance(payload, dict) or not isinstance(payload.get("tool_name"), str):
        return {"name": "", "args": {}, "shown": for_page(payload)}
    args = for_page(payload.get("args") or {})
    return {"name": payload["tool_name"], "args": args, "shown": for_page(payload.get("confirmation_payload"))}
