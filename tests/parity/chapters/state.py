"""State: who sees a change, how long it lasts, and what a schema allows."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel

from tests.parity.pieces import Boom, answers, asks, flow, gives, shows
from tests.parity.side import Side
from tests.parity.written import written


class Trip(BaseModel):
    """A state schema."""

    city: str = ""
    days: int = 0


async def scopes_are_kept_apart(adk: Side) -> None:
    """Prefixes say how long a key lives; `temp:` is seen by later nodes and never kept."""

    def a(ctx: Any) -> str:
        ctx.state.update({"user:u": 1, "app:p": 2, "temp:t": 3, "s": 4})
        return "x"

    def b(ctx: Any) -> list[Any]:
        return [ctx.state.get(key) for key in ("user:u", "app:p", "temp:t", "s")]

    root = flow(adk, a, b)
    talk = await adk.play(root)
    await adk.play(flow(adk, adk.node(b)), sessions=talk.sessions, session_id="other")


async def temp_is_gone_after_a_pause(adk: Side) -> None:
    """`temp:` state lasts as long as one call of the runner."""

    def a(ctx: Any) -> str:
        ctx.state["temp:t"] = 3
        return "x"

    def b(ctx: Any) -> Any:
        return ctx.state.get("temp:t", "gone")

    await adk.play(flow(adk, a, asks(adk, "q"), b), "hi", answers(q=1))


async def state_has_few_verbs(adk: Side) -> None:
    """What a state offers: reading, writing, `get`, `setdefault`, `update`, `in`, `to_dict`; no way to delete."""

    def a(ctx: Any) -> list[Any]:
        state = ctx.state
        state["k"] = 1
        found = [state["k"], state.get("no"), state.get("no", 2), state.setdefault("k", 9), state.setdefault("m", 3)]
        found += ["k" in state, "no" in state, state.has_delta(), sorted(state.to_dict())]
        found += [hasattr(state, name) for name in ("pop", "keys", "items", "clear", "__delitem__", "__len__")]
        try:
            state["no"]
        except KeyError as error:
            found.append(type(error).__name__)
        return found

    await adk.play(flow(adk, adk.node(lambda ctx: written(a(ctx)), name="a")))


async def a_change_in_place_is_seen(adk: Side) -> None:
    """A list from the state that is changed in place is stored."""

    def a(ctx: Any) -> None:
        ctx.state["list"] = [1]

    def b(ctx: Any) -> list[int]:
        ctx.state["list"].append(2)
        return list(ctx.state["list"])

    await adk.play(flow(adk, gives(adk, "first", 1), a, b))


async def a_change_after_writing_is_not_seen(adk: Side) -> None:
    """A list that its writer changes after it was stored."""
    kept: list[int] = [1]

    def a(ctx: Any) -> str:
        ctx.state["list"] = kept
        return "x"

    def b(ctx: Any) -> list[int]:
        kept.append(2)
        return list(ctx.state["list"])

    await adk.play(flow(adk, a, b))


async def siblings_see_each_others_writes(adk: Side) -> None:
    """A write is seen at once by a lane that runs at the same time."""
    wrote = asyncio.Event()

    async def writer(ctx: Any) -> str:
        ctx.state["k"] = 1
        wrote.set()
        await asyncio.sleep(0.02)
        return "w"

    async def reader(ctx: Any) -> Any:
        await wrote.wait()
        return ctx.state.get("k")

    await adk.play(flow(adk, (writer, reader), adk.JoinNode(name="j")))


async def an_events_state_is_seen_once_stored(adk: Side) -> None:
    """State on an event is seen by the node itself once the event is out."""

    async def a(ctx: Any) -> Any:
        yield adk.Event(state={"k": 1})
        yield ctx.state.get("k")

    await adk.play(flow(adk, adk.node(a)))


async def a_failed_attempts_state_is_kept(adk: Side) -> None:
    """State that a failing attempt wrote is stored with its error, and the next attempt sees it."""

    def a(ctx: Any) -> list[Any]:
        ctx.state["tries"] = ctx.state.get("tries", 0) + 1
        if ctx.state["tries"] < 2:
            raise Boom("no")
        return [ctx.state["tries"], ctx.attempt_count]

    await adk.play(flow(adk, adk.node(a, retry_config=adk.RetryConfig(initial_delay=0.001, jitter=0))))


async def a_failed_nodes_state_is_kept(adk: Side) -> None:
    """State that a node wrote before it failed stays."""

    def a(ctx: Any) -> None:
        ctx.state["k"] = 1
        raise Boom("no")

    await adk.play(flow(adk, a))


async def a_session_begins_with_state(adk: Side) -> None:
    """Nodes see the state that the session was made with, its scopes included."""

    def a(city: str, ctx: Any) -> list[Any]:
        return [city, ctx.state.get("user:u"), ctx.state.get("app:p")]

    await adk.play(flow(adk, a), state={"city": "Oslo", "user:u": 1, "app:p": 2, "temp:t": 3})


async def a_schema_names_the_parameters(adk: Side) -> None:
    """With a state schema, a parameter that isn't a field of it is refused when the workflow is written."""

    def good(city: str, node_input: Any, ctx: Any) -> str:
        return city

    def bad(node_input: Any, town: str) -> str:
        return town

    adk.refused("fields", lambda: flow(adk, adk.node(good), state_schema=Trip))
    adk.refused(
        "other", lambda: flow(adk, adk.node(bad), state_schema=Trip), "bad", "town", "not declared in state_schema"
    )


async def parameters_beyond_the_schema(adk: Side) -> None:
    """With a state schema, parameters that aren't fields of it where the input could have them."""

    def one(town: str) -> str:
        return town

    def two(town: str, land: str) -> str:
        return town + land

    adk.refused("one", lambda: flow(adk, adk.node(one), state_schema=Trip))
    adk.refused("two", lambda: flow(adk, adk.node(two), state_schema=Trip))


async def a_schema_refuses_unknown_keys(adk: Side) -> None:
    """With a state schema, writing a key that isn't a field of it fails the node."""

    def a(ctx: Any) -> None:
        ctx.state["city"] = "Oslo"
        ctx.state["town"] = "Bergen"

    adk.listen("is not declared in state schema", "town")
    await adk.play(flow(adk, a, state_schema=Trip))


async def a_schema_refuses_wrong_values(adk: Side) -> None:
    """With a state schema, a value that doesn't fit its field fails the node; one that could be converted stays."""

    def a(ctx: Any) -> None:
        ctx.state["days"] = "5"

    def b(ctx: Any) -> None:
        ctx.state["days"] = "many"

    adk.listen("does not satisfy field", "days")
    await adk.play(flow(adk, a, b, state_schema=Trip))


async def a_schema_leaves_scopes_alone(adk: Side) -> None:
    """Keys with a prefix aren't checked against the state schema."""

    def a(ctx: Any) -> str:
        ctx.state.update({"user:anything": 1, "temp:x": 2, "city": "Oslo"})
        return "ok"

    await adk.play(flow(adk, a, state_schema=Trip))


async def a_schema_checks_events_too(adk: Side) -> None:
    """State on an event is checked against the state schema."""

    def a() -> Any:
        return adk.Event(output=1, state={"town": "Bergen"})

    adk.listen("is not declared in state schema")
    await adk.play(flow(adk, adk.node(a), state_schema=Trip))


async def the_nearest_schema_counts(adk: Side) -> None:
    """A workflow without a state schema uses the one around it; one of its own counts before that."""

    class Inner(BaseModel):
        town: str = ""

    def a(ctx: Any) -> str:
        ctx.state["town"] = "Bergen"
        return "ok"

    free = adk.Workflow(name="inner", edges=[("START", adk.node(a))])
    own = adk.Workflow(name="inner", edges=[("START", adk.node(a))], state_schema=Inner)
    await adk.play(flow(adk, own, shows(adk), state_schema=Trip))
    adk.listen("is not declared in state schema")
    await adk.play(flow(adk, free, shows(adk), state_schema=Trip), session_id="s2")


async def the_runner_brings_state(adk: Side) -> None:
    """`state_delta` of a call is stored with the user's message, and seen by the nodes."""

    def a(city: str) -> str:
        return city

    talk = adk.talk(flow(adk, a))
    await talk.turn("hi", state_delta={"city": "Oslo", "temp:t": 1, "user:u": 2}, yield_user_message=True)
