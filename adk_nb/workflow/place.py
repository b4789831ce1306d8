"""Where one node run stands: what its context knows of it, and what it may ask of the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context
    from adk_nb.workflow.graph import Graph


@dataclass(slots=True)
class Outcome:
    """What a node's body has given so far."""

    output: Any = None
    has_output: bool = False
    is_published: bool = False
    """An event carries the output already, this node's or a child's."""
    route: Any = None
    is_route_sent: bool = True
    """No route was set on the context that isn't in an event yet."""


class ChildWish(NamedTuple):
    """How a node wants one child to run; `Context.run_node` says what the fields mean."""

    input: Any
    use_as_output: bool = False
    run_id: str | None = None
    use_sub_branch: bool = False
    override_branch: str | None = None
    override_isolation_scope: str | None = None
    raise_on_wait: bool = False
    is_failure_final: bool = False
    """A failure in the record counts as the child's result: it doesn't run again."""
    may_begin: bool = True
    """A child that has no record yet may begin; otherwise its caller stops where it waits."""
    sources: tuple[str, ...] = ()
    """Paths of the runs that it follows from."""
    on_event: Callable[[Event], Awaitable[None]] | None = None
    """Awaited with each event of the child and of what is below it, once it is stored and the caller has it; first
    with those of earlier executions."""
    on_end: Callable[[NodeRun], None] | None = None
    """Told of the record with which the child, or what is recorded of it, comes to its end."""


class Member(NamedTuple):
    """What came of an agent that ran below another one."""

    output: Any
    path: str
    """Path of its run."""
    has_escalated: bool
    """It, or something below it, wanted the agents around it to end."""


class Children(Protocol):
    """How a context runs what is below its node; the engine provides it."""

    isolation_scope: str | None
    error: BaseException | None
    """What the run failed with."""

    @property
    def above(self) -> Context | None:
        """The context of the run that this one is a part of."""

    def is_beside(self, path: str) -> bool:
        """Say of another run of this invocation whether it wasn't over when this one began."""

    is_fresh: bool
    """Nothing was recorded of the run, or below it, before this process began it."""

    def check_limits(self) -> None:
        """Stop the run here if a limit is reached."""

    def ask_in_words(self, text: str) -> None:
        """Wait for the person's next message."""

    async def recorded_output(self, name: str, run_id: str) -> Any:
        """Return the output of a child that has finished, `None` when none has."""

    async def run_child(self, node_like: Any, wish: ChildWish) -> Any:
        """Run a child to its end and return its output."""

    async def run_graph(self, graph: Graph, node_input: Any, max_concurrency: int | None) -> None:
        """Run a graph to its end and make its output the node's own."""

    def in_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a part of the node's body in a task that is stopped together with the body."""

    async def stop(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Stop parts of the node's body and the children that run in them."""


@dataclass(slots=True)
class Place:
    """Where and how one node runs, settled before its body starts."""

    run: NodeRun
    attempt: int
    children: Children
    state_check: Any = None
    is_off_loop: bool = False
    """Sync functions work in threads."""
