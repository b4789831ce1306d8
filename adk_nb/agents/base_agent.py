"""`BaseAgent`: a node that speaks in its own name, may have agents below it, and callbacks around its runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, ClassVar, Self

from google.genai import types
from pydantic import Field, PrivateAttr, field_validator

from adk_nb.agents.agent_invocation import AgentInvocation
from adk_nb.agents.callbacks import Callbacks, check_callbacks, first_answer
from adk_nb.agents.trees.lint import findings
from adk_nb.agents.trees.tree_description import describe_inside, describe_tree
from adk_nb.errors import ConfigurationError, one_of
from adk_nb.events.event import Event, content_text
from adk_nb.workflow.context import Context
from adk_nb.workflow.description import GraphDescription, Kind, NodeDescription
from adk_nb.workflow.failures import origin
from adk_nb.workflow.hints import Hint
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.nodes import BaseNode


class _Place:
    """Where an agent stands in its tree; copies of it that run stand in the same place."""

    __slots__ = ("parent",)

    def __init__(self) -> None:
        self.parent: BaseAgent | None = None


class SubAgents(list[Any]):
    """The agents below one: a list that can't change, since parents and tools are made when the tree is built."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise ConfigurationError(
            "The sub_agents of an agent can't change once it is built: build it with all of them, or take "
            "agent.clone(update={'sub_agents': [...]})."
        )

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __reduce__(self) -> Any:
        return SubAgents, (list(self),)


class BaseAgent(BaseNode):
    """Base of all agents: speaks in its own name, may have `sub_agents`, and calls back before and after each run.

    Override `_run_async_impl`, an async generator of events, to write an agent of your own; its sub-agents run with
    `agent.run_async(ctx)`. Or override `_run_impl` as for any node, and run them with `ctx.run_node`.

    An agent has one parent. When the cell that builds a tree runs again, its agents move from the old tree to the new
    one: a parent of the same name takes the place of the old one.

    Example:
        >>> class Greeter(BaseAgent):
        ...     async def _run_impl(self, *, ctx, node_input):
        ...         yield "hello"
        >>> team = BaseAgent(name="team", sub_agents=[Greeter(name="greeter")])
        >>> team.find_agent("greeter").parent_agent.name
        'team'

    Raises:
        ConfigurationError: a name that can't be used, or a sub-agent that has another parent.
    """

    kind: ClassVar[Kind] = "agent"
    speaks_as_itself: ClassVar[bool] = True
    _runs_members: ClassVar[bool] = False
    """It does nothing but run its sub-agents."""
    _runs_in_order: ClassVar[bool] = False
    """It runs them one after the other."""
    _fixed_fields: ClassVar[frozenset[str]] = frozenset({"sub_agents"})
    """Fields that can't be assigned once the agent is built, since other things were made from them."""

    sub_agents: list[BaseAgent] = Field(default_factory=list)
    """The agents below this one, in order; each has this one as its only parent."""
    before_agent_callback: Callbacks = None
    """Called with `callback_context` before each run; the first that returns a `Content` answers in place of the
    agent."""
    after_agent_callback: Callbacks = None
    """Called with `callback_context` when a run has ended, also when `before_agent_callback` answered; the first
    `Content` returned is added to what the agent said."""

    _place: _Place = PrivateAttr(default_factory=_Place)

    @field_validator("name")
    @classmethod
    def _refuse_reserved_name(cls, name: str) -> str:
        if name == "user":
            raise ConfigurationError(
                "The agent name 'user' is reserved for the person who talks to the agent: choose another one."
            )
        return name

    @field_validator("sub_agents", mode="before")
    @classmethod
    def _refuse_other_nodes(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise ConfigurationError(f"sub_agents={value!r:.80} is no list: give a list of agents.")
        for one in value:
            if not isinstance(one, BaseAgent):
                raise ConfigurationError(
                    f"sub_agents holds {one!r:.80}, which is no agent: give objects of classes derived from BaseAgent; "
                    f"functions and workflows belong into tools= of an LlmAgent."
                )
        return value

    @field_validator("sub_agents")
    @classmethod
    def _fix_sub_agents(cls, value: list[BaseAgent]) -> list[BaseAgent]:
        return SubAgents(value)

    @field_validator("before_agent_callback", "after_agent_callback", mode="before")
    @classmethod
    def _check_callbacks(cls, value: Any, info: Any) -> Any:
        return check_callbacks(value, info.field_name)

    def model_post_init(self, context: Any, /) -> None:
        """Become the parent of the sub-agents."""
        super().model_post_init(context)
        self._adopt()

    def _adopt(self) -> None:
        seen: set[int] = set()
        for one in self.sub_agents:
            parent = one.parent_agent
            if id(one) in seen or not (parent is None or parent is self or parent.name == self.name):
                other = self.name if parent is None else parent.name
                raise ConfigurationError(
                    f"Agent {one.name!r} already has a parent agent, {other!r}, and can't become a sub-agent of "
                    f"{self.name!r} as well: an agent has one place in one tree. Give {one.name}.clone() here, or "
                    f"build {one.name!r} anew."
                )
            seen.add(id(one))
        for one in self.sub_agents:
            one._place.parent = self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._fixed_fields or name == "parent_agent":
            raise ConfigurationError(
                f"{name} of agent {self.name!r} can't be assigned once the agent is built, as other things were made "
                f"from it: build the agent with it, or take {self.name}.clone(update={{{name!r}: ...}})."
            )
        super().__setattr__(name, value)

    @property
    def parent_agent(self) -> BaseAgent | None:
        """The agent that has this one among its `sub_agents`; `None` at the root of a tree."""
        return self._place.parent

    @property
    def root_agent(self) -> BaseAgent:
        """The root of the tree that this agent is a part of."""
        agent: BaseAgent = self
        while agent.parent_agent is not None:
            agent = agent.parent_agent
        return agent

    def find_agent(self, name: str) -> BaseAgent | None:
        """Return the agent with this name in the tree below, itself included; the first one, depth first."""
        return self if self.name == name else self.find_sub_agent(name)

    def find_sub_agent(self, name: str) -> BaseAgent | None:
        """Return the agent with this name below this one; the first one, depth first."""
        return next((agent for agent in self._below() if agent.name == name), None)

    def _below(self) -> Iterator[BaseAgent]:
        """Give all agents below this one, depth first."""
        for one in self.sub_agents:
            yield one
            yield from one._below()

    def clone(self, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy without a parent, with copies of all agents below it.

        Args:
            update: Fields that get another value.
        Raises:
            ConfigurationError: there is no such field, or its value doesn't fit.

        Example:
            >>> team = BaseAgent(name="team", sub_agents=[BaseAgent(name="one")])
            >>> copy = team.clone(update={"name": "other"})
            >>> copy.name, copy.sub_agents[0].parent_agent.name, team.sub_agents[0].parent_agent.name
            ('other', 'other', 'team')
        """
        changes = dict(update or {})
        for name in changes:
            if name == "parent_agent":
                raise ConfigurationError(
                    "clone() can't set parent_agent: a parent is set when it is built with sub_agents=[...]."
                )
            if name not in type(self).model_fields:
                raise ConfigurationError(
                    f"clone() can't set {name!r}: {type(self).__name__} has {one_of(name, type(self).model_fields)}."
                )
        copy = self.model_copy()
        copy._place = _Place()
        copies = {} if "sub_agents" in changes else {id(one): one.clone() for one in self.sub_agents}
        for name in type(self).model_fields:
            vars(copy)[name] = _copied(getattr(self, name), self, copy, copies)
        for name, value in changes.items():
            self.__pydantic_validator__.validate_assignment(copy, name, value)
        vars(copy)["sub_agents"] = SubAgents(copy.sub_agents)
        copy._adopt()
        return copy

    async def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run this agent below the one whose `_run_async_impl` calls it, and give its events.

        They are stored by then; yielding them hands them on to those who listen above. After a pause or a crash an
        agent that had finished gives the events that are stored, and isn't run again.

        Args:
            parent_context: What `_run_async_impl` was given, or a copy of it with another branch.
        Raises:
            ConfigurationError: it is something else.
        """
        if not isinstance(parent_context, AgentInvocation):
            raise ConfigurationError(
                f"{self.name}.run_async() got a {type(parent_context).__name__}: it runs inside the _run_async_impl of "
                f"another agent, with the context given there. To run an agent by itself, use a Runner or run()."
            )
        async with contextlib.aclosing(parent_context.stream(self)) as events:
            async for event in events:
                yield event

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        raise NotImplementedError(
            f"{type(self).__name__} has no _run_async_impl: override it with an async generator of events, or use an "
            f"LlmAgent."
        )
        yield  # makes this an async generator, as overrides are

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        view = AgentInvocation(self, ctx)
        await view.recall()
        try:
            async with contextlib.aclosing(self._run_async_impl(view)) as events:
                async for event in events:
                    if not view.is_told(event):
                        yield event
        except Exception as error:
            cause = view.cause(error)
            if cause is error:
                raise
            raise cause from None
        if view.last_text is not None and not ctx.outcome.has_output and not ctx.interrupt_ids:
            ctx.keep_output(view.last_text)

    def as_node(self) -> BaseNode:
        """Return what stands for this agent in a graph: one that runs others goes on from its start after an answer."""
        return self._as_member()

    def as_root(self) -> BaseNode:
        """Return what a runner runs for this agent."""
        return self._as_member()

    def _as_member(self) -> BaseNode:
        """Return what runs for this agent below another one, in the same conversation."""
        is_node = type(self)._run_impl is not BaseAgent._run_impl
        return self if is_node or self.rerun_on_resume else self.model_copy(update={"rerun_on_resume": True})

    def check(self) -> tuple[Hint, ...]:
        """Return what is worth a look in this agent and all below it before they run; `()` when all is plain.

        Each finding names an agent and says what to do; a drawing of the tree shows them, too.

        Example:
            >>> twins = BaseAgent(name="team", sub_agents=[BaseAgent(name="a"), BaseAgent(name="a")])
            >>> twins.check()[0].text
            "2 agents in this tree are called 'a', and a transfer or find_agent reaches only the first of them: ..."
        """
        return findings(self)

    def describe(self) -> GraphDescription:
        """Return the tree of this agent as plain data for drawings."""
        return describe_tree(self)

    def describe_node(self) -> NodeDescription:
        """Return this agent as a part of a drawing; what it runs is inside."""
        inner = describe_inside(self) if self.sub_agents else None
        count = 0 if inner is not None else len(self._described_tools())
        tools = f" · {count} tool{'s' * (count > 1)}" if count else ""
        return NodeDescription(name=self.name, kind=self._drawn_as, detail=self.detail + tools, inner=inner)

    @property
    def _drawn_as(self) -> Kind:
        return self.kind

    def _described_tools(self) -> list[NodeDescription]:
        """Return the agent's tools as parts of a drawing."""
        return []

    def _link_to(self, agent: BaseAgent) -> str:
        """Return in one word how a sub-agent comes to run."""
        return "runs"

    def _whole_run(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Return what the engine runs: the agent's own body, between callbacks and plugins if there are any."""
        has_callbacks = self.before_agent_callback is not None or self.after_agent_callback is not None
        if has_callbacks or ctx.get_invocation_context().plugins is not None:
            return self._with_callbacks(ctx, node_input)
        return self._run_impl(ctx=ctx, node_input=node_input)

    async def _with_callbacks(self, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        plugins = ctx.get_invocation_context().plugins
        reply = await self._ask_around("before_agent_callback", ctx)
        if reply is not None:
            yield self._reply_event(ctx, reply)
        else:
            if ctx.state.has_delta():
                yield Event(author=self.name)
            try:
                async with contextlib.aclosing(self._run_impl(ctx=ctx, node_input=node_input)) as items:
                    async for item in items:
                        yield item
            except (asyncio.CancelledError, GeneratorExit):
                await self._ask_around("after_agent_callback", ctx)
                raise
            except Exception as error:
                cause = origin(error)[0]
                if plugins is not None and isinstance(cause, Exception):
                    await plugins.run_on_agent_error_callback(agent=self, callback_context=ctx, error=cause)
                raise
            if ctx.interrupt_ids:
                return  # it waits for a person, and goes on from its start when the answer is in
        added = await self._ask_around("after_agent_callback", ctx)
        if added is not None:
            yield Event(author=self.name, content=added)

    async def _ask_around(self, hook: str, ctx: Context) -> types.Content | None:
        """Ask the plugins, then the agent's own callbacks."""
        answer: types.Content | None = None
        plugins = ctx.get_invocation_context().plugins
        if plugins is not None:
            answer = await getattr(plugins, f"run_{hook}")(agent=self, callback_context=ctx)
        if answer is None:
            callbacks: Callbacks = getattr(self, hook)
            given = {"callback_context": ctx}
            answer = await first_answer(callbacks, types.Content, given, agent=self.name, hook=hook)
        return answer

    def _reply_event(self, ctx: Context, content: types.Content) -> Event:
        """Return the event for what a callback says in place of the agent; its text is the agent's output."""
        if not ctx.outcome.has_output:
            ctx.keep_output(content_text(content))
        return Event(author=self.name, content=content)


def _copied(value: Any, old: BaseAgent, new: BaseAgent, copies: Mapping[int, BaseAgent]) -> Any:
    """Return a field's value for a copy: its lists are its own, and what was bound to the old agent is to the new."""
    if id(value) in copies:
        return copies[id(value)]
    if isinstance(value, list):
        return type(value)([_copied(one, old, new, copies) for one in value])
    if getattr(value, "__self__", None) is old and hasattr(value, "__func__"):
        return value.__func__.__get__(new)
    return value
