"""Function nodes: what may be a node, and what its parameters are bound to."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Any

from tests.parity.pieces import Ticket, flow, gives, shows
from tests.parity.side import Side
from tests.parity.written import written


async def a_context_is_called_ctx(adk: Side) -> None:
    """A parameter named `ctx` gets the context; it may be absent."""

    def a(ctx: Any) -> list[Any]:
        return [ctx.node_path, ctx.run_id, ctx.attempt_count, ctx.branch]

    await adk.play(flow(adk, a, shows(adk)))


async def a_context_is_known_by_its_hint(adk: Side) -> None:
    """A parameter annotated with `Context` gets the context, whatever its name."""

    def a(where: Any, ctx: Any = "not the context") -> list[Any]:
        return [where.node_path, ctx]

    a.__annotations__["where"] = adk.Context

    def b(where: Any) -> str:
        return str(where.node_path)

    b.__annotations__["where"] = adk.Context | None
    await adk.play(flow(adk, a, b))


async def node_input_is_what_came_before(adk: Side) -> None:
    """`node_input` gets the output of the node before, `None` when there was none; its own default isn't used."""

    def a(node_input: Any = "default") -> str:
        return written(node_input)

    await adk.play(flow(adk, gives(adk, "nothing"), a))


async def parameters_come_from_the_state(adk: Side) -> None:
    """Other parameters are looked up in the state by name, then take their default."""

    def a(ctx: Any) -> None:
        ctx.state["city"] = "Oslo"

    def b(city: str, other: int = 3, *, third: str = "x") -> list[Any]:
        return [city, other, third]

    await adk.play(flow(adk, a, b))


async def state_outdoes_a_default(adk: Side) -> None:
    """A value in the state is taken before the parameter's default, also `None` and false ones."""

    def a(ctx: Any) -> None:
        ctx.state.update({"count": 0, "name": None})

    def b(count: int = 5, name: Any = "default") -> list[Any]:
        return [count, name]

    await adk.play(flow(adk, a, b))


async def a_missing_parameter_fails_the_node(adk: Side) -> None:
    """A parameter that is nowhere, without a default, is an error that names it."""

    def b(city: str, country: str) -> str:
        return city + country

    adk.listen("Missing value for parameter", "city", "not found in state")
    await adk.play(flow(adk, gives(adk, "a", 1), b))


async def one_free_parameter_takes_the_input(adk: Side) -> None:
    """A function with one free parameter that isn't in the state."""

    def b(number: int) -> int:
        return number + 1

    await adk.play(flow(adk, gives(adk, "a", 1), b))


async def surplus_parameters_stay_empty(adk: Side) -> None:
    """`*args` and `**kwargs` get nothing when parameters come from the state."""

    def a(node_input: Any, *rest: Any, **more: Any) -> list[Any]:
        return [node_input, rest, more]

    await adk.play(flow(adk, gives(adk, "first", 1), a, shows(adk)))


async def a_positional_only_parameter_fails(adk: Side) -> None:
    """Arguments are passed by keyword, so a positional-only parameter can't be bound."""

    def a(node_input: Any, /) -> Any:
        return node_input

    await adk.play(flow(adk, gives(adk, "first", 1), a))


async def input_keys_become_parameters(adk: Side) -> None:
    """With `parameter_binding="node_input"`, the input's keys are the parameters, and surplus keys go to `**kwargs`."""

    def b(city: str, other: int = 3, **more: Any) -> list[Any]:
        return [city, other, more]

    await adk.play(
        flow(adk, gives(adk, "a", {"city": "Oslo", "k": 1}), adk.node(b, parameter_binding="node_input"), shows(adk))
    )


async def a_missing_key_fails_the_node(adk: Side) -> None:
    """With `parameter_binding="node_input"`, a missing key is an error that names it."""

    def b(city: str) -> str:
        return city

    adk.listen("Missing value for parameter", "city", "not found in node_input")
    await adk.play(flow(adk, gives(adk, "a", {"k": 1}), adk.node(b, parameter_binding="node_input")))


async def a_models_fields_become_parameters(adk: Side) -> None:
    """With `parameter_binding="node_input"`, a node behind one that returns a model."""

    def a() -> Ticket:
        return Ticket(title="x")

    def b(title: str, count: int) -> list[Any]:
        return [title, count]

    adk.refused("model", lambda: flow(adk, adk.node(a), adk.node(b, parameter_binding="node_input")))


async def every_kind_of_callable_is_a_node(adk: Side) -> None:
    """Async functions, generators, partials, bound methods, callable objects and classes are nodes."""

    async def coroutine(node_input: Any) -> str:
        await asyncio.sleep(0)
        return f"{node_input} coroutine"

    def generator(node_input: Any) -> Iterator[str]:
        yield f"{node_input} generator"

    async def async_generator(node_input: Any) -> AsyncIterator[str]:
        yield f"{node_input} async generator"

    def awaitable(node_input: Any) -> Awaitable[str]:
        return coroutine(node_input)

    def two(node_input: Any, word: str) -> str:
        return f"{node_input} {word}"

    class Speaker:
        def method(self, node_input: Any) -> str:
            return f"{node_input} method"

        def __call__(self, node_input: Any) -> str:
            return f"{node_input} object"

    class Kept:
        def __init__(self, node_input: Any) -> None:
            self.text = f"{node_input} class"

    def text_of(node_input: Any) -> str:
        return str(node_input.text)

    partial = adk.node(functools.partial(two, word="partial"), name="partial")
    nodes = [coroutine, generator, async_generator, awaitable, partial, Speaker().method]
    await adk.play(flow(adk, gives(adk, "a", "a"), *nodes, adk.node(Speaker(), name="caller")))


async def names_come_from_the_callable(adk: Side) -> None:
    """A node is named as told, else as its function; a partial as the function in it."""

    def f() -> None:
        return None

    class Speaker:
        def method(self) -> None:
            return None

        def __call__(self) -> None:
            return None

    nodes = [
        adk.node(f),
        adk.node(f, name="g"),
        adk.node(functools.partial(f)),
        adk.node(Speaker().method),
        adk.node(Speaker()),
    ]
    adk.note("names", [one.name for one in nodes])


async def a_node_is_declared_with_a_decorator(adk: Side) -> None:
    """`@node`, `@node()` and `@node(...)` make nodes; `FunctionNode` takes its function by keyword."""

    @adk.node
    def a() -> int:
        return 1

    @adk.node()
    def b(node_input: Any) -> int:
        return int(node_input) + 1

    @adk.node(name="renamed", rerun_on_resume=True)
    def c(node_input: Any) -> int:
        return int(node_input) + 1

    def d(node_input: Any) -> int:
        return int(node_input) + 1

    adk.refused("positional", lambda: adk.FunctionNode(d))
    await adk.play(flow(adk, a, b, c, adk.FunctionNode(func=d)))


async def a_class_of_ones_own_is_a_node(adk: Side) -> None:
    """A subclass of `BaseNode` yields events, values, questions and `None`s."""
    BaseNode: Any = adk.BaseNode

    class Own(BaseNode):
        async def _run_impl(self, *, ctx: Any, node_input: Any) -> AsyncIterator[Any]:
            yield adk.Event(message="working")
            yield None
            yield {"got": node_input, "at": ctx.node_path}

    await adk.play(flow(adk, gives(adk, "a", 1), Own(name="own"), shows(adk)))


async def an_unfinished_class_says_so(adk: Side) -> None:
    """A `BaseNode` without a body can be made; running it is an error that names the method."""
    adk.listen("_run_impl")
    await adk.play(flow(adk, adk.BaseNode(name="empty")))


async def a_class_of_ones_own_has_fields(adk: Side) -> None:
    """A subclass's fields are its settings, and its flags are as declared."""
    BaseNode: Any = adk.BaseNode

    class Own(BaseNode):
        factor: int = 2
        rerun_on_resume: bool = True

        async def _run_impl(self, *, ctx: Any, node_input: Any) -> AsyncIterator[Any]:
            yield self.factor * node_input

    own = Own(name="own", factor=3)
    adk.note("flags", [own.rerun_on_resume, own.wait_for_output])
    await adk.play(flow(adk, gives(adk, "a", 2), own))


async def the_users_message_is_known(adk: Side) -> None:
    """The context knows the user's message, the session, the user and that no agent is the root."""

    def a(ctx: Any) -> list[Any]:
        return [ctx.user_content, ctx.user_id, ctx.session.id, ctx.agent_name]

    await adk.play(flow(adk, adk.node(lambda ctx: written(a(ctx)), name="a")))


async def missing_services_are_named(adk: Side) -> None:
    """Artifacts, memory and credentials without their service are errors that say which is missing."""

    async def a(ctx: Any) -> None:
        for what, call in {
            "artifact": functools.partial(ctx.load_artifact, "x"),
            "memory": functools.partial(ctx.search_memory, "x"),
            "confirmation": functools.partial(ctx.request_confirmation, hint="x", payload=None),
        }.items():
            try:
                done = call()
                if done is not None:
                    await done
            except ValueError as error:
                adk.note(what, "requires function_call_id" in str(error) or "service is not" in str(error))

    await adk.play(flow(adk, a))
