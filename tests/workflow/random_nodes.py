"""Nodes drawn at random: what each does depends only on its path, its input and the story so far."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from adk_nb.events import Event, RequestInput
from adk_nb.workflow import BaseNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.parallel import OnError

PARENTS = ("sequence", "gather", "delegate")
"""Kinds of nodes that run dynamic children."""


@dataclass(frozen=True)
class Plan:
    """What one node does."""

    kind: str = "work"
    """`work`, `sync`, `ask` (the answer is its output), `ask again` (it runs again), `confirm`, one of `PARENTS`, or
    `spread` (a parallel worker)."""
    sleeps: int = 0
    """Turns that it leaves to others."""
    routes: tuple[str, ...] = ()
    asks: int = 1
    fails: str = ""
    """`""` never, `try` once and is tried again, `turn` once and ends the run, `process` in the first process, `odd`
    in every run with an odd number."""
    gives_none: bool = False
    writes: bool = False
    """It writes to keys of its own, of all nodes and, below a parent, of its parent."""
    lanes: int | None = None
    """How many items of a parallel worker run at once."""
    collects: bool = False
    """A parallel worker goes on after an item that fails."""
    children: tuple[Plan, ...] = ()


@dataclass
class Story:
    """What happened around one run of a graph, in all the processes that it took."""

    processes: int = 1
    failed: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    """Executions in the present process, by path."""
    finished: set[str] = field(default_factory=set)
    """Paths of the runs that have finished."""
    ran_twice: list[str] = field(default_factory=list)
    """Paths of runs that executed after they had finished: there must be none."""
    keys: dict[str, str] = field(default_factory=dict)
    """The idempotency key of each path."""
    on_execution: Callable[[], None] | None = None
    """Called at the beginning of each body; it may raise."""
    hangs: bool = False
    """Async bodies that begin now never end."""
    timeout: float | None = None
    """Seconds that each try of a node may take."""

    def begin_process(self) -> None:
        """From here on, everything happens in a new process."""
        self.processes += 1
        self.ran = Counter()

    def execute(self, ctx: Context, plan: Plan) -> None:
        """Note that a body begins, and let it fail if it is its fate."""
        path = ctx.node_path
        self.ran[path] += 1
        if path in self.finished:
            self.ran_twice.append(path)
        assert self.keys.setdefault(path, ctx.idempotency_key) == ctx.idempotency_key
        if self.on_execution is not None:
            self.on_execution()
        if {
            "process": self.processes == 1,
            "odd": ctx.run_id.isdigit() and int(ctx.run_id) % 2 == 1,
            "": False,
        }.get(plan.fails, not self.failed[path]):
            self.failed[path] += 1
            raise ValueError(f"{path} fails")


class Body:
    """The body of one node."""

    def __init__(self, name: str, plan: Plan, story: Story, above: str = "", reads: tuple[str, ...] = ()) -> None:
        """Prepare.

        Args:
            name: The node's name.
            plan: What it does.
            story: Where it notes what it did.
            above: Name of the node that runs its children one after the other, this one among them; `*` for items.
            reads: Names of nodes whose keys in the state it reads.
        """
        self.name, self.plan, self.story, self.above, self.reads = name, plan, story, above, reads
        tells = name if plan.kind in ("sequence", "delegate") else ""
        self.children = [child_of(f"{name}c{i}", one, story, tells) for i, one in enumerate(plan.children)]

    async def work(self, ctx: Context, node_input: Any) -> Any:
        """Do what the plan says, children included."""
        self.story.execute(ctx, self.plan)
        if self.story.hangs:
            await asyncio.get_running_loop().create_future()
        for _ in range(self.plan.sleeps):
            await asyncio.sleep(0)
        given = await self.run_children(ctx)
        return self.result(ctx, node_input, given)

    def sync(self, ctx: Context, node_input: Any) -> Any:
        """Do what the plan says without awaiting anything."""
        self.story.execute(ctx, self.plan)
        return self.result(ctx, node_input, [])

    def ask(self, ctx: Context) -> RequestInput:
        """Ask, and be done with the answer."""
        self.story.execute(ctx, self.plan)
        return RequestInput(interrupt_id=f"q:{ctx.node_path}", response_schema=int)

    async def ask_again(self, ctx: Context, node_input: Any) -> Any:
        """Ask several things at once, until all are answered."""
        self.story.execute(ctx, self.plan)
        missing = [i for i in range(self.plan.asks) if f"q{i}:{ctx.node_path}" not in ctx.resume_inputs]
        for i in missing:
            yield RequestInput(interrupt_id=f"q{i}:{ctx.node_path}", response_schema=int)
        if not missing:
            yield self.result(ctx, node_input, [dict(ctx.resume_inputs)])

    async def run_children(self, ctx: Context) -> list[Any]:
        """Run the children as the kind of the node says."""
        kind, children = self.plan.kind, self.children
        if kind == "gather":
            return list(await asyncio.gather(*(ctx.run_node(child, i) for i, child in enumerate(children))))
        given: list[Any] = []
        if not children:
            return given
        if self.plan.writes:
            ctx.state[f"below_{self.name}"] = "nothing yet"
        for i, child in enumerate(children):
            is_output = kind == "delegate" and i == len(children) - 1
            run_id = f"step-{i}" if i % 2 else None
            given.append(await ctx.run_node(child, i, run_id=run_id, use_as_output=is_output))
            if self.plan.writes:  # a key that only later children write would be read differently by a caller's rerun
                given.append(ctx.state[f"below_{self.name}"])
        return given

    def result(self, ctx: Context, node_input: Any, given: list[Any]) -> Any:
        """Write to the state, and return output and route."""
        plan, state, place = self.plan, ctx.state, ctx.node_path
        seen = [state.get(f"at_{name}") for name in self.reads]
        if plan.writes:
            state[f"at_{place}" if self.is_item else f"at_{self.name}"] = state["last"] = place
            if self.above and not self.is_item:
                state[f"below_{self.above}"] = place
        if plan.kind == "delegate":
            return None
        # Without an output, the event of one that yields doesn't tell that it is done, and it might never get further.
        output = None if plan.gives_none and plan.kind != "ask again" else [place, shape(node_input), given, seen]
        route = self.route(ctx)
        return output if route is None else Event(output=output, route=route)

    def route(self, ctx: Context) -> str | None:
        """Return the route of this run: `y` leads back in a loop, at most once."""
        routes = self.plan.routes
        if not routes or self.is_item or not ctx.run_id.isdigit():
            return None
        if (
            self.plan.kind == "ask again"
        ):  # its events are stored before its end, so what it writes may be written twice
            count = int(ctx.run_id)
        else:
            ctx.state[f"count_{self.name}"] = count = ctx.state.get(f"count_{self.name}", 0) + 1
        route = routes[(count - 1) % len(routes)]
        return "x" if route == "y" and count > 1 else route

    @property
    def is_item(self) -> bool:
        """It runs for each item of a list."""
        return self.above == "*"


def body(name: str, plan: Plan, story: Story, above: str = "", reads: tuple[str, ...] = ()) -> BaseNode:
    """Return a node that does what its plan says."""
    own = Body(name, plan, story, above, reads)
    retry = RetryConfig(max_attempts=2, initial_delay=0, jitter=0) if plan.fails == "try" else None
    common: Any = {"name": name, "retry_config": retry, "timeout": story.timeout}
    if plan.kind == "ask":
        return node(own.ask, **common)
    if plan.kind == "ask again":
        return node(own.ask_again, rerun_on_resume=True, **common)
    if plan.kind == "confirm":
        return node(own.work, require_confirmation=True, **common)
    if plan.kind == "sync":
        return node(own.sync, **common)
    if plan.kind == "spread":
        item = body(name, plan.children[0], story, above="*")
        on_error: OnError = "collect" if plan.collects else "stop"
        return node(item, parallel_worker=True, max_parallel_workers=plan.lanes, on_error=on_error)
    return node(own.work, rerun_on_resume=plan.kind in PARENTS, **common)


def child_of(name: str, plan: Plan, story: Story, above: str) -> BaseNode:
    """Return a dynamic child; some are workflows of two nodes."""
    if plan.sleeps < 2 or plan.kind in PARENTS:
        return body(name, plan, story, above)
    steps = body(f"{name}a", plan, story, above), body(f"{name}b", plan, story, above)
    return Workflow(name=name, edges=[("START", *steps)])


def shape(value: Any) -> Any:
    """Return an input in short, so that long chains stay small but wrong inputs are seen."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    return value[0] if isinstance(value, list) and value else value if isinstance(value, int) else type(value).__name__


@st.composite
def plans(draw: st.DrawFn, kinds: tuple[str, ...], fails: tuple[str, ...], depth: int = 1) -> Plan:
    """Draw what a node does.

    Args:
        draw: Hypothesis'.
        kinds: What it may be; those below it neither run children of their own, but for one level, nor spread.
        fails: How it may fail.
        depth: How many levels of children there may be.
    """
    kind = draw(st.sampled_from(kinds))
    children: tuple[Plan, ...] = ()
    plain = tuple(one for one in kinds if one not in (*PARENTS, "spread"))
    if kind in PARENTS:
        below = kinds if depth else plain
        children = tuple(draw(plans(below, fails, depth - 1)) for _ in range(draw(st.integers(1, 3))))
    elif kind == "spread":
        children = (draw(plans(plain, fails, 0)),)
    collects = draw(st.booleans())
    if kind == "spread" and collects:
        children = (replace(children[0], fails=draw(st.sampled_from(["", "odd"]))),)
    return Plan(
        kind=kind,
        sleeps=draw(st.integers(0, 3)),
        routes=draw(st.sampled_from([(), (), ("x",), ("y",), ("y", "x"), ("x", "y", "x")])),
        asks=draw(st.integers(1, 2)),
        fails=draw(st.sampled_from(fails)),
        gives_none=draw(st.sampled_from([False, False, True])),
        writes=draw(st.booleans()),
        lanes=draw(st.sampled_from([None, 1, 2])),
        collects=collects,
        children=children,
    )
