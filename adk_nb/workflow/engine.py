"""The only asyncio loop: it performs what `decide` commands, runs node bodies and emits events.

Every node run, of a graph or started with `run_node`, root or nested, first try, retry or resume, goes through
`Engine.execute`. Its record and the event that completes it are stored in one transaction together with the records of
the runs it triggers; then the event goes to the caller; then the next runs start.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from adk_nb.errors import (
    DynamicNodeFailError,
    NodeInterruptedError,
    NodeTimeoutError,
    WorkflowConfigurationError,
    WorkflowDataError,
)
from adk_nb.events.event import Event
from adk_nb.events.paths import child_branch, child_path
from adk_nb.events.record import Attempt, NodeRun, Question, Status
from adk_nb.events.request_input import REQUEST_INPUT, chose_its_id
from adk_nb.events.state import State
from adk_nb.events.values import snapshot
from adk_nb.workflow.build import build_node
from adk_nb.workflow.context import Context, InvocationContext, Place
from adk_nb.workflow.decide import TO_DO, Begun, Command, Continued, Ended, Keep, Settle, Start, decide, has_work
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.ports import RunLog
from adk_nb.workflow.retry import next_delay_s
from adk_nb.workflow.run_state import GraphState, restore_graph
from adk_nb.workflow.state_schema import state_check

Deliver = Callable[[Event], Awaitable[None]]
"""Hands a stored (or partial) event to the caller and returns when the caller asks for the next one."""
OnRun = Callable[[NodeRun], None]
"""Is told of each change of a record, on the loop, with the live record."""


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
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    """Tasks of the runs of its graph that execute now, by path."""
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

    async def run_child(
        self,
        node_like: Any,
        node_input: Any,
        *,
        use_as_output: bool,
        run_id: str | None,
        use_sub_branch: bool,
        override_branch: str | None,
    ) -> Any:
        """Run a dynamic child to its end, or take its recorded result, and return its output."""
        node = build_node(node_like)
        if self.recorded is None:
            earlier = [] if self.is_fresh else await self.engine.log.child_runs(self.run.invocation_id, self.run.path)
            self.recorded = {one.path: one for one in earlier}
        path = self._child_path(node, run_id, use_as_output)
        child = self.children.get(path)
        if child is not None and path in self.pending_children:
            await asyncio.shield(self.pending_children[path])
        elif child is None or child.run.status is not Status.COMPLETED:
            child = self._child(node, node_input, path, use_as_output, use_sub_branch, override_branch)
            await self._run_dynamic(child)
        return self._result(child)

    def _child_path(self, node: BaseNode, run_id: str | None, use_as_output: bool) -> str:
        if not self.node.rerun_on_resume:
            raise WorkflowConfigurationError(
                f"Node {self.node.name!r} calls ctx.run_node and so must have rerun_on_resume=True: write "
                f"@node(rerun_on_resume=True), so that it can go on after a pause with its children's results."
            )
        if run_id is None:
            number = self.counters[node.name] = self.counters.get(node.name, 0) + 1
            run_id = str(number)
        elif run_id.isdigit():
            raise WorkflowConfigurationError(
                f"The run_id {run_id!r} for child {node.name!r} must contain non-numeric characters, as plain numbers count "
                f"unnamed runs: write for instance 'order-{run_id}'."
            )
        path = child_path(self.run.path, node.name, run_id)
        if use_as_output:
            if self.delegate not in (None, path):
                raise WorkflowConfigurationError(
                    f"Node {self.node.name!r} already has a use_as_output delegate ({self.delegate}): only one child can "
                    f"give a node's output."
                )
            self.delegate = path
        return path

    def _child(
        self,
        node: BaseNode,
        node_input: Any,
        path: str,
        use_as_output: bool,
        use_sub_branch: bool,
        override_branch: str | None,
    ) -> Execution:
        name, run_id = node.name, path.rpartition("@")[2]
        assert self.recorded is not None  # noqa: S101  # filled before a child gets its path
        record = self.recorded.get(path)
        if record is None:
            branch = override_branch if override_branch is not None else self.run.branch
            record = NodeRun(
                path=path,
                name=name,
                run_id=run_id,
                parent=self.run.path,
                invocation_id=self.run.invocation_id,
                input=snapshot(node_input, f"input of child {name!r}"),
                branch=child_branch(branch, name, run_id) if use_sub_branch else branch,
                kind=node.kind,
                created_at=time.time(),
            )
            self.recorded[path] = record
            is_fresh = True
        else:
            is_fresh = False
        child = self.below(node, record, (self, *self.claims) if use_as_output else (), is_fresh)
        self.children[path] = child
        return child

    async def _run_dynamic(self, child: Execution) -> None:
        run, engine = child.run, self.engine
        if run.status is Status.COMPLETED or (run.status is Status.WAITING and run.path not in engine.ready):
            return
        done = self.pending_children[run.path] = engine.loop.create_future()
        child.task = asyncio.current_task()
        if child.task is not None and child.task is not self.task:
            self.child_tasks.add(child.task)
        try:
            await engine.execute(child)
        finally:
            del self.pending_children[run.path]
            done.set_result(None)

    def _result(self, child: Execution) -> Any:
        run = child.run
        if run.status is Status.COMPLETED:
            if self.delegate == run.path and self.context is not None:
                outcome = self.context.outcome
                outcome.output, outcome.has_output, outcome.is_published = run.output, True, True
            return snapshot(run.output)
        if run.status is Status.WAITING:
            raise NodeInterruptedError(open_ids(run))
        if run.status is Status.FAILED and child.error is not None:
            raise DynamicNodeFailError(run.name, child.error, run.error_path or run.path)
        reason = "; ".join(run.notes) or f"it ended {run.status}"
        raise DynamicNodeFailError(run.name, WorkflowDataError(reason), run.path)

    async def run_graph(self, graph: Graph, node_input: Any, max_concurrency: int | None) -> None:
        """Run the graph that this node holds; leaves by return, failure or the signal that it waits."""
        engine = self.engine
        state = self.graph_state
        if state is None:
            state = self.graph_state = GraphState(
                graph=graph,
                path=self.run.path,
                invocation_id=self.run.invocation_id,
                input=node_input,
                branch=self.run.branch,
                max_concurrency=max_concurrency,
            )
            commands = await engine.enter_graph(self, state)
        else:
            commands = decide(state, Continued({run.path for run in state.active.values() if run.status in TO_DO}))
        self.settled = engine.loop.create_future()
        try:
            await engine.store(None, kept(commands))
            engine.perform(self, commands)
            settle = await self.settled
        finally:
            await engine.stop_tasks(self.tasks.values())
        self._leave_graph(state, settle)

    def _leave_graph(self, state: GraphState, settle: Settle) -> None:
        run = self.run
        run.notes.extend(note for note in state.notes if note not in run.notes)
        run.is_cut_short = bool(state.short)
        if settle.error is not None:
            raise settle.error
        if settle.status is Status.FAILED and settle.failed is not None:
            failed = settle.failed
            error = self.engine.failures.get(failed.path) or WorkflowDataError(failed.error_message or "")
            raise ChildFailure(error, failed.error_path or failed.path)
        if settle.status is Status.WAITING:
            raise NodeInterruptedError(
                interrupt_id for one in state.active.values() if one.status is Status.WAITING for interrupt_id in open_ids(one)
            )
        if settle.status is Status.CANCELLED:
            raise asyncio.CancelledError
        if settle.status is Status.INCOMPLETE:
            run.status = Status.INCOMPLETE
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


class Engine:
    """Runs one invocation of one root node."""

    def __init__(
        self, *, invocation: InvocationContext, log: RunLog, deliver: Deliver, on_run: OnRun | None = None
    ) -> None:
        """Prepare to run; nothing happens before `run_root`.

        Args:
            invocation: What all nodes share.
            log: Where events and records are kept.
            deliver: Takes each event after it was stored.
            on_run: Told of each change of a record.
        """
        self.invocation = invocation
        self.log = log
        self.deliver = deliver
        self.on_run = on_run
        self.loop = asyncio.get_running_loop()
        self.failures: dict[str, BaseException] = {}
        """Exceptions of failed runs, by the path of the run."""
        self.ready: set[str] = set()
        """Paths of recorded runs that have something to do."""
        self._open_below: dict[str, list[NodeRun]] = {}
        self._cancelled: list[NodeRun] = []

    async def run_root(self, root: BaseNode, run: NodeRun, *, is_fresh: bool) -> None:
        """Execute the root run to its end.

        Raises:
            Exception: what the first failing node raised, unchanged.
        """
        if not is_fresh:
            self._find_work(await self.log.open_runs(run.invocation_id))
            if run.path not in self.ready:
                return
        execution = Execution(engine=self, node=root, run=run, author=root.name, is_fresh=is_fresh)
        execution.task = asyncio.current_task()
        try:
            await self.execute(execution)
        finally:
            await self.store(None, [])
        if run.status is Status.FAILED and execution.error is not None:
            raise execution.error

    def _find_work(self, runs: list[NodeRun]) -> None:
        open_questions = {q.interrupt_id for run in runs for q in run.open_questions}
        for run in sorted(runs, key=lambda one: one.path.count("/"), reverse=True):
            self._open_below.setdefault(run.parent, []).insert(0, run)
            if has_work(run, open_questions, self.ready):
                self.ready.update((run.path, run.parent))

    async def enter_graph(self, execution: Execution, state: GraphState) -> list[Command]:
        """Return the first commands of a graph, restored from its records where it ran before."""
        if execution.is_fresh:
            return decide(state, Begun())
        path = state.path
        open_runs = self._open_below.pop(path, [])
        latest = await self.log.latest_runs(state.invocation_id, path)
        if not open_runs and not latest:
            return decide(state, Begun())
        restore_graph(state, open_runs, latest)
        return decide(state, Continued(self.ready))

    def perform(self, parent: Execution, commands: Iterable[Command]) -> None:
        """Carry out what `decide` asked for below one graph."""
        state = parent.graph_state
        assert state is not None  # noqa: S101  # only graphs have commands
        for command in commands:
            if isinstance(command, Start):
                if state.is_stopping:
                    self.perform(parent, decide(state, Ended(command.run)))
                else:
                    self._start(parent, state, command.run)
            elif isinstance(command, Keep):
                self.tell(command.run)
            elif isinstance(command, Settle):
                if parent.settled is not None and not parent.settled.done():
                    parent.settled.set_result(command)
            else:
                for path, task in parent.tasks.items():
                    if path in state.running:
                        task.cancel()

    def _start(self, parent: Execution, state: GraphState, run: NodeRun) -> None:
        claims = (parent, *parent.claims) if state.graph.is_terminal(run.name) else ()
        is_fresh = not run.attempts and run.path not in self.ready
        child = parent.below(state.graph.node(run.name), run, claims, is_fresh)
        task = self.loop.create_task(self.execute(child, parent))
        child.task = parent.tasks[run.path] = task
        task.add_done_callback(functools.partial(self._task_ended, parent, run))

    def _task_ended(self, parent: Execution, run: NodeRun, task: asyncio.Task[None]) -> None:
        parent.tasks.pop(run.path, None)
        state, settled = parent.graph_state, parent.settled
        if state is None or settled is None or settled.done():
            return
        if task.cancelled():
            if run.path in state.running:
                self.perform(parent, decide(state, Ended(run)))
        elif (error := task.exception()) is not None:
            settled.set_exception(error)

    async def execute(self, execution: Execution, graph: Execution | None = None) -> None:
        """Run one node run to where it ends, fails or waits, and hand its end to the graph it belongs to."""
        run, node = execution.run, execution.node
        if run.questions and not node.rerun_on_resume and not run.open_below:
            await self._take_answers(execution, graph)
            return
        run.status = Status.RUNNING
        run.open_below = ()
        run.error_type = run.error_message = run.error_path = None
        if run.started_at is None:
            run.started_at = time.time()
        self.tell(run)
        tries = 0
        while True:
            tries += 1
            attempt = Attempt(time.time())
            run.attempts.append(attempt)
            try:
                final = await self._attempt(execution, tries)
                break
            except asyncio.CancelledError:
                await self._stop_children(execution)
                attempt.ended_at = run.ended_at = time.time()
                if run.status is Status.RUNNING:
                    run.status = Status.CANCELLED
                    self._cancelled.append(run)
                    self.tell(run)
                raise
            except Exception as error:  # whatever user code raises is the node's failure, retried and reported here
                await self._stop_children(execution)
                delay = await self._fail_attempt(execution, attempt, tries, error, graph)
                if delay is None:
                    return
                await asyncio.sleep(delay)
                execution.counters.clear()
                execution.delegate = None
                execution.asked = 0
        attempt.ended_at = time.time()
        await self._finish(execution, final, graph)

    async def _take_answers(self, execution: Execution, graph: Execution | None) -> None:
        run = execution.run
        if run.open_questions:
            run.status = Status.WAITING
        else:
            answers = run.answers
            run.output = next(iter(answers.values())) if len(answers) == 1 else answers
            run.status = Status.COMPLETED
            run.ended_at = time.time()
        await self._end(run, None, graph)

    async def _attempt(self, execution: Execution, number: int) -> Event | None:
        """Run the body once; return the event that is to be stored with the end of the run."""
        run, node = execution.run, execution.node
        place = Place(run, number, run.answers, execution, state_check(execution.state_schemas, node))
        context = execution.context = Context(self.invocation, node=node, place=place)
        node_input = snapshot(run.input)
        if node.timeout is None:
            return await self._body(execution, context, node_input)
        try:
            async with asyncio.timeout(node.timeout) as limit:
                return await self._body(execution, context, node_input)
        except TimeoutError as error:
            if limit.expired():
                raise NodeTimeoutError(node.name, node.timeout) from error
            raise

    async def _body(self, execution: Execution, context: Context, node_input: Any) -> Event | None:
        node, run = execution.node, execution.run
        last: Event | None = None
        try:
            if node.returns_once:
                last = node.as_event(await node.call(ctx=context, node_input=node.checked_input(node_input)))
                if last is not None:
                    self._enrich(execution, context, last)
            else:
                async with contextlib.aclosing(node.run(ctx=context, node_input=node_input)) as events:
                    async for event in events:
                        self._enrich(execution, context, event)
                        await self._emit(execution, event)
        except NodeInterruptedError as signal:
            run.open_below = signal.interrupt_ids
        except BaseExceptionGroup as group:
            if group.split(NodeInterruptedError)[0] is None:
                raise
            run.open_below = ("",)
        if execution.children:
            await self._await_children(execution)
        return await self._closing_event(execution, context, last)

    async def _await_children(self, execution: Execution) -> None:
        """Let children that still run come to their end; collect what they wait for."""
        run = execution.run
        late = list(execution.pending_children)
        while execution.pending_children:
            await asyncio.wait(list(execution.pending_children.values()))
        for path in late:
            child = execution.children[path]
            if child.run.status is Status.FAILED and child.error is not None:
                raise DynamicNodeFailError(child.run.name, child.error, child.run.error_path or path)
        waiting = [child.run for child in execution.children.values() if child.run.status is Status.WAITING]
        if run.open_below:
            run.open_below = tuple(dict.fromkeys(i for one in waiting for i in open_ids(one)))
        elif waiting:
            raise WorkflowDataError(
                f"Node {run.name!r} ended without awaiting ctx.run_node() of {waiting[0].name!r}, which waits for a person: "
                f"await every child, for instance with asyncio.gather."
            )

    def _enrich(self, execution: Execution, context: Context, event: Event) -> None:
        """Complete an event with where it comes from, and note what it says about the run's outcome."""
        run, node, outcome = execution.run, execution.node, context.outcome
        if event.branch is not None:
            run.branch = event.branch or None
        event.place(
            invocation_id=run.invocation_id,
            author=context.event_author or (node.name if node.speaks_as_itself else execution.author),
            path=run.path,
            branch=run.branch,
        )
        if self.invocation.run_config.custom_metadata:
            event.custom_metadata = {**self.invocation.run_config.custom_metadata, **(event.custom_metadata or {})}
        if event.partial:
            return
        if event.actions.route is not None:
            outcome.route, outcome.is_route_sent = event.actions.route, True
        if event.long_running_tool_ids:
            self._note_questions(execution, event)
        self._note_output(execution, context, event)
        self._apply_state(context, event)

    def _note_output(self, execution: Execution, context: Context, event: Event) -> None:
        outcome = context.outcome
        value = event.output
        if event.node_info.message_as_output and event.content is not None:
            if value is None:
                value = event.content
            event.output = None
        if value is None:
            return
        if outcome.is_published and execution.delegate is not None:
            event.output = None
            return
        if outcome.has_output:
            raise WorkflowDataError(
                f"Node {execution.run.name!r} gave a second output: a node hands on at most one output a run; put several "
                f"values into one list or dictionary."
            )
        value = self._claimed(execution, value)
        if event.output is not value and event.output is not None:
            event.output = value
        outcome.output, outcome.has_output, outcome.is_published = value, True, True
        event.node_info.output_for = [execution.run.path, *(one.run.path for one in execution.claims)]

    def _claimed(self, execution: Execution, value: Any) -> Any:
        for above in execution.claims:
            if above.node.output_schema is not None:
                value = above.node.checked_output(value)
        return value

    def _apply_state(self, context: Context, event: Event) -> None:
        live, actions = self.invocation.session.state, event.actions
        if actions.state_delta:
            for key, value in actions.state_delta.items():
                context.state.check(key, value)
                live[key] = snapshot(value, f"state[{key!r}]")
        written = context.state.take_delta()
        if written or actions.state_delta:
            merged = {**actions.state_delta, **written}
            actions.state_delta = {k: v for k, v in merged.items() if not k.startswith(State.TEMP_PREFIX)}

    def _note_questions(self, execution: Execution, event: Event) -> None:
        for call in event.get_function_calls():
            if call.id not in (event.long_running_tool_ids or ()):
                continue
            args = call.args or {}
            is_request = call.name == REQUEST_INPUT
            question = Question(
                interrupt_id=str(call.id),
                message=args.get("message") if is_request else call.name,
                payload=snapshot(args.get("payload") if is_request else args),
                response_schema=args.get("response_schema") if is_request else None,
                asked_at=time.time(),
                is_named=chose_its_id(str(call.id)),
            )
            self._ask(execution, event, question)
        event.long_running_tool_ids = event.long_running_tool_ids or None

    def _ask(self, execution: Execution, event: Event, question: Question) -> None:
        run = execution.run
        if question.is_named:
            known = [one for one in run.open_questions if one.interrupt_id == question.interrupt_id]
        else:
            unnamed = [one for one in run.questions if not one.is_named]
            known = [one for one in unnamed[execution.asked : execution.asked + 1] if not one.is_answered]
            execution.asked += 1
        if not known:
            run.questions.append(question)
            return
        assert event.long_running_tool_ids is not None and event.content is not None  # noqa: S101  # a question event
        event.long_running_tool_ids.discard(question.interrupt_id)
        event.content.parts = [
            part
            for part in event.content.parts or ()
            if part.function_call is None or part.function_call.id != question.interrupt_id
        ]

    async def _emit(self, execution: Execution, event: Event) -> None:
        """Store and deliver an event in the middle of a run."""
        if event.partial:
            await self.deliver(event)
            return
        if is_empty(event):
            return
        await self.store(event, [execution.run] if event.long_running_tool_ids or event.output is not None else [])
        if event.long_running_tool_ids:
            self.tell(execution.run)
        await self.deliver(event)

    async def _fail_attempt(
        self, execution: Execution, attempt: Attempt, number: int, error: Exception, graph: Execution | None
    ) -> float | None:
        """Record a failed try; return the seconds to wait for the next one, `None` when the run has failed."""
        run = execution.run
        is_own = not isinstance(error, (ChildFailure, DynamicNodeFailError))
        cause = error if is_own else error.error  # type: ignore[attr-defined]
        path = run.path if is_own else getattr(error, "path", None) or getattr(error, "error_node_path", run.path)
        delay = next_delay_s(execution.node.retry_config, number, cause)
        attempt.ended_at = time.time()
        attempt.error_type, attempt.error_message = type(cause).__name__, str(cause)
        if delay is None:
            execution.error = cause
            self.failures[run.path] = cause
            run.status = Status.FAILED
            run.ended_at = attempt.ended_at
            run.error_type, run.error_message, run.error_path = attempt.error_type, attempt.error_message, path
        else:
            attempt.retry_at = attempt.ended_at + delay
        event = self._error_event(execution, cause) if is_own else None
        if delay is None:
            await self._end(run, event, graph)
        else:
            await self.store(event, [run])
            self.tell(run)
            if event is not None:
                await self.deliver(event)
        return delay

    def _error_event(self, execution: Execution, error: BaseException) -> Event:
        status = getattr(error, "status", None)
        code = status if isinstance(status, str) else type(error).__name__
        event = Event(error_code=code, error_message=str(error))
        context = execution.context
        assert context is not None  # noqa: S101  # an attempt began
        self._enrich(execution, context, event)
        return event

    async def _finish(self, execution: Execution, last: Event | None, graph: Execution | None) -> None:
        """Settle a run whose body has ended."""
        run, context, node = execution.run, execution.context, execution.node
        assert context is not None  # noqa: S101  # an attempt ended
        outcome = context.outcome
        run.route = outcome.route
        if run.open_questions or run.open_below:
            run.status = Status.WAITING
        else:
            run.ended_at = time.time()
            run.output = outcome.output
            is_silent = node.wait_for_output and run.output is None and run.route is None
            if is_silent:
                run.notes.append(f"{run.name} ended without output and waits for its next trigger")
            if is_silent or (run.is_cut_short and run.parent == ""):
                run.status = Status.INCOMPLETE
            if run.status is not Status.INCOMPLETE:
                run.status = Status.COMPLETED
        await self._end(run, last, graph)

    async def _closing_event(self, execution: Execution, context: Context, last: Event | None) -> Event | None:
        """Return the event that closes the body: what it left in the context goes with it or follows it."""
        outcome = context.outcome
        if not outcome.is_published and outcome.has_output:
            closing = Event(output=execution.node.checked_output(outcome.output), route=outcome.route)
            outcome.output, outcome.has_output = None, False
        elif not outcome.is_route_sent or (last is None and context.state.has_delta()):
            closing = Event(route=None if outcome.is_route_sent else outcome.route)
        else:
            return None if last is not None and is_empty(last) else last
        if last is not None:
            await self._emit(execution, last)
        self._enrich(execution, context, closing)
        return None if is_empty(closing) else closing

    async def _end(self, run: NodeRun, event: Event | None, graph: Execution | None) -> None:
        """Let the graph decide what follows from the end of a run, store it all at once, and go on."""
        commands: list[Command] = []
        if graph is not None and graph.graph_state is not None:
            commands = decide(graph.graph_state, Ended(run))
        await self.store(event, [run, *(one for one in kept(commands) if one is not run)])
        self.tell(run)
        if event is not None:
            await self.deliver(event)
        if graph is not None:
            self.perform(graph, commands)

    async def store(self, event: Event | None, runs: list[NodeRun]) -> None:
        """Write an event and records in one transaction."""
        if self._cancelled:
            runs = [*runs, *self._cancelled]
            self._cancelled = []
        if event is not None or runs:
            await self.log.append(event, runs)

    def tell(self, run: NodeRun) -> None:
        """Report a changed record to whoever watches."""
        if self.on_run is not None:
            self.on_run(run)

    async def _stop_children(self, execution: Execution) -> None:
        me = asyncio.current_task()
        await self.stop_tasks([task for task in execution.child_tasks if task is not me])

    async def stop_tasks(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Cancel tasks and wait until they have ended."""
        running = [task for task in tasks if not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)


def is_empty(event: Event) -> bool:
    """Say whether an event says nothing: no content, output, route, state, question or error."""
    content = event.content
    return (
        event.output is None
        and not (content and content.parts)
        and event.error_code is None
        and event.actions.route is None
        and not event.actions.state_delta
        and not event.actions.artifact_delta
        and event.usage_metadata is None
        and event.custom_metadata is None
    )


