"""Answers given before the questions are asked, for when nobody is there."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from adk_nb.notebook.running.run_history import PendingQuestion


class Presets:
    """Answers by interrupt id, node name or place; a value answers one node run's question once, a callable each time.

    Example:
        >>> bool(Presets({"approve": "yes"})), bool(Presets(None))
        (True, False)
    """

    def __init__(self, answers: Mapping[str, Any] | None) -> None:
        self._answers = dict(answers or {})
        self._used: set[tuple[str, str]] = set()

    def __bool__(self) -> bool:
        return bool(self._answers)

    async def answers_to(self, questions: Iterable[PendingQuestion]) -> dict[str, Any]:
        """Return the answers that are there, by interrupt id."""
        found: dict[str, Any] = {}
        for question in questions:
            names = (question.interrupt_id, question.node, question.place)
            name = next((name for name in names if name in self._answers), None)
            if name is None:
                continue
            answer = self._answers[name]
            if callable(answer):
                answer = answer(question)
                if inspect.isawaitable(answer):
                    answer = await answer
            elif (question.path, question.interrupt_id) in self._used:
                continue
            self._used.add((question.path, question.interrupt_id))
            found[question.interrupt_id] = answer
        return found
