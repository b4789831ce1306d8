"""Defaults of this kernel: where runs are kept, how views look."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adk_nb.errors import ConfigurationError, SessionStoreError
from adk_nb.events.prices import Price
from adk_nb.notebook.front_end import front_end
from adk_nb.sessions import InMemorySessionService
from adk_nb.sessions.database_session_service import DatabaseSessionService
from adk_nb.sessions.sqlite_session_service import SqliteSessionService

MEMORY = "memory"
DEFAULT_FILE = Path(".adk_nb") / "sessions.db"
_ELSEWHERE = "Another place: adk_nb.configure(sessions='other.db'), or sessions='memory'."
_THEMES = ("light", "dark", "auto")

_chosen: dict[str, Any] = {"prices": None, "sessions": None, "theme": "auto", "threads": True}
_stores: dict[str, Any] = {}


def configure(
    *,
    prices: Mapping[str, Price] | None = None,
    sessions: Any = None,
    theme: str | None = None,
    threads: bool | None = None,
) -> None:
    """Set defaults for this kernel; what isn't given stays as it is.

    Args:
        prices: Prices of models by name, for instance `{"my-model": Price(input=0.3, output=2.5)}`; they count before
            all that is known of a model.
        sessions: Where runs are kept: a session service, the path of an SQLite file, a database's address, or
            `"memory"` (SQLite's `":memory:"` says the same). Without this call it is what the variable
            `ADK_NB_SESSIONS` says in one of these words, otherwise `.adk_nb/sessions.db` in the notebook's folder, and
            memory in a script.
        theme: `"light"`, `"dark"`, or `"auto"` to follow the page.
        threads: Whether each sync function of a run in a notebook works in a thread, so that one that blocks holds up
            neither the view nor other runs. `False` keeps those that are alone on the kernel's event loop, for what
            can't leave its thread, such as an open sqlite3 connection; runs that are begun later follow it.

    Raises:
        ConfigurationError: a value is none of these; nothing is set.

    Example:
        >>> configure(theme="blue")
        Traceback (most recent call last):
        adk_nb.errors.ConfigurationError: theme='blue' isn't a theme; allowed: 'light', 'dark', 'auto'.
    """
    if theme is not None and theme not in _THEMES:
        raise ConfigurationError(f"theme={theme!r} isn't a theme; allowed: {', '.join(map(repr, _THEMES))}.")
    if threads not in (None, True, False):
        raise ConfigurationError(f"threads={threads!r} is neither True nor False.")
    for name, price in (prices or {}).items():
        if not isinstance(price, Price):
            raise ConfigurationError(
                f"prices[{name!r}]={price!r:.60} isn't a price: write Price(input=0.3, output=2.5), US dollars per "
                f"million tokens; Price is in adk_nb.events.prices."
            )
    if sessions is not None:
        _chosen["sessions"] = as_sessions(sessions)
    if prices is not None:
        _chosen["prices"] = dict(prices)
    if theme is not None:
        _chosen["theme"] = theme
    if threads is not None:
        _chosen["threads"] = threads


def prices() -> Mapping[str, Price] | None:
    """Return the prices that were set, `None` without any."""
    chosen: Mapping[str, Price] | None = _chosen["prices"]
    return chosen


def theme() -> str:
    """Return the theme that views are forced to, empty when they follow the page."""
    return "" if _chosen["theme"] == "auto" else str(_chosen["theme"])


def threads() -> bool:
    """Say whether runs have their sync functions work in threads: in a notebook, unless that was set otherwise."""
    return bool(_chosen["threads"]) and front_end() != "none"


def default_sessions() -> tuple[Any, str]:
    """Return the store that runs are kept in unless they name one, and a warning where it isn't the usual one.

    One store for each place in a process. In a folder that can't be written, runs are kept in memory.

    Raises:
        SessionStoreError: the file is there and is no session store; it is left as it is.
    """
    if _chosen["sessions"] is not None:
        return _chosen["sessions"], ""
    named = os.environ.get("ADK_NB_SESSIONS", "").strip()
    if named:
        return as_sessions(named), ""
    if front_end() == "none":
        return as_sessions(MEMORY), ""
    try:
        return _store_at(os.fspath(DEFAULT_FILE)), ""
    except OSError as error:
        why = f"Runs can't be kept in {str(DEFAULT_FILE)!r} ({error.strerror or error})"
        return as_sessions(MEMORY), f"{why}: this one is in memory, gone with the kernel. {_ELSEWHERE}"
    except SessionStoreError as error:
        raise SessionStoreError(f"{error} {_ELSEWHERE}") from None


def as_sessions(sessions: Any) -> Any:
    """Return a store given as an object, as a path of an SQLite file, as a database's address, or as `"memory"`."""
    if isinstance(sessions, (str, os.PathLike)):
        try:
            return _store_at(os.fspath(sessions))
        except OSError as error:
            raise ConfigurationError(
                f"sessions={os.fspath(sessions)!r} can't be used: {error.strerror or error}. Give a path in a folder "
                f"that can be written, or {MEMORY!r}."
            ) from None
    if callable(getattr(sessions, "create_session", None)) and callable(getattr(sessions, "get_session", None)):
        return sessions
    raise ConfigurationError(
        f"sessions={sessions!r} is a {type(sessions).__name__}; allowed are a session service, the path of an SQLite "
        f"file, or {MEMORY!r}."
    )


def _store_at(place: str) -> Any:
    if place in (MEMORY, ":memory:"):
        return _stores.setdefault(MEMORY, InMemorySessionService())
    if "://" in place:
        if place not in _stores:
            _stores[place] = DatabaseSessionService(place)
        return _stores[place]
    path = Path(place).expanduser().resolve()
    if str(path) not in _stores:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK) and not path.exists():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path.parent))
        _stores[str(path)] = SqliteSessionService(str(path))
    return _stores[str(path)]
