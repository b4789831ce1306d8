"""`MemoryEntry`: one thing that is remembered."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, Field


class MemoryEntry(BaseModel):
    """One thing that is remembered of a user.

    Example:
        >>> tea = MemoryEntry(content=types.Content(parts=[types.Part(text="Ada drinks tea.")]), author="desk")
        >>> tea.author, tea.id
        ('desk', None)
    """

    content: types.Content
    """What was said."""
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    """What was given with it."""
    id: str | None = None
    """By which it can be deleted; the service gives one to an entry without."""
    author: str | None = None
    """Who said it."""
    timestamp: str | None = None
    """When it was said, for instance `2026-03-01T12:00:00`."""
