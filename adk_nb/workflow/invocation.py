"""`InvocationContext`: what all nodes of one call of the runner share."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.auth.kept import RunKey, keep, recall, run_key
from adk_nb.workflow.limits import Allowance
from adk_nb.workflow.ports import RunsApart, SessionLike
from adk_nb.workflow.run_config import RunConfig
from adk_nb.workflow.threads import Threads

if TYPE_CHECKING:
    from adk_nb.auth.auth_credential import AuthCredential
    from adk_nb.auth.auth_tool import AuthConfig
    from adk_nb.events.event import Event
    from adk_nb.workflow.nodes import BaseNode


class InvocationContext:
    """What all nodes of one call of the runner share."""

    def __init__(
        self,
        *,
        invocation_id: str,
        session: SessionLike,
        root: BaseNode,
        user_content: types.Content | None = None,
        run_config: RunConfig | None = None,
        artifact_service: Any = None,
        memory_service: Any = None,
        credential_service: Any = None,
        plugin_manager: Any = None,
        run_apart: RunsApart | None = None,
        load_events: Callable[[], Awaitable[list[Event]]] | None = None,
    ) -> None:
        """Hold what is shared; only a runner makes one."""
        self.invocation_id = invocation_id
        self.session = session
        self.root = root
        self.agent: Any = root
        """The agent that looks at it; the root unless an agent was handed its own look."""
        self.branch: str | None = None
        """The lane of that agent, `None` for the trunk."""
        self.user_content = user_content
        self.run_config = run_config or RunConfig()
        self.allowance = Allowance(self.run_config.limits, self.run_config.prices)
        self.llm_calls = 0
        self.writers: dict[str, str] = {}
        """Path of the node run that last stored a key of the state, for keys stored in this call."""
        self.stored: dict[str, tuple[Any, int]] = {}
        """What it stored, and which one of all it was."""
        self.writes = 0
        """How many values have been stored in this call."""
        self.informed: dict[str, Any] = {}
        """The newest value of a key that was written knowing the one before it."""
        self.calls_apart: dict[str, list[dict[str, Any]]] = {}
        """What model calls in sessions of their own used, by the path of the run that asked, until that tells."""
        self.plugin_manager = plugin_manager
        self.run_apart = run_apart
        """Runs something in a session of its own; `None` where there is no runner."""
        self._load_events = load_events
        self.is_aborted = False
        """Someone wants the run to stop."""
        self.end_invocation = False
        """Set by a callback or tool: what is being said is still said, and no model is asked any more."""
        self.on_abort: Callable[[], object] | None = None
        """Stops the nodes; set by the runner."""
        self.shorten: Callable[[str | None, str | None], Awaitable[None]] | None = None
        """Lets a summary stand for what a model would read of a branch and scope, once that is too long; set by the
        runner of an app that wants it."""
        self.artifact_service = artifact_service
        self.memory_service = memory_service
        self.credential_service = credential_service

    def abort(self) -> None:
        """Stop the run: its nodes are cancelled, the history says so, and its stream ends without an error."""
        if not self.is_aborted:
            self.is_aborted = True
            if self.on_abort is not None:
                self.on_abort()

    async def all_events(self) -> list[Event]:
        """Return all events of the session so far, also where `get_session_config` shows nodes and models fewer."""
        if self.run_config.get_session_config is None or self._load_events is None:
            return self.session.events
        return await self._load_events()

    @property
    def plugins(self) -> Any:
        """The plugin manager, `None` where it has no plugins."""
        manager = self.plugin_manager
        return manager if manager is not None and manager.plugins else None

    @functools.cached_property
    def threads(self) -> Threads:
        """Where sync functions work that must not block the event loop; made when the first one is called."""
        config = self.run_config.tool_thread_pool_config
        return Threads() if config is None else Threads(config.max_workers)

    @functools.cached_property
    def remembered(self) -> dict[Any, Any]:
        """What code wants to find again in this call, by keys of its own."""
        return {}

    def close_threads(self) -> None:
        """Let the threads end."""
        if "threads" in vars(self):
            self.threads.close()

    @property
    def app_name(self) -> str:
        """The session's app."""
        return self.session.app_name

    @property
    def user_id(self) -> str:
        """The session's user."""
        return self.session.user_id

    def credential(self, credential_key: str) -> AuthCredential | None:
        """Return a credential that a person gave in this run, while this process lived; `None` when there is none."""
        return recall(self.run_key, credential_key)

    def keep_credential(self, auth_config: AuthConfig, credential: AuthCredential) -> None:
        """Keep a credential in this process for the rest of the run."""
        keep(self.run_key, auth_config.key, credential)

    @property
    def run_key(self) -> RunKey:
        """What names this run in the process."""
        return run_key(self.session, self.invocation_id)
