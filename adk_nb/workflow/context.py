"""What user code is handed: `Context` in nodes, `ReadonlyContext` where nothing may be changed."""

from __future__ import annotations

import asyncio
import copy
import functools
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.errors import WorkflowDataError
from adk_nb.events.event import Event
from adk_nb.events.event_actions import EventActions
from adk_nb.events.record import NodeRun, Question
from adk_nb.events.state import State
from adk_nb.events.values import freeze
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.place import ChildWish, Member, Outcome, Place
from adk_nb.workflow.run_config import RunConfig
from adk_nb.workflow.services import Services, newest_artifact
from adk_nb.workflow.threads import Threads
from adk_nb.workflow.tool_call import ToolCall

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph
    from adk_nb.workflow.nodes import BaseNode


_KEYS = uuid.UUID("8f0d9f0a-2f5c-4f6e-9a3b-6a1f6b1f7c11")
"""Names our keys apart from other people's version 5 UUIDs."""


class ReadonlyContext:
    """A look at the run for code that must not change it, for instance an instruction."""

    def __init__(self, invocation_context: InvocationContext, *, node: BaseNode | None = None) -> None:
        """Look at a run; user code never makes one."""
        self._invocation = invocation_context
        self._node = node

    @property
    def user_content(self) -> types.Content | None:
        """The message that started the run."""
        return self._invocation.user_content

    @property
    def invocation_id(self) -> str:
        """Id of the run of the root."""
        return self._invocation.invocation_id

    @property
    def agent_name(self) -> str:
        """Name of the agent or node that runs, `unknown` where there is none."""
        return self._node.name if self._node is not None else "unknown"

    @property
    def session(self) -> Any:
        """The session."""
        return self._invocation.session

    @property
    def user_id(self) -> str:
        """The session's user."""
        return self._invocation.user_id

    @property
    def is_aborted(self) -> bool:
        """Someone wants the run to stop; the node is about to be cancelled."""
        return self._invocation.is_aborted

    @property
    def run_config(self) -> RunConfig:
        """Settings of this call of the runner."""
        return self._invocation.run_config

    @property
    def remembered(self) -> dict[Any, Any]:
        """What code wants to find again in this call of the runner, by keys of its own; it isn't stored."""
        return self._invocation.remembered

    @property
    def state(self) -> Any:
        """The session's state, read-only."""
        return MappingProxyType(self._invocation.session.state)

    async def read_artifact(self, filename: str) -> types.Part | None:
        """Return the newest version of an artifact of the session, `None` when there is none.

        Raises:
            ConfigurationError: the runner has no artifact service.
        """
        return await newest_artifact(self._invocation, filename)


class Context(ToolCall, Services, ReadonlyContext):
    """A node's way to the run: state, children, answers, its own output and route."""

    def __init__(self, invocation_context: InvocationContext, *, node: BaseNode, place: Place) -> None:
        """Stand for one try of one node run; user code never makes one."""
        super().__init__(invocation_context, node=node)
        self._place = place
        live = invocation_context.session.state
        self._state = State(live, {}, place.state_check, invocation_context.informed)
        self.writes_before = invocation_context.writes
        self.outcome = Outcome()
        self.event_author: str | None = None

    @property
    def state(self) -> State:
        """The session's state; writes are seen at once and stored with the node's next event."""
        return self._state

    @functools.cached_property
    def actions(self) -> EventActions:
        """What the node wants done besides its output; it goes with the node's next event."""
        return EventActions()

    @property
    def has_actions(self) -> bool:
        """Something may have been written to `actions` since the node's last event."""
        return "actions" in self.__dict__

    def take_actions(self) -> EventActions | None:
        """Return what was written to `actions` since the last call, `None` when it wasn't touched."""
        actions: EventActions | None = self.__dict__.pop("actions", None)
        return actions

    @property
    def is_off_loop(self) -> bool:
        """A sync function has to work in a thread, as others want the event loop meanwhile, or a timeout its clock."""
        return self._place.is_off_loop

    @property
    def threads(self) -> Threads:
        """The threads for sync functions of this call of the runner."""
        return self._invocation.threads

    def twin(self) -> Context:
        """Return a second context of the same run, which shares with this one what is written to it."""
        twin = copy.copy(self)
        twin._state = self._state.twin()
        return twin

    def take_back(self, twin: Context) -> None:
        """Take over everything that was set on a twin."""
        vars(self).update(vars(twin))
        twin.take_actions()

    def cut_off(self, twin: Context, why: str) -> None:
        """Let nothing that is set on a twin or written to its state from now on be seen by others, and note why."""
        self._place.run.note(why)
        twin.take_actions()
        twin.outcome = Outcome()
        self._state.cut_off(twin._state)

    @property
    def node(self) -> BaseNode | None:
        """The node that runs."""
        return self._node

    @property
    def node_path(self) -> str:
        """Path of this run, for instance `wf@1/a@2`."""
        return self._place.run.path

    @property
    def run_id(self) -> str:
        """Which run of the node this is, the end of the path."""
        return self._place.run.run_id

    @property
    def branch(self) -> str | None:
        """The lane this run lies on, `None` for the trunk."""
        return self._place.run.branch

    @property
    def isolation_scope(self) -> str | None:
        """Which conversation this node's events belong to, `None` for the common one."""
        return self._place.children.isolation_scope

    @isolation_scope.setter
    def isolation_scope(self, value: str | None) -> None:
        self._place.children.isolation_scope = value

    @property
    def idempotency_key(self) -> str:
        """A key for a write to the outside, for instance a refund, that must happen once.

        It is the same in every try and after every pause or crash of this node run, and different for every other node
        run of every session: the service that gets it twice knows that it did the work already.
        """
        run = self._place.run
        return str(uuid.uuid5(_KEYS, f"{run.invocation_id}/{run.path}"))

    @property
    def parent_ctx(self) -> Context | None:
        """The context of the run that this one is a part of, a workflow's or a calling node's; `None` at the root."""
        return self._place.children.above

    @property
    def began(self) -> float:
        """When this run was first wanted, in seconds since the epoch; the same in every try."""
        return self._place.run.created_at

    def is_beside(self, path: str) -> bool:
        """Say of another run of this invocation whether it wasn't over when this one began.

        Only runs started with `run_node` can be: those of a graph that run side by side have branches.
        """
        return self._place.children.is_beside(path)

    @property
    def error(self) -> BaseException | None:
        """What this run failed with, or a child of it that it didn't catch; `None` while it goes well."""
        return self._place.children.error

    @property
    def error_node_path(self) -> str:
        """Path of the run that failed first, `""` while this run goes well."""
        return self._place.run.error_path or ""

    @property
    def custom_metadata(self) -> dict[str, Any]:
        """What the call puts onto every event, `{}` when nothing; a copy."""
        return dict(self.run_config.custom_metadata or {})

    @property
    def attempt_count(self) -> int:
        """Which try this is, from 1."""
        return self._place.attempt

    @property
    def is_first_try(self) -> bool:
        """Nothing of this run happened before: it isn't gone on with, and no try of it failed."""
        return self._place.attempt == 1 and self._place.children.is_fresh

    def check_limits(self) -> None:
        """Stop the run here, so that it can be gone on with, if a limit of the call is reached.

        Raises:
            NodeInterruptedError: one is.
        """
        self._place.children.check_limits()

    def ask_in_words(self, text: str) -> None:
        """Wait for what the person says next, once this try has ended: the agent has asked in the course of its task.

        Args:
            text: What it said; the record of the run keeps it.
        """
        self._place.children.ask_in_words(text)

    def stand_for(self, node: BaseNode) -> None:
        """Be what code of another node knows itself by: a call of a tool is a part of the agent that made it."""
        self._node = node

    @property
    def resume_inputs(self) -> Mapping[str, Any]:
        """The answers to this run's own questions so far, by interrupt id."""
        return self._place.run.answers

    @property
    def questions(self) -> tuple[Question, ...]:
        """All that this run asked, in order, with the answers that there are."""
        return self._place.run.questions

    def newest_question(self, interrupt_id: str) -> Question | None:
        """Return what this run asked under an id last, with its answer if there is one; `None` when it didn't ask."""
        return next((question for question in reversed(self.questions) if question.interrupt_id == interrupt_id), None)

    @property
    def interrupt_ids(self) -> set[str]:
        """Ids of the questions that this run and its children still wait for."""
        run = self._place.run
        return {question.interrupt_id for question in run.open_questions} | set(run.open_below)

    @property
    def output(self) -> Any:
        """What the node hands on; it can be set once."""
        return self.outcome.output

    @output.setter
    def output(self, value: Any) -> None:
        if self.outcome.has_output:
            raise WorkflowDataError(
                f"Node {self.agent_name!r} has set its output already: a node hands on at most one output a run."
            )
        self.outcome.output, self.outcome.has_output = value, True

    @property
    def route(self) -> Any:
        """Which routed edges to follow."""
        return self.outcome.route

    @route.setter
    def route(self, value: Any) -> None:
        labels = value if isinstance(value, list) else [value]
        if value is not None and not all(isinstance(label, (str, int, bool)) for label in labels):
            raise WorkflowDataError(
                f"Node {self.agent_name!r} set ctx.route to {value!r:.80}: a route is a str, int or bool, or a list "
                f"of them."
            )
        self.outcome.route, self.outcome.is_route_sent = value, False

    def get_invocation_context(self) -> InvocationContext:
        """Return what all nodes of this call share."""
        return self._invocation

    async def run_node(
        self,
        node: Any,
        node_input: Any = None,
        *,
        use_as_output: bool = False,
        run_id: str | None = None,
        use_sub_branch: bool = False,
        override_branch: str | None = None,
        override_isolation_scope: str | None = None,
        raise_on_wait: bool = False,
    ) -> Any:
        """Run a node, function or agent below this one and return its output.

        The child's result is recorded: when this node runs again after a pause or a crash, a finished child isn't run
        again and its recorded output is returned.

        Args:
            node: What to run.
            node_input: Its input.
            use_as_output: The child's output is this node's output.
            run_id: A name for this run of the child that stays the same on a rerun, for instance `order-17`; without
                it, runs are numbered in the order of the calls.
            use_sub_branch: Give the child a lane of its own, so that it doesn't see its siblings' messages.
            override_branch: Put the child on this lane.
            override_isolation_scope: Put the child's events into this scope instead of this node's.
            raise_on_wait: When the child is a `wait_for_output` node and ends without output, end this node, too: it
                hands on nothing, and its next trigger runs it again. Without it, `None` is returned.
        Raises:
            DynamicNodeFailError: the child failed.
        """
        wish = ChildWish(
            node_input,
            use_as_output,
            run_id,
            use_sub_branch,
            override_branch,
            override_isolation_scope,
            raise_on_wait,
        )
        return await self._place.children.run_child(node, wish)

    async def recorded_output(self, name: str, run_id: str) -> Any:
        """Return what a child of this run has handed on before it was cut off, `None` when there is nothing.

        Args:
            name: The child's name.
            run_id: Which run of it.
        """
        return None if self.is_first_try else await self._place.children.recorded_output(name, run_id)

    async def run_called(
        self,
        node: BaseNode,
        node_input: Any,
        *,
        run_id: str | None = None,
        branch: str | None = None,
        isolation_scope: str | None = None,
        is_failure_final: bool = False,
    ) -> Any:
        """Run what a model called or handed over to, and return its output; agents are written with it.

        Args:
            node: What runs.
            node_input: Its input.
            run_id: Name of the run; `None` numbers it.
            branch: Its lane, `None` for that of this node.
            isolation_scope: The conversation that its events belong to, `None` for that of this node.
            is_failure_final: When it failed before a pause, it isn't run again.
        Raises:
            DynamicNodeFailError: it failed.
            NodeInterruptedError: it waits for a person.
        """
        wish = ChildWish(
            node_input,
            run_id=run_id,
            override_branch=branch,
            override_isolation_scope=isolation_scope,
            is_failure_final=is_failure_final,
        )
        return await self._place.children.run_child(node, wish)

    async def run_graph(self, graph: Graph, node_input: Any, max_concurrency: int | None = None) -> None:
        """Run a graph below this node and make its output the node's own; `Workflow` is written with it."""
        await self._place.children.run_graph(graph, node_input, max_concurrency)

    async def run_item(self, node: BaseNode, item: Any, *, is_failure_final: bool, may_begin: bool) -> Any:
        """Run one item of a parallel worker on a lane of its own; workers are written with it.

        Args:
            node: What runs.
            item: Its input.
            is_failure_final: An item that failed before a pause or crash isn't run again.
            may_begin: The item may run for the first time.
        Raises:
            DynamicNodeFailError: the item failed.
            NodeInterruptedError: the item waits for a person, or may not begin.
        """
        wish = ChildWish(item, use_sub_branch=True, is_failure_final=is_failure_final, may_begin=may_begin)
        return await self._place.children.run_child(node, wish)

    async def run_member(
        self,
        node: Any,
        node_input: Any = None,
        *,
        branch: str | None = None,
        after: Member | None = None,
        on_event: Callable[[Event], Awaitable[None]] | None = None,
    ) -> Member:
        """Run an agent below this one as a member of the same conversation; template agents are written with it.

        Args:
            node: What runs.
            node_input: Its input; `None` for what the conversation says.
            branch: Its lane; `None` for this node's own.
            after: The member that it follows.
            on_event: Awaited with each of its events; of one that finished before, with those that are stored.
        Raises:
            DynamicNodeFailError: it failed.
            NodeInterruptedError: it waits for a person.
        """
        ends: list[NodeRun] = []
        wish = ChildWish(
            node_input,
            override_branch=branch,
            raise_on_wait=True,
            sources=(after.path,) if after else (),
            on_event=on_event,
            on_end=ends.append,
        )
        output = await self._place.children.run_child(node, wish)
        return Member(output, ends[0].path, ends[0].has_escalated)

    def keep_output(self, value: Any) -> None:
        """Hand on a value that the node's messages have said already: no output event follows."""
        self.output = freeze(value, f"output of {self.agent_name!r}")
        self.outcome.is_published = True

    async def stop_tasks(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Stop parts of the node's body that `in_task` began, and the children that run in them."""
        await self._place.children.stop(tasks)

    def in_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a part of the node's body in a task of its own, which is stopped together with the body."""
        return self._place.children.in_task(work)
