"""An event as a view shows it whole: plain, bounded, without keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adk_nb.events.event import Event
from adk_nb.frames.plain import plain
from adk_nb.models.secrets import without_secrets
from adk_nb.notebook.view.shown_values import RESULT_LIMIT, bounded, for_page

DETAIL_LIMIT = 20_000
"""Characters of JSON up to which an event is shown whole; of a longer one, texts are shortened."""


def details_of(event: Event, text: str = "", hide: Callable[[Any], Any] = without_secrets) -> dict[str, Any]:
    """Return an event as JSON values, without what is empty.

    Args:
        event: What happened.
        text: What a streamed message says so far, in place of the last piece.
        hide: Takes the keys out of the event's values.

    Example:
        >>> details_of(Event(author="a", output={"n": 1}, state={"k": 2}))["actions"]
        {'state_delta': {'k': 2}}
    """
    whole = plain(event).items()
    found = {key: value for key, value in whole if key == "output" or not (key in _KNOWN or _is_empty(value))}
    if isinstance(found.get("actions"), dict):
        actions = {key: value for key, value in found["actions"].items() if not _is_empty(value)}
        found["actions"] = actions
        if not actions:
            del found["actions"]
    if found.get("node_info") == {"path": ""}:
        del found["node_info"]
    if text:
        found["content"] = {"role": "model", "parts": [{"text": text}]}
    found = bounded(found, DETAIL_LIMIT)
    shown = for_page(hide(found))
    return shown if isinstance(shown, dict) else {"too_large": shown}


_KNOWN = ("id", "invocation_id", "timestamp")
"""What a table's row and the header tell already, or tells nothing."""


def state_at_start(state: dict[str, Any]) -> Any:
    """Return the state that a run found, as a view shows it."""
    return for_page(without_secrets(bounded(plain(state), RESULT_LIMIT)))


def _is_empty(value: Any) -> bool:
    return value is False or value is None or value in ({}, [], "")
