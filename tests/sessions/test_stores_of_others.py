"""Stores that people wrote for ADK, each odd in its own way, and runs on them that end early or meet another one."""

from __future__ import annotations

import asyncio
import copy
import decimal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adk_nb.errors import AnswerError
from adk_nb.events import Event, RequestInput
from adk_nb.events.carried import CARRIED
from adk_nb.events.record import Status
from adk_nb.sessions import Session
from adk_nb.testing.samples import TYPED, assert_same
from adk_nb.workflow import BaseNode, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.replay import replay
from tests.sessions.plain_store import PlainStore
from tests.workflow.driving import Conversation, run


class LiveStore:
    """Methods without `async`, one live object a session, no base class, not hashable."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}

    def __eq__(self, other: object) -> bool:
        return True

    def create_session(self, *, app_name: str, user_id: str, state: Any = None, session_id: str) -> Session:
        """Make a session and keep the object itself."""
        session = Session(id=session_id, app_name=app_name, user_id=user_id, state=dict(state or {}))
        return self.sessions.setdefault(session_id, session)

    def get_session(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """Return the object itself."""
        return self.sessions.get(session_id)

    def append_event(self, session: Session, event: Event) -> Event:
        """Write into the session, and into the event."""
        event.timestamp = float(len(session.events))
        session.state.update(event.actions.state_delta)
        session.events.append(event)
        return event


class CopyStore(PlainStore):
    """Keeps objects, and copies them deeply on the way in and out."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Session] = {}

    async def create_session(self, **fields: Any) -> Session:
        """Keep a copy."""
        session = await super().create_session(**fields)
        self.kept[session.id] = copy.deepcopy(session)
        return session

    async def get_session(self, *, session_id: str, **_: Any) -> Session | None:
        """Return a copy."""
        return copy.deepcopy(self.kept.get(session_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Keep a copy, after a while."""
        await asyncio.sleep(0)
        kept = self.kept[session.id]
        kept.events.append(copy.deepcopy(event))
        kept.state.update(event.actions.state_delta)
        return event


STORES = [LiveStore, CopyStore, PlainStore]


def flow(ran: list[str]) -> Workflow:
    """Return a chain with a typed value, a silent node, a question and state."""

    def price() -> decimal.Decimal:
        return decimal.Decimal("9.90")

    def note(ctx: Context, node_input: Any) -> None:
        ran.append(f"note {node_input!r}")

    def ask() -> RequestInput:
        return RequestInput(interrupt_id="q", response_schema=int)

    def end(ctx: Context, node_input: int) -> dict[str, Any]:
        ran.append("end")
        ctx.state["day"] = (node_input, 2)
        return {"n": node_input}

    return Workflow(name="wf", edges=[("START", price, note, ask, end)])


@pytest.mark.parametrize("make", STORES)
def test_odd_stores_work(make: Callable[[], Any]) -> None:
    """Sync methods, live objects, copies, changed events: a run pauses, goes on in a new runner and ends but once."""

    async def test() -> None:
        store, ran = make(), list[str]()
        assert await Conversation(flow(ran), store).say() != []
        talk = Conversation(flow(ran), store)
        assert [question.interrupt_id for _, question in await talk.questions()] == ["q"]
        with pytest.raises(AnswerError):
            await talk.answer(q="much")
        await talk.answer(q=5)
        root = await Conversation(flow(ran), store).root()
        assert (root.status, root.output) == (Status.COMPLETED, {"n": 5})
        assert await talk.go_on() == []
        assert ran == ["note Decimal('9.90')", "end"]
        assert (await talk.state())["day"] == (5, 2)

    run(test)


@pytest.mark.parametrize("make", STORES)
def test_values_of_every_kind_come_back(make: Callable[[], Any]) -> None:
    """Outputs, inputs and state that JSON has no form for, or that look packed, are the same after a restart."""

    async def test() -> None:
        def give(ctx: Context) -> dict[str, Any]:
            ctx.state["typed"] = TYPED
            return TYPED

        def take(ctx: Context, node_input: Any) -> Any:
            return node_input if ctx.resume_inputs else RequestInput(interrupt_id="q")

        def make_flow() -> Workflow:
            return Workflow(name="wf", edges=[("START", give, node(take, rerun_on_resume=True))])

        store = make()
        await Conversation(make_flow(), store).say()
        for turn in ("before", "after"):
            talk = Conversation(make_flow(), store)
            records = await talk.records()
            assert_same(records["wf@1/give@1"].output, TYPED)
            assert_same(records["wf@1/take@1"].input, TYPED)
            assert_same((await talk.state())["typed"], TYPED)
            if turn == "before":
                await talk.answer(q=1)
        assert_same(records["wf@1"].output, TYPED)

    run(test)


@pytest.mark.parametrize("make", STORES)
def test_what_carries_records_is_seen_by_nobody(make: Callable[[], Any]) -> None:
    """Nodes, callers and readers of a session see the events as nodes wrote them; the store's own hold the records."""

    async def test() -> None:
        store, seen = make(), list[Event]()

        def look(ctx: Context) -> None:
            seen.extend(ctx.session.events)

        def quiet() -> None: ...

        def said() -> Event:
            return Event(output=1, custom_metadata={"mine": 2})

        talk = Conversation(Workflow(name="wf", edges=[("START", said, quiet, look)]), store)
        events = [*await talk.say(), *seen, *await talk.stored()]
        assert [event.custom_metadata for event in events if event.author != "user"] == [{"mine": 2}] * 3
        found = store.get_session(app_name="app", user_id="u", session_id="s")
        session = await found if isinstance(found, Awaitable) else found
        assert all(CARRIED in (event.custom_metadata or {}) for event in session.events)
        silent = [event.node_info.path for event in session.events if event.content is None and event.output is None]
        assert silent == ["wf@1/quiet@1", "wf@1/look@1", "wf@1"]
        assert [one.path for one in replay(session.events)] == [
            "wf@1",
            *(f"wf@1/{n}@1" for n in ("said", "quiet", "look")),
        ]

    run(test)


def test_runs_of_one_session_take_turns() -> None:
    """Two runners on one store queue for a session, and each run is whole; other sessions don't wait."""

    async def test() -> None:
        store, inside = CopyStore(), list[str]()

        async def work(ctx: Context) -> None:
            inside.append(f"+{ctx.session.id}")
            for _ in range(20):
                await asyncio.sleep(0)
            inside.append(f"-{ctx.session.id}")

        def talk(session_id: str) -> Conversation:
            return Conversation(Workflow(name="wf", edges=[("START", work)]), store, session_id=session_id)

        first = talk("a")
        await first.say()
        inside.clear()
        await asyncio.gather(first.say(), talk("a").say(), talk("b").say())
        assert [one for one in inside if one.endswith("a")] == ["+a", "-a", "+a", "-a"]
        assert inside.index("+b") < inside.index("-a")
        roots = [one for one in replay((await store.get_session(session_id="a")).events) if not one.parent]  # type: ignore[union-attr]
        assert [one.status for one in roots] == [Status.COMPLETED] * 3

    run(test)


def test_a_stopped_caller_leaves_a_whole_event() -> None:
    """A run cancelled while the store takes an event stores it whole with its records, and goes on behind it."""

    async def test() -> None:
        store, ran = CopyStore(), list[str]()
        arrived, leave = asyncio.Event(), asyncio.Event()
        append = CopyStore.append_event

        async def slow(session: Session, event: Event) -> Event:
            if event.output == "a":
                arrived.set()
                await leave.wait()
            return await append(store, session, event)

        store.append_event = slow  # type: ignore[method-assign]

        def make() -> Workflow:
            def step(name: str) -> BaseNode:
                def work() -> str:
                    ran.append(name)
                    return name

                return node(work, name=name)

            return Workflow(name="wf", edges=[("START", *map(step, "abc"))])

        turn = asyncio.create_task(Conversation(make(), store).say())
        await arrived.wait()
        turn.cancel()
        await asyncio.sleep(0)
        leave.set()
        with pytest.raises(asyncio.CancelledError):
            await turn
        talk = Conversation(make(), store)
        records = await talk.records()
        assert records["wf@1/a@1"].status is Status.COMPLETED
        await talk.go_on()
        assert ran == ["a", "b", "c"]
        assert (await talk.root()).output == "c"

    run(test)


def test_a_failed_run_goes_on() -> None:
    """What finished before a failure isn't run again; the failure is told until the run goes on."""

    async def test() -> None:
        store, ran = PlainStore(), list[str]()

        def make(is_broken: bool) -> Workflow:
            def quiet() -> None:
                ran.append("quiet")

            def fails() -> str:
                ran.append("fails")
                if is_broken:
                    raise OSError("no net")
                return "net"

            inner = Workflow(name="inner", edges=[("START", quiet, fails)])
            return Workflow(name="wf", edges=[("START", inner)])

        talk = Conversation(make(True), store)
        await talk.fail(OSError, talk.say())
        root = await Conversation(make(True), store).root()
        assert (root.status, root.error_path) == (Status.FAILED, "wf@1/inner@1/fails@1")
        talk = Conversation(make(False), store)
        await talk.go_on()
        assert (ran, (await talk.root()).output) == (["quiet", "fails", "fails"], "net")

    run(test)


def test_a_bare_node_asks_and_goes_on() -> None:
    """A root that is no workflow pauses and ends on a plain store, silent or not."""

    async def test() -> None:
        for answer in (None, "done"):
            store = PlainStore()

            @node(rerun_on_resume=True)
            def ask(ctx: Context, said: Any = answer) -> Any:
                return said if ctx.resume_inputs else RequestInput(interrupt_id="q")

            await Conversation(ask, store).say()
            await Conversation(ask, store).answer(q=1)
            root = await Conversation(ask, store).root()
            assert (root.status, root.output) == (Status.COMPLETED, answer)

    run(test)


def test_resume_reads_the_events_once() -> None:
    """However many steps a turn has, its session is loaded as often as a turn of one step."""

    async def test() -> None:
        loads: dict[int, int] = {}
        for length in (1, 20):
            store = PlainStore()
            counted, get_session = [0], store.get_session

            async def count(counted: list[int] = counted, get: Any = get_session, **where: Any) -> Session | None:
                counted[0] += 1
                found: Session | None = await get(**where)
                return found

            store.get_session = count  # type: ignore[method-assign]
            ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
            steps = [node(lambda node_input: node_input, name=f"n{i}") for i in range(length)]
            talk = Conversation(Workflow(name="wf", edges=[("START", ask, *steps)]), store)
            await talk.say()
            counted[0] = 0
            await talk.answer(q=1)
            loads[length] = counted[0]
        assert loads[1] == loads[20]

    run(test)
