"""What goes on with a run from code: the next message of a conversation, and approvals."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from adk_nb.agents import LlmAgent
from adk_nb.errors import AnswerError, ConfigurationError
from adk_nb.events import RequestInput
from adk_nb.notebook.running.starts import run, run_sync
from adk_nb.testing import ScriptedModel, call
from adk_nb.workflow import JoinNode, Workflow, node


def drive(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine; whatever it leaves hanging fails the test."""
    asyncio.run(asyncio.wait_for(work, 30))


def wipe(node_input: str) -> str:
    """Do something that needs an approval."""
    return f"wiped {node_input}"


def guarded(*names: str) -> Workflow:
    """Calls side by side that each wait for an approval."""
    nodes = tuple(node(wipe, name=name, require_confirmation=True) for name in names)
    if len(nodes) == 1:
        return Workflow(name="guarded", edges=[("START", nodes[0])])
    return Workflow(name="guarded", edges=[("START", nodes), (nodes, JoinNode(name="all"))])


def test_send_goes_on_with_the_conversation() -> None:
    """`send` says something more in the same session; the model sees what was said before."""

    async def main() -> None:
        model = ScriptedModel(["Hello Ada.", "You are Ada."])
        first = await run(LlmAgent(name="bot", model=model), "I am Ada", sessions="memory")
        second = await first.send("Who am I?")
        assert (first.output, second.output) == ("Hello Ada.", "You are Ada.")
        assert second.session_id == first.session_id
        assert second.invocation_id != first.invocation_id
        said = [part.text for content in model.requests[1].contents for part in content.parts or ()]
        assert said == ["I am Ada", "Hello Ada.", "Who am I?"]

    drive(main())


def test_send_works_in_plain_code() -> None:
    """Without a running loop the turn lives where the run before it does."""
    first = run_sync(LlmAgent(name="bot", model=ScriptedModel(["one", "two"])), "1", sessions="memory")
    assert run_sync(first.send("2")).output == "two"


def test_send_waits_for_no_answer() -> None:
    """While a question is open, a message isn't taken for its answer: the error says what to do."""

    async def main() -> None:
        def ask(node_input: str) -> Any:
            yield RequestInput(interrupt_id="q", message="Sure?")

        made = await run(Workflow(name="w", edges=[("START", ask)]), "hi", sessions="memory")
        with pytest.raises(ConfigurationError, match=r"is waiting: answer it with respond\(\)"):
            made.send("yes")
        assert made.status == "waiting"

    drive(main())


def test_approve_lets_the_call_run() -> None:
    """`approve` answers the one open approval, and the call runs."""

    async def main() -> None:
        made = await run(guarded("wipe"), "disk", sessions="memory")
        assert made.pending[0].is_confirmation
        await made.approve()
        assert (made.status, made.output) == ("completed", "wiped disk")

    drive(main())


def test_reject_keeps_the_call_from_running() -> None:
    """`reject` answers that it may not run; what follows gets to know."""

    async def main() -> None:
        made = await run(guarded("wipe"), "disk", sessions="memory")
        await made.reject()
        assert made.status == "completed"
        assert "rejected" in made.output["error"]

    drive(main())


def test_several_approvals_go_by_id() -> None:
    """With several open the error names them; each is answered by its id."""

    async def main() -> None:
        made = await run(guarded("a", "b"), "disk", sessions="memory")
        with pytest.raises(AnswerError, match="2 calls wait for an approval: say which one"):
            await made.approve()
        first, second = made.pending
        await made.approve(first.interrupt_id)
        await made.reject(second.interrupt_id)
        assert made.outputs(first.node) == ["wiped disk"]
        assert made.status == "completed"

    drive(main())


def test_only_approvals_are_approved() -> None:
    """A question that asks for something else isn't answered with yes or no by mistake."""

    async def main() -> None:
        def ask(node_input: str) -> Any:
            yield RequestInput(interrupt_id="q", message="How much?")

        made = await run(Workflow(name="w", edges=[("START", ask)]), "hi", sessions="memory")
        with pytest.raises(AnswerError, match="No call waits for an approval"):
            await made.approve()
        with pytest.raises(AnswerError, match="doesn't ask for an approval"):
            await made.reject("q")
        assert made.status == "waiting"

    drive(main())


def test_send_goes_on_with_a_task() -> None:
    """While a task agent has asked something in words, `send` is its answer, in the same run."""

    async def main() -> None:
        model = ScriptedModel(
            {
                "planner": [call("booker", request="a trip"), "Booked."],
                "booker": ["Which city?", call("finish_task", result="Oslo")],
            }
        )
        root = LlmAgent(name="planner", model=model, sub_agents=[LlmAgent(name="booker", mode="task")])
        made = await run(root, "book", sessions="memory")
        assert (made.status, [question.message for question in made.pending]) == ("waiting", ["Which city?"])
        assert await made.send("Oslo") is made
        assert (made.status, made.output) == ("completed", "Booked.")

    drive(main())


def test_cancel_gives_a_task_up() -> None:
    """After `cancel` the next message of the session begins anew: it isn't taken for the answer to the task."""

    async def main() -> None:
        model = ScriptedModel(
            {"planner": [call("booker", request="a trip"), "Hello again."], "booker": ["Which city?"]}
        )
        root = LlmAgent(name="planner", model=model, sub_agents=[LlmAgent(name="booker", mode="task")])
        made = await run(root, "book", sessions="memory")
        await made.cancel()
        assert made.status == "cancelled"
        after = await made.send("Are you there?")
        assert (after is made, after.status, after.output) == (False, "completed", "Hello again.")

    drive(main())
