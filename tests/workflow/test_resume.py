"""Cut a run anywhere and go on: what finished doesn't run again, questions are asked once, the outcome is the same.

Two cuts are made. A soft one: the caller walks away after an event, so that the engine still ends in order. A hard one:
the store takes nothing any more from some write on, as if the process had been killed there.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st

from adk_nb.events import Event, RequestInput
from adk_nb.events.record import NodeRun, Status
from adk_nb.sessions import InMemorySessionService
from adk_nb.workflow import DEFAULT_ROUTE, BaseNode, JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, run


@dataclass
class Plan:
    """What one node does, drawn at random."""

    kind: str
    sleeps: int = 0
    routes: tuple[str, ...] = ()
    asks: int = 0
    failures: int = 0
    gives_none: bool = False
    writes: bool = False


@dataclass
class World:
    """What happened in one life of a process: executions and side effects by path."""

    ran: Counter[str] = field(default_factory=Counter)
    is_dead: bool = False


def body(name: str, plan: Plan, worlds: list[World], children: Sequence[Any] = ()) -> BaseNode:
    """Return a node that does what its plan says; what it gives depends only on its path and input."""
    failed: Counter[str] = Counter()

    async def work(ctx: Context, node_input: Any) -> Any:
        worlds[-1].ran[ctx.node_path] += 1
        for _ in range(plan.sleeps):
            await asyncio.sleep(0)
        if plan.failures > failed[ctx.node_path]:
            failed[ctx.node_path] += 1
            raise ValueError(f"{ctx.node_path} fails")
        if plan.writes:
            ctx.state[f"at_{name}"] = f"{ctx.node_path}"
        given: list[Any] = []
        if plan.kind == "gather":
            given = list(await asyncio.gather(*(ctx.run_node(child, i) for i, child in enumerate(children))))
        elif plan.kind == "sequence":
            for i, child in enumerate(children):
                given.append(await ctx.run_node(child, i, run_id=f"step-{i}" if i % 2 else None))
        route = plan.routes[(int(ctx.run_id) - 1) % len(plan.routes)] if plan.routes and ctx.run_id.isdigit() else None
        if route == "y" and int(ctx.run_id) > 1:
            route = "x"  # every loop ends
        output = None if plan.gives_none else [ctx.node_path, shape(node_input), given]
        return Event(output=output, route=route) if route is not None else output

    def ask(ctx: Context) -> RequestInput:
        worlds[-1].ran[ctx.node_path] += 1
        return RequestInput(interrupt_id=f"q:{ctx.node_path}", response_schema=int)

    async def ask_again(ctx: Context, node_input: Any) -> Any:
        worlds[-1].ran[ctx.node_path] += 1
        missing = [i for i in range(plan.asks) if f"q{i}:{ctx.node_path}" not in ctx.resume_inputs]
        for i in missing:
            yield RequestInput(interrupt_id=f"q{i}:{ctx.node_path}", response_schema=int)
        if not missing:
            yield [ctx.node_path, shape(node_input), dict(ctx.resume_inputs)]

    retry = RetryConfig(max_attempts=plan.failures + 1, initial_delay=0, jitter=0) if plan.failures else None
    if plan.kind == "ask":
        return node(ask, name=name)
    if plan.kind == "ask again":
        return node(ask_again, name=name, rerun_on_resume=True)
    return node(work, name=name, rerun_on_resume=plan.kind in ("gather", "sequence"), retry_config=retry)


def child_of(name: str, plan: Plan, worlds: list[World]) -> BaseNode:
    """Return a dynamic child; some are workflows of two nodes."""
    if plan.sleeps < 2:
        return body(name, plan, worlds)
    return Workflow(name=name, edges=[("START", body(f"{name}a", plan, worlds), body(f"{name}b", plan, worlds))])


def shape(value: Any) -> Any:
    """Return an input in short, so that long chains stay small but wrong inputs are seen."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    return value[0] if isinstance(value, list) and value else value if isinstance(value, int) else type(value).__name__


PLANS = st.builds(
    Plan,
    kind=st.sampled_from(["work"] * 5 + ["ask", "ask again", "gather", "sequence"]),
    sleeps=st.integers(0, 3),
    routes=st.sampled_from([(), (), ("x",), ("y",), ("y", "x"), ("x", "y", "x")]),
    asks=st.integers(1, 2),
    failures=st.sampled_from([0, 0, 0, 1]),
    gives_none=st.sampled_from([False, False, True]),
    writes=st.booleans(),
)


@st.composite
def makers(draw: st.DrawFn, depth: int = 1) -> Any:
    """Draw a function from worlds to a workflow: forward edges, routes, bounded loops, joins, nesting, children."""
    count = draw(st.integers(1, 4))
    plans = [draw(PLANS) for _ in range(count)]
    holds = [depth > 0 and draw(st.integers(0, 5)) == 0 for _ in range(count)]
    nested: list[Any] = [draw(makers(depth=depth - 1)) if hold else None for hold in holds]
    children = [
        [
            draw(PLANS.filter(lambda plan: plan.kind not in ("gather", "sequence")))
            for _ in range(draw(st.integers(1, 3)))
        ]
        if plan.kind in ("gather", "sequence")
        else []
        for plan in plans
    ]
    sources = [sorted(draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=2))) if i else [] for i in range(count)]
    joins = [len(of) > 1 for of in sources]
    policies: list[Any] = [draw(st.sampled_from(["all", "started"])) for _ in range(count)]
    nested = [None if join else one for join, one in zip(joins, nested, strict=True)]
    labels = [[draw(st.sampled_from([None, None, "x", DEFAULT_ROUTE])) for _ in of] for of in sources]
    loop = draw(st.sampled_from([None, None, *range(count)]))
    limit = draw(st.sampled_from([None, None, 1, 2]))

    def make(worlds: list[World], name: str = "w") -> Workflow:
        made: list[Any] = []
        for i, plan in enumerate(plans):
            label = f"{name}{i}"
            if nested[i] is not None:
                made.append(nested[i](worlds, label))
            elif joins[i]:
                made.append(JoinNode(name=label, wait_for=policies[i]))
            else:
                below = [child_of(f"{label}c{k}", child, worlds) for k, child in enumerate(children[i])]
                made.append(body(label, plan, worlds, below))
        edges: list[Any] = [("START", made[0])]
        for i, of in enumerate(sources):
            for j, route in zip(of, labels[i], strict=True):
                edges.append((made[j], made[i]) if route is None else (made[j], {route: made[i]}))
        if loop is not None and nested[loop] is None and not joins[loop]:
            edges.append((made[loop], {"y": made[0]}))
        # One node gives the output, so that no two terminal ones contradict each other.
        terminal = set(range(count)) - {j for of in sources for j in of} - {loop}
        edges.extend((made[i], node(lambda node_input: None, name=f"{name}end{i}")) for i in sorted(terminal))
        return Workflow(name=name, edges=edges, max_concurrency=limit)

    # In a loop, later passes race with what is still on its way from earlier ones, so values may meet in another order.
    make.is_racy = loop is not None or any(one is not None and one.is_racy for one in nested)  # type: ignore[attr-defined]
    return make


class KilledError(BaseException):
    """The process is gone: nothing that it does from here on counts."""


class Frozen(InMemorySessionService):
    """Sessions that take no more writes of a run from some write on, as if the process had died there."""

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None
        self.on_death: Any = None

    def open_log(self, session: Any) -> Any:
        """Return a log that stops writing when it is time."""
        log = super().open_log(session)
        append = log.append

        async def dying(event: Event | None, runs: Sequence[NodeRun]) -> None:
            if self.left is not None:
                if self.left == 0:
                    if self.on_death is not None:
                        self.on_death()
                    raise KilledError
                self.left -= 1
            await append(event, runs)

        log.append = dying  # type: ignore[method-assign]
        return log


MOST_TURNS = 40
MOST_EVENTS = 30


async def finish(talk: Conversation) -> None:
    """Answer what is open and go on until nothing more happens."""
    for _ in range(MOST_TURNS):
        questions = await talk.questions()
        if questions:
            _, question = sorted(questions, key=lambda pair: pair[1].interrupt_id)[0]
            await talk.answer({question.interrupt_id: len(question.interrupt_id)})
        else:
            root = await talk.root()
            if root.status not in (Status.PENDING, Status.RUNNING, Status.CANCELLED):
                return
            await talk.go_on()
    assume(False)  # a loop that asks in every pass: too long a talk to be cut everywhere


def outcome(records: dict[str, NodeRun]) -> dict[str, Any]:
    """Return what must be the same however often the run was cut."""
    return {
        path: (str(run.status), shape(run.input), run.output, run.route, run.branch, sorted(run.sources))
        for path, run in records.items()
        if run.status is not Status.CANCELLED
    }


async def check_events(talk: Conversation, records: dict[str, NodeRun]) -> None:
    """Every question and every output of a completed run was published exactly once."""
    stored = await talk.stored()
    asked = Counter(i for event in stored for i in event.long_running_tool_ids or ())
    assert asked == Counter(q.interrupt_id for one in records.values() for q in one.questions)
    assert max(asked.values(), default=1) == 1
    given = Counter(event.node_info.path for event in stored if event.output is not None)
    assert all(count == 1 for count in given.values()), given


async def whole(make: Any) -> tuple[dict[str, Any], int, int, dict[str, Any]]:
    """Run without a cut; return the outcome, the numbers of events and writes, and the state."""
    worlds = [World()]
    service = Frozen()
    service.left = 1_000_000
    talk = Conversation(make(worlds), service)
    await talk.say()
    await finish(talk)
    records = await talk.records()
    await check_events(talk, records)
    events = len([event for event in await talk.stored() if event.author != "user"])
    assume(events <= MOST_EVENTS)
    return outcome(records), events, 1_000_000 - service.left, await talk.state()


CUTS = Counter[str]()
EXAMPLES = int(os.environ.get("ADK_NB_TEST_EXAMPLES", "20"))


@seed(2026)
@settings(max_examples=EXAMPLES, deadline=None)
@given(make=makers())
def test_a_run_cut_after_any_event_comes_to_the_same_end(make: Any) -> None:
    """Walk away after the k-th event, for every k, and go on in a new runner: outputs and state are the same."""

    async def test() -> None:
        expected, events, _, state = await whole(make)
        for cut in range(events):
            worlds = [World()]
            talk = Conversation(make(worlds))
            with contextlib.suppress(ValueError):
                await talk.cut_after(cut + 1)
            finished = {path for path, one in (await talk.records()).items() if one.status is Status.COMPLETED}
            worlds.append(World())
            talk = Conversation(make(worlds), talk.service)
            await finish(talk)
            records = await talk.records()
            assert make.is_racy or outcome(records) == expected
            assert make.is_racy or await talk.state() == state
            assert not finished & set(worlds[-1].ran)
            await check_events(talk, records)
            CUTS["soft"] += 1

    run(test)


@seed(2027)
@settings(max_examples=EXAMPLES, deadline=None)
@given(make=makers())
def test_a_run_killed_at_any_write_comes_to_the_same_end(make: Any) -> None:
    """Lose the process between any two writes, in any turn: what was stored as finished never runs again."""

    async def test() -> None:
        expected, _, writes, state = await whole(make)
        for cut in range(1, writes):
            worlds = [World()]
            service = Frozen()
            service.left = cut
            at_death: list[Frozen] = []
            service.on_death = lambda s=service, found=at_death: found or found.append(frozen(s))
            talk = Conversation(make(worlds), service)
            with contextlib.suppress(ValueError, KilledError):
                await talk.say()
                await finish(talk)
            assert at_death
            worlds.append(World())
            talk = Conversation(make(worlds), at_death[0])
            before = await talk.records()
            finished = {path for path, one in before.items() if one.status is Status.COMPLETED}
            await finish(talk)
            records = await talk.records()
            assert make.is_racy or outcome(records) == expected
            assert make.is_racy or await talk.state() == state
            assert not finished & set(worlds[-1].ran)
            await check_events(talk, records)
            CUTS["hard"] += 1

    run(test)


def frozen(service: Frozen) -> Frozen:
    """Return a copy of a service as it is now, which takes writes again."""
    twin = Frozen()
    twin._sessions = {key: {k: thawed(one) for k, one in of.items()} for key, of in service._sessions.items()}
    twin._app_states = copy.deepcopy(service._app_states)
    twin._user_states = copy.deepcopy(service._user_states)
    return twin


def thawed(stored: Any) -> Any:
    """Return a copy of a stored session; a private look, as a kill is exactly what no public door offers."""
    twin = copy.copy(stored)
    twin.events = list(stored.events)
    twin.state = dict(stored.state)
    twin.runs = copy.deepcopy(stored.runs)
    twin._by_id = dict(stored._by_id)
    return twin


def test_queued_triggers_come_in_their_order_after_a_restart() -> None:
    """Triggers that wait behind a question are run one after the other, oldest first, each with its own input."""

    async def test() -> None:
        letters = tuple(node(lambda name=name: name, name=name) for name in "abc")

        @node(rerun_on_resume=True)
        def q(ctx: Context, node_input: str) -> Any:
            return ctx.resume_inputs or RequestInput(interrupt_id=f"q{ctx.run_id}", message=node_input)

        talk = Conversation(Workflow(name="wf", edges=[("START", letters, q)]))
        await talk.say()
        asked = []
        for number in (1, 2, 3):
            ((_, question),) = await talk.questions()
            asked.append((question.interrupt_id, question.message))
            await talk.answer({f"q{number}": number})
        assert asked == [("q1", "a"), ("q2", "b"), ("q3", "c")]
        assert (await talk.root()).output == {"q3": 3}

    run(test)


def test_killed_inside_a_workflow_that_is_a_child() -> None:
    """What finished in a graph below a dynamic caller is known after a kill, though neither has finished itself."""

    async def test() -> None:
        for cut in range(1, 8):
            ran: list[str] = []

            def build(ran: list[str] = ran) -> BaseNode:
                steps = [node(lambda name=name: ran.append(name), name=name) for name in "abc"]
                inner = Workflow(name="inner", edges=[("START", *steps)])

                @node(rerun_on_resume=True)
                async def parent(ctx: Context) -> Any:
                    return await ctx.run_node(inner)

                return parent

            service = Frozen()
            service.left = cut
            at_death: list[Frozen] = []
            service.on_death = lambda s=service, found=at_death: found or found.append(frozen(s))
            with contextlib.suppress(KilledError):
                await Conversation(build(), service).say()
            if not at_death:
                continue
            talk = Conversation(build(), at_death[0])
            finished = ran[:-1]  # the last one may have been cut off from its own end
            ran.clear()
            await talk.go_on()
            assert (await talk.root()).status is Status.COMPLETED
            assert not set(ran) & set(finished)

    run(test)
