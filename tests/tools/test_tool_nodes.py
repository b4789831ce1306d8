"""Tools as nodes: what the input of a node becomes, what the tool is handed, and what it may ask for."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from adk_nb.errors import ToolArgumentsError, WorkflowConfigurationError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.plugins import BasePlugin
from adk_nb.sessions import SqliteSessionService
from adk_nb.tools import BaseTool, FunctionTool, LongRunningFunctionTool, ToolContext
from adk_nb.workflow import BaseNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, outputs, run

REFUSED = {"error": "This tool call is rejected."}


class Pair(BaseModel):
    """Arguments as a model."""

    a: int
    b: int = 2


def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b


def echo(s: Any) -> Any:
    """Say the same."""
    return s


def whole(a: Any, b: Any) -> list[Any]:
    """Say both."""
    return [a, b]


class Own(BaseTool):
    """A tool that declares nothing."""

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Say the arguments."""
        return {"got": args}


def source(value: Any) -> BaseNode:
    """Return a node that hands on a value."""
    return node(lambda: value, name="src")


async def result_of(tool: Any, value: Any) -> Any:
    """Return what a tool's node hands on for an input."""
    talk = Conversation(Workflow(name="wf", edges=[("START", source(value), tool)]))
    await talk.say()
    return (await talk.root()).output


@pytest.mark.parametrize(
    ("tool", "value", "expected"),
    [
        (FunctionTool(add), {"a": 1}, 3),
        (FunctionTool(add), {"a": 1, "zz": 9}, 3),
        (FunctionTool(add), {"a": "1", "b": "4"}, 5),
        (FunctionTool(add), Pair(a=1), 3),
        (FunctionTool(add), '{"a": 3, "b": 4}', 7),
        (FunctionTool(add), "7", 9),
        (FunctionTool(add), 5, 7),
        (FunctionTool(echo), "  a word ", "a word"),
        (FunctionTool(echo), "[1, 2]", "[1, 2]"),
        (FunctionTool(echo), [1, 2], [1, 2]),
        (FunctionTool(echo), False, False),
        (Own(name="own", description=""), {"z": 5}, {"got": {"z": 5}}),
        (Own(name="own", description=""), None, {"got": {}}),
        (Own(name="own", description=""), "   ", {"got": {}}),
    ],
    ids=repr,
)
def test_the_input_becomes_the_arguments(tool: BaseTool, value: Any, expected: Any) -> None:
    """Dictionaries, models and JSON objects are the arguments; one value goes to the only parameter that needs one."""

    async def test() -> None:
        assert await result_of(tool, value) == expected

    run(test)


def test_a_message_gives_its_text() -> None:
    """A tool right after START takes what the person said, as JSON object or as the one argument."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", FunctionTool(add))]))
        assert outputs(await talk.say('{"a": 9}')) == {"wf@1/add@1": 11}
        talk = Conversation(Workflow(name="wf", edges=[("START", FunctionTool(echo))]))
        assert outputs(await talk.say("hello")) == {"wf@1/echo@1": "hello"}

    run(test)


def test_missing_parameters_come_from_the_state() -> None:
    """A parameter that must be given and isn't in the input is looked up in the state; one with a default isn't."""

    async def test() -> None:
        def put(ctx: Context) -> dict[str, int]:
            ctx.state["b"] = 40
            return {"a": 1}

        talk = Conversation(Workflow(name="wf", edges=[("START", put, FunctionTool(whole), echo_input)]))
        assert outputs(await talk.say())["wf@1/whole@1"] == [1, 40]
        talk = Conversation(Workflow(name="wf", edges=[("START", put, FunctionTool(add))]))
        assert outputs(await talk.say())["wf@1/add@1"] == 3

    run(test)


echo_input = node(lambda node_input: node_input, name="echo_input")


@pytest.mark.parametrize(
    ("tool", "value", "said"),
    [
        (FunctionTool(whole), 5, ["'whole'", "must be a dictionary of tool arguments", "5 (int)", "'a', 'b'"]),
        (Own(name="own", description=""), 5, ["must be a dictionary of tool arguments", "'own'", "no parameters"]),
        (FunctionTool(whole), {"a": 1}, ["Node 'whole'", "tool 'whole'", "'b'", "'a'", "state has none"]),
        (FunctionTool(echo), "  ", ["'s'", "none"]),
        (FunctionTool(add), {"a": "abc"}, ["Node 'add'", "'a'", "valid integer", "'abc'"]),
    ],
    ids=repr,
)
def test_arguments_that_do_not_fit_fail_the_node(tool: BaseTool, value: Any, said: list[str]) -> None:
    """The error names node, tool, parameter and what was found; the tool isn't called."""

    async def test() -> None:
        with pytest.raises(ToolArgumentsError) as caught:
            await result_of(tool, value)
        assert all(one in str(caught.value) for one in said), str(caught.value)
        assert isinstance(caught.value, TypeError)

    run(test)


def test_a_tool_becomes_a_node_wherever_a_node_can_stand() -> None:
    """A tool stands in an edge, in `node(...)` with options, in `ctx.run_node` and in a parallel worker."""

    async def test() -> None:
        tool = FunctionTool(add)

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            return [await ctx.run_node(tool, {"a": 1}), await ctx.run_node(tool, {"a": 2})]

        spread = node(tool, name="spread", parallel_worker=True)
        plus = node(tool, name="plus", timeout=5)
        talk = Conversation(Workflow(name="wf", edges=[("START", parent, spread, node(lambda: 1, name="one"), plus)]))
        assert outputs(await talk.say()) == {
            "wf@1/parent@1/add@1": 3,
            "wf@1/parent@1/add@2": 4,
            "wf@1/parent@1": [3, 4],
            "wf@1/spread@1/spread@1": 5,
            "wf@1/spread@1/spread@2": 6,
            "wf@1/spread@1": [5, 6],
            "wf@1/one@1": 1,
            "wf@1/plus@1": 3,
        }

    run(test)


def test_one_tool_object_is_one_node() -> None:
    """The same object in several edges is one node, drawn as a tool, and named so that a graph can hold it."""
    tool = Own(name="web-search", description="Search.\nMore.")
    again = node(lambda node_input: node_input, name="again")
    [_, own, _] = Workflow(name="wf", edges=[("START", tool), (tool, again)]).describe().nodes
    assert (own.name, own.kind, own.detail) == ("web_search", "tool", "Search.")


def test_the_tool_is_handed_the_context_of_the_node() -> None:
    """The context has path, state and actions of the node, and an id for this call of the tool."""

    async def test() -> None:
        calls: list[str | None] = []

        def look(a: int, tool_context: ToolContext) -> str:
            calls.append(tool_context.function_call_id)
            tool_context.state["seen"] = a
            tool_context.actions.route = "on"
            return tool_context.node_path

        edges: Any = [("START", source(1), FunctionTool(look), {"on": echo_input})]
        talk = Conversation(Workflow(name="wf", edges=edges))
        assert outputs(await talk.say())["wf@1/echo_input@1"] == "wf@1/look@1"
        await talk.say()
        assert await talk.state() == {"seen": 1}
        assert len(set(calls)) == 2
        assert None not in calls

    run(test)


def test_results_of_all_kinds() -> None:
    """Models become dictionaries, a message is a value, an event goes out as it is, and `None` is an empty event."""

    async def test() -> None:
        def model(a: int) -> Pair:
            return Pair(a=a)

        def message(a: int) -> types.Content:
            return types.Content(role="model", parts=[types.Part(text="hi")])

        def event(a: int) -> Event:
            return Event(output=a, message="said")

        def nothing(a: int) -> None: ...

        assert await result_of(FunctionTool(model), 1) == {"a": 1, "b": 2}
        assert (await result_of(FunctionTool(message), 1)).parts[0].text == "hi"
        assert await result_of(FunctionTool(event), 1) == 1
        assert await result_of(FunctionTool(nothing), 1) is None
        talk = Conversation(Workflow(name="wf", edges=[("START", source(1), FunctionTool(nothing))]))
        assert lines(await talk.say())[1:] == [("wf@1/nothing@1", None)]
        assert await result_of(LongRunningFunctionTool(model), 1) == {"a": 1, "b": 2}

    run(test)


@pytest.mark.parametrize("style", ["sync", "async"])
def test_generators_speak_while_they_work(style: str) -> None:
    """What a generator says goes out as it comes, on a lane below the tool; its one other value is the result.

    Its arguments are those of the call, also where the state has a key of the same name.
    """

    async def test() -> None:
        def sync(a: int) -> Generator[Any, None, None]:
            yield Event(message="working")
            yield a + 1

        async def later(a: int) -> AsyncGenerator[Any, None]:
            yield Event(message="working")
            yield a + 1

        def put(ctx: Context) -> dict[str, int]:
            ctx.state["a"] = 100
            return {"a": 1}

        tool = FunctionTool(sync if style == "sync" else later)
        talk = Conversation(Workflow(name="wf", edges=[("START", put, tool)]))
        path = f"wf@1/{tool.name}@1"
        assert lines(await talk.say())[1:] == [
            (f"{path}/{tool.name}@1", None),
            (f"{path}/{tool.name}@1", 2),
            (path, 2),
        ]

    run(test)


def test_sync_tools_of_a_fan_out_do_not_hold_each_other_up() -> None:
    """Sync tools that fan out work side by side, each with its own context."""

    async def test() -> None:
        meet = threading.Barrier(2, timeout=20)

        def left(a: int, tool_context: ToolContext) -> str:
            meet.wait()
            tool_context.state["left"] = a
            return tool_context.node_path

        def right(a: int, tool_context: ToolContext) -> str:
            meet.wait()
            tool_context.state["right"] = a
            return tool_context.node_path

        talk = Conversation(
            Workflow(name="wf", edges=[("START", source(1), (FunctionTool(left), FunctionTool(right)))])
        )
        await talk.fail(ValueError, talk.say())  # two ends with an output each
        assert outputs(talk.last)["wf@1/left@1"] == "wf@1/left@1"
        assert await talk.state() == {"left": 1, "right": 1}

    run(test)


@pytest.mark.parametrize("confirmed", [True, False])
@pytest.mark.parametrize("requirement", [True, lambda a, b=2: a > 0], ids=["always", "predicate"])
def test_tools_that_need_an_approval(requirement: Any, confirmed: bool) -> None:
    """A tool node asks like a function node: with name and arguments, and a refused call isn't made."""

    async def test() -> None:
        tool = FunctionTool(add, require_confirmation=requirement)
        talk = Conversation(Workflow(name="wf", edges=[("START", source({"a": 1}), tool, echo_input)]))
        await talk.say()
        [(_, question)] = await talk.questions()
        assert question.interrupt_id == "wf_tool_confirmation:wf@1/add@1"
        assert question.payload == {"tool_name": "add", "args": {"a": 1}}
        await talk.answer({question.interrupt_id: {"confirmed": confirmed}})
        assert (await talk.root()).output == (3 if confirmed else REFUSED)

    run(test)


def test_a_refused_call_is_never_made_whatever_the_predicate_says_later() -> None:
    """The refusal decides, also when the call would not need an approval any more."""

    async def test() -> None:
        is_needed = [True]
        tool = FunctionTool(add, require_confirmation=lambda a: is_needed[0])
        talk = Conversation(Workflow(name="wf", edges=[("START", source({"a": 1}), tool)]))
        await talk.say()
        is_needed[0] = False
        await talk.answer({"wf_tool_confirmation:wf@1/add@1": False})
        assert (await talk.root()).output == REFUSED

    run(test)


def booking(seen: list[Any]) -> FunctionTool:
    """Return a tool that asks while it is called."""

    def book(days: int, tool_context: ToolContext) -> Any:
        given = tool_context.tool_confirmation
        if given is None:
            tool_context.request_confirmation(hint="How long?", payload={"days": days})
            return {"status": "dropped"}
        seen.append((given.confirmed, given.payload))
        return given.payload["days"] if given.confirmed else "not booked"

    return FunctionTool(book)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [({"confirmed": True, "payload": {"days": 3}}, 3), ({"confirmed": False}, "not booked")],
)
def test_a_tool_may_ask_while_it_is_called(tmp_path: Path, answer: Any, expected: Any) -> None:
    """What it returned then is dropped; after the answer, in whatever process, it is called again with the decision."""

    async def test() -> None:
        seen: list[Any] = []
        question = "wf_tool_confirmation:wf@1/book@1"
        for turn in range(2):
            async with SqliteSessionService(str(tmp_path / "s.db")) as service:
                workflow = Workflow(name="wf", edges=[("START", source({"days": 5}), booking(seen), echo_input)])
                talk = Conversation(workflow, service)
                if turn == 0:
                    asked = (await talk.say())[-1]
                    assert asked.output is None
                    assert asked.actions.requested_tool_confirmations == {}
                    [(_, open_question)] = await talk.questions()
                    assert open_question.message == "How long?"
                    assert open_question.payload == {
                        "tool_name": "book",
                        "args": {"days": 5},
                        "confirmation_payload": {"days": 5},
                    }
                else:
                    await talk.answer({question: answer})
                    root = await talk.root()
                    assert (root.status, root.output) == (Status.COMPLETED, expected)
        assert seen == [(answer["confirmed"], answer.get("payload"))]

    run(test)


def test_a_tool_may_return_a_question() -> None:
    """A tool that returns `RequestInput` waits for the answer and is called again with it."""

    async def test() -> None:
        def ask(a: int, tool_context: ToolContext) -> Any:
            return tool_context.resume_inputs.get("q") or RequestInput(interrupt_id="q", response_schema=int)

        talk = Conversation(Workflow(name="wf", edges=[("START", source(1), FunctionTool(ask))]))
        assert lines(await talk.say())[-1] == ("wf@1/ask@1", "?q")
        await talk.answer(q="7")
        assert (await talk.root()).output == 7

    run(test)


class Watcher(BasePlugin):
    """Notes what it sees, and replaces what it is told to."""

    def __init__(self, before: Any = None, error: Any = None, after: Any = None) -> None:
        super().__init__("watcher")
        self.seen: list[Any] = []
        self.answers = {"before": before, "error": error, "after": after}

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context) -> Any:
        """See a call."""
        self.seen.append(("before", tool.name, dict(tool_args)))
        return self.answers["before"]

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:
        """See a result."""
        self.seen.append(("after", result))
        return self.answers["after"]

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> Any:
        """See an error."""
        self.seen.append(("error", type(error).__name__))
        return self.answers["error"]


def test_plugins_see_and_replace_calls_of_tools() -> None:
    """Before, after and error callbacks run around the call; a question is no result, so no plugin sees one."""

    async def test() -> None:
        def boom(a: int) -> int:
            raise KeyError("x")

        async def outcome(tool: BaseTool, watcher: Watcher, answer: Any = None) -> Any:
            workflow = Workflow(name="wf", edges=[("START", source({"a": 1}), tool)])
            talk = Conversation(workflow, plugins=[watcher])
            await talk.say()
            if answer is not None:
                await talk.answer({f"wf_tool_confirmation:wf@1/{tool.name}@1": answer})
            return (await talk.root()).output, watcher.seen

        called = ("before", "add", {"a": 1})
        assert await outcome(FunctionTool(add), Watcher()) == (3, [called, ("after", 3)])
        assert await outcome(FunctionTool(add), Watcher(after={"r": 1})) == ({"r": 1}, [called, ("after", 3)])
        skipped = FunctionTool(boom, require_confirmation=True)
        assert (await outcome(skipped, Watcher(before={"r": 2})))[0] == {"r": 2}
        assert await outcome(FunctionTool(boom), Watcher(error={"r": 3})) == (
            {"r": 3},
            [("before", "boom", {"a": 1}), ("error", "KeyError"), ("after", {"r": 3})],
        )
        gated = FunctionTool(add, require_confirmation=True)
        assert await outcome(gated, Watcher(), answer=True) == (3, [called, called, ("after", 3)])
        assert await outcome(gated, Watcher(), answer=False) == (REFUSED, [called, called, ("after", REFUSED)])

    run(test)


def test_options_that_a_tool_node_cannot_have() -> None:
    """What belongs to functions is refused with what to write in its place, and so is an answer as the result."""
    with pytest.raises(WorkflowConfigurationError, match=r"FunctionTool\(func, require_confirmation="):
        node(FunctionTool(add), require_confirmation=True)
    with pytest.raises(WorkflowConfigurationError, match="rerun_on_resume=False"):
        node(FunctionTool(add), rerun_on_resume=False)
