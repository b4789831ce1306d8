"""What `Workflow.check` reads out of the bodies of nodes."""

from __future__ import annotations

import contextlib
import enum
import linecache
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from adk_nb import Agent, Context, Event, Workflow
from adk_nb.events import RequestInput
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import DEFAULT_ROUTE, BaseNode, JoinNode, RetryConfig, node

A, B, C = (node(lambda: None, name=name) for name in "abc")
CLIENT: Any = None


def told(*edges: Any) -> list[tuple[str, str]]:
    """Return the hints of a workflow."""
    return [(hint.node, hint.text) for hint in Workflow(name="wf", edges=list(edges)).check()]


def alone(item: Any) -> list[str]:
    """Return the hints about one node."""
    return [text for _, text in told(("START", item))]


def route_by(router: Any, *labels: Any) -> list[str]:
    """Return the hints about a router with an edge for each label."""
    nodes = [node(lambda: None, name=f"n{i}") for i in range(len(labels))]
    return [text for _, text in told(("START", router, dict(zip(labels, nodes, strict=True))))]


class Kind(enum.StrEnum):
    """Labels."""

    BUG = "bug"
    SALES = "sales"


class Ticket(BaseModel):
    """Data with a label."""

    kind: Literal["BUG", "SALES"] | None = None
    words: str = ""


def classify(text: str) -> Literal["BUG", "SALES"]:
    """Return a label."""
    return "BUG" if "crash" in text else "SALES"


def by_constants(node_input: str) -> Event:
    """Routes by constants."""
    if not node_input:
        return Event(route="empty")
    return Event(output=node_input, route="long" if len(node_input) > 10 else "short")


def by_context(ctx: Context, node_input: str) -> str:
    """Routes by the context, over a variable."""
    label = "yes"
    if not node_input:
        label = "no"
    ctx.route = label
    return node_input


def by_field(node_input: Ticket) -> Event:
    """Routes by a field with a Literal type."""
    return Event(route=node_input.kind)


def by_enum(node_input: Kind) -> Event:
    """Routes by the value of an enum."""
    return Event(route=[node_input.value])


def by_helper(node_input: str) -> Event:
    """Routes by what a function with a Literal type returns."""
    found = classify(node_input)
    return Event(route=found)


def by_anything(node_input: str) -> Event:
    """Routes by what comes."""
    return Event(route=node_input.strip())


@pytest.mark.parametrize(
    ("router", "good", "bad", "says"),
    [
        (by_constants, ["empty", "long", "short"], ["empty", "long"], "can take the route 'short', which no edge"),
        (by_constants, ["empty", "long", "short"], ["empty", "long", "short", "huge"], "edge for 'huge' is never"),
        (by_context, ["yes", "no"], ["yes", "nope"], "the route 'no', which no edge handles"),
        (by_field, ["BUG", "SALES"], ["BUG"], "the route 'SALES'"),
        (by_field, ["SALES", "BUG"], ["BUG", "SALES", "BILLING"], "edge for 'BILLING' is never followed"),
        (by_enum, ["bug", "sales"], ["bug", "sale"], "'sale' (did you mean this?)"),
        (by_helper, ["BUG", "SALES"], ["BUG", "SALES", "bug"], "edge for 'bug' is never followed"),
        (by_anything, ["whatever"], None, ""),
    ],
)
def test_routes_and_edges(router: Any, good: list[str], bad: list[str] | None, says: str) -> None:
    """A label that no edge handles and an edge that is never followed are told; what fits or isn't known is not."""
    assert route_by(router, *good) == []
    if bad is not None:
        (text,) = route_by(router, *bad)
        assert says in text
    assert route_by(router, *good, DEFAULT_ROUTE) == []


def test_an_output_is_no_route() -> None:
    """A function that returns a label and sets no route follows none of its labelled edges."""

    def words(node_input: str) -> str:
        return "BUG"

    def kind(node_input: str) -> Kind:
        return Kind.BUG

    def ticket(node_input: str) -> Ticket:
        return Ticket()

    def unknown(node_input: str) -> Any:
        return by_anything(node_input)

    def by_other(ctx: Context, node_input: str) -> str:
        by_context(ctx, node_input)
        return "BUG"

    for router, shown in ((classify, "Literal['BUG', 'SALES']"), (words, "str"), (kind, "Kind"), (ticket, "Ticket")):
        (text,) = route_by(router, "BUG", "SALES")
        assert f"It returns {shown} as its output and never sets a route" in text
        assert "return Event(output=..., route=...)" in text
    assert route_by(unknown, "BUG") == route_by(by_other, "BUG") == []


def reviewer(node_input: str) -> Event:
    """Goes round by what it reads."""
    return Event(output=node_input, route="done" if "fine" in node_input else "again")


def counting(ctx: Context, node_input: str) -> Event:
    """Goes round three times."""
    ctx.state["passes"] = passes = ctx.state.get("passes", 0) + 1
    return Event(output=node_input, route="done" if passes >= 3 else "again")


def forever(node_input: str) -> Event:
    """Never leaves."""
    return Event(output=node_input, route="again")


def test_loops_that_nothing_ends() -> None:
    """A loop that no route leaves is told, and one that asks a model each time without counting; others aren't."""
    agent = Agent(name="drafter", model=ScriptedModel([]), instruction="Draft.")
    ask = node(lambda: RequestInput(message="good?"), name="ask")
    (first,) = told(("START", A, forever, {"again": A}))
    assert first[0] == "a"
    assert "Nothing leads out of the loop of 'a' and 'forever'" in first[1]
    texts = [text for _, text in told(("START", A, forever, {"again": A, "done": B}))]
    assert any("Nothing leads out of the loop" in text for text in texts)
    ((name, text),) = told(("START", agent, reviewer, {"again": agent, "done": B}))
    assert name == "drafter"
    assert "asks a model in each pass, and nothing in it counts" in text
    assert "max_node_runs" in text
    assert told(("START", agent, counting, {"again": agent, "done": B})) == []
    assert told(("START", A, reviewer, {"again": A, "done": B})) == []
    assert told(("START", agent, by_anything), (by_anything, {"again": agent, "done": B}), (agent, C)) != []
    assert told(("START", agent, ask, {"again": agent, "done": B})) == []


def charge(order: Any) -> str:
    """Costs money."""
    return "receipt"


def before_question(node_input: str) -> Iterator[Any]:
    """Charges, then asks."""
    charge(node_input)
    yield RequestInput(message="ok?", interrupt_id="q")


def assigned_before(node_input: str) -> Any:
    """Sends over a client, in a branch."""
    if node_input:
        sent = CLIENT.mail.send(node_input)
        return RequestInput(message=f"sent {sent}, ok?")
    return None


async def awaited_before(ctx: Context, node_input: str) -> Any:
    """Writes after a child."""
    plan = await ctx.run_node(A, node_input)
    with contextlib.closing(CLIENT) as client:
        await client.save_plan(plan)
    return RequestInput(message="ok?")


@pytest.mark.parametrize(
    ("func", "call", "line"),
    [
        (before_question, "charge(...)", 2),
        (assigned_before, "CLIENT.mail.send(...)", 3),
        (awaited_before, "client.save_plan(...)", 4),
    ],
)
def test_effects_before_a_question(func: Any, call: str, line: int) -> None:
    """In a node that runs again after the answer, a call with an effect before its question is told with its line."""
    (text,) = alone(node(func, rerun_on_resume=True))
    assert f"{call} in line {func.__code__.co_firstlineno + line} stands before its question" in text
    assert "ctx.idempotency_key" in text
    assert alone(node(func)) == []


def answered_first(ctx: Context, node_input: str) -> Any:
    """Looks for the answer first."""
    if "q" not in ctx.resume_inputs:
        CLIENT.send(node_input)
        return RequestInput(interrupt_id="q")
    charge(node_input)
    return "charged"


def asked_first(node_input: str) -> Iterator[Any]:
    """Asks first."""
    yield RequestInput(interrupt_id="q")
    charge(node_input)


def once_by_key(ctx: Context, node_input: str) -> Iterator[Any]:
    """Charges once, by a key."""
    CLIENT.charge(node_input, key=ctx.idempotency_key)
    yield RequestInput()


def once_by_state(ctx: Context, node_input: str) -> Iterator[Any]:
    """Charges once, by the state."""
    if not ctx.state.get("charged"):
        charge(node_input)
        ctx.state["charged"] = True
    yield RequestInput()


def harmless(ctx: Context, node_input: list[str]) -> Iterator[Any]:
    """Works in memory, tells and checks."""
    found: list[str] = []
    for one in node_input:
        found.append(one)
    CLIENT.info(found)
    validate_all(found)
    total = sum_of(found)
    ctx.state.update({"n": total})
    yield RequestInput(payload=found)


def validate_all(found: list[str]) -> None:
    """Checks."""


def sum_of(found: list[str]) -> int:
    """Adds."""
    return len(found)


@pytest.mark.parametrize("func", [answered_first, asked_first, once_by_key, once_by_state, harmless])
def test_no_effects_before_a_question(func: Any) -> None:
    """Calls after the question or the look for its answer, guarded ones and those in memory aren't told."""
    assert alone(node(func, rerun_on_resume=True)) == []


def hides(sku: str) -> dict[str, Any]:
    """Hides every failure."""
    try:
        found: dict[str, Any] = CLIENT.get(sku)
    except Exception:  # noqa: BLE001  # what is told
        return {"error": "lookup failed"}
    return found


def suppresses(sku: str) -> None:
    """Hides every failure in another way."""
    with contextlib.suppress(ValueError, Exception):
        CLIENT.get(sku)


def narrow(sku: str) -> Any:
    """Takes what it can handle, and raises the rest again."""
    try:
        return CLIENT.get(sku)
    except KeyError:
        return None
    except Exception:
        raise


async def swallows(ctx: Context, node_input: Any) -> Any:
    """Takes the signal of a pause."""
    try:
        return await ctx.run_node(A, node_input)
    except BaseException:  # noqa: BLE001  # what is told
        return None


async def swallows_all(ctx: Context, node_input: Any) -> Any:
    """Takes the signal of a pause in the shortest way."""
    try:
        return await ctx.run_node(A, node_input)
    except:  # noqa: E722
        return None


def test_errors_that_the_engine_never_sees() -> None:
    """A broad handler is told where retries are wanted, one that takes everything where something is awaited."""
    retried: dict[str, Any] = {"retry_config": RetryConfig(max_attempts=3)}
    func: Any
    for func, caught in ((hides, "`except Exception`"), (suppresses, "`suppress(Exception)`")):
        (text,) = alone(node(func, **retried))
        assert f"retry_config never sees what the {caught} in line" in text
        assert alone(node(func)) == []
    assert alone(node(narrow, **retried)) == []
    for func, caught in ((swallows, "`except BaseException`"), (swallows_all, "`except:`")):
        (text,) = alone(node(func, rerun_on_resume=True))
        assert f"The {caught} in line" in text
        assert "the signals of a pause and of a stop" in text


def appends(ctx: Context, node_input: str) -> None:
    """Appends an event to the session."""
    ctx.session.events.append(Event(output=node_input))


async def appends_to_service(ctx: Context, node_input: str) -> None:
    """Appends an event over a service."""
    await CLIENT.append_event(ctx.session, Event(output=node_input))


def reads(ctx: Context) -> list[str]:
    """Reads the events of the session."""
    found = []
    for event in ctx.session.events:
        found.append(event.author)
    return found


def test_events_that_are_appended() -> None:
    """An event put into the session by hand is told; reading events isn't."""
    func: Any
    for func in (appends, appends_to_service):
        (text,) = alone(func)
        assert f"Line {func.__code__.co_firstlineno + 2} appends an event" in text
        assert "yield the event instead" in text
    assert alone(reads) == []


class OldAgent(Agent):
    """An agent with its body where 1.x had it."""

    async def _run_async_impl(self, ctx: Any) -> Any:
        yield Event(output="never")


class Counting(JoinNode):
    """A join whose body is never asked."""

    async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
        yield len(node_input)


class Good(BaseNode):
    """A node as it should be, with the old body called by the new one."""

    async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
        async for item in self._run_async_impl(ctx):
            yield item

    async def _run_async_impl(self, ctx: Any) -> Any:
        yield 1


def test_overrides_that_nothing_calls() -> None:
    """A method written to run a node that the engine never calls is told with the class and what to write instead."""
    (text,) = alone(OldAgent(name="old", model=ScriptedModel([])))
    assert "Its class OldAgent overrides _run_async_impl, which is never called" in text
    assert "before_agent_callback" in text
    ((_, text),) = told(("START", (A, B), Counting(name="j")))
    assert "Counting overrides _run_impl" in text
    assert "into call" in text
    assert alone(Good(name="good")) == []
    assert alone(Agent(name="plain", model=ScriptedModel([]))) == []


def test_bodies_without_source() -> None:
    """Functions made by exec, built in ones, partials, methods and callable objects are looked at without harm."""
    made: dict[str, Any] = {"RequestInput": RequestInput}
    exec("def made(node_input):\n    charge()\n    return RequestInput()\n", made)

    class Callable:
        def __call__(self, node_input: str) -> str:
            return node_input

        def method(self, node_input: str) -> Any:
            charge(node_input)
            return RequestInput()

    for item in (made["made"], node(lambda: RequestInput(), name="f"), node(Callable(), name="g"), node(len, name="h")):
        assert alone(node(item, rerun_on_resume=True)) == []
    (text,) = alone(node(Callable().method, rerun_on_resume=True))
    assert "charge(...)" in text


def test_a_function_of_a_cell() -> None:
    """A function defined in a notebook's cell has its source, and the line is the one in the cell."""
    source = "from adk_nb.events import RequestInput\n\ndef ask(x):\n    send(x)\n    return RequestInput()\n"
    name = "<ipython-input-1-abc>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    cell: dict[str, Any] = {}
    exec(compile(source, name, "exec"), cell)
    (text,) = alone(node(cell["ask"], rerun_on_resume=True))
    assert "send(...) in line 4" in text


def test_drawn() -> None:
    """A drawing holds each hint at its node."""
    flow = Workflow(name="wf", edges=[("START", node(before_question, rerun_on_resume=True))])
    (hint,) = flow.describe().nodes[1].hints
    assert "stands before its question" in hint
