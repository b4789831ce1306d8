"""One run of a graph: it performs what `decide` commands, until nothing below it runs and nothing can start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adk_nb.errors import NodeInterruptedError, WorkflowDataError
from adk_nb.events.record import NodeRun, Status, open_ids
from adk_nb.events.values import freeze
from adk_nb.workflow.decide import TO_DO, Begun, Command, Continued, Ended, Keep, Settle, Start, decide
from adk_nb.workflow.failures import ChildFailure
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.lost_nodes import refuse_lost
from adk_nb.workflow.replay import walk_again
from adk_nb.workflow.run_state import GraphState, restore_graph
from adk_nb.workflow.stopping import LOOKS, STOP_WITHIN_S

if TYPE_CHECKING:
    from adk_nb.workflow.execution import Execution


class GraphRun:
    """A graph while it runs."""

    __slots__ = ("_claims", "_engine", "_is_off_loop", "_schemas", "_settled", "_tasks", "holder", "state")

    def __init__(self, holder: Execution, graph: Graph, node_input: Any, max_concurrency: int | None) -> None:
        """Prepare to run, or to go on with what this process began.

        Args:
            holder: The run that holds the graph.
            graph: What runs.
            node_input: What the nodes after START get.
            max_concurrency: How many nodes may run at once; `None` and 0 mean no limit.
        """
        self.holder = holder
        """The run that holds the graph."""
        self._engine = holder.engine
        self._claims = (holder, *holder.claims)
        self._schemas = holder.schemas_below()
        self._is_off_loop = holder.is_off_loop or holder.node.timeout is not None
        self._settled: asyncio.Future[Settle] = self._engine.loop.create_future()
        self._tasks: dict[asyncio.Task[None], Execution] = {}
        """The tasks of the graph, each with the run that it executes now."""
        known = self._engine.graph_states.get(holder.run.path)
        if known is not None:
            known.graph, known.max_concurrency = graph, max_concurrency
        self.state = known or GraphState(
            graph=graph,
            path=holder.run.path,
            invocation_id=holder.run.invocation_id,
            input=freeze(node_input),
            branch=holder.run.branch,
            max_concurrency=max_concurrency,
            allowance=self._engine.allowance,
        )

    async def run(self) -> None:
        """Run to where the graph is settled; leaves by return, failure or the signal that it waits."""
        engine, state = self._engine, self.state
        commands = await self._first_commands()
        engine.graph_states[state.path] = state
        try:
            await engine.store(None, kept(commands))
            self.perform(commands)
            settle = await self._settled
        finally:
            state.is_stopping = True
            await engine.stopping.stop(self._tasks)
        self._leave(settle)
        if engine.checkpoints is not None:
            await engine.checkpoints.finished(self)

    async def _first_commands(self) -> list[Command]:
        engine, state = self._engine, self.state
        if state.path in engine.graph_states:
            return decide(state, Continued({run.path for run in state.active.values() if run.status in TO_DO}))
        if self.holder.is_fresh:
            return decide(state, Begun())
        open_runs = engine.open_below.pop(state.path, [])
        latest = await engine.log.latest_runs(state.invocation_id, state.path)
        if not open_runs and not latest:
            return decide(state, Begun())
        if any(run.is_told for run in (*open_runs, *latest)):
            return await self._told_commands()
        restore_graph(state, open_runs, latest)
        for name in (*state.active, *state.gathering):
            refuse_lost(name, state.graph, state.path)
        return decide(state, Continued(engine.ready))

    async def _told_commands(self) -> list[Command]:
        """Return the first commands of a graph of which only events tell."""
        engine, state = self._engine, self.state
        found: list[NodeRun] = []
        parents = [state.path]
        for parent in parents:
            below = await engine.log.child_runs(state.invocation_id, parent)
            found += below
            parents += [run.path for run in below]
        runs = walk_again(state, self.holder.run, found)
        open_now = {run.path for run in runs if run.status in TO_DO}
        return [*map(Keep, runs), *decide(state, Continued(engine.ready | open_now))]

    def note_above(self, notes: tuple[str, ...]) -> None:
        """Keep a run's notes with the graph at once: restoring a graph reads only the last record of each node."""
        above = self.holder.run
        before = above.notes
        above.note(*notes)
        if above.notes is not before:
            self._engine.store_later(above)

    def perform(self, commands: Iterable[Command]) -> None:
        """Carry out commands."""
        for command in commands:
            if isinstance(command, Start):
                if self.state.is_stopping:
                    self.perform(decide(self.state, Ended(command.run)))
                else:
                    self._start(command.run)
            elif isinstance(command, Keep):
                self._engine.tell(command.run)
            elif isinstance(command, Settle):
                if not self._settled.done():
                    self._settled.set_result(command)
            else:
                self._stop_running()

    def go_on(self, ended: Execution, commands: list[Command]) -> Execution | None:
        """Carry out what follows from the end of a run in its task; return the run to execute next in it, if any.

        A run that alone follows goes on in the same task: a chain needs one task, not one for each of its nodes.
        """
        starts = [command for command in commands if type(command) is Start]
        task = ended.task
        if len(starts) != 1 or self.state.is_stopping or task not in self._tasks or task.cancelling():
            self.perform(commands)
            return None
        if len(commands) > 2 or self._engine.on_run is not None:
            self.perform([command for command in commands if command is not starts[0]])
        return self._below(starts[0].run)

    def _below(self, run: NodeRun) -> Execution:
        holder, engine, graph = self.holder, self._engine, self.state.graph
        is_terminal = graph.is_terminal(run.name)
        return type(holder)(  # an Execution, whose module imports this one
            engine,
            graph.node(run.name),
            run,
            self,
            self._claims if is_terminal else (),
            holder.node.name,
            self._schemas,
            not run.attempts and run.path not in engine.ready,
            holder.isolation_scope,
            holder.claimer if is_terminal else None,
            self._is_off_loop or len(self.state.running) > 1,
        )

    def _start(self, run: NodeRun) -> None:
        child = self._below(run)
        task = child.task = self._engine.loop.create_task(self._execute_from(child), name=run.path)
        self._tasks[task] = child
        task.add_done_callback(self._task_ended)

    async def _execute_from(self, first: Execution) -> None:
        """Execute a run, and what follows from it in the same task."""
        task, execute = first.task, self._engine.execute
        assert task is not None  # this one
        following = await execute(first)
        while following is not None:
            following.task, self._tasks[task] = task, following
            task.set_name(following.run.path)
            following = await execute(following)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        run = self._tasks.pop(task).run
        error = None if task.cancelled() else task.exception()
        if self._settled.done():
            return
        if task.cancelled():
            if run.path in self.state.running:
                self.perform(decide(self.state, Ended(run)))
        elif error is not None:
            self._settled.set_exception(error)

    def _stop_running(self) -> None:
        running = {task for task, child in self._tasks.items() if child.run.path in self.state.running}
        self._engine.stopping.cancel(running)
        self._look_after(running, LOOKS)

    def _look_after(self, stopping: set[asyncio.Task[Any]], looks: int) -> None:
        """Give up on tasks that don't end in time."""
        running = {
            task: child.run.path
            for task, child in self._tasks.items()
            if task in stopping and child.run.path in self.state.running
        }
        if not running:
            return
        given_up = set() if looks > 0 else self._engine.stopping.leave_behind(set(running))
        late = {running[task] for task in given_up}
        self._engine.loop.call_later(STOP_WITHIN_S / LOOKS, self._look_after, stopping - given_up, looks - 1)
        for run in [run for run in self.state.active.values() if run.path in late]:
            run.cancel(time.time())
            self._engine.store_later(run)
            self.perform(decide(self.state, Ended(run)))

    def _leave(self, settle: Settle) -> None:
        holder, state = self.holder, self.state
        run = holder.run
        run.note(*state.notes)
        run.is_cut_short = bool(state.short)
        if settle.error is not None:
            raise settle.error
        if settle.status is Status.FAILED and settle.failed is not None:
            failed = settle.failed
            error = self._engine.failures.get(failed.path) or WorkflowDataError(failed.error_message or "")
            raise ChildFailure(error, failed.error_path or failed.path)
        if settle.status is Status.WAITING:
            waiting = [one for one in state.active.values() if one.status is Status.WAITING]
            raise NodeInterruptedError(interrupt_id for one in waiting for interrupt_id in open_ids(one))
        if settle.status is Status.CANCELLED:
            raise asyncio.CancelledError
        if settle.status is Status.STOPPED:
            holder.is_stopped = True
            raise NodeInterruptedError(())
        del self._engine.graph_states[state.path]
        if settle.status is Status.INCOMPLETE:
            run.fall_short(time.time())
        holder.has_output(settle.output)


def kept(commands: Iterable[Command], ended: NodeRun | None = None) -> list[NodeRun]:
    """Return the records to store, first the one of the run that ended; new ones are marked with the time."""
    runs = [] if ended is None else [ended]
    for command in commands:
        if type(command) is Keep and command.run is not ended:
            runs.append(command.run)
            if command.run.created_at == 0.0:
                command.run.created_at = time.time()
    return runs
