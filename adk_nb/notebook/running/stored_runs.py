"""`compare`: runs side by side, live or stored."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adk_nb import frames
from adk_nb.errors import ConfigurationError
from adk_nb.events.prices import AnyPrice
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import where
from adk_nb.notebook import settings

if TYPE_CHECKING:
    from adk_nb.frames.comparison import Comparison


def source_of(sessions: Any) -> Any:
    """Return what frames of stored runs are made from."""
    if sessions is None:
        return settings.default_sessions()[0]
    if isinstance(sessions, (str, os.PathLike)) and os.fspath(sessions) not in (settings.MEMORY, ":memory:"):
        named = os.fspath(sessions)
        return settings.as_sessions(named) if "://" in named and not named.startswith("sqlite") else named
    return settings.as_sessions(sessions) if isinstance(sessions, str) else sessions


def compare(
    a: Any, b: Any, *more: Any, sessions: Any = None, prices: Mapping[str, AnyPrice] | None = None
) -> Comparison:
    """Lay runs side by side: the first difference, nodes in only one, tokens, money and time.

    Node runs are matched by their place below the root and by how many runs of the same node came before; ids and times
    never make a difference. A cell that ends in it shows the table.

    Args:
        a: A `Run`, the id of a stored session, a session, events or records; of a session, the newest run.
        b: The run that is compared with it.
        *more: Further runs, which are called c, d and so on.
        sessions: Where sessions named by id are kept, as in `runs`.
        prices: A person's own prices by model name; by default those of `configure`.

    Raises:
        ConfigurationError: one of them holds no run.

    Example:
        >>> from adk_nb.notebook.running.starts import run_sync
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> one, two = (run_sync(shout, text, sessions="memory") for text in ("hi", "ho"))
        >>> compare(one, two).warnings
        ['different input: a and b were told different things']
        >>> compare(one, one).same
        True
    """
    found = [_named(one, sessions) if isinstance(one, str) else one for one in (a, b, *more)]
    return frames.compare(*found, prices=settings.prices() if prices is None else prices)


def _named(session_id: str, sessions: Any) -> Any:
    found = next(sessions_of(source_of(sessions), where({"session": session_id})), None)
    if found is None:
        raise ConfigurationError(f"No session {session_id!r} is stored there; adk_nb.runs() lists those that are.")
    # What a file holds is read while it is open.
    events, records = list(found.events()), found.records()
    return replace(found, read_events=lambda: events, read_records=lambda: records)
