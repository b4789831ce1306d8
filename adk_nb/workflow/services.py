"""The part of a context that reaches the services given to the runner: artifacts, memory, credentials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adk_nb.errors import ConfigurationError

if TYPE_CHECKING:
    from google.genai import types

    from adk_nb.auth.auth_credential import AuthCredential
    from adk_nb.auth.auth_tool import AuthConfig
    from adk_nb.events.event import Event
    from adk_nb.events.event_actions import EventActions
    from adk_nb.workflow.invocation import InvocationContext


class Services:
    """What a context does with the runner's services; each method says when its service isn't there."""

    _invocation: InvocationContext

    if TYPE_CHECKING:

        @property
        def actions(self) -> EventActions:
            """What goes with the node's next event."""

    async def load_artifact(self, filename: str, version: int | None = None) -> types.Part | None:
        """Return an artifact of the session, the newest version unless one is named; `None` when there is none.

        Raises:
            ConfigurationError: the runner has no artifact service.
        """
        found: types.Part | None = await self._artifacts("load_artifact")(
            **self._where(), filename=filename, version=version
        )
        return found

    async def save_artifact(
        self, filename: str, artifact: types.Part, custom_metadata: dict[str, Any] | None = None
    ) -> int:
        """Save an artifact and return its version, which the node's next event tells.

        Raises:
            ConfigurationError: the runner has no artifact service.
        """
        more = {} if custom_metadata is None else {"custom_metadata": custom_metadata}
        save = self._artifacts("save_artifact")
        version = int(await save(**self._where(), filename=filename, artifact=artifact, **more))
        self.actions.artifact_delta[filename] = version
        return version

    async def get_artifact_version(self, filename: str, version: int | None = None) -> Any:
        """Return what is known about a version of an artifact.

        Raises:
            ConfigurationError: the runner has no artifact service.
        """
        return await self._artifacts("get_artifact_version")(**self._where(), filename=filename, version=version)

    async def list_artifacts(self) -> list[str]:
        """Return the names of the session's artifacts.

        Raises:
            ConfigurationError: the runner has no artifact service.
        """
        return list(await self._artifacts("list_artifact_keys")(**self._where()))

    async def load_credential(self, auth_config: AuthConfig) -> AuthCredential | None:
        """Return the credential that the credential service keeps for a config.

        Raises:
            ConfigurationError: the runner has no credential service.
        """
        found: AuthCredential | None = await self._credentials("load_credential")(auth_config, self)
        return found

    async def save_credential(self, auth_config: AuthConfig) -> None:
        """Let the credential service keep the config's `exchanged_auth_credential`.

        Raises:
            ConfigurationError: the runner has no credential service.
        """
        await self._credentials("save_credential")(auth_config, self)

    async def search_memory(self, query: str) -> Any:
        """Return what the memory service finds.

        Raises:
            ConfigurationError: the runner has no memory service.
        """
        return await self._memory("search_memory", "search memory")(**self._whose(), query=query)

    async def add_session_to_memory(self) -> None:
        """Let the memory service take in this session.

        Raises:
            ConfigurationError: the runner has no memory service.
        """
        await self._memory("add_session_to_memory", "add session to memory")(self._invocation.session)

    async def add_events_to_memory(
        self, *, events: Sequence[Event], custom_metadata: Mapping[str, object] | None = None
    ) -> None:
        """Let the memory service take in some events.

        Raises:
            ConfigurationError: the runner has no memory service.
        """
        await self._memory("add_events_to_memory", "add events to memory")(
            **self._where(), events=events, custom_metadata=custom_metadata
        )

    async def add_memory(self, *, memories: Sequence[Any], custom_metadata: Mapping[str, object] | None = None) -> None:
        """Let the memory service take in memories.

        Raises:
            ConfigurationError: the runner has no memory service.
        """
        await self._memory("add_memory", "add memory")(
            **self._whose(), memories=memories, custom_metadata=custom_metadata
        )

    async def delete_memory(self, memory_id: str | None = None) -> None:
        """Let the memory service forget a memory, or all of the user's.

        Raises:
            ConfigurationError: the runner has no memory service.
        """
        await self._memory("delete_memory", "delete memory")(**self._whose(), memory_id=memory_id)

    def _whose(self) -> dict[str, Any]:
        return {"app_name": self._invocation.app_name, "user_id": self._invocation.user_id}

    def _where(self) -> dict[str, Any]:
        return {**self._whose(), "session_id": self._invocation.session.id}

    def _artifacts(self, method: str) -> Any:
        return _method(self._invocation.artifact_service, method, "Artifact service is not initialized", "artifact")

    def _credentials(self, method: str) -> Any:
        return _method(
            self._invocation.credential_service, method, "Credential service is not initialized", "credential"
        )

    def _memory(self, method: str, doing: str) -> Any:
        missing = f"Cannot {doing}: memory service is not available"
        return _method(self._invocation.memory_service, method, missing, "memory")


async def newest_artifact(invocation: InvocationContext, filename: str) -> types.Part | None:
    """Return the newest version of an artifact of a call's session, `None` when there is none.

    Raises:
        ConfigurationError: the runner has no artifact service.
    """
    look = Services()
    look._invocation = invocation
    return await look.load_artifact(filename)


def _method(service: Any, name: str, missing: str, kind: str) -> Any:
    if service is None:
        raise ConfigurationError(f"{missing}: give the Runner {kind}_service=.")
    found = getattr(service, name, None)
    if found is None:
        raise ConfigurationError(
            f"The {kind} service is a {type(service).__name__}, which has no method {name}: give the Runner another."
        )
    return found
