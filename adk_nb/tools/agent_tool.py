"""`AgentTool`: an agent that another agent asks, as it would call a function."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pydantic_core
from google.genai import types
from pydantic import ValidationError

from adk_nb.errors import ConfigurationError, ToolArgumentsError
from adk_nb.tools.base_tool import BaseTool
from adk_nb.workflow.nodes import BaseNode, adapter_for, content_value, fit
from adk_nb.workflow.ports import ApartRun
from adk_nb.workflow.workflow import Workflow

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext

_REQUEST = {"type": "object", "properties": {"request": {"type": "string"}}, "required": ["request"]}
_GROUNDING_KEY = "temp:_adk_grounding_metadata"


class AgentTool(BaseTool):
    """An agent as a tool: it works in a session of its own, and its answer is the result of the call.

    The session begins with a copy of the caller's state, and what the agent writes to the state and saves as artifacts
    is the caller's in the end. Its events stay in its own session. It can't ask a person: the call's result says so.

    Example:
        >>> from adk_nb.agents import Agent
        >>> from adk_nb.testing import ScriptedModel
        >>> tool = AgentTool(Agent(name="translator", description="Translates.", model=ScriptedModel(["Hallo"])))
        >>> tool.name, tool.parameters()
        ('translator', {'request': True})
    """

    def __init__(
        self,
        agent: Any,
        skip_summarization: bool = False,
        *,
        include_plugins: bool = True,
        propagate_grounding_metadata: bool = False,
    ) -> None:
        """Wrap an agent.

        Args:
            agent: The agent; a model calls it by its name, and its `input_schema` says what it is given.
            skip_summarization: The answer is the last word of the caller's turn; its model isn't asked again.
            include_plugins: The plugins of the caller's runner see the agent's run, too.
            propagate_grounding_metadata: Keep what the answer is grounded on in the state, for the rest of the run,
                under `temp:_adk_grounding_metadata`.
        Raises:
            ConfigurationError: it isn't an agent.
        """
        if not isinstance(agent, BaseNode):
            raise ConfigurationError(
                f"AgentTool(agent={agent!r:.80}) needs an agent: that is a {type(agent).__name__}."
            )
        super().__init__(name=agent.name, description=agent.description)
        self.agent = agent
        self.skip_summarization = skip_summarization
        self.include_plugins = include_plugins
        self.propagate_grounding_metadata = propagate_grounding_metadata

    @property
    def input_schema(self) -> Any:
        """What the agent is given: its own schema, or that of the first agent below it; `None` for a text."""
        return next((agent.input_schema for agent in _first_agents(self.agent) if agent.input_schema is not None), None)

    def _get_declaration(self) -> types.FunctionDeclaration:
        """Return the agent as a model is told of it."""
        schema = self.input_schema
        wanted = (
            _REQUEST if schema is None else schema if isinstance(schema, dict) else adapter_for(schema).json_schema()
        )
        return types.FunctionDeclaration(
            name=self.name, description=self.description or None, parameters_json_schema=wanted
        )

    def check_arguments(self, args: Mapping[str, Any]) -> None:
        """Refuse arguments that the agent can't be given.

        Raises:
            ToolArgumentsError: the message names what is missing or doesn't fit.
        """
        super().check_arguments(args)
        self._message(args)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Ask the agent; arguments that don't fit come back as `{"error": ...}` for the model to put right.

        Raises:
            ConfigurationError: there is no runner.
            Exception: what the agent failed with; a note says which agent it was.
        """
        try:
            self.check_arguments(args)
            message = self._message(args)
        except ToolArgumentsError as error:
            return {"error": str(error)}
        run_apart = tool_context.get_invocation_context().run_apart
        if run_apart is None:
            raise ConfigurationError(f"AgentTool {self.name!r} can't be called outside of a run: use a Runner.")
        try:
            done = await run_apart(self._root(), message, caller=tool_context, with_plugins=self.include_plugins)
            result = self._result(done)
        except Exception as error:
            error.add_note(f"Raised by agent {self.agent.name!r}, which was called as a tool.")
            raise
        if self.skip_summarization and done.is_whole:
            tool_context.actions.skip_summarization = True
            tool_context.response_text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        if self.propagate_grounding_metadata and done.grounding_metadata is not None:
            tool_context.state[_GROUNDING_KEY] = done.grounding_metadata
        return result

    def _root(self) -> Any:
        """Return what runs: an agent that can't be a root stands in a workflow of its own."""
        if getattr(self.agent, "mode", None) == "single_turn":
            return Workflow(name=f"{self.agent.name}_call", edges=[("START", self.agent)])
        return self.agent

    def _message(self, args: Mapping[str, Any]) -> types.Content:
        schema = self.input_schema
        if schema is None:
            return types.UserContent(str(args.get("request", "")))
        value: Any = dict(args)
        if not isinstance(schema, dict):
            try:
                value = adapter_for(schema).validate_python(value)
            except ValidationError as error:
                faults = "; ".join(
                    f"{'.'.join(map(str, line['loc']))}: {line['msg']}, found {line['input']!r:.60}"
                    for line in error.errors(include_url=False)[:3]
                )
                raise ToolArgumentsError(
                    f"The call of agent {self.name!r} gives arguments that don't fit its input_schema: {faults}."
                ) from None
        plain = pydantic_core.to_jsonable_python(value, exclude_none=True, bytes_mode="base64")
        return types.UserContent(json.dumps(plain, ensure_ascii=False))

    def _result(self, done: ApartRun) -> Any:
        if done.questions:
            asked = "; ".join(f"{one.message or 'a question'} ({one.interrupt_id})" for one in done.questions)
            return {
                "error": f"Agent {self.name!r} stopped, as it waits for a person: {asked}. Called as a tool, it "
                f"can't be answered; go on without it, or ask the person yourself."
            }
        if done.shortfall is not None:
            return {"error": f"Agent {self.name!r} stopped before its end: {done.shortfall}"}
        schema = self.agent.output_schema
        if schema is not None and done.output is not None and not isinstance(done.output, str | types.Content):
            return done.output
        if done.content is None:
            return "" if done.output is None else done.output
        if schema is None:
            return "\n".join(_texts(done.content))
        if isinstance(schema, dict):
            return content_value(done.content)
        return fit(done.content, schema, f"answer of agent {self.name!r}")


def _first_agents(agent: Any) -> Iterator[Any]:
    while agent is not None:
        yield agent
        agent = next(iter(getattr(agent, "sub_agents", ())), None) if agent.input_schema is None else None


def _texts(content: types.Content) -> Iterator[str]:
    return (part.text for part in content.parts or () if part.text and not part.thought)
