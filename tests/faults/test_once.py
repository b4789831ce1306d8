"""What was done once stays done: nothing that finished runs again, in whatever way its run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.faults.ways import Staged, asker, giver, show
from tests.workflow.driving import run

Stage = Callable[[Callable[[], Workflow]], Staged]


def test_a_step_that_returns_none(stage: Stage) -> None:
    """A finished node without an output, in the graph or below a node, runs once however many answers follow."""
    charged: list[str] = []

    def build() -> Workflow:
        def charge() -> None:
            charged.append("charge")

        def mail() -> None:
            charged.append("mail")

        async def caller(ctx: Context) -> Any:
            await ctx.run_node(mail)
            return await ctx.run_node(asker("below"))

        return Workflow(
            name="wf",
            edges=[
                ("START", charge, asker("q0"), asker("q1"), asker("q2"), node(caller, rerun_on_resume=True), show())
            ],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        for interrupt_id in ("q0", "q1", "q2", "below"):
            root = await staged.answer(**{interrupt_id: interrupt_id})
        assert root.output == "'below'"
        assert charged == ["charge", "mail"]
        await staged.go_on()
        assert charged == ["charge", "mail"]
        await staged.close()

    run(test)


def test_a_gate_that_asks_several_times(stage: Stage) -> None:
    """Work done with `run_node` before the questions happens once; there are as many resumes as questions."""
    sent: list[str] = []

    def build() -> Workflow:
        def mail(node_input: str) -> str:
            sent.append(node_input)
            return "sent"

        def question(i: int) -> Any:
            return asker(f"q{i}", message=f"round {i}")

        async def gate(ctx: Context, node_input: str) -> list[Any]:
            await ctx.run_node(mail, node_input)
            return [await ctx.run_node(question(i)) for i in range(3)]

        return Workflow(name="w", edges=[("START", node(gate, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        root = await staged.say("hello")
        for i in range(3):
            assert await staged.questions() == [f"q{i}"]
            root = await staged.answer(**{f"q{i}": f"a{i}"})
        assert root.output == ["a0", "a1", "a2"]
        assert sent == ["hello"]
        await staged.close()

    run(test)


def test_a_second_request_in_the_session(stage: Stage) -> None:
    """A resume looks at its own run only: what an earlier request ran isn't replayed, waited for or run again."""
    ran: list[str] = []

    def build() -> Workflow:
        def pick(node_input: str) -> Event:
            ran.append("pick")
            return Event(output=node_input, route="ask" if "ask" in node_input else "quick")

        def quick() -> str:
            ran.append("quick")
            return "done"

        def after(node_input: Any) -> str:
            return f"got {node_input}"

        ask = asker("q1", "ask")
        return Workflow(name="two_turns", edges=[("START", pick, {"quick": quick, "ask": ask}), (ask, after)])

    async def test() -> None:
        staged = stage(build)
        assert (await staged.say("quick one")).output == "done"
        await staged.say("please ask")
        assert ran == ["pick", "quick", "pick"]
        root = await staged.answer(q1="yes")
        assert (root.status, root.output) == (Status.COMPLETED, "got yes")
        assert ran == ["pick", "quick", "pick"]
        await staged.close()

    run(test)


def test_two_requests_that_wait_at_once(stage: Stage) -> None:
    """Each waiting run of a session is answered by itself, in any order, with its own input."""

    def build() -> Workflow:
        def ask(ctx: Context, node_input: str) -> Any:
            interrupt_id = f"about_{node_input}"
            if interrupt_id in ctx.resume_inputs:
                return [node_input, ctx.resume_inputs[interrupt_id]]
            return RequestInput(interrupt_id=interrupt_id)

        return Workflow(name="wf", edges=[("START", node(ask, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        first = await staged.say("one")
        await staged.say("two")
        await staged.answer(about_one=1)
        old = await staged.talk.runner.root_run(**staged.talk.where, invocation_id=first.invocation_id)
        assert old is not None
        assert old.output == ["one", 1]
        root = await staged.answer(about_two=2)
        assert root.output == ["two", 2]
        await staged.close()

    run(test)


@pytest.mark.parametrize("after", ["failure", "answer"])
def test_going_on_again_and_again(stage: Stage, after: str) -> None:
    """Continuing a finished run does nothing: no event, no execution; a failed one runs only what is missing."""
    ran: list[str] = []

    def build() -> Workflow:
        def first() -> None:
            ran.append("first")

        def second() -> str:
            ran.append("second")
            if after == "failure" and ran.count("second") == 1:
                raise ValueError("once")
            return "done"

        return Workflow(name="wf", edges=[("START", first, second, asker("q"), show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        if after == "failure":
            assert isinstance(staged.error, ValueError)
            await staged.go_on()
        await staged.go_on()
        assert staged.events == []
        assert await staged.questions() == ["q"]
        root = await staged.answer(q=1)
        before = len(await staged.talk.stored())
        for _ in range(3):
            await staged.go_on()
        assert len(await staged.talk.stored()) == before
        assert root.output == "1"
        assert ran == (["first", "second", "second"] if after == "failure" else ["first", "second"])
        await staged.close()

    run(test)


def test_a_progress_message_is_not_an_end(stage: Stage) -> None:
    """A node that failed after it had said something isn't taken for finished: it runs again, with its first input."""
    got: list[Any] = []

    def build() -> Workflow:
        async def work(node_input: str) -> Any:
            got.append(node_input)
            yield Event(message="half way")
            if len(got) == 1:
                raise ConnectionError("gone")
            yield "result"

        return Workflow(name="wf", edges=[("START", giver("in", "src"), work, show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert isinstance(staged.error, ConnectionError)
        root = await staged.go_on()
        assert root.output == "'result'"
        assert got == ["in", "in"]
        await staged.close()

    run(test)


def test_an_output_on_a_partial_event_is_none(stage: Stage) -> None:
    """A piece of a streamed message carries no output: the successor gets the same now and after a pause."""
    got: list[Any] = []

    def build() -> Workflow:
        async def stream() -> Any:
            yield Event(output="piece", partial=True)
            yield Event(message="whole")

        def down(ctx: Context, node_input: Any) -> Any:
            got.append(node_input)
            return "ok" if ctx.resume_inputs else RequestInput(interrupt_id="q")

        return Workflow(name="wf", edges=[("START", stream, node(down, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(q=1)
        assert got == [None, None]
        await staged.close()

    run(test)


def test_a_retry_of_the_caller_replays_what_finished(stage: Stage) -> None:
    """Whether a child failed or the caller itself: finished children keep their results and paths, in every try."""
    ran: list[str] = []

    def build() -> Workflow:
        def c() -> int:
            ran.append("c")
            return len(ran)

        def kid(node_input: str) -> str:
            ran.append(node_input)
            if node_input == "child" and ran.count("child") == 1:
                raise ValueError("the child's")
            return node_input

        async def parent(ctx: Context, node_input: Any) -> Any:
            who = node_input
            given = [await ctx.run_node(c), await ctx.run_node(kid, who)]
            if who == "caller" and ctx.attempt_count == 1:
                raise ValueError("the caller's own")
            return [*given, await ctx.run_node(asker("q"))]

        def tried(name: str) -> Any:
            rule = RetryConfig(max_attempts=3, initial_delay=0, jitter=0)
            return node(parent, name=f"by_{name}", rerun_on_resume=True, retry_config=rule)

        def hands_on(name: str) -> Any:
            return giver(name, f"to_{name}")

        return Workflow(
            name="wf", edges=[("START", hands_on("child"), tried("child"), hands_on("caller"), tried("caller"))]
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert ran == ["c", "child", "child"]
        await staged.answer(q="A")
        assert ran == ["c", "child", "child", "c", "caller"]
        root = await staged.answer(q="B")
        assert root.output == [4, "caller", "B"]
        records = await staged.records()
        assert records["by_child@1"].output == [1, "child", "A"]
        assert not {"by_child@1/c@2", "by_caller@1/c@2"} & set(records)
        await staged.close()

    run(test)
