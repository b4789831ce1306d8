"""One node run while it executes, and how it runs what is below it: dynamic children, or the graph that it holds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adk_nb.errors import DynamicNodeFailError, NodeInterruptedError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events.paths import child_branch, child_path
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.values import freeze, snapshot
from adk_nb.workflow.build import build_node
from adk_nb.workflow.context import ChildWish, Context
from adk_nb.workflow.decide import TO_DO, Command, Continued, Keep, Settle, decide
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.run_state import GraphState

if TYPE_CHECKING:
    from adk_nb.workflow.engine import Engine


class ChildFailure(Exception):
    """Carries a failure out of a graph to the run that holds it."""

    def __init__(self, error: BaseException, path: str) -> None:
        super().__init__(path)
        self.error = error
        self.path = path


@dataclass(slots=True, eq=False)
class Execution:
    """One node run while it executes, with what it needs to run what is below it."""

    engine: Engine
    node: BaseNode
    run: NodeRun
    claims: tuple[Execution, ...] = ()
    """The runs above whose output this run's output is, nearest first."""
    author: str = ""
    """Name that its events carry: the nearest workflow's, or the node's own."""
    state_schemas: tuple[Any, ...] = ()
    is_fresh: bool = True
    """Nothing below it was recorded before."""
    error: BaseException | None = None
    context: Context | None = None
    graph_state: GraphState | None = None
    settled: asyncio.Future[Settle] | None = None
    tasks: dict[asyncio.Task[None], Execution] = field(default_factory=dict)
    """The tasks of its graph, each with the run that it executes now."""
    children: dict[str, Execution] = field(default_factory=dict)
    """Dynamic children that executed in this process, by path."""
    pending_children: dict[str, asyncio.Future[None]] = field(default_factory=dict)
    task: asyncio.Task[Any] | None = None
    """The task in which this run executes."""
    child_tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    """Tasks that user code made to run children."""
    recorded: dict[str, NodeRun] | None = None
    """All dynamic children, those of earlier executions included, by path; `None` before the first is run."""
    counters: dict[str, int] = field(default_factory=dict)
    delegate: str | None = None
    """Path of the child whose output is this run's output."""
    asked: int = 0
    """Questions without an id of their own that this try has asked."""
    is_over: bool = False
    """The body of this try has ended."""
    is_stopped: bool = False
    """A limit keeps something below it from starting."""
    is_silenced: bool = False
    """It asked to end without output when a child of it does."""
    isolation_scope: str | None = None
    """Which conversation its events belong to."""
    claimer: Execution | None = None
    """The outermost run that took this run's output as its own with `use_as_output`."""
    is_off_loop: bool = False
    """Sync functions of this run and of those below it work in threads: others want the loop, or a limit its clock."""

    @property
    def may_have_children(self) -> bool:
        """The body may have started children, also in tasks that haven't begun yet."""
        return self.node.rerun_on_resume and (self.graph_state is None or bool(self.children))

    def begin_again(self) -> None:
        """Forget what belongs to one try only."""
        self.counters.clear()
        self.child_tasks.clear()
        self.delegate = None
        self.asked = 0
        self.is_over = self.is_stopped = self.is_silenced = False

    async def run_child(self, node_like: Any, wish: ChildWish) -> Any:
        """Run a dynamic child to its end, or take its recorded result, and return its output."""
        if self.is_over:
            raise WorkflowConfigurationError(
                f"Node {self.run.name!r} has ended and can't run children any more: await every ctx.run_node in it."
            )
        node = build_node(node_like)
        path = self._child_path(node, wish)
        if self.recorded is None:
            earlier = [] if self.is_fresh else await self.engine.log.child_runs(self.run.invocation_id, self.run.path)
            if self.recorded is None:
                self.recorded = {one.path: one for one in earlier}
        child = self.children.get(path)
        if child is not None and path in self.pending_children:
            await asyncio.shield(self.pending_children[path])
        elif child is None or child.run.status is not Status.COMPLETED:
            if child is None:
                self._refuse(path, wish)
            child = self._child(node, path, wish)
            await self._run_dynamic(child)
        return self._result(child, wish)

    def _refuse(self, path: str, wish: ChildWish) -> None:
        """Raise when the child isn't to run: it may not begin yet, or its recorded failure is final."""
        record = self.recorded.get(path) if self.recorded is not None else None
        if record is None and not wish.may_begin:
            raise NodeInterruptedError(())
        if record is not None and record.status is Status.FAILED and wish.is_failure_final:
            error = WorkflowDataError(record.error_message or "")
            raise DynamicNodeFailError(record.name, error, record.error_path or path, error_type=record.error_type)

    def in_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a part of the body in a task that is stopped together with the body."""
        task = self.engine.loop.create_task(work, name=self.run.path)
        self.child_tasks.add(task)
        return task

    def _child_path(self, node: BaseNode, wish: ChildWish) -> str:
        if not self.node.rerun_on_resume:
            raise WorkflowConfigurationError(
                f"Node {self.node.name!r} calls ctx.run_node and so must have rerun_on_resume=True: write "
                f"@node(rerun_on_resume=True), so that it can go on after a pause with its children's results."
            )
        run_id = wish.run_id
        if run_id is None:
            number = self.counters[node.name] = self.counters.get(node.name, 0) + 1
            run_id = str(number)
        elif run_id.isdigit():
            raise WorkflowConfigurationError(
                f"The run_id {run_id!r} for child {node.name!r} must contain non-numeric characters, as plain "
                f"numbers count unnamed runs: write for instance 'order-{run_id}'."
            )
        path = child_path(self.run.path, node.name, run_id)
        if wish.use_as_output:
            if self.delegate not in (None, path):
                raise WorkflowConfigurationError(
                    f"Node {self.node.name!r} already has a use_as_output delegate ({self.delegate}): only one child "
                    f"can give a node's output."
                )
            self.delegate = path
        return path

    def _child(self, node: BaseNode, path: str, wish: ChildWish) -> Execution:
        name, run_id = node.name, path.rpartition("@")[2]
        assert self.recorded is not None  # filled before a child gets its path
        record = self.recorded.get(path)
        if record is None or record.is_told:
            told = record
            branch = wish.override_branch if wish.override_branch is not None else self.run.branch
            record = NodeRun(
                path=path,
                name=name,
                run_id=run_id,
                parent=self.run.path,
                invocation_id=self.run.invocation_id,
                input=freeze(wish.input, f"input of child {name!r}"),
                branch=child_branch(branch, name, run_id) if wish.use_sub_branch else branch,
                kind=node.kind,
                created_at=time.time(),
            )
            if told is not None:
                record.take_over(told)
            self.recorded[path] = record
            self.engine.store_later(record)
            is_fresh = told is None
        else:
            is_fresh = False
        child = self.below(node, record, (self, *self.claims) if wish.use_as_output else (), is_fresh)
        if wish.use_as_output:
            child.claimer = self.claimer or self
        if wish.override_isolation_scope is not None:
            child.isolation_scope = wish.override_isolation_scope
        self.children[path] = child
        return child

    async def _run_dynamic(self, child: Execution) -> None:
        run, engine = child.run, self.engine
        if run.status is Status.COMPLETED or (run.status is Status.WAITING and run.path not in engine.ready):
            return
        if not engine.allowance.take(run.kind):
            self.is_stopped = True
            raise NodeInterruptedError(())
        done = self.pending_children[run.path] = engine.loop.create_future()
        child.task = asyncio.current_task()
        if child.task is not None and child.task is not self.task:
            self.child_tasks.add(child.task)
            child.is_off_loop = True
        elif len(self.pending_children) > 1:
            child.is_off_loop = True
        try:
            await engine.execute(child)
        finally:
            del self.pending_children[run.path]
            done.set_result(None)

    def raise_unseen(self) -> None:
        """Raise what a task of the body that ran a child failed with, when the body never looked at it."""
        for task in self.child_tasks:
            # Python's own mark of an exception that nobody asked for; without it a failure would only be logged.
            if task.done() and not task.cancelled() and getattr(task, "_log_traceback", False):
                error = task.exception()
                if isinstance(error, Exception):
                    raise error

    def _result(self, child: Execution, wish: ChildWish) -> Any:
        run = child.run
        if run.status is Status.COMPLETED:
            if self.delegate == run.path and self.context is not None:
                outcome = self.context.outcome
                outcome.output, outcome.has_output, outcome.is_published = run.output, True, True
            return snapshot(run.output)
        if run.status is Status.WAITING:
            raise NodeInterruptedError(open_ids(run))
        if run.status is Status.STOPPED:
            self.is_stopped = True
            raise NodeInterruptedError(())
        if run.status is Status.FAILED and child.error is not None:
            raise DynamicNodeFailError(run.name, child.error, run.error_path or run.path)
        if run.status is Status.INCOMPLETE and child.node.wait_for_output and not run.is_cut_short:
            if wish.raise_on_wait:
                self.is_silenced = True
                raise NodeInterruptedError(())
            return None
        reason = "; ".join(run.notes) or f"it ended {run.status}"
        raise DynamicNodeFailError(run.name, WorkflowDataError(reason), run.path)

    async def run_graph(self, graph: Graph, node_input: Any, max_concurrency: int | None) -> None:
        """Run the graph that this node holds; leaves by return, failure or the signal that it waits."""
        engine = self.engine
        state = self.graph_state = engine.graph_states.get(self.run.path)
        if state is None:
            state = self.graph_state = GraphState(
                graph=graph,
                path=self.run.path,
                invocation_id=self.run.invocation_id,
                input=freeze(node_input),
                branch=self.run.branch,
                max_concurrency=max_concurrency,
                allowance=engine.allowance,
            )
            commands = await engine.enter_graph(self, state)
            engine.graph_states[state.path] = state
        else:
            state.graph, state.max_concurrency = graph, max_concurrency
            commands = decide(state, Continued({run.path for run in state.active.values() if run.status in TO_DO}))
        self.settled = engine.loop.create_future()
        try:
            await engine.store(None, kept(commands))
            engine.perform(self, commands)
            settle = await self.settled
        finally:
            state.is_stopping = True
            await engine.stop_tasks(self.tasks)
        self._leave_graph(state, settle)

    def _leave_graph(self, state: GraphState, settle: Settle) -> None:
        run = self.run
        run.note(*state.notes)
        run.is_cut_short = bool(state.short)
        if settle.error is not None:
            raise settle.error
        if settle.status is Status.FAILED and settle.failed is not None:
            failed = settle.failed
            error = self.engine.failures.get(failed.path) or WorkflowDataError(failed.error_message or "")
            raise ChildFailure(error, failed.error_path or failed.path)
        if settle.status is Status.WAITING:
            raise NodeInterruptedError(
                interrupt_id
                for one in state.active.values()
                if one.status is Status.WAITING
                for interrupt_id in open_ids(one)
            )
        if settle.status is Status.CANCELLED:
            raise asyncio.CancelledError
        if settle.status is Status.STOPPED:
            self.is_stopped = True
            raise NodeInterruptedError(())
        del self.engine.graph_states[state.path]
        if settle.status is Status.INCOMPLETE:
            run.fall_short(time.time())
        if self.context is not None:
            outcome = self.context.outcome
            outcome.output, outcome.has_output, outcome.is_published = settle.output, True, True

    def below(self, node: BaseNode, run: NodeRun, claims: tuple[Execution, ...], is_fresh: bool) -> Execution:
        """Return the execution of a run directly below this one."""
        holds_graph = self.graph_state is not None
        return Execution(
            engine=self.engine,
            node=node,
            run=run,
            claims=claims,
            author=self.node.name if holds_graph else self.author if self.author != self.node.name else node.name,
            state_schemas=(*self.state_schemas, self.node.state_schema)
            if self.node.state_schema is not None
            else self.state_schemas,
            is_fresh=is_fresh,
            isolation_scope=self.isolation_scope,
            claimer=self.claimer if claims else None,
            is_off_loop=self.is_off_loop or self.node.timeout is not None,
        )


def open_ids(run: NodeRun) -> tuple[str, ...]:
    """Return the ids of all questions that a run and the runs below it wait for."""
    return tuple(dict.fromkeys([*(q.interrupt_id for q in run.open_questions), *run.open_below]))


def kept(commands: Iterable[Command]) -> list[NodeRun]:
    """Return the records that commands ask to store, the new ones marked with the time."""
    runs = [command.run for command in commands if isinstance(command, Keep)]
    for run in runs:
        if run.created_at == 0.0:
            run.created_at = time.time()
    return runs
