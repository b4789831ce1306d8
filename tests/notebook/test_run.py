"""`run`, `run_sync` and `Run`: a run as a background task, its questions, its end, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sqlite3
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, Field

from adk_nb import events
from adk_nb.errors import AnswerError, ConfigurationError
from adk_nb.events import RequestInput
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run, run_sync
from adk_nb.notebook.settings import configure
from adk_nb.sessions import InMemorySessionService
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context

Event: Any = events.Event  # its shortcuts (message=, route=, …) are unknown to a type checker
T = TypeVar("T")


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine; whatever it leaves hanging fails the test."""
    return asyncio.run(asyncio.wait_for(work, 30))


class Decision(BaseModel):
    """An answer with two fields."""

    approved: bool
    limit: float = Field(612, le=612)


def classify(node_input: str) -> dict[str, str]:
    """Say what a ticket is about."""
    return {"category": "BUG" if "bug" in node_input else "BILLING"}


def router(node_input: dict[str, str]) -> Any:
    """Route by category."""
    return Event(output=node_input["category"], route=node_input["category"])


def approve(node_input: str) -> Iterator[Any]:
    """Ask a person."""
    yield RequestInput(interrupt_id="q", message="Approve?", payload={"n": 1}, response_schema=Decision)


def refund(node_input: dict[str, Any]) -> dict[str, Any]:
    """Pay."""
    return {"paid": node_input["limit"]}


def triage(node_input: str) -> None:
    """Fail."""
    raise RuntimeError("no triage today")


TICKETS = Workflow(
    name="tickets",
    edges=[("START", classify, router, {"BILLING": approve, "BUG": triage}), (approve, refund)],
)


def ask_twice(first: str = "a", second: str = "b") -> Workflow:
    """A workflow with two questions side by side."""

    def one(node_input: str) -> Iterator[Any]:
        yield RequestInput(interrupt_id=first, message="first?")

    def two(node_input: str) -> Iterator[Any]:
        yield RequestInput(interrupt_id=second, message="second?")

    return Workflow(name="pair", edges=[("START", (one, two))])


def test_run_comes_back_at_the_pause_and_goes_on_with_the_answer() -> None:
    """`await run` returns the run itself at the pause; an answer goes on with it to the result."""

    async def main() -> None:
        made = run(TICKETS, "charged twice", sessions="memory")
        assert made.status == "running"
        assert await made is made
        assert made.status == "waiting"
        [question] = made.pending
        assert (question.interrupt_id, question.node, question.message) == ("q", "approve", "Approve?")
        assert question.payload == {"n": 1}
        assert await made.respond({"approved": True, "limit": 100}) is made
        assert (made.status, made.output, made.pending) == ("completed", {"paid": 100}, [])
        assert made.outputs("classify") == [{"category": "BILLING"}]
        assert [event.node_name for event in made.events] == ["", "classify", "router", "approve", "", "refund"]

    drive(main())


def test_bad_answer_changes_nothing() -> None:
    """An answer that doesn't fit, or that no question waits for, is refused and the question stays open."""

    async def main() -> None:
        made = await run(TICKETS, "charged twice", sessions="memory")
        before = len(made.events)
        with pytest.raises(AnswerError, match="must be at most 612"):
            await made.respond({"approved": True, "limit": 900})
        with pytest.raises(AnswerError, match="No question 'p' is open; open are 'q'"):
            await made.respond(True, "p")
        assert (made.status, len(made.events), len(made.pending)) == ("waiting", before, 1)
        await made.respond({"approved": True})
        assert made.output == {"paid": 612}
        with pytest.raises(AnswerError, match="No question is open"):
            await made.respond({"approved": True})

    drive(main())


def test_several_questions_are_answered_by_id() -> None:
    """With several questions open an answer needs its id; they are answered in any order."""

    async def main() -> None:
        made = await run(ask_twice(), "x", sessions="memory")
        with pytest.raises(AnswerError, match=r"2 questions are open.*'a'"):
            await made.respond("yes")
        await made.respond("second", "b")
        assert [question.interrupt_id for question in made.pending] == ["a"]

    drive(main())


def test_answers_at_once_are_taken_one_after_the_other() -> None:
    """Answers given while an earlier one is still being worked on wait for their turn, and none is lost."""

    async def slow(node_input: str) -> None:
        await asyncio.sleep(0.05)

    def one(node_input: str) -> Iterator[Any]:
        yield RequestInput(interrupt_id="a", message="first?")

    def two(node_input: str) -> Iterator[Any]:
        yield RequestInput(interrupt_id="b", message="second?")

    flow = Workflow(name="pair", edges=[("START", (one, two)), (one, slow)])

    async def main() -> None:
        made = await run(flow, "x", sessions="memory")
        await asyncio.gather(made.respond("1", "a"), made.respond("2", "b"))
        assert (made.status, made.pending, made.outputs("two")) == ("completed", [], ["2"])

    drive(main())


def test_answers_given_beforehand() -> None:
    """`answers=` answers by interrupt id or node name, with a value or a function of the question."""

    async def main() -> None:
        by_id = await run(TICKETS, "x", sessions="memory", answers={"q": Decision(approved=True, limit=5)})
        by_node = await run(TICKETS, "x", sessions="memory", answers={"approve": {"approved": True, "limit": 6}})
        by_call = await run(
            TICKETS,
            "x",
            sessions="memory",
            answers={"q": lambda asked: {"approved": True, "limit": asked.payload["n"]}},
        )
        assert [made.output for made in (by_id, by_node, by_call)] == [{"paid": 5}, {"paid": 6}, {"paid": 1}]
        other = await run(TICKETS, "x", sessions="memory", answers={"someone else": True})
        assert other.status == "waiting"

    drive(main())


def test_bad_answer_given_beforehand_is_raised() -> None:
    """A prepared answer that doesn't fit is raised where the run is awaited, and the question stays open."""

    async def main() -> None:
        made = run(TICKETS, "x", sessions="memory", answers={"q": {"limit": 1}})
        with pytest.raises(AnswerError, match="approved"):
            await made
        assert (await made).status == "waiting"
        assert "approved" in made.warnings[0]

    drive(main())


def test_prepared_value_does_not_answer_the_same_run_for_ever() -> None:
    """A node that keeps asking gets a prepared value once, so that nothing loops without a person."""

    @node(rerun_on_resume=True)
    async def gate(ctx: Context, node_input: Any) -> Any:
        if ctx.resume_inputs.get("review") != "approve":
            yield RequestInput(interrupt_id="review", message="again?")
        else:
            yield Event(output="shipped")

    async def main() -> None:
        made = await run(gate, "x", sessions="memory", answers={"review": "revise"})
        assert made.status == "waiting"
        await made.respond("approve")
        assert (made.status, made.output) == ("completed", "shipped")

    drive(main())


def test_failure_is_kept_not_raised() -> None:
    """A failing run comes back with status and error; `raise_for_error` raises the original."""

    async def main() -> None:
        made = await run(TICKETS, "a bug", sessions="memory")
        assert made.status == "failed"
        assert made.error is not None
        assert (made.error.node, made.error.type, made.error.message) == ("triage", "RuntimeError", "no triage today")
        with pytest.raises(RuntimeError, match="no triage today"):
            made.raise_for_error()
        assert "RuntimeError: no triage today" in repr(made)

    drive(main())


def test_failed_run_resumes_without_repeating() -> None:
    """`resume` goes on with a failed run: what finished isn't run again."""
    calls: list[str] = []

    def first(node_input: str) -> str:
        calls.append("first")
        return "ok"

    def second(node_input: str) -> str:
        calls.append("second")
        if calls.count("second") == 1:
            raise ValueError("not yet")
        return "done"

    async def main() -> None:
        made = await run(Workflow(name="w", edges=[("START", first, second)]), "x", sessions="memory")
        assert made.status == "failed"
        await made.resume()
        assert (made.status, made.output, made.error) == ("completed", "done", None)
        assert calls == ["first", "second", "second"]
        with pytest.raises(ConfigurationError, match="nothing to go on with"):
            made.resume()

    drive(main())


def test_cancel_ends_all_children() -> None:
    """`cancel` ends a run with everything in it, the nodes of inner workflows included."""
    ended: list[str] = []

    async def main() -> None:
        started = asyncio.Event()

        async def patient(node_input: str) -> None:
            started.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("ended")

        inner = Workflow(name="inner", edges=[("START", patient)])
        made = run(Workflow(name="w", edges=[("START", inner)]), "x", sessions="memory")
        await started.wait()
        await made.cancel()
        assert (made.status, ended) == ("cancelled", ["ended"])

    drive(main())


def test_cancelled_cell_stops_the_run() -> None:
    """A cancel of whoever awaits the run, as a kernel's interrupt does it, stops the run."""
    ended: list[str] = []

    async def main() -> None:
        started = asyncio.Event()

        async def patient(node_input: str) -> None:
            started.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("ended")

        made = run(patient, "x", sessions="memory")
        cell = asyncio.ensure_future(_awaited(made))
        await started.wait()
        cell.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cell
        assert (made.status, ended) == ("cancelled", ["ended"])

    drive(main())


async def _awaited(made: Run) -> Run:
    return await made


def test_question_can_still_be_answered_after_cancel() -> None:
    """A run cancelled while it waits keeps its question, and an answer goes on with it."""

    async def main() -> None:
        made = await run(TICKETS, "x", sessions="memory")
        await made.cancel()
        assert made.status == "cancelled"
        await made.respond({"approved": True, "limit": 3})
        assert (made.status, made.output) == ("completed", {"paid": 3})

    drive(main())


def test_state_and_session_go_on() -> None:
    """State given at the start is the run's, and a second run in the same session sees what the first one left."""

    def count(ctx: Context, node_input: str) -> int:
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        return int(ctx.state["n"])

    async def main() -> None:
        store = InMemorySessionService()
        one = await run(count, "x", session="s", state={"n": 41}, sessions=store)
        two = await run(count, "x", session="s", sessions=store)
        assert (one.output, one.state["n"], two.output) == (42, 42, 43)
        one.state["n"] = 0
        assert one.state["n"] == 42

    drive(main())


def test_run_needs_a_loop() -> None:
    """Without an event loop `run` says what to use instead."""
    with pytest.raises(ConfigurationError, match="use run_sync"):
        run(TICKETS, "x")


def test_run_sync_everywhere() -> None:
    """`run_sync` works without a loop, inside a running one, and in a node of a run that it started itself."""

    def up(node_input: str) -> str:
        return node_input.upper()

    def nested(node_input: str) -> str:
        return str(run_sync(up, node_input, sessions="memory").output)

    async def main() -> Any:
        return run_sync(nested, "b", sessions="memory").output

    assert run_sync(nested, "a", sessions="memory").output == "A"
    assert drive(main()) == "B"


def test_run_sync_returns_at_the_pause() -> None:
    """`run_sync` never waits for a person; an answer goes on in the same way, and by `await` from another loop."""
    made = run_sync(TICKETS, "x", sessions="memory")
    assert made.status == "waiting"
    assert run_sync(made.respond({"approved": True, "limit": 7})).output == {"paid": 7}

    async def main() -> Any:
        other = run_sync(TICKETS, "x", sessions="memory")
        return (await other.respond({"approved": True, "limit": 8})).output

    assert drive(main()) == {"paid": 8}


def test_run_lives_on_in_the_next_loop() -> None:
    """A run that waits when its loop ends is answered from the next loop."""

    async def begin() -> Run:
        return await run(TICKETS, "x", sessions="memory")

    async def end(made: Run) -> Any:
        return (await made.respond({"approved": True, "limit": 9})).output

    assert drive(end(drive(begin()))) == {"paid": 9}


def test_frames_of_a_run() -> None:
    """`events_frame` and `nodes_frame` show what ran, waiting told apart from work."""

    async def main() -> None:
        made = await run(TICKETS, "x", sessions="memory", answers={"q": {"approved": True}})
        frame: Any = made.nodes_frame().set_index("node")
        assert frame.index.tolist() == ["tickets", "classify", "router", "approve", "refund"]
        assert set(frame["status"]) == {"completed"}
        assert made.events_frame()["kind"].tolist() == ["message", "output", "route", "question", "answer", "output"]

    drive(main())


def test_warnings_name_their_node() -> None:
    """A run that ends short says why in `warnings`, and its status is `incomplete`."""

    def lost(node_input: str) -> Any:
        return Event(output="x", route="NOWHERE")

    async def main() -> None:
        flow = Workflow(name="w", edges=[("START", lost, {"A": refund, "B": approve})])
        made = await run(flow, "x", sessions="memory")
        assert made.status == "incomplete"
        assert any("lost" in warning for warning in made.warnings)

    drive(main())


def test_concurrent_runs_of_one_workflow() -> None:
    """Any number of runs of one workflow object at once, each with its own answers and output."""

    async def one(number: int) -> Any:
        answers = {"q": {"approved": True, "limit": number}}
        return (await run(TICKETS, "x", sessions="memory", answers=answers)).output["paid"]

    async def main() -> list[Any]:
        return await asyncio.gather(*(one(number) for number in range(20)))

    assert drive(main()) == list(range(20))


def test_run_is_kept_alive_by_itself() -> None:
    """A run that nobody holds goes on to its end."""

    async def main() -> None:
        done = asyncio.Event()

        async def late(node_input: str) -> None:
            await asyncio.sleep(0.01)
            gc.collect()
            done.set()

        run(late, "x", sessions="memory")
        gc.collect()
        await done.wait()

    drive(main())


def test_results_are_the_callers_own() -> None:
    """Outputs taken from a run are plain values that may be changed; the run's own stay as they were."""

    def rows() -> dict[str, Any]:
        return {"rows": [1]}

    async def main() -> None:
        done = await run(Workflow(name="flow", edges=[("START", rows)]), sessions="memory", view=False)
        for taken in (done.output, done.outputs("rows")[0]):
            assert (type(taken), type(taken["rows"])) == (dict, list)
            taken["rows"].append(2)
        assert done.output == done.outputs("rows")[0] == {"rows": [1]}

    asyncio.run(main())


def test_what_cannot_leave_its_thread_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a notebook sync functions work in threads: an error about that ends in a hint, and `configure` keeps them."""
    monkeypatch.setattr("adk_nb.notebook.settings.front_end", lambda: "live")
    with contextlib.closing(sqlite3.connect(":memory:")) as opened:

        def look(node_input: str) -> Any:
            return opened.execute("select 1").fetchall()

        async def look_here(node_input: str) -> Any:
            return opened.execute("select 1").fetchall()

        async def main() -> None:
            made = await run(look, "x", sessions="memory", view=False)
            assert made.status == "failed"
            assert "write it as async def to keep it on the event loop" in made.to_html()
            assert (await run(look_here, "x", sessions="memory", view=False)).output == [(1,)]
            configure(threads=False)
            try:
                assert (await run(look, "x", sessions="memory", view=False)).output == [(1,)]
            finally:
                configure(threads=True)

        drive(main())
