"""Tools as nodes."""

from __future__ import annotations

from typing import Any

from tests.parity.pieces import Boom, answers, flow, gives, shows
from tests.parity.side import Side, said


def tool(adk: Side, function: Any) -> Any:
    """Return a function as a tool."""
    return adk.FunctionTool(function)


def price(article: str, count: int = 1) -> dict[str, Any]:
    """Say what an article costs."""
    return {"article": article, "price": 2 * count}


async def a_tool_is_a_node(adk: Side) -> None:
    """A tool in an edge is called with the dictionary before it, and hands on what it returns."""
    await adk.play(flow(adk, gives(adk, "a", {"article": "x", "count": 3}), tool(adk, price), shows(adk)))


async def a_tool_has_its_own_name(adk: Side) -> None:
    """A tool's node is named as the tool, or as told."""
    made, named = adk.node(tool(adk, price)), adk.node(tool(adk, price), name="lookup")
    adk.note("names", [made.name, made.rerun_on_resume, named.name])


async def one_value_is_the_only_argument(adk: Side) -> None:
    """A value that is no dictionary is the tool's only argument that must be given."""

    def double(number: int) -> int:
        """Double a number."""
        return number * 2

    await adk.play(flow(adk, gives(adk, "a", 5), tool(adk, double), shows(adk)))
    await adk.play(flow(adk, gives(adk, "a", " x "), tool(adk, price), shows(adk)), session_id="s2")


async def arguments_are_missing(adk: Side) -> None:
    """A required argument that is nowhere."""
    await adk.play(flow(adk, gives(adk, "a", {"count": 5}), tool(adk, price), shows(adk)))


async def arguments_are_converted(adk: Side) -> None:
    """A text where a tool's argument is a number."""

    def double(number: int) -> list[Any]:
        """Double a number."""
        return [number, type(number).__name__]

    await adk.play(flow(adk, gives(adk, "a", {"number": "5"}), tool(adk, double), shows(adk)))


async def a_tool_returns_a_question(adk: Side) -> None:
    """A question that a tool returns."""

    def ask() -> Any:
        """Ask."""
        return adk.RequestInput(interrupt_id="q")

    await adk.play(flow(adk, gives(adk, "a"), tool(adk, ask), shows(adk)), "hi", answers(q="x"))


async def a_tool_returns_an_event(adk: Side) -> None:
    """An event that a tool returns."""

    def say() -> Any:
        """Say."""
        return adk.Event(output=1, message="said")

    def kind(node_input: Any) -> str:
        return type(node_input).__name__

    talk = adk.talk(flow(adk, gives(adk, "a"), tool(adk, say), kind))
    stream = talk.runner.run_async(**talk.where, new_message=said("hi"))
    adk.note("handed on", [event.output async for event in stream][-1])


async def a_tool_has_a_usual_name(adk: Side) -> None:
    """A tool whose name can't be a node's."""
    one = tool(adk, price)
    one.name = "web-search"
    adk.refused("dash", lambda: adk.node(one))


async def arguments_are_checked(adk: Side) -> None:
    """A number where a tool's argument is a text."""
    await adk.play(flow(adk, gives(adk, "a", {"article": 5}), tool(adk, price), shows(adk)))


async def a_text_is_read_as_arguments(adk: Side) -> None:
    """A text that is a JSON object is the arguments, also as the user's message."""
    await adk.play(flow(adk, gives(adk, "a", '{"article": "x"}'), tool(adk, price), shows(adk)))
    await adk.play(flow(adk, tool(adk, price), shows(adk)), '{"article": "y"}', session_id="s2")


async def nothing_is_no_arguments(adk: Side) -> None:
    """Nothing before a tool calls it without arguments."""

    def now() -> str:
        """Say the time."""
        return "noon"

    await adk.play(flow(adk, gives(adk, "a"), tool(adk, now), shows(adk)))


async def too_many_arguments_are_refused(adk: Side) -> None:
    """A value for a tool with several required arguments is an error."""

    def add(one: int, two: int) -> int:
        """Add two numbers."""
        return one + two

    adk.listen("must be a dictionary of tool arguments")
    await adk.play(flow(adk, gives(adk, "a", 5), tool(adk, add), shows(adk)))


async def missing_arguments_come_from_the_state(adk: Side) -> None:
    """A required argument that isn't in the input is taken from the state."""

    def a(ctx: Any) -> dict[str, Any]:
        ctx.state["article"] = "from the state"
        return {"count": 2}

    await adk.play(flow(adk, a, tool(adk, price), shows(adk)))


async def a_tool_may_return_nothing(adk: Side) -> None:
    """A tool that returns nothing gives an event without output."""

    def log(text: str) -> None:
        """Keep a text."""

    await adk.play(flow(adk, gives(adk, "a", {"text": "x"}), tool(adk, log), shows(adk)))


async def a_tool_sees_the_context(adk: Side) -> None:
    """A tool's context is its node's: state it writes is the session's, and it has a call id."""

    def count(tool_context: Any) -> list[Any]:
        """Count."""
        tool_context.state["n"] = 1
        return [tool_context.node_path, bool(tool_context.function_call_id)]

    await adk.play(flow(adk, gives(adk, "a"), tool(adk, count), shows(adk)))


async def a_tool_fails(adk: Side) -> None:
    """A tool's exception is its node's failure."""

    def bad(x: int) -> int:
        """Fail."""
        raise Boom("no")

    await adk.play(flow(adk, gives(adk, "a", {"x": 1}), tool(adk, bad), shows(adk)))


async def a_tool_asks_first(adk: Side) -> None:
    """A tool that needs a confirmation asks before it runs, and runs once it is confirmed."""
    asking = adk.FunctionTool(price, require_confirmation=True)
    root = flow(adk, gives(adk, "a", {"article": "x"}), asking, shows(adk))
    talk = await adk.play(root)
    question = next(iter((await talk.session()).events[-1].long_running_tool_ids))
    await talk.turn(answers({question: {"confirmed": True}}))


async def a_tool_is_refused(adk: Side) -> None:
    """A tool whose confirmation is refused doesn't run, and the flow goes on with what it says."""
    asking = adk.FunctionTool(price, require_confirmation=True)
    root = flow(adk, gives(adk, "a", {"article": "x"}), asking, shows(adk))
    talk = await adk.play(root)
    question = next(iter((await talk.session()).events[-1].long_running_tool_ids))
    await talk.turn(answers({question: {"confirmed": False}}))


async def a_tools_refusal_stays(adk: Side) -> None:
    """A refused tool call whose predicate says, after the answer, that no confirmation is needed."""
    asked = 0

    def only_once(article: str) -> bool:
        nonlocal asked
        asked += 1
        return asked == 1

    asking = adk.FunctionTool(price, require_confirmation=only_once)
    root = flow(adk, gives(adk, "a", {"article": "x"}), asking, shows(adk))
    await adk.play(root, "hi", answers({"wf_tool_confirmation:wf@1/price@1": {"confirmed": False}}))


async def a_tool_as_a_child(adk: Side) -> None:
    """A tool may be run with `ctx.run_node`."""
    one = tool(adk, price)

    async def parent(ctx: Any) -> Any:
        return [await ctx.run_node(one, {"article": "x"})]

    await adk.play(flow(adk, adk.node(parent, rerun_on_resume=True), shows(adk)))
