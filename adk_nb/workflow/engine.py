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
import warnings
import weakref
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from adk_nb.errors import DynamicNodeFailError, NodeInterruptedError, NodeTimeoutError, WorkflowDataError
from adk_nb.events.event import Event
from adk_nb.events.read_only import thawed
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.values import snapshot
from adk_nb.workflow.context import Context, InvocationContext, Place
from adk_nb.workflow.decide import TO_DO, Begun, Command, Continued, Ended, Keep, Settle, Start, decide, find_ready
from adk_nb.workflow.execution import ChildFailure, Execution, kept, open_ids
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.ports import RunLog
from adk_nb.workflow.publish import Review, enrich, enrich_reviewed, is_empty
from adk_nb.workflow.replay import walk_again
from adk_nb.workflow.retry import next_delay_s
from adk_nb.workflow.run_state import GraphState, restore_graph
from adk_nb.workflow.state_schema import state_check

Deliver = Callable[[Event], Awaitable[None]]
"""Hands a stored (or partial) event to the caller and returns when the caller asks for the next one."""
OnRun = Callable[[NodeRun], None]
"""Is told of each change of a record, on the loop, with the live record."""
ENDED = frozenset({Status.COMPLETED, Status.INCOMPLETE})
"""Statuses of runs that have handed on all that they ever will."""
STOP_WITHIN_S = 1.0
"""How long a cancelled node may take to end; one that takes longer is left behind."""


class Engine:
    """Runs one invocation of one root node."""

    def __init__(
        self,
        *,
        invocation: InvocationContext,
        log: RunLog,
        deliver: Deliver,
        on_run: OnRun | None = None,
        review: Review | None = None,
    ) -> None:
        """Prepare to run; nothing happens before `run_root`.

        Args:
            invocation: What all nodes share.
            log: Where events and records are kept.
            deliver: Takes each event after it was stored.
            on_run: Told of each change of a record.
            review: Awaited with each event of a node before anything is made of it; it may change the event.
        """
        self.invocation = invocation
        self.log = log
        self.deliver = deliver
        self.on_run = on_run
        self.review = review
        self.loop = asyncio.get_running_loop()
        self._root_task: asyncio.Task[Any] | None = None
        self._is_out_of_time = False
        self.allowance = invocation.allowance
        self.failures: dict[str, BaseException] = {}
        """Exceptions of failed runs, by the path of the run."""
        self.ready: set[str] = set()
        """Paths of recorded runs that have something to do."""
        self.graph_states: dict[str, GraphState] = {}
        """States of the graphs that have begun in this process and haven't ended, by path."""
        self._open_below: dict[str, list[NodeRun]] = {}
        self._unstored: list[NodeRun] = []
        self._left_behind: set[asyncio.Task[Any]] = set()
        self._stopping: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self.is_ending = False
        """Nobody listens any more, and the root is about to be cancelled."""

    async def run_root(self, root: BaseNode, run: NodeRun, *, is_fresh: bool) -> None:
        """Execute the root run to its end.

        Raises:
            Exception: what the first failing node raised, unchanged.
        """
        if not is_fresh:
            self._find_work(await self.log.open_runs(run.invocation_id))
            if run.path not in self.ready or run.is_finished:
                return
        execution = Execution(engine=self, node=root, run=run, author=root.name, is_fresh=is_fresh)
        task = execution.task = self._root_task = asyncio.current_task()
        assert task is not None  # a coroutine of a task
        max_seconds = self.allowance.limits.max_seconds
        execution.is_off_loop = (
            max_seconds is not None or self.invocation.run_config.tool_thread_pool_config is not None
        )
        timer = None if max_seconds is None else self.loop.call_later(max_seconds, self._time_is_up, task)
        try:
            await self.execute(execution)
        except asyncio.CancelledError:
            if not self._is_out_of_time or task.uncancel():
                raise
            run.stop()
        finally:
            if timer is not None:
                timer.cancel()
            if run.status is Status.STOPPED:
                run.stop(self.allowance.reached, self.allowance.sentence())
                self._unstored.append(run)
                self.tell(run)
            self.invocation.close_threads()
            await self.store(None, [])
        if run.status is Status.FAILED and execution.error is not None:
            raise execution.error

    def _time_is_up(self, task: asyncio.Task[Any]) -> None:
        self._is_out_of_time = True
        self.allowance.reached = self.allowance.reached or "max_seconds"
        task.cancel()

    def _find_work(self, runs: list[NodeRun]) -> None:
        self.ready |= find_ready(runs)
        for run in runs:
            self._open_below.setdefault(run.parent, []).append(run)
            if run.status is Status.WAITING and run.path in self.ready:
                run.make_ready()
                self._unstored.append(run)

    async def enter_graph(self, execution: Execution, state: GraphState) -> list[Command]:
        """Return the first commands of a graph, restored from its records where it ran before."""
        if execution.is_fresh:
            return decide(state, Begun())
        path = state.path
        open_runs = self._open_below.pop(path, [])
        latest = await self.log.latest_runs(state.invocation_id, path)
        if not open_runs and not latest:
            return decide(state, Begun())
        if any(run.is_told for run in (*open_runs, *latest)):
            return await self._enter_told_graph(execution, state)
        restore_graph(state, open_runs, latest)
        return decide(state, Continued(self.ready))

    async def _enter_told_graph(self, execution: Execution, state: GraphState) -> list[Command]:
        """Return the first commands of a graph of which only events tell."""
        found: list[NodeRun] = []
        parents = [state.path]
        for parent in parents:
            below = await self.log.child_runs(state.invocation_id, parent)
            found += below
            parents += [run.path for run in below]
        runs = walk_again(state, execution.run, found)
        open_now = {run.path for run in runs if run.status in TO_DO}
        return [*map(Keep, runs), *decide(state, Continued(self.ready | open_now))]

    def perform(self, parent: Execution, commands: Iterable[Command]) -> None:
        """Carry out what `decide` asked for below one graph."""
        state = parent.graph_state
        assert state is not None  # only graphs have commands
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
                stopping = {task for task, child in parent.tasks.items() if child.run.path in state.running}
                self._stopping |= stopping
                for task in stopping:
                    task.cancel()
                self.loop.call_later(STOP_WITHIN_S, self._give_up, parent, state, stopping)

    def _go_on(self, graph: Execution, commands: list[Command]) -> Execution | None:
        """Carry out what follows from the end of a run in this task; return the run to execute next in it, if any.

        A run that alone follows goes on in the same task: a chain needs one task, not one for each of its nodes.
        """
        starts = [command for command in commands if isinstance(command, Start)]
        state, task = graph.graph_state, asyncio.current_task()
        assert state is not None  # only graphs have commands
        if len(starts) != 1 or state.is_stopping or task not in graph.tasks or task.cancelling():
            self.perform(graph, commands)
            return None
        self.perform(graph, [command for command in commands if command is not starts[0]])
        return self._below(graph, state, starts[0].run)

    def _below(self, parent: Execution, state: GraphState, run: NodeRun) -> Execution:
        claims = (parent, *parent.claims) if state.graph.is_terminal(run.name) else ()
        is_fresh = not run.attempts and run.path not in self.ready
        child = parent.below(state.graph.node(run.name), run, claims, is_fresh)
        if len(state.running) > 1:
            child.is_off_loop = True
        return child

    def _start(self, parent: Execution, state: GraphState, run: NodeRun) -> None:
        child = self._below(parent, state, run)
        task = child.task = self.loop.create_task(self._execute_from(child, parent), name=run.path)
        parent.tasks[task] = child
        task.add_done_callback(functools.partial(self._task_ended, parent))

    async def _execute_from(self, first: Execution, graph: Execution) -> None:
        """Execute a run, and what follows from it in the same task."""
        task = first.task
        assert task is not None  # this one
        execution: Execution | None = first
        while execution is not None:
            if execution is not first:
                execution.task, graph.tasks[task] = task, execution
                task.set_name(execution.run.path)
            execution = await self.execute(execution, graph)

    def _task_ended(self, parent: Execution, task: asyncio.Task[None]) -> None:
        run = parent.tasks.pop(task).run
        error = None if task.cancelled() else task.exception()
        state, settled = parent.graph_state, parent.settled
        if state is None or settled is None or settled.done():
            return
        if task.cancelled():
            if run.path in state.running:
                self.perform(parent, decide(state, Ended(run)))
        elif error is not None:
            settled.set_exception(error)

    async def execute(self, execution: Execution, graph: Execution | None = None) -> Execution | None:
        """Run one node run to where it ends, fails or waits, and hand its end to the graph it belongs to.

        Returns the run of the graph that the caller is to execute next, if there is one.
        """
        run, node = execution.run, execution.node
        if run.questions and not node.rerun_on_resume and not run.open_below:
            return await self._take_answers(execution, graph)
        if run.output is not None and not run.open_questions and run.status is not Status.FAILED:
            # It was stopped between its output, which is out, and its end: going on means to end.
            run.complete(time.time())
            return await self._end(run, None, graph)
        run.begin(time.time())
        self.tell(run)
        tries = 0
        while True:
            tries += 1
            run.begin_attempt(time.time())
            try:
                final = await self._attempt(execution, tries)
                break
            except BaseException as error:  # whatever user code raises is the node's failure, retried and reported here
                await self._stop_children(execution)
                if self._is_stop(error):
                    self._stopped(run)
                    if isinstance(error, KeyboardInterrupt):
                        self._interrupted(error)
                    raise
                delay = await self._fail_attempt(execution, tries, own_failure(run, error), graph)
                if delay is None:
                    return None
                await asyncio.sleep(delay)
                run.output = run.route = None
                execution.begin_again()
        run.end_attempt(time.time())
        following = await self._finish(execution, final, graph)
        execution.context = None  # they hold each other: without this only the garbage collector would free them
        return following

    def _stopped(self, run: NodeRun) -> None:
        now = time.time()
        run.end_attempt(now)
        if run.status is Status.RUNNING:
            run.cancel(now)
            self._unstored.append(run)
            self.tell(run)

    async def _take_answers(self, execution: Execution, graph: Execution | None) -> Execution | None:
        run = execution.run
        if run.open_questions:
            run.wait()
        else:
            answers = run.answers
            run.output = next(iter(answers.values())) if len(answers) == 1 else answers
            run.complete(time.time())
        return await self._end(run, None, graph)

    async def _attempt(self, execution: Execution, number: int) -> Event | None:
        """Run the body once; return the event that is to be stored with the end of the run."""
        run, node = execution.run, execution.node
        check = state_check(execution.state_schemas, node)
        place = Place(run, number, run.answers, execution, check, execution.is_off_loop)
        context = execution.context = Context(self.invocation, node=node, place=place)
        node_input = snapshot(run.input)
        if node.timeout is None:
            return await self._body(execution, context, node_input)
        try:
            async with asyncio.timeout(node.timeout) as limit:
                return await self._body(execution, context, node_input)
        except Exception as error:  # a node that fails while it is stopped by its timeout has timed out
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
                    if self.review is None:
                        enrich(execution, context, last)
                    else:
                        await enrich_reviewed(execution, context, last, self.review)
            else:
                async with contextlib.aclosing(node.run(ctx=context, node_input=node_input)) as events:
                    async for event in events:
                        if self.review is None:
                            enrich(execution, context, event)
                        else:
                            await enrich_reviewed(execution, context, event, self.review)
                        await self._emit(execution, event)
        except NodeInterruptedError as signal:
            run.open_below = signal.interrupt_ids
        except BaseExceptionGroup as group:
            failures = group.split(NodeInterruptedError)[1]
            if failures is not None:
                raise first_child_failure(failures) or failures from None
            run.open_below = ("",)
        if execution.may_have_children:
            await self._await_children(execution)
        return await self._closing_event(execution, context, last)

    async def _await_children(self, execution: Execution) -> None:
        """Let children that still run come to their end; collect what they wait for."""
        run = execution.run
        await asyncio.sleep(0)  # a task that user code made and didn't await begins now, at the latest
        execution.is_over = True
        late = list(execution.pending_children)
        while execution.pending_children:
            await asyncio.wait(list(execution.pending_children.values()))
            await asyncio.sleep(0)
        execution.raise_unseen()
        for path in late:
            child = execution.children[path]
            if child.run.status is Status.FAILED and child.error is not None:
                raise DynamicNodeFailError(child.run.name, child.error, child.run.error_path or path)
        children = [child.run for child in execution.children.values()]
        for child_run in children:
            if child_run.notes and child_run.status is Status.COMPLETED:
                run.note(*child_run.notes)
        if execution.graph_state is None:
            run.is_cut_short = any(one.is_cut_short and one.status is Status.COMPLETED for one in children)
        waiting = [one for one in children if one.status is Status.WAITING]
        if run.open_below:
            run.open_below = tuple(dict.fromkeys(i for one in waiting for i in open_ids(one)))
        elif waiting:
            raise WorkflowDataError(
                f"Node {run.name!r} ended without awaiting ctx.run_node() of {waiting[0].name!r}, "
                f"which waits for a person: await every child, for instance with asyncio.gather."
            )

    async def _emit(self, execution: Execution, event: Event) -> None:
        """Store and deliver an event in the middle of a run."""
        if event.partial:
            await self.deliver(event)
            return
        if is_empty(event):
            return
        run, context = execution.run, execution.context
        is_news = bool(event.long_running_tool_ids)
        if run.open_questions:
            run.output = None
        elif context is not None and context.outcome.is_published and execution.delegate is None and run.output is None:
            run.output, run.route = context.outcome.output, context.outcome.route
            is_news = True
        await self.store(event, [run] if is_news else [])
        if is_news:
            self.tell(run)
        await self.deliver(event)

    async def _fail_attempt(
        self, execution: Execution, number: int, error: BaseException, graph: Execution | None
    ) -> float | None:
        """Record a failed try; return the seconds to wait for the next one, `None` when the run has failed."""
        run = execution.run
        is_own = not isinstance(error, (ChildFailure, DynamicNodeFailError))
        cause = error if is_own else error.error  # type: ignore[attr-defined]
        path = run.path if is_own else str(getattr(error, "path", None) or getattr(error, "error_node_path", run.path))
        delay = next_delay_s(execution.node.retry_config, number, cause)
        now, kind, text = time.time(), type(cause).__name__, said(cause)
        run.end_attempt(now, kind, text, None if delay is None else now + delay)
        if delay is None:
            execution.error = cause
            self.failures[run.path] = cause
        event = await self._error_event(execution, cause) if is_own else None
        if event is not None and self.review is not None:
            text = event.error_message or ""
        run.end_attempt(now, kind, text, None if delay is None else now + delay)
        if delay is None:
            run.fail(now, kind, text, path)
        if delay is None:
            await self._end(run, event, graph)
        else:
            await self.store(event, [run])
            self.tell(run)
            if event is not None:
                await self.deliver(event)
        return delay

    async def _error_event(self, execution: Execution, error: BaseException) -> Event:
        status = getattr(error, "status", None)
        code = status if isinstance(status, str) else type(error).__name__
        event = Event(error_code=code, error_message=said(error))
        context = execution.context
        assert context is not None  # an attempt began
        context.event_author = execution.author
        if self.review is None:
            enrich(execution, context, event)
        else:
            await enrich_reviewed(execution, context, event, self.review)
        return event

    async def _finish(self, execution: Execution, last: Event | None, graph: Execution | None) -> Execution | None:
        """Settle a run whose body has ended."""
        run, context, node = execution.run, execution.context, execution.node
        assert context is not None  # an attempt ended
        outcome = context.outcome
        run.route = outcome.route
        if execution.is_stopped:
            run.stop()
        elif run.open_questions or run.open_below:
            run.wait()
        else:
            run.output = outcome.output if run.parent else thawed(outcome.output)  # the root's is the caller's own
            is_silent = execution.is_silenced or (node.wait_for_output and run.output is None and run.route is None)
            if is_silent:
                run.note(f"{run.name} ended without output and waits for its next trigger")
            if is_silent or (run.is_cut_short and run.parent == ""):
                run.fall_short(time.time())
            elif run.status is not Status.INCOMPLETE:
                run.complete(time.time())
        return await self._end(run, last, graph)

    async def _closing_event(self, execution: Execution, context: Context, last: Event | None) -> Event | None:
        """Return the event that closes the body: what it left in the context goes with it or follows it."""
        outcome = context.outcome
        if not outcome.is_published and outcome.has_output:
            closing = Event(output=execution.node.checked_output(outcome.output), route=outcome.route)
            outcome.output, outcome.has_output = None, False
        elif not outcome.is_route_sent or (last is None and (context.state.has_delta() or "actions" in vars(context))):
            closing = Event(route=None if outcome.is_route_sent else outcome.route)
        else:
            return None if last is not None and is_empty(last) else last
        if last is not None:
            await self._emit(execution, last)
        if self.review is None:
            enrich(execution, context, closing)
        else:
            await enrich_reviewed(execution, context, closing, self.review)
        return None if is_empty(closing) else closing

    async def _end(self, run: NodeRun, event: Event | None, graph: Execution | None) -> Execution | None:
        """Let the graph decide what follows from the end of a run, store it all at once, and go on."""
        self._refuse_left_behind()
        commands: list[Command] = []
        if graph is not None and graph.graph_state is not None:
            commands = decide(graph.graph_state, Ended(run))
            if run.notes and run.status in ENDED:
                self._note_above(graph.run, run.notes)
        await self.store(event, [run, *(one for one in kept(commands) if one is not run)])
        self.tell(run)
        if event is not None:
            await self.deliver(event)
        elif graph is not None:
            await asyncio.sleep(0)  # others get their turn, also between nodes that say nothing
        return None if graph is None else self._go_on(graph, commands)

    def _note_above(self, above: NodeRun, notes: tuple[str, ...]) -> None:
        """Keep a run's notes with the graph at once: restoring a graph reads only the last record of each node."""
        before = above.notes
        above.note(*notes)
        if above.notes is not before:
            self._unstored.append(above)

    async def store(self, event: Event | None, runs: list[NodeRun]) -> None:
        """Write an event and records in one transaction."""
        self._refuse_left_behind()
        if self._unstored:
            known = {id(run) for run in runs}
            runs = [*(run for run in self._unstored if id(run) not in known), *runs]
            self._unstored = []
        if event is not None or runs:
            await self.log.append(event, runs)

    def store_later(self, run: NodeRun) -> None:
        """Write a record together with whatever is stored next, so that nothing below it is stored without it."""
        self._unstored.append(run)

    def tell(self, run: NodeRun) -> None:
        """Report a changed record to whoever watches."""
        if self.on_run is not None:
            self.on_run(run)

    async def _stop_children(self, execution: Execution) -> None:
        me = asyncio.current_task()
        await self.stop_tasks([task for task in execution.child_tasks if task is not me])

    async def stop_tasks(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Cancel tasks and wait until they have ended; one that takes too long is left behind, and stores nothing."""
        running = {task for task in tasks if not task.done()}
        self._stopping |= running
        for task in running:
            task.cancel()
        end = self.loop.time() + STOP_WITHIN_S
        stopped: asyncio.CancelledError | None = None
        while running and self.loop.time() < end:
            try:
                done, running = await asyncio.wait(running, timeout=end - self.loop.time())
            except asyncio.CancelledError as error:  # what is stopped itself still waits for what is below it
                stopped = error
                continue
            for task in done:
                if not task.cancelled():
                    task.exception()
        if running:
            self._leave_behind(running)
        if stopped is not None:
            raise stopped

    def _give_up(self, parent: Execution, state: GraphState, stopping: set[asyncio.Task[Any]]) -> None:
        late = {
            child.run.path: task
            for task, child in parent.tasks.items()
            if task in stopping and child.run.path in state.running
        }
        if late:
            self._leave_behind(set(late.values()))
        for run in [run for run in state.active.values() if run.path in late]:
            run.cancel(time.time())
            self._unstored.append(run)
            self.perform(parent, decide(state, Ended(run)))

    def _leave_behind(self, tasks: set[asyncio.Task[Any]]) -> None:
        self._left_behind |= tasks
        names = ", ".join(sorted(task.get_name() for task in tasks))
        warnings.warn(
            f"{names} ignored asyncio.CancelledError for {STOP_WITHIN_S:g} s and was left behind: let the error pass.",
            RuntimeWarning,
            stacklevel=2,
        )

    def _is_stop(self, error: BaseException) -> bool:
        """Say whether an error means that the run is stopped from outside, as against a failure of the node itself."""
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
            return True
        task = asyncio.current_task()
        if task is None or not isinstance(error, asyncio.CancelledError):
            # A node may raise anything while it is stopped. `cancelling()` doesn't tell: a TaskGroup leaves it raised.
            return self.is_ending or task in self._stopping
        return task.cancelling() > 0

    def _interrupted(self, error: KeyboardInterrupt) -> None:
        """Stop the whole run; the interrupt itself would end the event loop and, in a notebook, the kernel."""
        if self._root_task is not None:
            self._root_task.cancel()
        raise asyncio.CancelledError from error

    def _refuse_left_behind(self) -> None:
        if self._left_behind and asyncio.current_task() in self._left_behind:
            raise asyncio.CancelledError


def said(error: BaseException) -> str:
    """Return an error's text; an error whose own `__str__` fails is still told by its class."""
    try:
        return str(error)
    except Exception as failure:  # noqa: BLE001  # user code: the first error is the one to report
        return f"(its text can't be had: {type(failure).__name__})"


def own_failure(run: NodeRun, error: BaseException) -> BaseException:
    """Return what to report for an error that a node raised: a cancellation that nobody asked for is an error, too."""
    if isinstance(error, SystemExit):
        failure = WorkflowDataError(
            f"Node {run.name!r} called sys.exit({error.code!r}), which would end the whole process: return, or raise "
            f"an error that says what went wrong."
        )
        failure.__cause__ = error
        return failure
    if not isinstance(error, asyncio.CancelledError):
        return error
    failure = WorkflowDataError(
        f"Node {run.name!r} raised asyncio.CancelledError, though nobody stopped it: something that it awaited was "
        f"cancelled. Await only tasks that aren't cancelled, or catch the error where it comes from."
    )
    failure.__cause__ = error
    return failure


def first_child_failure(group: BaseExceptionGroup) -> DynamicNodeFailError | None:
    """Return the first failure in a group that holds nothing but failures of children, `None` for any other group."""
    leaves: list[BaseException] = []
    groups: list[BaseException] = [group]
    while groups:
        one = groups.pop(0)
        if isinstance(one, BaseExceptionGroup):
            groups[:0] = one.exceptions
        else:
            leaves.append(one)
    failures = [leaf for leaf in leaves if isinstance(leaf, DynamicNodeFailError)]
    return failures[0] if len(failures) == len(leaves) else None
