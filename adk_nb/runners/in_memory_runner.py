"""`InMemoryRunner`: a runner whose sessions, artifacts and memories live in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adk_nb.apps.app import App
from adk_nb.artifacts.in_memory_artifact_service import InMemoryArtifactService
from adk_nb.memory.in_memory_memory_service import InMemoryMemoryService
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.runners.runner import Runner
from adk_nb.sessions.in_memory_session_service import InMemorySessionService


class InMemoryRunner(Runner):
    """A runner whose sessions, artifacts and memories live in memory."""

    def __init__(
        self,
        agent: Any = None,
        *,
        node: Any = None,
        app_name: str | None = None,
        plugins: Sequence[BasePlugin] | None = None,
        app: App | None = None,
        plugin_close_timeout: float = 5.0,
    ) -> None:
        """Prepare to run `agent`, `node` or `app`; without an app, its name is `InMemoryRunner` unless given."""
        super().__init__(
            app=app,
            app_name=app_name or ("InMemoryRunner" if app is None else None),
            agent=agent,
            node=node,
            plugins=plugins,
            plugin_close_timeout=plugin_close_timeout,
            session_service=InMemorySessionService(),
            artifact_service=InMemoryArtifactService(),
            memory_service=InMemoryMemoryService(),
        )
