"""Cut a run anywhere and go on: what finished doesn't run again, questions are asked once, the outcome is the same.

Graphs are drawn at random (`random_graphs`), cut at each event and at each write in each kind of store (`cuts`), and
compared with the uncut run (`promises`). A longer run than CI's prints how much it tried:

    ADK_NB_TEST_EXAMPLES=250 python -m pytest -o faulthandler_timeout=0 tests/workflow/test_resume.py
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, seed, settings

from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import BaseNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.cuts import Tally, Uncut, cut_again_and_again, cut_at_events, cut_at_writes
from tests.workflow.driving import Conversation, run
from tests.workflow.mortal_stores import KilledError, OnlyEvents, SqliteStore, Store
from tests.workflow.random_graphs import Maker, makers

EXAMPLES = os.environ.get("ADK_NB_TEST_EXAMPLES")
TALLY = Tally()
STORES = [Store, SqliteStore, OnlyEvents]


@pytest.fixture(scope="module", autouse=True)
def long_run(request: pytest.FixtureRequest) -> Iterator[None]:
    """Say at the end of a long run how much was tried."""
    yield
    if EXAMPLES is not None:
        plugins = request.config.pluginmanager
        report, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")
        assert report is not None
        assert capture is not None
        with capture.global_and_fixture_disabled():
            failed = f"{request.session.testsfailed} tests failed"
            report.write_line(f"\n{TALLY}; {failed} (a run lost something, ran or asked twice, or ended otherwise)")


def everywhere(seed_number: int) -> Callable[..., Any]:
    """Return a decorator that tries a way of cutting with drawn graphs on each kind of store, in memory most of all."""

    def decorate(test: Callable[[Uncut, Store], Awaitable[None]]) -> Any:
        @pytest.mark.parametrize("new_store", STORES)
        def test_on(new_store: type[Store]) -> None:
            count = int(EXAMPLES or "40") // (1 if new_store is Store else 4)

            @seed(seed_number)
            @settings(max_examples=count, deadline=None)
            @given(make=makers())
            def tried(make: Maker) -> None:
                async def whole() -> None:
                    uncut = await Uncut.of(make)
                    store = new_store()
                    await test(uncut, store)
                    await store.close()
                    TALLY.graphs += 1

                run(whole)

            tried()

        test_on.__doc__ = test.__doc__
        return test_on

    return decorate


@everywhere(2026)
async def test_a_run_left_after_any_event_comes_to_the_same_end(uncut: Uncut, store: Store) -> None:
    """Walk away after the k-th event, for every k, and go on in a new process: outputs, routes, questions and state.

    Where arrivals race (a loop with anything side by side, a join that takes whoever comes first, several edges into
    a node that is no join), they may meet in another order. Then the rules hold all the same: each output goes to
    whom the edges and the route say, once and unchanged; a join fires with as many as it waits for; the state is what
    the events say; everything that was finished stays as it was.
    """
    await cut_at_events(uncut, store, TALLY)


@everywhere(2027)
async def test_a_run_killed_at_any_write_comes_to_the_same_end(uncut: Uncut, store: Store) -> None:
    """Lose the process between any two writes, in any turn: what was stored as finished never runs again.

    The same is compared as after walking away.
    """
    await cut_at_writes(uncut, store, TALLY)


@everywhere(2028)
async def test_a_run_with_one_process_an_event_comes_to_the_same_end(uncut: Uncut, store: Store) -> None:
    """Walk away after each event in turn, so that each process goes on from what another one left."""
    await cut_again_and_again(uncut, store, TALLY)


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


async def killed_at(write: int, build: Callable[[], BaseNode]) -> tuple[Conversation, bool]:
    """Run until the process is killed at a write; return a conversation of the next one, and whether it was killed."""
    store = Store()
    talk = Conversation(build(), await store.open())
    store.life.left = write
    try:
        await talk.say()
    except KilledError:
        return Conversation(build(), await store.open()), True
    return talk, False


def test_killed_inside_a_workflow_that_is_a_child() -> None:
    """What finished in a graph below a dynamic caller is known after a kill, though neither has finished itself."""

    async def test() -> None:
        for write in range(1, 8):
            ran: list[str] = []

            def build(ran: list[str] = ran) -> BaseNode:
                steps = [node(lambda name=name: ran.append(name), name=name) for name in "abc"]
                inner = Workflow(name="inner", edges=[("START", *steps)])

                @node(rerun_on_resume=True)
                async def parent(ctx: Context) -> Any:
                    return await ctx.run_node(inner)

                return parent

            talk, was_killed = await killed_at(write, build)
            if not was_killed:
                continue
            finished = ran[:-1]  # the last one may have been cut off from its own end
            ran.clear()
            await talk.go_on()
            assert (await talk.root()).status is Status.COMPLETED
            assert not set(ran) & set(finished)

    run(test)


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("is_graph", [True, False])
def test_what_was_stored_below_holds_against_what_callers_write_again(depth: int, is_graph: bool) -> None:
    """A key that a caller writes before it runs a child, which writes it too, is the child's after a kill anywhere.

    So it is where the child is a workflow that hasn't finished, or a node whose output is out and whose end isn't, and
    where callers stand between the two.
    """

    def build() -> BaseNode:
        @node
        def write(ctx: Context) -> None:
            ctx.state["key"] = "from below"

        @node(name="inner")
        async def tell(ctx: Context) -> Any:
            ctx.state["key"] = "from below"
            yield "output"

        graph = Workflow(name="inner", edges=[("START", write, node(lambda: None, name="after"))])
        child: BaseNode = graph if is_graph else tell
        for level in range(depth + 1):

            @node(name=f"caller{level}", rerun_on_resume=True)
            async def caller(ctx: Context, child: BaseNode = child, is_first: bool = level == depth) -> Any:
                if is_first:
                    ctx.state["key"] = "from above"
                await ctx.run_node(child)
                return ctx.state["key"]

            child = caller
        return child

    async def test() -> None:
        write, was_killed = 0, True
        while was_killed:
            write += 1
            talk, was_killed = await killed_at(write, build)
            if was_killed:
                await talk.go_on()
            assert (await talk.root()).output == "from below", write
            assert await talk.state() == {"key": "from below"}
        assert write > depth + 2

    run(test)


def test_a_question_that_was_not_published_is_not_asked() -> None:
    """A node that is stopped between its question and the moment when it is stored asks again when it goes on."""

    async def test() -> None:
        def build() -> BaseNode:
            @node(require_confirmation=True)
            def pay() -> str:
                return "paid"

            @node(rerun_on_resume=True)
            async def caller(ctx: Context) -> Any:
                await asyncio.sleep(0)  # its child has asked, and hasn't ended, when the caller walks away
                return await ctx.run_node(pay)

            first, beside = node(lambda: 1, name="first"), node(lambda: 2, name="beside")
            return Workflow(name="w", edges=[("START", first, (beside, caller))])

        for count in (1, 2):
            talk = Conversation(build())
            await talk.cut_after(count)
            talk = Conversation(build(), talk.service)
            await talk.go_on()
            asked = [i for event in await talk.stored() for i in event.long_running_tool_ids or ()]
            assert asked == [question.interrupt_id for _, question in await talk.questions()]
            assert len(asked) == 1

    run(test)
