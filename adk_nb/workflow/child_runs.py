"""What one node run starts with `ctx.run_node`: its children, those of earlier executions included."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from adk_nb.errors import DynamicNodeFailError, NodeInterruptedError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events.paths import child_branch, child_path
from adk_nb.events.record import NodeRun, Status, open_ids
from adk_nb.events.values import freeze, snapshot
from adk_nb.workflow.build import build_node
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.place import ChildWish

if TYPE_CHECKING:
    from adk_nb.workflow.execution import Execution


class ChildRuns:
    """The children that one node run starts."""

    __slots__ = (
        "_counters",
        "_finished",
        "_parent",
        "_pending",
        "_reading",
        "_recorded",
        "_taken",
        "delegate",
        "done",
        "tasks",
    )

    def __init__(self, parent: Execution) -> None:
        """Begin without children; what was recorded is read when the first one is asked for."""
        self._parent = parent
        self.done: dict[str, Execution] = {}
        """Those that execute, or have executed, since the parent does, by path."""
        self.tasks: set[asyncio.Task[Any]] = set()
        """Tasks beside the parent's own in which it runs children, or reads what is recorded of them."""
        self.delegate: str | None = None
        """Path of the child whose output is the parent's output."""
        self._pending: dict[str, asyncio.Future[None] | None] = {}
        """Those that execute now, with a future where somebody waits for one."""
        self._recorded: dict[str, NodeRun] | None = None
        """All, those of earlier executions included, by path; `None` before the first is run."""
        self._reading: asyncio.Task[None] | None = None
        self._finished: dict[str, NodeRun] = {}
        """Those that the parent asked for and that had finished before, by path."""
        self._counters: dict[str, int] = {}
        self._taken: set[str] = set()
        """Paths of those that this try of the parent asked for before."""

    def begin_again(self) -> None:
        """Forget what belongs to one try of the parent only."""
        self._counters.clear()
        self._taken.clear()
        self.tasks.clear()
        self.delegate = self._reading = None

    async def run(self, node_like: Any, wish: ChildWish) -> Any:
        """Run a child to its end, or take its recorded result, and return its output."""
        parent = self._parent
        if parent.is_over:
            raise WorkflowConfigurationError(
                f"Node {parent.run.name!r} has ended and can't run children any more: await every ctx.run_node in it."
            )
        task = asyncio.current_task()
        if task is not None and task is not parent.task:
            if task.get_loop() is not parent.engine.loop:
                raise WorkflowConfigurationError(
                    f"Node {parent.run.name!r} called ctx.run_node on another event loop, as asyncio.run in a function "
                    f"or thread makes one, and a child runs on the loop of its parent: make the node an async function "
                    f"that awaits ctx.run_node."
                )
            self.tasks.add(task)
        node = build_node(node_like)
        path = self._path(node, wish)
        if wish.on_event is None:
            return await self._run_at(path, node, wish)
        listening = parent.engine.listening
        for event in listening.told_before(parent.run.invocation_id, path):
            await wish.on_event(event)
        with listening.to(path, wish.on_event):
            return await self._run_at(path, node, wish)

    async def _run_at(self, path: str, node: BaseNode, wish: ChildWish) -> Any:
        recorded = self._recorded if self._recorded is not None else await self._read()
        child = self.done.get(path)
        if child is None and path in recorded and recorded[path].is_finished and not recorded[path].is_told:
            return self._take_finished(recorded[path], wish)
        if child is not None and path in self._pending:
            await self._end_of(path)
        else:
            if child is None:
                self._refuse(path, wish)
            if child is None or child.run.status is not Status.COMPLETED:
                child = self._child(node, path, wish)
            run = child.run
            is_kept = run.is_finished or run.output is not None or run.kind == "workflow"
            if run.wrote and is_kept and path not in self._taken:
                self._write_again(run)
            if not run.is_finished:
                await self._execute(child)
            self._taken.add(path)
        return self._result(child, wish)

    def had_not_ended(self, path: str, moment: float) -> bool:
        """Say of a child whether it hadn't come to its end at a moment, in seconds since the epoch."""
        run = self._recorded.get(path) if self._recorded is not None else None
        return run is not None and (run.ended_at is None or run.ended_at > moment)

    async def recorded_output(self, name: str, run_id: str) -> Any:
        """Return the output of a child that had finished before the parent began, `None` when none had."""
        run = (await self._read()).get(child_path(self._parent.run.path, name, run_id))
        return None if run is None or not run.is_finished else run.output

    def in_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a part of the parent's body in a task that is stopped together with the body."""
        task = self._parent.engine.loop.create_task(work, name=self._parent.run.path)
        self.tasks.add(task)
        return task

    async def come_to_end(self) -> None:
        """Wait until those that still run have come to their end, and note in the parent what they left.

        Raises:
            DynamicNodeFailError: one failed that nobody waited for.
            WorkflowDataError: one waits for a person, and its parent has ended without waiting for it.
        """
        if self._reading is not None and not self._reading.done():
            await asyncio.wait([self._reading])
            await asyncio.sleep(0)  # those that waited for it begin
        late = list(self._pending)
        while self._pending:
            await asyncio.wait([self._end_of(path) for path in self._pending])
            await asyncio.sleep(0)
        self._raise_unseen()
        for path in late:
            child = self.done[path]
            if child.run.status is Status.FAILED and child.error is not None:
                raise DynamicNodeFailError(child.run.name, child.error, child.run.error_path or path)
        self._note_in_parent([*self._finished.values(), *(child.run for child in self.done.values())])

    def _note_in_parent(self, children: list[NodeRun]) -> None:
        parent = self._parent
        run = parent.run
        completed = [one for one in children if one.status is Status.COMPLETED]
        for one in completed:
            run.note(*one.notes)
        if parent.holds is None:
            run.is_cut_short = any(one.is_cut_short for one in completed)
        waiting = [one for one in children if one.status is Status.WAITING]
        if run.open_below:
            run.open_below = tuple(dict.fromkeys(i for one in waiting for i in open_ids(one)))
        elif waiting:
            raise WorkflowDataError(
                f"Node {run.name!r} ended without awaiting ctx.run_node() of {waiting[0].name!r}, "
                f"which waits for a person: await every child, for instance with asyncio.gather."
            )

    async def _read(self) -> dict[str, NodeRun]:
        if self._parent.is_fresh:
            self._recorded = {}
            return self._recorded
        if self._reading is None:
            self._reading = self.in_task(self._read_log())
        await asyncio.shield(self._reading)
        assert self._recorded is not None  # read, or the reading has raised
        return self._recorded

    async def _read_log(self) -> None:
        run = self._parent.run
        earlier = await self._parent.engine.log.child_runs(run.invocation_id, run.path)
        self._recorded = {one.path: one for one in earlier}

    def _end_of(self, path: str) -> asyncio.Future[None]:
        end = self._pending[path]
        if end is None:
            end = self._pending[path] = self._parent.engine.loop.create_future()
        return asyncio.shield(end)

    def _refuse(self, path: str, wish: ChildWish) -> None:
        """Raise when the child isn't to run: it may not begin yet, or its recorded failure is final."""
        record = self._recorded.get(path) if self._recorded is not None else None
        if record is None and not wish.may_begin:
            raise NodeInterruptedError(())
        if record is not None and record.status is Status.FAILED and wish.is_failure_final:
            error = WorkflowDataError(record.error_message or "")
            raise DynamicNodeFailError(record.name, error, record.error_path or path, error_type=record.error_type)

    def _path(self, node: BaseNode, wish: ChildWish) -> str:
        parent = self._parent
        if not parent.node.rerun_on_resume:
            raise WorkflowConfigurationError(
                f"Node {parent.node.name!r} calls ctx.run_node and so must have rerun_on_resume=True: write "
                f"@node(rerun_on_resume=True), so that it can go on after a pause with its children's results."
            )
        run_id: Any = wish.run_id  # whatever a person gave
        if run_id is None:
            number = self._counters[node.name] = self._counters.get(node.name, 0) + 1
            run_id = str(number)
        elif not isinstance(run_id, str) or not run_id or "/" in run_id or "@" in run_id:
            raise WorkflowConfigurationError(
                f"The run_id {run_id!r:.80} for child {node.name!r} can't name a run: give a text that isn't empty "
                f"and is without '/' and '@', which separate the parts of a path, for instance {_cleaned(run_id)!r}."
            )
        elif run_id.isdigit():
            raise WorkflowConfigurationError(
                f"The run_id {run_id!r} for child {node.name!r} must contain non-numeric characters, as plain "
                f"numbers count unnamed runs: write for instance 'order-{run_id}'."
            )
        path = child_path(parent.run.path, node.name, run_id)
        if wish.use_as_output:
            if self.delegate not in (None, path):
                raise WorkflowConfigurationError(
                    f"Node {parent.node.name!r} already has a use_as_output delegate ({self.delegate}): only one child "
                    f"can give a node's output."
                )
            self.delegate = path
        return path

    def _child(self, node: BaseNode, path: str, wish: ChildWish) -> Execution:
        parent = self._parent
        assert self._recorded is not None  # read before a child is made
        record = known = self._recorded.get(path)
        if record is None or record.is_told:
            record = self._recorded[path] = self._new_record(node, path, wish)
            if known is not None:
                record.take_over(known)
                record.wrote = known.wrote
            parent.engine.store_later(record)
        child = type(parent)(  # an Execution, whose module imports this one
            engine=parent.engine,
            node=node,
            run=record,
            claims=(parent, *parent.claims) if wish.use_as_output else (),
            author=self._author(node),
            state_schemas=parent.schemas_below(),
            is_fresh=known is None,
            isolation_scope=parent.isolation_scope
            if wish.override_isolation_scope is None
            else wish.override_isolation_scope,
            parent=parent,
            claimer=(parent.claimer or parent) if wish.use_as_output else None,
            is_off_loop=parent.is_off_loop or parent.node.timeout is not None,
        )
        self.done[path] = child
        return child

    def _author(self, node: BaseNode) -> str:
        parent = self._parent
        if parent.holds is not None:
            return parent.node.name
        return node.name if parent.author == parent.node.name else parent.author

    def _new_record(self, node: BaseNode, path: str, wish: ChildWish) -> NodeRun:
        parent, name, run_id = self._parent.run, node.name, path.rpartition("@")[2]
        branch = wish.override_branch if wish.override_branch is not None else parent.branch
        return NodeRun(
            path=path,
            name=name,
            run_id=run_id,
            parent=parent.path,
            invocation_id=parent.invocation_id,
            input=freeze(wish.input, f"input of child {name!r}"),
            branch=child_branch(branch, name, run_id) if wish.use_sub_branch else branch,
            kind=node.kind,
            sources=wish.sources,
            created_at=time.time(),
        )

    async def _execute(self, child: Execution) -> None:
        run, parent = child.run, self._parent
        engine = parent.engine
        if run.status is Status.WAITING and run.path not in engine.ready:
            return
        if not engine.allowance.take(run.kind):
            parent.is_stopped = True
            raise NodeInterruptedError(())
        self._pending[run.path] = None
        child.task = asyncio.current_task()
        if child.task is not parent.task or len(self._pending) > 1:
            child.is_off_loop = True
        try:
            await engine.execute(child)
        finally:
            end = self._pending.pop(run.path)
            if end is not None:
                end.set_result(None)

    def _write_again(self, run: NodeRun) -> None:
        """Let what a child, or what is below it, has stored hold against what its callers write again before it."""
        context = self._parent.context
        if context is None or run.wrote is None:
            return
        callers = [context]
        above = self._parent.parent
        while above is not None and above.context is not None:
            callers.append(above.context)
            above = above.parent
        writers = context.get_invocation_context().writers
        for key, value in run.wrote.items():
            if any(one.state.wrote(key) or writers.get(key) == one.node_path for one in callers):
                context.state[key] = snapshot(value)

    def _take_finished(self, run: NodeRun, wish: ChildWish) -> Any:
        """Return the output of a child that had finished before the parent began: nothing of it executes."""
        self._finished[run.path] = run
        if run.wrote and run.path not in self._taken:
            self._write_again(run)
        self._taken.add(run.path)
        if wish.on_end is not None:
            wish.on_end(run)
        return self._output(run)

    def _output(self, run: NodeRun) -> Any:
        if self.delegate == run.path:
            self._parent.has_output(run.output)
        return snapshot(run.output)

    def _raise_unseen(self) -> None:
        """Raise what a task of the body that ran a child failed with, when the body never looked at it."""
        for task in self.tasks:
            # Python's own mark of an exception that nobody asked for; without it a failure would only be logged.
            if task.done() and not task.cancelled() and getattr(task, "_log_traceback", False):
                error = task.exception()
                if isinstance(error, Exception):
                    raise error

    def _result(self, child: Execution, wish: ChildWish) -> Any:
        run, parent = child.run, self._parent
        if wish.on_end is not None:
            wish.on_end(run)
        if run.status is Status.COMPLETED:
            return self._output(run)
        if run.status is Status.WAITING:
            raise NodeInterruptedError(open_ids(run))
        if run.status is Status.STOPPED:
            parent.is_stopped = True
            raise NodeInterruptedError(())
        if run.status is Status.FAILED and child.error is not None:
            raise DynamicNodeFailError(run.name, child.error, run.error_path or run.path)
        if run.status is Status.INCOMPLETE and child.node.wait_for_output and not run.is_cut_short:
            if wish.raise_on_wait:
                parent.is_silenced = True
                raise NodeInterruptedError(())
            return None
        reason = "; ".join(run.notes) or f"it ended {run.status}"
        raise DynamicNodeFailError(run.name, WorkflowDataError(reason), run.path)


def _cleaned(run_id: object) -> str:
    return "".join("-" if letter in "/@" else letter for letter in str(run_id)[:40]) or "order-17"
