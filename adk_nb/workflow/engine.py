"""The only asyncio loop: it performs what `decide` commands, runs node bodies and emits events.

Every node run, of a graph or started with `run_node`, root or nested, first try, retry or resume, goes through
`Engine.execute`. Its record and the event that completes it are stored in one transaction together with the records of
the runs it triggers; then the event goes to the caller; then the next runs start.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

from adk_nb.errors import NodeInterruptedError, NodeTimeoutError
from adk_nb.events.event import Event
from adk_nb.events.read_only import thawed
from adk_nb.events.record import ENDED, NodeRun, Status
from adk_nb.events.values import snapshot
from adk_nb.workflow.checkpoints import Checkpoints
from adk_nb.workflow.context import Context
from adk_nb.workflow.decide import Command, Ended, decide, find_ready
from adk_nb.workflow.execution import Execution
from adk_nb.workflow.failures import first_child_failure, origin, own_failure, said
from adk_nb.workflow.graph_run import kept
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.listening import Listening
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.place import Place
from adk_nb.workflow.ports import RunLog
from adk_nb.workflow.prints import keeper
from adk_nb.workflow.publish import Review, enrich, enrich_reviewed, is_empty
from adk_nb.workflow.retry import next_delay_s
from adk_nb.workflow.run_state import GraphState
from adk_nb.workflow.state_schema import state_check
from adk_nb.workflow.stopping import Stopping

Deliver = Callable[[Event], Awaitable[None]]
"""Hands a stored (or partial) event to the caller and returns when the caller asks for the next one."""
OnRun = Callable[[NodeRun], None]
"""Is told of each change of a record, on the loop, with the live record."""


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
        writes_checkpoints: bool = False,
    ) -> None:
        """Prepare to run; nothing happens before `run_root`.

        Args:
            invocation: What all nodes share.
            log: Where events and records are kept.
            deliver: Takes each event after it was stored.
            on_run: Told of each change of a record.
            review: Awaited with each event of a node before anything is made of it; it may change the event.
            writes_checkpoints: Workflows write events that say where they stand.
        """
        self.invocation = invocation
        self.log = log
        self.deliver = deliver
        self.listening = Listening(self)
        self.on_run = on_run
        self.review = review
        self.checkpoints = Checkpoints(self._publish) if writes_checkpoints else None
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
        self.open_below: dict[str, list[NodeRun]] = {}
        """Open records that no graph has taken up yet, by the path of what they are below."""
        self._unstored: list[NodeRun] = []
        self.stopping = Stopping()
        self._prints = keeper()
        self._try = self._body if self._prints is None else self._printing

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
        is_pooled = self.invocation.run_config.tool_thread_pool_config is not None
        execution.is_off_loop = max_seconds is not None or is_pooled
        timer = None if max_seconds is None else self.loop.call_later(max_seconds, self._time_is_up, task)
        try:
            if self.allowance.take(run.kind):
                await self.execute(execution)
            else:
                run.stop()
        except asyncio.CancelledError:
            if not self._is_out_of_time or task.uncancel():
                raise
            run.stop()
        finally:
            if timer is not None:
                timer.cancel()
            self.invocation.close_threads()
            if run.status is Status.STOPPED:
                run.stop(self.allowance.reached, self.allowance.sentence())
                self._unstored.append(run)
                self.tell(run)
            await self.store(None, [])
        if run.status is Status.FAILED and execution.error is not None:
            raise execution.error

    def _time_is_up(self, task: asyncio.Task[Any]) -> None:
        self._is_out_of_time = True
        self.allowance.reached = self.allowance.reached or "max_seconds"
        self.stopping.cancel({task})

    def _find_work(self, runs: list[NodeRun]) -> None:
        self.ready |= find_ready(runs)
        for run in runs:
            self.open_below.setdefault(run.parent, []).append(run)
            if run.status is Status.WAITING and run.path in self.ready:
                run.make_ready()
                self._unstored.append(run)

    async def execute(self, execution: Execution) -> Execution | None:
        """Run one node run to where it ends, fails or waits, and hand its end to the graph that it is a part of.

        Returns the run of the graph that the caller is to execute next, if there is one.
        """
        run, node = execution.run, execution.node
        if run.questions and not node.rerun_on_resume and not run.open_below:
            return await self._take_answers(execution)
        if run.output is not None and not run.open_questions and run.status is not Status.FAILED:
            # It was stopped between its output, which is out, and its end: going on means to end.
            run.complete(time.time())
            return await self._end(execution, None)
        run.begin(time.time())
        if self.on_run is not None:
            self.on_run(run)
        tries = 0
        while True:
            tries += 1
            try:
                if self.checkpoints is not None and tries == 1:
                    await self.checkpoints.started(execution)
                last = await (self._try if node.timeout is None else self._timed)(execution, tries)
                break
            except BaseException as error:  # noqa: BLE001  # whatever user code raises: retried and reported there
                if not await self._try_again(execution, tries, error):
                    return None
        run.end_attempt(time.time())
        following = await self._finish(execution, last)
        execution.context = None  # they hold each other: without this only the garbage collector would free them
        return following

    async def _try_again(self, execution: Execution, tries: int, error: BaseException) -> bool:
        """Record what a try ended with, and wait for the next one; `False` when the run has failed."""
        run = execution.run
        if execution.children is not None:
            me = asyncio.current_task()
            await self.stopping.stop([task for task in execution.children.tasks if task is not me])
        if self.stopping.is_stop(error, execution.tasks_above()):
            self._stopped(run)
            if isinstance(error, KeyboardInterrupt):
                self._interrupted(error)
            if not isinstance(error, (asyncio.CancelledError, GeneratorExit)):
                raise asyncio.CancelledError from error  # what its cleanup raised is no failure of the run
            raise error
        delay = await self._fail_attempt(execution, tries, own_failure(run, error))
        if delay is None:
            return False
        try:
            await asyncio.sleep(delay)
        except BaseException:
            run.cancel(time.time())
            self._unstored.append(run)
            self.tell(run)
            raise
        execution.begin_again()
        run.begin_attempt(time.time())
        return True

    def _stopped(self, run: NodeRun) -> None:
        now = time.time()
        run.end_attempt(now)
        if run.status is Status.RUNNING:
            run.cancel(now)
            self._unstored.append(run)
            self.tell(run)

    async def _take_answers(self, execution: Execution) -> Execution | None:
        run = execution.run
        if run.open_questions:
            run.wait()
        else:
            run.complete_with_answers(time.time())
        return await self._end(execution, None)

    async def _timed(self, execution: Execution, number: int) -> Event | None:
        """Do what `_try` does, within the time that the node has for one try."""
        node = execution.node
        assert node.timeout is not None  # else nothing is timed
        try:
            async with asyncio.timeout(node.timeout) as limit:
                return await self._try(execution, number)
        except Exception as error:  # a node that fails while it is stopped by its timeout has timed out
            if limit.expired():
                raise NodeTimeoutError(node.name, node.timeout) from error
            raise

    async def _printing(self, execution: Execution, number: int) -> Event | None:
        """Do what `_body` does, and keep what is printed meanwhile with the record."""
        assert self._prints is not None  # else nothing is kept
        with self._prints.kept_for(execution.run, self.tell):
            return await self._body(execution, number)

    async def _body(self, execution: Execution, number: int) -> Event | None:
        """Run the body once; return the event that is to be stored with the end of the run."""
        node, run = execution.node, execution.run
        check = state_check(execution.state_schemas, node)
        place = Place(run, number, execution, check, execution.is_off_loop or node.timeout is not None)
        context = execution.context = Context(self.invocation, node=node, place=place)
        node_input, last = snapshot(run.input), None
        try:
            if node.returns_once:
                last = node.as_event(await node.call(ctx=context, node_input=node.checked_input(node_input)))
            else:
                async with contextlib.aclosing(node.run(ctx=context, node_input=node_input)) as events:
                    async for event in events:
                        await self._complete(execution, context, event)
                        await self._emit(execution, event)
        except NodeInterruptedError as signal:
            run.open_below = signal.interrupt_ids
        except BaseExceptionGroup as group:
            failures = group.split(NodeInterruptedError)[1]
            if failures is not None:
                raise first_child_failure(failures) or failures from None
            run.open_below = ("",)
        if execution.may_have_children:
            await execution.close()
        # Only now, since between noting what it says, a question for instance, and storing it nothing may stop the run.
        if last is not None and self.review is None:
            enrich(execution, context, last)
        elif last is not None:
            await self._complete(execution, context, last)
        outcome = context.outcome
        if (
            (outcome.has_output and not outcome.is_published)
            or not outcome.is_route_sent
            or (last is None and (context.state.has_delta() or context.has_actions))
        ):
            return await self._closing_event(execution, context, last)
        is_silence = last is not None and not node.tells_silence and is_empty(last, self.invocation.run_config)
        return None if is_silence else last

    async def _emit(self, execution: Execution, event: Event) -> None:
        """Store and deliver an event in the middle of a run."""
        if event.partial:
            await self.deliver(event)
            return
        if is_empty(event, self.invocation.run_config):
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

    async def _fail_attempt(self, execution: Execution, number: int, error: BaseException) -> float | None:
        """Record a failed try; return the seconds to wait for the next one, `None` when the run has failed."""
        run = execution.run
        cause, path_below = origin(error)
        delay = next_delay_s(execution.node.retry_config, number, cause)
        now, kind, text = time.time(), type(cause).__name__, said(cause)
        if delay is None:
            execution.error = cause
            self.failures[run.path] = cause
        is_told = path_below is not None or execution.node.is_silent
        event = None if is_told else await self._error_event(execution, cause)
        if event is not None and self.review is not None:
            text = event.error_message or ""
        run.end_attempt(now, kind, text, None if delay is None else now + delay)
        if delay is None:
            run.fail(now, kind, text, path_below or run.path)
            await self._end(execution, event)
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
        # A graph speaks of its own failure itself, as its nodes' events name it.
        context.event_author = execution.author if execution.holds is None else execution.node.name
        await self._complete(execution, context, event)
        return event

    async def _finish(self, execution: Execution, last: Event | None) -> Execution | None:
        """Settle a run whose body has ended."""
        run, context, node = execution.run, execution.context, execution.node
        assert context is not None  # an attempt ended
        outcome = context.outcome
        run.route = outcome.route
        if execution.is_stopped:
            run.stop()
        elif run.open_below or (run.questions and run.open_questions):
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
        return await self._end(execution, last)

    async def _closing_event(self, execution: Execution, context: Context, last: Event | None) -> Event | None:
        """Return the event with what the body left in the context; the last event that it gave itself goes before."""
        outcome = context.outcome
        if outcome.has_output and not outcome.is_published:
            closing = Event(output=execution.node.checked_output(outcome.output), route=outcome.route)
            outcome.output, outcome.has_output = None, False
        else:
            closing = Event(route=None if outcome.is_route_sent else outcome.route)
        if last is not None:
            await self._emit(execution, last)
        await self._complete(execution, context, closing)
        return None if is_empty(closing, self.invocation.run_config) else closing

    async def _complete(self, execution: Execution, context: Context, event: Event) -> None:
        """Complete an event with where it comes from, and note what it says."""
        if self.review is None:
            enrich(execution, context, event)
        else:
            await enrich_reviewed(execution, context, event, self.review)

    async def _end(self, execution: Execution, event: Event | None) -> Execution | None:
        """Let the graph decide what follows from the end of a run, store it all at once, and go on."""
        self.stopping.refuse_left_behind()
        run, graph = execution.run, execution.graph
        commands: list[Command] = []
        if graph is not None:
            commands = decide(graph.state, Ended(run))
            if run.notes and run.status in ENDED:
                graph.note_above(run.notes)
        await self.store(event, kept(commands, run))
        if self.on_run is not None:
            self.on_run(run)
        if event is not None:
            await self.deliver(event)
        elif graph is not None:
            await asyncio.sleep(0)  # others get their turn, also between nodes that say nothing
        if self.checkpoints is not None:
            await self.checkpoints.ended(execution, commands)
        return None if graph is None else graph.go_on(execution, commands)

    async def _publish(self, event: Event) -> None:
        """Store and deliver an event that belongs to no node run."""
        self.invocation.run_config.mark(event)
        if self.review is not None:
            await self.review(event, None)
            self.invocation.session.state.update(event.actions.state_delta)
        await self.store(event, [])
        await self.deliver(event)

    async def store(self, event: Event | None, runs: list[NodeRun]) -> None:
        """Write an event and records in one transaction."""
        self.stopping.refuse_left_behind()
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

    def _interrupted(self, error: KeyboardInterrupt) -> None:
        """Stop the whole run; the interrupt itself would end the event loop and, in a notebook, the kernel."""
        if self._root_task is not None:
            self._root_task.cancel()
        raise asyncio.CancelledError from error
