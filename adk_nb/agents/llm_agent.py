"""`LlmAgent`: a language model as a node of a workflow, or as the root of a chat."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any, ClassVar, Literal

from google.genai import types
from pydantic import field_validator, model_validator

from adk_nb.agents.base_agent import BaseAgent
from adk_nb.agents.instructions import Instruction
from adk_nb.agents.output_schema import check_schema, parse_answer
from adk_nb.agents.plugin_hooks import ask_with_plugins
from adk_nb.agents.request import request_of
from adk_nb.errors import (
    ConfigurationError,
    InvalidAnswerError,
    LlmCallsLimitExceededError,
    UnusableAnswerError,
    one_of,
)
from adk_nb.events.event import Event, content_text
from adk_nb.events.event_actions import EventActions
from adk_nb.events.values import freeze
from adk_nb.models.ask import ask_model
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.call_log import Caller
from adk_nb.models.failures import NO_CONTENT, unusable
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.use import as_model, current_model
from adk_nb.workflow.context import Context

DEFAULT_MODEL = "gemini-3.5-flash"
"""What an agent asks that names no model."""

# Settings of a request that an agent has fields of its own for.
_OWN_FIELDS = {"system_instruction": "instruction", "response_schema": "output_schema"}


class LlmAgent(BaseAgent):
    """Ask a language model, in one turn as a node of a workflow or in a conversation as a root.

    In a workflow the model sees the instruction and the node's input, and what it says is the node's output: text, or
    with `output_schema` the checked data. As a root it sees the whole conversation and what it says is its reply. An
    agent object never changes while it runs.

    Example:
        >>> from adk_nb.testing import ScriptedModel
        >>> triage = LlmAgent(name="triage", model=ScriptedModel(["BUG"]), instruction="Name the category.")
        >>> triage.detail
        'scripted'
    """

    _default_model: ClassVar[str | BaseLlm] = DEFAULT_MODEL

    model: str | BaseLlm = ""
    """A model's name or object; `""` takes the one set with `set_default_model`."""
    instruction: Instruction = ""
    """What the model should do. `{key}` in a text is replaced by the session state's value; a function gets a
    `ReadonlyContext`, may be async, and its text is used as it is."""
    mode: Literal["chat", "single_turn"] | None = None
    """`None` is `single_turn` in a workflow and `chat` as a root."""
    generate_content_config: types.GenerateContentConfig | None = None
    """Temperature, output limit, safety and other settings of each request."""
    include_contents: Literal["default", "none"] = "default"
    """`default` shows the model the conversation so far, `none` only the present turn. An agent in a workflow sees only
    its input unless `default` is given on purpose."""
    output_key: str | None = None
    """State key under which each reply is kept as well."""

    @model_validator(mode="before")
    @classmethod
    def _explain_unknown(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        for name in data:
            if name not in cls.model_fields:
                raise ConfigurationError(_unknown_argument(cls.__name__, name, list(cls.model_fields)))
        return data

    @field_validator("generate_content_config")
    @classmethod
    def _refuse_own_fields(cls, config: types.GenerateContentConfig | None) -> types.GenerateContentConfig | None:
        if config is None:
            return None
        for name, field in _OWN_FIELDS.items():
            if getattr(config, name) is not None:
                raise ConfigurationError(f"{name} can't be in generate_content_config: give {field}= to the agent.")
        if config.tools is not None:
            raise ConfigurationError("tools can't be in generate_content_config: they belong to the agent.")
        if config.http_options is not None and config.http_options.base_url is not None:
            raise ConfigurationError(
                "http_options.base_url can't be in generate_content_config: give model=Gemini(model=..., base_url=...)."
            )
        return config

    @field_validator("output_schema")
    @classmethod
    def _check_output_schema(cls, schema: Any) -> Any:
        check_schema(schema)
        return schema

    @classmethod
    def set_default_model(cls, model: str | BaseLlm) -> None:
        """Set what agents ask that name no model.

        Raises:
            TypeError: `model` is neither a name nor a BaseLlm.
            ConfigurationError: the name is empty.
        """
        if not isinstance(model, (str, BaseLlm)):
            raise TypeError(
                f"set_default_model() got a {type(model).__name__}; allowed are a model's name or a BaseLlm object."
            )
        if not model:
            raise ConfigurationError(f"The default model needs a name, for instance {DEFAULT_MODEL!r}.")
        LlmAgent._default_model = model

    @property
    def canonical_model(self) -> BaseLlm:
        """The model that is asked: that of `use_model`, else the agent's own, else the default.

        Raises:
            ConfigurationError: no class knows the model's name.
        """
        model = current_model() or as_model(self.model) or as_model(LlmAgent._default_model)
        if model is None:
            raise ConfigurationError(f"Agent {self.name!r} has no model: give model=, for instance {DEFAULT_MODEL!r}.")
        return model

    @property
    def detail(self) -> str:
        """Name of the model."""
        model = self.model or LlmAgent._default_model
        return model if isinstance(model, str) else model.model

    def as_node(self) -> LlmAgent:
        """Return a copy with what being a node of a workflow means for everything the author left open."""
        changes: dict[str, Any] = {"rerun_on_resume": True, "mode": self.mode or "single_turn"}
        if changes["mode"] == "chat":
            changes["wait_for_output"] = True
        elif "include_contents" not in self.model_fields_set:
            changes["include_contents"] = "none"
        return self.model_copy(update=changes)

    def as_root(self) -> LlmAgent:
        """Return the agent itself: as a root it talks with a person.

        Raises:
            ConfigurationError: its mode is `single_turn`, which takes one input and talks to nobody.
        """
        if self.mode == "single_turn":
            raise ConfigurationError(
                f"The root agent must have mode 'chat' or none, and {self.name!r} has 'single_turn': leave mode= out "
                f"or put the agent into a workflow, Workflow(name=..., edges=[('START', {self.name})])."
            )
        return self

    def checked_input(self, value: Any) -> Any:
        """Return the input; what a person says in a chat is not checked against `input_schema`."""
        return super().checked_input(value) if self.mode == "single_turn" else value

    def checked_output(self, value: Any) -> Any:
        """Return the output as history keeps it; it was checked when the answer came in."""
        return freeze(value, f"output of agent {self.name!r}")

    def _reply_event(self, ctx: Context, content: types.Content) -> Event:
        """Return the event for what a callback says in place of the agent."""
        text = content_text(content)
        return self._answer(ctx, LlmResponse(content=content), text, text)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        model = self.canonical_model
        request = await self._request(ctx, node_input, model)
        response = await self._ask(ctx, model, request)
        try:
            text = self._text_of(response)
            value = self._value_of(response, text)
        except UnusableAnswerError:
            if response.usage_metadata is not None:
                # The error event that follows is the engine's and has no token counts.
                yield Event(author=self.name, **_facts(response))
            raise
        yield self._answer(ctx, response, text, value)

    async def _request(self, ctx: Context, node_input: Any, model: BaseLlm) -> LlmRequest:
        request = await request_of(self, ctx, node_input, model)
        if self.output_schema is not None:
            request.set_output_schema(self.output_schema)
        return request

    async def _ask(self, ctx: Context, model: BaseLlm, request: LlmRequest) -> LlmResponse:
        plugins = ctx.get_invocation_context().plugins
        if plugins is None:
            return await self._ask_model(ctx, model, request)
        return await ask_with_plugins(plugins, ctx, request, lambda: self._ask_model(ctx, model, request))

    async def _ask_model(self, ctx: Context, model: BaseLlm, request: LlmRequest) -> LlmResponse:
        invocation, limit = ctx.get_invocation_context(), ctx.run_config.max_llm_calls
        invocation.llm_calls += 1
        if 0 < limit < invocation.llm_calls:
            raise LlmCallsLimitExceededError(
                f"Agent {self.name!r} would make model call {invocation.llm_calls} of this run, and "
                f"RunConfig(max_llm_calls={limit}) allows {limit}: look for a loop, or raise the limit."
            )
        whole = LlmResponse(error_code=NO_CONTENT, error_message="The model gave no response")
        caller = Caller(self.name, ctx.node_path, ctx.invocation_id, ctx.attempt_count)
        async with contextlib.aclosing(ask_model(model, request, caller=caller)) as responses:
            async for response in responses:
                if not response.partial:
                    whole = response
        return whole

    def _text_of(self, response: LlmResponse) -> str:
        """Return what was said without thoughts; an answer that says nothing is an error."""
        parts = (response.content.parts if response.content else None) or []
        called = [part.function_call.name for part in parts if part.function_call]
        if called:
            raise UnusableAnswerError(
                f"Agent {self.name!r} called {', '.join(map(repr, called))}, but it has no tools: say in the "
                f"instruction that it should answer in words, or let a function node do that step.",
                "UNEXPECTED_TOOL_CALL",
            )
        text = content_text(response.content)
        if response.error_code and not text:
            raise unusable(self.name, response)
        has_media = any(part.inline_data or part.file_data for part in parts)
        if not text.strip() and not has_media:
            only = "only thoughts or blanks" if parts else "no content"
            code = NO_CONTENT
            if response.finish_reason not in (None, types.FinishReason.STOP):
                code = response.finish_reason.value
            raise unusable(
                self.name,
                response.model_copy(update={"error_code": code, "error_message": f"the model returned {only}"}),
            )
        return text

    def _value_of(self, response: LlmResponse, text: str) -> Any:
        if self.output_schema is None:
            return text
        is_cut = response.finish_reason is types.FinishReason.MAX_TOKENS
        try:
            return parse_answer(text, self.output_schema, self.name, is_cut=is_cut)
        except InvalidAnswerError:
            if self.mode == "single_turn" or self.output_key:
                raise
            return text  # in a chat nothing but a person reads it

    def _answer(self, ctx: Context, response: LlmResponse, text: str, value: Any) -> Event:
        content = response.content or types.Content(parts=[types.Part(text=text)])
        event = Event(author=self.name, content=types.Content(role="model", parts=content.parts), **_facts(response))
        if self.output_key:
            event.actions = EventActions(state_delta={self.output_key: value})
        if self.mode == "single_turn":
            event.output = value
            event.node_info.message_as_output = True if self.output_schema is None else None
        elif "/" not in ctx.node_path:
            # A reply to a person is no output event; the run's record still says what came out.
            ctx.output = value
            ctx.outcome.is_published = True
        return event


Agent = LlmAgent


def _facts(response: LlmResponse) -> dict[str, Any]:
    """Everything a response says about itself, without its content and error."""
    left_out = {"content", "error_code", "error_message", "partial", "turn_complete"}
    given = {name: getattr(response, name) for name in LlmResponse.model_fields if name not in left_out}
    return {name: value for name, value in given.items() if value is not None}


def _unknown_argument(agent_class: str, name: str, allowed: list[str]) -> str:
    if name in _OWN_FIELDS:
        return f"{agent_class} has no argument {name!r}: give {_OWN_FIELDS[name]}= instead."
    if name in types.GenerateContentConfig.model_fields and name != "tools":
        return (
            f"{agent_class} has no argument {name!r}, a setting of generate_content_config: give "
            f"generate_content_config=types.GenerateContentConfig({name}=...)."
        )
    return f"Extra inputs are not permitted: {agent_class} has no argument {name!r}; it has {one_of(name, allowed)}."
