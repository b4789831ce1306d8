"""What goes into a run as the user's message, and what a model's message comes out as."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from adk_nb.errors import DataError
from adk_nb.events.event import content_text, to_content
from adk_nb.events.read_only import thawed


def as_message(message: Any) -> types.Content:
    """Return a message as the user's content; `None` is an empty one, and other data its JSON text.

    Example:
        >>> as_message({"order": 7}).parts[0].text
        '{"order": 7}'
    """
    if message is None:
        return types.Content(role="user", parts=[])
    if isinstance(message, (str, types.Content, types.Part)):
        return to_content(message)
    if isinstance(message, (list, tuple)) and all(isinstance(one, (str, types.Part)) for one in message):
        return to_content(list(message))
    try:
        return to_content(json.dumps(message, ensure_ascii=False))
    except TypeError as error:
        raise DataError(
            f"message={message!r:.100} can't be sent: {error}. Give a text, a Part, a Content or data that JSON "
            f"can hold."
        ) from None


def spoken(value: Any) -> Any:
    """Return a model's message as its text, everything else as the caller's own copy."""
    if isinstance(value, types.Content) and all(part.text is not None for part in value.parts or ()):
        return content_text(value)
    return thawed(value)
