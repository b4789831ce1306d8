"""What the runs of a notebook have beside their session store: where artifacts and memories are kept."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

from adk_nb.artifacts import BaseArtifactService, FileArtifactService, InMemoryArtifactService
from adk_nb.memory import BaseMemoryService, InMemoryMemoryService
from adk_nb.sessions.sqlite_session_service import SqliteSessionService

_kept: weakref.WeakKeyDictionary[Any, tuple[BaseArtifactService, BaseMemoryService]] = weakref.WeakKeyDictionary()


def services_beside(sessions: Any) -> dict[str, Any]:
    """Return the artifact and memory service for runs in a session store, always the same for one store.

    Beside an SQLite file, artifacts are in a folder with its name, `sessions.artifacts` for `sessions.db`; it is made
    when the first one is saved. Everything else lives as long as the kernel.

    Example:
        >>> from adk_nb.sessions import InMemorySessionService
        >>> store = InMemorySessionService()
        >>> services_beside(store)["artifact_service"] is services_beside(store)["artifact_service"]
        True
    """
    if sessions not in _kept:
        _kept[sessions] = (_artifacts_beside(sessions), InMemoryMemoryService())
    artifacts, memories = _kept[sessions]
    return {"artifact_service": artifacts, "memory_service": memories}


def _artifacts_beside(sessions: Any) -> BaseArtifactService:
    file = sessions.path if isinstance(sessions, SqliteSessionService) else None
    return InMemoryArtifactService() if file is None else FileArtifactService(Path(file).with_suffix(".artifacts"))
