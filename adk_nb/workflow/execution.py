"""One node run while it executes: what the engine knows of it beside its record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_nb.errors import NodeInterruptedError
from adk_nb.events.event import new_id
from adk_nb.events.record import NodeRun, Question
from adk_nb.workflow.child_runs import ChildRuns
from adk_nb.workflow.context import Context
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.graph_run import GraphRun
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.place import ChildWish

if TYPE_CHECKING:
    from adk_nb.workflow.engine import Engine


@dataclass(slots=True, eq=False)
class Execution:
    """One node run while it executes. What runs below it, children or a graph, is made when it is needed."""

    engine: Engine
    node: BaseNode
    run: NodeRun
    graph: GraphRun | None = None
    """The graph that it is a part of; `None` for the root and for children of a node."""
    claims: tuple[Execution, ...] = ()
    """The runs above whose output this run's output is, nearest first."""
    author: str = ""
    """Name that its events carry: the nearest workflow's, or the node's own."""
    state_schemas: tuple[Any, ...] = ()
    is_fresh: bool = True
    """Nothing below it was recorded before."""
    isolation_scope: str | None = None
    """Which conversation its events belong to."""
    claimer: Execution | None = None
    """The outermost run that took this run's output as its own with `use_as_output`."""
    is_off_loop: bool = False
    """Sync functions of this run and of those below it work in threads: others want the loop, or a limit its clock."""
    parent: Execution | None = None
    """The run that started this one with `run_node`."""
    task: asyncio.Task[Any] | None = None
    """The task in which this run executes."""
    context: Context | None = None
    error: BaseException | None = None
    holds: GraphRun | None = None
    """The graph that it holds."""
    children: ChildRuns | None = None
    """What it started with `run_node`."""
    asked: int = 0
    """Questions without an id of their own that this try has asked."""
    is_over: bool = False
    """The body of this try has ended."""
    is_stopped: bool = False
    """A limit keeps something below it from starting."""
    is_silenced: bool = False
    """It asked to end without output when a child of it does."""

    @property
    def delegate(self) -> str | None:
        """Path of the child whose output is this run's output."""
        return None if self.children is None else self.children.delegate

    @property
    def above(self) -> Context | None:
        """The context of the run that this one is a part of, `None` at the root."""
        above = self.parent if self.graph is None else self.graph.holder
        return None if above is None else above.context

    def is_beside(self, path: str) -> bool:
        """Say of another run of this invocation whether it wasn't over when this one began."""
        own: Execution | None = self
        while own is not None:
            if own.parent is None:
                own = None if own.graph is None else own.graph.holder
                continue
            above = f"{own.parent.run.path}/"
            if path.startswith(above):
                sibling = above + path[len(above) :].partition("/")[0]
                return sibling != own.run.path and own.parent.had_not_ended(sibling, own.run.created_at)
            own = own.parent
        return False

    def had_not_ended(self, path: str, moment: float) -> bool:
        """Say of a child whether it hadn't come to its end at a moment."""
        # Runs read from events that carry no records have no moment.
        return self.children is not None and moment > 0 and self.children.had_not_ended(path, moment)

    @property
    def may_have_children(self) -> bool:
        """The body may have started children, also in tasks that haven't begun yet."""
        return self.node.rerun_on_resume and (self.holds is None or self.children is not None)

    def tasks_above(self) -> Iterator[asyncio.Task[Any] | None]:
        """Give the tasks of the runs that started this one with `run_node`, nearest first."""
        above = self.parent
        while above is not None:
            yield above.task
            above = above.parent

    async def close(self) -> None:
        """Let children that still run come to their end; no other one starts below this try any more."""
        await asyncio.sleep(0)  # a task that user code made and didn't await begins now, at the latest
        self.is_over = True
        if self.children is not None:
            await self.children.come_to_end()

    def begin_again(self) -> None:
        """Forget what belongs to one try only."""
        self.asked = 0
        self.is_over = self.is_stopped = self.is_silenced = False
        if self.children is not None:
            self.children.begin_again()

    def check_limits(self) -> None:
        """Stop the run here if a limit is reached.

        Raises:
            NodeInterruptedError: one is.
        """
        if self.engine.allowance.reached is not None:
            self.is_stopped = True
            raise NodeInterruptedError(())

    def ask_in_words(self, text: str) -> None:
        """Wait for the person's next message, which answers what was said."""
        question = Question(
            f"adk-{new_id()}", message=text, response_schema={"type": "string"}, asked_at=time.time(), is_spoken=True
        )
        self.run.isolation_scope = self.isolation_scope
        self.run.ask(question)
        self.engine.store_later(self.run)

    async def recorded_output(self, name: str, run_id: str) -> Any:
        """Return the output of a child that has finished, `None` when none has."""
        if self.children is None:
            self.children = ChildRuns(self)
        return await self.children.recorded_output(name, run_id)

    async def run_child(self, node_like: Any, wish: ChildWish) -> Any:
        """Run a child to its end, or take its recorded result, and return its output."""
        if self.children is None:
            self.children = ChildRuns(self)
        return await self.children.run(node_like, wish)

    def in_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a part of the body in a task that is stopped together with the body."""
        if self.children is None:
            self.children = ChildRuns(self)
        return self.children.in_task(work)

    async def stop(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Stop parts of the body and the children that run in them."""
        await self.engine.stopping.stop(tasks)

    async def run_graph(self, graph: Graph, node_input: Any, max_concurrency: int | None) -> None:
        """Run the graph that this node holds; leaves by return, failure or the signal that it waits."""
        self.holds = GraphRun(self, graph, node_input, max_concurrency)
        await self.holds.run()

    def has_output(self, output: Any) -> None:
        """Take the output of a run below, which an event carries already, as this run's own."""
        if self.context is not None:
            outcome = self.context.outcome
            outcome.output, outcome.has_output, outcome.is_published = output, True, True

    def schemas_below(self) -> tuple[Any, ...]:
        """Return the state schemas that runs below this one are under."""
        own = self.node.state_schema
        return self.state_schemas if own is None else (*self.state_schemas, own)
