"""Defaults of this kernel: where runs are kept, how views look."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from adk_nb.errors import ConfigurationError
from adk_nb.notebook.front_end import front_end
from adk_nb.sessions import InMemorySessionService
from adk_nb.sessions.sqlite_session_service import SqliteSessionService

MEMORY = "memory"
DEFAULT_FILE = Path(".adk_nb") / "sessions.db"
_THEMES = ("light", "dark", "auto")

_chosen: dict[str, Any] = {"sessions": None, "theme": "auto"}
_stores: dict[str, Any] = {}


def configure(*, sessions: Any = None, theme: str | None = None) -> None:
    """Set defaults for this kernel; what isn't given stays as it is.

    Args:
        sessions: Where runs are kept: a session service, the path of an SQLite file, or `"memory"`. Without this call
            it is what the variable `ADK_NB_SESSIONS` says (a path, or `memory`), otherwise `.adk_nb/sessions.db` in the
            notebook's folder, and memory in a script.
        theme: `"light"`, `"dark"`, or `"auto"` to follow the page.

    Raises:
        ConfigurationError: a value is none of these.

    Example:
        >>> configure(theme="blue")
        Traceback (most recent call last):
        adk_nb.errors.ConfigurationError: theme='blue' isn't a theme; allowed: 'light', 'dark', 'auto'.
    """
    if theme is not None and theme not in _THEMES:
        raise ConfigurationError(f"theme={theme!r} isn't a theme; allowed: {', '.join(map(repr, _THEMES))}.")
    if sessions is not None:
        _chosen["sessions"] = as_sessions(sessions)
    if theme is not None:
        _chosen["theme"] = theme


def theme() -> str:
    """Return the theme that views are forced to, empty when they follow the page."""
    return "" if _chosen["theme"] == "auto" else str(_chosen["theme"])


def default_sessions() -> Any:
    """Return the store that runs are kept in unless they name one; one object for each place in a process."""
    if _chosen["sessions"] is not None:
        return _chosen["sessions"]
    named = os.environ.get("ADK_NB_SESSIONS", "").strip()
    if named:
        return as_sessions(named)
    return as_sessions(MEMORY if front_end() == "none" else DEFAULT_FILE)


def as_sessions(sessions: Any) -> Any:
    """Return a store given as an object, as a path of an SQLite file, or as `"memory"`."""
    if isinstance(sessions, (str, os.PathLike)):
        return _store_at(os.fspath(sessions))
    if callable(getattr(sessions, "create_session", None)) and callable(getattr(sessions, "get_session", None)):
        return sessions
    raise ConfigurationError(
        f"sessions={sessions!r} is a {type(sessions).__name__}; allowed are a session service, the path of an SQLite "
        f"file, or {MEMORY!r}."
    )


def _store_at(place: str) -> Any:
    if place == MEMORY:
        return _stores.setdefault(MEMORY, InMemorySessionService())
    path = Path(place).expanduser().resolve()
    if str(path) not in _stores:
        path.parent.mkdir(parents=True, exist_ok=True)
        _stores[str(path)] = SqliteSessionService(str(path))
    return _stores[str(path)]
