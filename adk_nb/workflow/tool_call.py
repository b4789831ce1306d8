"""The part of a context that belongs to one call of a tool: its id, its approval, and what it may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.errors import WorkflowDataError
from adk_nb.events.tool_confirmation import ToolConfirmation

if TYPE_CHECKING:
    from typing import Any

    from adk_nb.auth.auth_credential import AuthCredential
    from adk_nb.auth.auth_tool import AuthConfig
    from adk_nb.events.event_actions import EventActions
    from adk_nb.workflow.invocation import InvocationContext


class ToolCall:
    """What a context is to a tool; `Context` has it all."""

    _invocation: InvocationContext

    function_call_id: str | None = None
    """Id of the call of a tool, `None` outside of one."""
    tool_confirmation: ToolConfirmation | None = None
    """The person's decision on this call, `None` where nobody was asked yet."""

    response_text: str | None = None
    """What the event with the call's result says beside it, for a person to read."""

    if TYPE_CHECKING:

        @property
        def actions(self) -> EventActions:
            """What goes with the node's next event."""

    def request_confirmation(self, *, hint: str | None = None, payload: Any = None) -> None:
        """Ask a person whether this call of a tool may go on; return from the tool after it.

        What the tool returns is dropped. After the answer the tool is called again, with `tool_confirmation` set.

        Args:
            hint: The question in words.
            payload: Data for the person; the answer may come with data of its own.
        Raises:
            WorkflowDataError: this isn't a call of a tool.
        """
        call_id = self._call_id(
            "request_confirmation", "give the node require_confirmation=True, or yield RequestInput"
        )
        self.actions.requested_tool_confirmations[call_id] = ToolConfirmation(hint=hint or "", payload=payload)

    def request_credential(self, auth_config: AuthConfig) -> None:
        """Ask a person for a credential; return from the tool after it.

        What the tool returns is dropped. After the answer the tool is called again and `get_auth_response` has it.

        Args:
            auth_config: Which credential.
        Raises:
            WorkflowDataError: this isn't a call of a tool.
        """
        call_id = self._call_id("request_credential", "give the node auth_config=, or use load_credential")
        self.actions.requested_auth_configs[call_id] = auth_config

    def get_auth_response(self, auth_config: AuthConfig) -> AuthCredential | None:
        """Return the credential that a person gave in this run, `None` when nobody gave it in this process."""
        if auth_config.exchanged_auth_credential is not None:
            return auth_config.exchanged_auth_credential
        return self._invocation.credential(auth_config.key)

    def get_credential(self, key: str) -> AuthCredential | None:
        """Return the credential with this `credential_key`, as `get_auth_response` does."""
        return self._invocation.credential(key)

    def _call_id(self, asked: str, instead: str) -> str:
        if self.function_call_id is None:
            raise WorkflowDataError(
                f"{asked} requires function_call_id, which only a call of a tool has: use it in a FunctionTool; "
                f"elsewhere, {instead}."
            )
        return self.function_call_id
