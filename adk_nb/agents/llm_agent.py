"""`LlmAgent`: a language model as a node of a workflow, or as the root of a chat."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from google.genai import types
from pydantic import Field, PrivateAttr, field_validator, model_validator

from adk_nb.agents.base_agent import BaseAgent
from adk_nb.agents.callbacks import Callbacks, check_callbacks
from adk_nb.agents.calls.own_tools import ToolLike, as_tool, check_tools
from adk_nb.agents.output_schema import check_schema
from adk_nb.agents.preview import Preview, done_at_once, preview_of
from adk_nb.agents.reading.instructions import Instruction
from adk_nb.agents.reading.sent_shapes import check_shapes
from adk_nb.agents.settings import check_arguments, check_planner, check_settings
from adk_nb.agents.trees.lint import tools_of
from adk_nb.agents.trees.tree_description import tool_description
from adk_nb.agents.turn.dispatch import Dispatch
from adk_nb.agents.turn.standing import Standing, read_standings
from adk_nb.agents.turn.talk import Talk
from adk_nb.agents.turn.transfer import converses
from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event, content_text, new_id
from adk_nb.events.values import freeze
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.use import as_model, current_model
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.base_toolset import BaseToolset
from adk_nb.workflow.context import Context
from adk_nb.workflow.description import NodeDescription
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.parallel import ParallelWorker
from adk_nb.workflow.run_config import RunConfig

DEFAULT_MODEL = "gemini-3.5-flash"
"""What an agent asks that names no model."""


class LlmAgent(BaseAgent):
    """Ask a language model, in one turn as a node of a workflow or in a conversation as a root.

    In a workflow the model sees the instruction and the node's input, and what it says is the node's output: text, or
    with `output_schema` the checked data. As a root it sees the whole conversation and what it says is its reply. What
    it calls of its `tools`, and of the `sub_agents` that answer once or take over a task, is carried out and told to it
    until it answers; to other sub-agents it can hand the conversation over. An agent object never changes while it
    runs, and a run goes on from what its events say after a pause, a failure or in a new process.

    Example:
        >>> import asyncio
        >>> from adk_nb.runners import InMemoryRunner
        >>> from adk_nb.testing import ScriptedModel, call
        >>> def add(a: int, b: int) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> adder = LlmAgent(name="adder", model=ScriptedModel([call("add", a=1, b=2), "It is 3."]), tools=[add])
        >>> async def ask():
        ...     return await InMemoryRunner(adder).run_debug("1 + 2?", quiet=True)
        >>> events = asyncio.run(ask())
        >>> events[1].get_function_responses()[0].response, events[2].content.parts[0].text
        ({'result': 3}, 'It is 3.')
    """

    keeps_checkpoints: ClassVar[bool] = True

    _default_model: ClassVar[str | BaseLlm] = DEFAULT_MODEL
    _fixed_fields: ClassVar[frozenset[str]] = BaseAgent._fixed_fields | {"mode"}
    _wrapped: dict[int, tuple[Any, BaseTool]] = PrivateAttr(default_factory=dict)
    _standing: Standing | None = PrivateAttr(default=None)
    """Where this copy of the agent goes on."""
    _was_handed_over: bool = PrivateAttr(default=False)
    _first_speaker: str | None = PrivateAttr(default=None)

    rerun_on_resume: bool = True
    """An agent goes on after an answer; its events say where it stood."""
    model: str | BaseLlm = ""
    """A model's name or object; `""` takes the one set with `set_default_model`."""
    instruction: Instruction = ""
    """What the model should do. `{key}` in a text is replaced by the session state's value; a function gets a
    `ReadonlyContext`, may be async, and its text is used as it is."""
    global_instruction: Instruction = ""
    """What every agent of the tree should do; only the root's is used."""
    static_instruction: Any = None
    """A text, part or content that never changes and isn't filled; `instruction` then follows the conversation."""
    tools: list[ToolLike] = Field(default_factory=list)
    """What the model may call: functions, tools, toolsets, and nodes that are no agents."""
    mode: Literal["chat", "task", "single_turn"] | None = None
    """`chat` talks with the person and hands over to others, `task` takes over a task until it has finished it, and
    `single_turn` answers once. `None` is `single_turn` in a workflow and `chat` elsewhere."""
    parallel_worker: bool | None = None
    """As a node of a workflow, run once for each item of a list, and hand on the list of the answers."""
    disallow_transfer_to_parent: bool = False
    """The agent doesn't hand back to its parent; the next turn begins with the root again."""
    disallow_transfer_to_peers: bool = False
    """The agent doesn't hand over to the other agents of its parent."""
    generate_content_config: types.GenerateContentConfig | None = None
    """Temperature, output limit, safety and other settings of each request."""
    include_contents: Literal["default", "none"] = "default"
    """`default` shows the model the conversation so far, `none` only the present turn. An agent in a workflow sees only
    its input unless `default` is given on purpose."""
    planner: Any = None
    """Lets the model plan before it acts: a `BuiltInPlanner`, a `PlanReActPlanner`, or one of your own."""
    code_executor: None = None
    """Only `None`: code that a model writes isn't executed. Let a function in `tools` do what it would compute."""
    output_key: str | None = None
    """State key under which each reply is kept as well."""
    on_tool_error: Literal["raise", "tell_model"] = "raise"
    """What an exception in a tool does: it ends the run, or the model is told of it and goes on."""
    max_model_repairs: int = Field(default=2, ge=0)
    """How often in a row a model that wrote a broken call of a tool is told so and asked again."""
    before_model_callback: Callbacks = None
    """Called with `callback_context` and `llm_request`; a response that it returns stands for the model's."""
    after_model_callback: Callbacks = None
    """Called with `callback_context` and `llm_response`; a response that it returns takes its place."""
    on_model_error_callback: Callbacks = None
    """Called with `callback_context`, `llm_request` and `error`; a response that it returns is gone on with."""
    before_tool_callback: Callbacks = None
    """Called with `tool`, `args` and `tool_context`; a dictionary that it returns stands for the tool's result."""
    after_tool_callback: Callbacks = None
    """Called with `tool`, `args`, `tool_context` and `tool_response`; a dictionary that it returns takes its place."""
    on_tool_error_callback: Callbacks = None
    """Called with `tool`, `args`, `tool_context` and `error`; a dictionary that it returns is gone on with."""

    @model_validator(mode="before")
    @classmethod
    def _explain_unknown(cls, data: Any) -> Any:
        if isinstance(data, dict):
            check_arguments(cls.__name__, data, cls.model_fields)
        return data

    @field_validator("generate_content_config")
    @classmethod
    def _refuse_own_fields(cls, config: types.GenerateContentConfig | None) -> types.GenerateContentConfig | None:
        check_settings(config)
        return config

    @model_validator(mode="after")
    def _check_tools(self) -> Self:
        check_tools(self.name, self.tools)
        if self.mode == "task" and self.sub_agents:
            names = ", ".join(one.name for one in self.sub_agents)
            raise ConfigurationError(
                f"Agent {self.name!r} has mode='task' and the sub_agents {names}: a task agent must be a leaf. Give "
                f"{names} to the agent above it, or wrap them as tools, tools=[AgentTool(...)]."
            )
        return self

    @field_validator(
        "before_model_callback",
        "after_model_callback",
        "on_model_error_callback",
        "before_tool_callback",
        "after_tool_callback",
        "on_tool_error_callback",
        mode="before",
    )
    @classmethod
    def _check_own_callbacks(cls, value: Any, info: Any) -> Any:
        return check_callbacks(value, info.field_name)

    @model_validator(mode="after")
    def _check_planner(self) -> Self:
        check_planner(self.name, self.planner, self.generate_content_config)
        return self

    @model_validator(mode="after")
    def _check_shapes(self) -> Self:
        check_shapes(self.name, self.model or LlmAgent._default_model, self.output_schema, self.tools)
        return self

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
        """The model that is asked: that of `use_model`, else the agent's own, that of an agent above, the default.

        Raises:
            ConfigurationError: no class knows the model's name.
        """
        model = current_model() or as_model(self._own_model) or as_model(LlmAgent._default_model)
        if model is None:
            raise ConfigurationError(f"Agent {self.name!r} has no model: give model=, for instance {DEFAULT_MODEL!r}.")
        return model

    @property
    def _own_model(self) -> str | BaseLlm:
        """Its own model, else that of the nearest agent above that names one."""
        agent: BaseAgent | None = self
        while agent is not None:
            if isinstance(agent, LlmAgent) and agent.model:
                return agent.model
            agent = agent.parent_agent
        return ""

    @property
    def canonical_tools(self) -> list[BaseTool | BaseToolset]:
        """What `tools` stand for: functions are wrapped once."""
        found: list[BaseTool | BaseToolset] = []
        for given in self.tools:
            if isinstance(given, (BaseTool, BaseToolset)):
                found.append(given)
                continue
            known = self._wrapped.get(id(given))
            if known is None or known[0] is not given:
                known = (given, as_tool(given))
                self._wrapped[id(given)] = known
            found.append(known[1])
        return found

    @property
    def detail(self) -> str:
        """Name of the model."""
        model = self._own_model or LlmAgent._default_model
        return model if isinstance(model, str) else model.model

    def _described_tools(self) -> list[NodeDescription]:
        names = {agent.name for agent in self.sub_agents}
        return [tool_description(tool) for tool in tools_of(self) if getattr(tool, "name", "") not in names]

    def _link_to(self, agent: BaseAgent) -> str:
        return {"task": "task", "single_turn": "call"}.get(getattr(agent, "mode", None) or "", "transfer")

    def preview(
        self,
        state: Mapping[str, Any] | None = None,
        message: Any = None,
        *,
        events: Sequence[Event] = (),
        artifacts: Mapping[str, types.Part | str] | None = None,
        run_config: RunConfig | None = None,
    ) -> Preview:
        """Return what the agent would ask its model, rendered against a state, without asking it.

        Keys that the instructions need and the state lacks are in `missing`; the texts keep their places. Its tools
        are there, and, for an agent below another one, what it can hand over to once it has the conversation.

        Args:
            state: The session's state.
            message: What the person says, or the node's input.
            events: What was said before.
            artifacts: The session's artifacts by name, as parts or texts.
            run_config: Settings of the call.

        Example:
            >>> agent = LlmAgent(name="greeter", instruction="Greet {user:name} in {language}.")
            >>> preview = agent.preview({"user:name": "Ada"}, "Hello!")
            >>> preview.missing
            ('language',)
            >>> print(preview)
            What agent 'greeter' would ask its model
            <BLANKLINE>
            system:
                Greet Ada in {language}.
            <BLANKLINE>
                You are an agent named "greeter".
            user:
                Hello!
            missing: {language}; the state has 'user:name'
        """
        return done_at_once(preview_of(self, state or {}, message, events, artifacts or {}, run_config))

    def as_node(self) -> BaseNode:
        """Return a copy with what being a node of a workflow means for everything the author left open."""
        if self._was_handed_over:
            return self
        one = self._as_one()
        return ParallelWorker(node=one) if self.parallel_worker else one

    def _as_one(self) -> LlmAgent:
        changes: dict[str, Any] = {"rerun_on_resume": True, "mode": self.mode or "single_turn"}
        if changes["mode"] != "single_turn":
            changes["wait_for_output"] = True
        elif "include_contents" not in self.model_fields_set:
            changes["include_contents"] = "none"
        if self.parallel_worker:
            changes["parallel_worker"] = None
        return self.model_copy(update=changes)

    def _as_member(self) -> LlmAgent:
        return self.model_copy(update={"rerun_on_resume": True, "mode": self.mode or "chat"})

    def as_speaker(self, first_speaker: str | None = None) -> LlmAgent:
        """Return a copy that takes part in the conversation of its tree, once it is its turn.

        Args:
            first_speaker: Name of the agent below it that speaks before it does.
        """
        copy = self.model_copy(update={"rerun_on_resume": True, "mode": "chat"})
        copy._was_handed_over, copy._first_speaker = True, first_speaker
        return copy

    @property
    def was_handed_over(self) -> bool:
        """The conversation was handed to this copy by an agent above it, to which it can hand back."""
        return self._was_handed_over

    @property
    def first_speaker(self) -> str | None:
        """Name of the agent below that speaks before this copy does."""
        return self._first_speaker

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
        return self if self.rerun_on_resume else self.model_copy(update={"rerun_on_resume": True})

    def checked_input(self, value: Any) -> Any:
        """Return the input; what a person says in a chat is not checked against `input_schema`."""
        return super().checked_input(value) if self.mode == "single_turn" else value

    def checked_output(self, value: Any) -> Any:
        """Return the output as history keeps it; it was checked when the answer came in."""
        return freeze(value, f"output of agent {self.name!r}")

    def _whole_run(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Return what the engine runs: the agent, and those below it that the conversation is handed to."""
        if self.mode == "task" and ctx.isolation_scope is None:
            ctx.isolation_scope = ctx.node_path
        if converses(self) and (self._was_handed_over or any(converses(one) for one in self.sub_agents)):
            return self._dispatched(ctx, node_input)
        return super()._whole_run(ctx=ctx, node_input=node_input)

    async def _dispatched(self, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        def speak(standing: Standing) -> AsyncGenerator[Any, None]:
            copy = self.model_copy()
            copy._standing = standing
            return super(LlmAgent, copy)._whole_run(ctx=ctx, node_input=node_input)

        dispatch = Dispatch(self, ctx, await ctx.get_invocation_context().all_events())
        async with contextlib.aclosing(dispatch.turns(speak)) as items:
            async for item in items:
                yield item

    def _reply_event(self, ctx: Context, content: types.Content) -> Event:
        """Return the event for what a callback says in place of the agent."""
        text = content_text(content)
        talk = Talk(self, ctx, None, Standing(ctx.node_path, ctx.isolation_scope))
        return talk.answer(LlmResponse(content=content), new_id(), text, text)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        standing = self._standing
        if standing is None and ctx.is_first_try:
            standing = Standing(ctx.node_path, ctx.isolation_scope)
        elif standing is None:
            standing = read_standings(ctx, await ctx.get_invocation_context().all_events())[-1]
        async with contextlib.aclosing(Talk(self, ctx, node_input, standing).events()) as events:
            async for event in events:
                yield event


Agent = LlmAgent
