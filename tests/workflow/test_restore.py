"""What a cut must not lose or repeat: notes of earlier passes of a loop, triggers that wait behind a question."""

from __future__ import annotations

from typing import Any

import pytest

from adk_nb import Context
from adk_nb.events import Event, RequestInput, Status
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.workflow import JoinNode, Workflow, node
from tests.workflow.driving import Conversation, run


def looping() -> Workflow:
    """Return a loop whose join gets nothing from `b` in the first pass only, in a nested workflow."""

    def head(ctx: Context, node_input: Any) -> str:
        ctx.state["passes"] = ctx.state.get("passes", 0) + 1
        return "go"

    def a(node_input: Any) -> str:
        return "A"

    def b(ctx: Context, node_input: Any) -> str | None:
        return None if ctx.state["passes"] == 1 else "B"

    def check(ctx: Context, node_input: Any) -> Event:
        return Event(output=node_input, route="done" if ctx.state["passes"] == 3 else "again")

    def last(node_input: Any) -> Any:
        return node_input

    looped = node(head)
    inner = Workflow(
        name="inner", edges=[("START", looped, (a, b), JoinNode(name="j"), check, {"again": looped, "done": last})]
    )
    return Workflow(name="w", edges=[("START", inner)])


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_notes_of_earlier_passes_survive_every_cut(kind: str, tmp_path: Any) -> None:
    """A note of the first pass of a loop is still told after a cut in a later one, on every store."""

    async def test() -> None:
        whole = Conversation(looping())
        count = len(await whole.say())
        expected = (await whole.root()).notes
        assert any("b gave no output" in note for note in expected)
        for cut in range(1, count):
            async with (
                SqliteSessionService(str(tmp_path / f"{cut}.db")) if kind == "file" else InMemorySessionService()
            ) as service:
                await Conversation(looping(), service).cut_after(cut)
                talk = Conversation(looping(), service)
                await talk.go_on()
                root = await talk.root()
                assert (root.status, root.notes) == (Status.COMPLETED, expected)

    run(test)


def test_a_trigger_behind_a_question_leaves_its_parent_alone() -> None:
    """A trigger that waits behind an open question is nothing to do: the parent above doesn't run again for it."""

    async def test() -> None:
        ran: list[str] = []

        def root_of() -> Workflow:
            def ask(node_input: str) -> RequestInput:
                return RequestInput(interrupt_id=f"q{node_input}", message="?")

            asking = node(ask)
            one, two = node(lambda: "1", name="one"), node(lambda: "2", name="two")
            inner = Workflow(name="inner", edges=[("START", (one, two), asking)])

            @node(rerun_on_resume=True)
            async def parent(ctx: Context, node_input: Any) -> Any:
                ran.append("parent")
                return await ctx.run_node(inner, "x")

            def other(node_input: Any) -> RequestInput:
                return RequestInput(interrupt_id="other", message="?")

            return Workflow(name="w", edges=[("START", (parent, other), JoinNode(name="both"))])

        service = InMemorySessionService()
        await Conversation(root_of(), service).say()
        records = await Conversation(root_of(), service).records()
        queued = [run for run in records.values() if run.name == "ask" and run.status is Status.PENDING]
        assert len(queued) == 1
        assert ran == ["parent"]
        talk = Conversation(root_of(), service)
        await talk.go_on()
        assert ran == ["parent"]
        await talk.answer(other="yes")
        assert ran == ["parent"]
        await Conversation(root_of(), service).answer(q1="first")
        assert ran == ["parent", "parent"]
        talk = Conversation(root_of(), service)
        await talk.answer(q2="second")
        assert (await talk.root()).output == {"parent": "second", "other": "yes"}
        assert ran == ["parent"] * 3

    run(test)
