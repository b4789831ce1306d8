"""What a run comes to: outputs and what is refused as one, silence, ends that fall short, concurrency."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest
from google.genai import types

from adk_nb.errors import WorkflowConfigurationError, WorkflowDataError
from adk_nb.events import Event, RequestInput
from adk_nb.events.event_actions import EventActions
from adk_nb.events.record import Status
from adk_nb.events.request_input import answer_content
from adk_nb.workflow import BaseNode, JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.workflow.driving import Conversation, lines, outputs, run
from tests.workflow.small_nodes import letter, said


def test_a_message_as_output() -> None:
    """The content is the node's output: the successor gets it, and the event carries no second copy."""

    async def test() -> None:
        def a() -> Event:
            event = Event(message="text")
            event.node_info.message_as_output = True
            return event

        got = []

        def b(node_input: types.Content) -> None:
            got.append(node_input)

        events = await Conversation(Workflow(name="wf", edges=[("START", a, b)])).say()
        assert len(events) == 1
        assert events[0].output is None
        assert said(got[0]) == "text"

    run(test)


def test_what_the_context_holds_at_the_end_goes_out_together() -> None:
    """Output and route set on the context, and state written, leave in one final event."""

    async def test() -> None:
        def a(ctx: Context) -> None:
            ctx.state["k"] = 1
            ctx.route = "x"
            ctx.output = "out"

        events = await Conversation(Workflow(name="wf", edges=[("START", a, {"x": letter("b")})])).say()
        assert lines(events) == [("wf@1/a@1", "out"), ("wf@1/b@1", "B(out)")]
        assert (events[0].actions.route, events[0].actions.state_delta) == ("x", {"k": 1})

    run(test)


def test_a_node_that_says_nothing_leaves_no_event_but_a_record() -> None:
    """None and no state: no event, and the record says that it completed."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", node(lambda: None, name="quiet"), letter("b"))]))
        assert lines(await talk.say()) == [("wf@1/b@1", "B(None)")]
        assert (await talk.records())["wf@1/quiet@1"].status is Status.COMPLETED

    run(test)


@pytest.mark.parametrize("style", ["two yields", "context and return"])
def test_a_second_output_is_refused(style: str) -> None:
    """A node hands on at most one output a run; the first is already out, the second is the node's error."""

    async def test() -> None:
        @node(name="a")
        async def twice() -> AsyncGenerator[int, None]:
            yield 1
            yield 2

        def both(ctx: Context) -> int:
            ctx.output = 1
            return 2

        talk = Conversation(
            Workflow(name="wf", edges=[("START", twice if style == "two yields" else node(both, name="a"))])
        )
        error = await talk.fail(WorkflowDataError, talk.say())
        assert "at most one output" in str(error)
        assert lines(talk.last)[-1] == ("wf@1/a@1", "!WorkflowDataError")
        assert outputs(talk.last) == ({"wf@1/a@1": 1} if style == "two yields" else {})

    run(test)


def test_error_codes() -> None:
    """The code is the exception's own status text where it has one, else its class's name."""

    async def test() -> None:
        class Quota(Exception):
            status = "RESOURCE_EXHAUSTED"

        class Odd(Exception):
            status = 429

        for kind, code in ((Quota, "RESOURCE_EXHAUSTED"), (Odd, "Odd")):

            def boom(kind: type[Exception] = kind) -> None:
                raise kind("full")

            talk = Conversation(Workflow(name="wf", edges=[("START", node(lambda: boom(), name="boom"))]))
            await talk.fail(kind, talk.say())
            assert (talk.last[-1].error_code, talk.last[-1].error_message) == (code, "full")

    run(test)


def test_two_terminal_outputs_fail_after_all_events() -> None:
    """With two outputs every event is out, the error stands at the workflow's path, and the run fails."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", (letter("a"), letter("b")))]))
        error = await talk.fail(WorkflowConfigurationError, talk.say("x"))
        assert "multiple terminal nodes produced output (2)" in str(error)
        assert lines(talk.last) == [
            ("wf@1/a@1", "A(x)"),
            ("wf@1/b@1", "B(x)"),
            ("wf@1", "!WorkflowConfigurationError"),
        ]

    run(test)


def test_the_workflows_output_schema_is_applied_before_the_event() -> None:
    """Event, record and successor carry the same checked value."""

    async def test() -> None:
        from pydantic import BaseModel

        class Out(BaseModel):
            v: int

        inner = Workflow(name="inner", edges=[("START", node(lambda: {"v": "3"}, name="src"))], output_schema=Out)
        got = []

        def down(node_input: Any) -> str:
            got.append(node_input)
            return "ok"

        talk = Conversation(Workflow(name="wf", edges=[("START", inner, down)]))
        events = await talk.say()
        assert events[0].output == {"v": 3}
        assert got == [{"v": 3}]
        assert (await talk.records())["wf@1/inner@1"].output == {"v": 3}

    run(test)


def test_an_unmatched_route_ends_incomplete_with_the_labels() -> None:
    """A route that nobody handles is said: status, the node, the label found and the labels known."""

    async def test() -> None:
        def router() -> Event:
            return Event(output="x", route='["BUG"]')

        talk = Conversation(
            Workflow(name="wf", edges=[("START", router, {"BUG": letter("bug"), "SALES": letter("sales")})])
        )
        await talk.say()
        root = await talk.root()
        assert (root.status, root.output) == (Status.INCOMPLETE, "x")
        assert all(part in root.notes[0] for part in ("router", "BUG", "SALES"))

    run(test)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_starved_join_is_told_up_to_the_root(depth: int) -> None:
    """However deep the join lies, the root ends incomplete and says which join waits for which node."""

    async def test() -> None:
        def pick() -> Event:
            return Event(output=1, route="left")

        left, right = letter("left"), letter("right")
        flow = Workflow(
            name="w1", edges=[("START", pick, {"left": left, "right": right}), ((left, right), JoinNode(name="j"))]
        )
        for level in range(2, depth + 1):
            flow = Workflow(name=f"w{level}", edges=[("START", flow, node(lambda node_input: "after", name="after"))])
        talk = Conversation(flow)
        events = await talk.say()
        root = await talk.root()
        assert root.status is Status.INCOMPLETE
        assert any("'j'" in note and "'right'" in note for note in root.notes)
        assert not [e for e in events if e.node_info.name == "after"]

    run(test)


def test_a_loop_left_by_an_unmatched_route_has_an_output() -> None:
    """The last completed node without a followed edge gives the output, and the run says that it ended short."""

    async def test() -> None:
        def it(ctx: Context) -> Event:
            n = int(ctx.run_id)
            return Event(output=n, route="again" if n < 3 else "stop")

        it_node = node(it)
        talk = Conversation(Workflow(name="wf", edges=[("START", it_node), (it_node, {"again": it_node})]))
        await talk.say()
        root = await talk.root()
        assert (root.status, root.output) == (Status.INCOMPLETE, 3)

    run(test)


def test_actions_of_the_context_go_with_the_next_event() -> None:
    """What a node writes to `ctx.actions` goes with its next event, also when that says nothing else."""

    async def test() -> None:
        def writer(ctx: Context) -> None:
            ctx.actions.state_delta["k"] = 1
            ctx.actions.escalate = True

        def reader(k: int) -> int:
            return k + 1

        talk = Conversation(Workflow(name="wf", edges=[("START", writer, reader)]))
        events = await talk.say()
        assert (dict(events[0].actions.state_delta), events[0].actions.escalate) == ({"k": 1}, True)
        assert (await talk.root()).output == 2

    run(test)


@pytest.mark.parametrize("metadata", [None, {"who": "us"}])
def test_an_event_that_only_acts_is_an_event(metadata: dict[str, Any] | None) -> None:
    """Actions alone make an event, one's own or the context's; what the call puts onto every event makes none."""

    async def test() -> None:
        def acts(ctx: Context) -> None:
            ctx.actions.escalate = True

        def yields() -> Generator[Any, None, None]:
            yield Event(actions=EventActions(skip_summarization=True))
            yield Event(custom_metadata={"progress": 1})
            yield Event()

        def looks(ctx: Context) -> None:
            assert ctx.actions.escalate is None

        talk = Conversation(Workflow(name="wf", edges=[("START", acts, yields, looks)]))
        events = await talk.say(run_config=RunConfig(custom_metadata=metadata))
        assert [(event.node_name, event.actions.is_empty) for event in events] == [
            ("acts", False),
            ("yields", False),
            ("yields", True),
        ]
        assert events[2].custom_metadata == {"progress": 1, **(metadata or {})}

    run(test)


def test_a_question_that_is_repeated_makes_no_event() -> None:
    """A node that runs again and asks what is open still says nothing, whatever the call puts onto every event."""

    async def test() -> None:
        @node(rerun_on_resume=True)
        def ask(ctx: Context) -> Any:
            for name in ("a", "b"):
                if name not in ctx.resume_inputs:
                    yield RequestInput(interrupt_id=name)

        talk = Conversation(Workflow(name="wf", edges=[("START", ask)]))
        config = RunConfig(custom_metadata={"who": "us"})
        assert len(await talk.say(run_config=config)) == 2
        answer = answer_content({"a": 1})
        assert [e async for e in talk.runner.run_async(**talk.where, new_message=answer, run_config=config)] == []

    run(test)


def test_wait_for_output() -> None:
    """A run without output and route triggers nothing, and the next trigger runs the node again."""

    async def test() -> None:
        seen = []

        class Collect(BaseNode):
            async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
                seen.append(node_input)
                if len(seen) == 2:
                    yield list(seen)

        collect = Collect(name="collect", wait_for_output=True)
        talk = Conversation(Workflow(name="wf", edges=[("START", (letter("a"), letter("b")), collect, letter("c"))]))
        events = await talk.say("x")
        assert lines(events)[-2:] == [("wf@1/collect@2", ["A(x)", "B(x)"]), ("wf@1/c@1", "C(['A(x)', 'B(x)'])")]
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, "C(['A(x)', 'B(x)'])")

    run(test)


def test_a_node_that_never_gives_what_is_waited_for_leaves_the_run_incomplete() -> None:
    """Nothing ends in silence: the root is incomplete and names the node."""

    async def test() -> None:
        class Silent(BaseNode):
            async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
                return
                yield

        talk = Conversation(Workflow(name="wf", edges=[("START", Silent(name="s", wait_for_output=True), letter("c"))]))
        assert await talk.say() == []
        root = await talk.root()
        assert root.status is Status.INCOMPLETE
        assert "s ended without output" in root.notes[0]

    run(test)


def test_a_child_that_waits_for_its_next_trigger_gives_none() -> None:
    """A child with `wait_for_output` that ends without a word returns None to its caller, which goes on."""

    async def test() -> None:
        class Silent(BaseNode):
            async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
                return
                yield

        silent = Silent(name="s", wait_for_output=True)

        @node(rerun_on_resume=True)
        async def caller(ctx: Context) -> str:
            return repr(await ctx.run_node(silent))

        talk = Conversation(Workflow(name="wf", edges=[("START", caller)]))
        await talk.say()
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, "None")

    run(test)


def test_max_concurrency_bounds_this_workflows_nodes() -> None:
    """Never more static nodes at once than allowed; dynamic children don't count."""

    async def test() -> None:
        at_once, most = 0, 0

        async def child() -> None:
            await asyncio.sleep(0)

        @node(name="p", rerun_on_resume=True)
        async def parent(ctx: Context) -> None:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.gather(*(ctx.run_node(child) for _ in range(3)))
            at_once -= 1

        nodes = tuple(node(parent, name=f"p{i}") for i in range(7))
        await Conversation(Workflow(name="wf", edges=[("START", nodes)], max_concurrency=2)).say()
        assert most == 2

    run(test)


def test_siblings_really_run_at_the_same_time() -> None:
    """Async nodes of a fan-out wait for each other without a deadlock."""

    async def test() -> None:
        barrier = asyncio.Barrier(3)

        async def meet() -> None:
            await barrier.wait()

        nodes = tuple(node(meet, name=f"m{i}") for i in range(3))
        await asyncio.wait_for(Conversation(Workflow(name="wf", edges=[("START", nodes)])).say(), 5)

    run(test)


def test_an_empty_workflow_and_an_empty_message() -> None:
    """A workflow without edges completes without a word; so does a message without parts."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf"))
        assert await talk._collect(new_message=types.Content(parts=[])) == []
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, None)

    run(test)
