"""Stored runs after a restart: the same history, the same forms, what goes on with them, what no longer fits."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, create_model

import adk_nb
from adk_nb import Workflow, events
from adk_nb.agents import LlmAgent
from adk_nb.apps import App
from adk_nb.errors import (
    AnswerError,
    ConfigurationError,
    InvocationNotFoundError,
    SessionNotFoundError,
    StoredRunError,
)
from adk_nb.events import RequestInput
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import JoinNode, node
from adk_nb.workflow.context import Context

Event: Any = events.Event  # its shortcuts (message=, route=, …) are unknown to a type checker
ROOT = Path(__file__).resolve().parents[2]


def first(node_input: str) -> str:
    """Go before the question."""
    return node_input.upper()


def ask(node_input: str) -> RequestInput:
    """Ask a person."""
    return RequestInput(interrupt_id="q", message="Sure?", response_schema={"type": "string"})


def last(node_input: str) -> str:
    """Go after it."""
    return f"done {node_input}"


def boom(node_input: Any) -> None:
    """Fail."""
    raise ValueError("no luck")


def flow(*nodes: Any, name: str = "flow") -> Workflow:
    """The workflow of most tests."""
    return Workflow(name=name, edges=[("START", *(nodes or (first, ask, last)))])


async def stored(root: Any, store: Any) -> adk_nb.Run:
    """Run until the first pause, in session `s`."""
    return await adk_nb.run(root, "hi", sessions=store, session="s")


def test_the_same_view(tmp_path: Path) -> None:
    """A stored run shows what the live one showed: nodes, taken edges, rows, question and status."""

    async def main() -> None:
        live = await stored(flow(), SqliteSessionService(tmp_path / "s.db"))
        opened = adk_nb.open_run("s", flow(), sessions=SqliteSessionService(tmp_path / "s.db"))
        live.history.catch_up()
        was, now = live.history.fold.snapshot(), opened.history.fold.snapshot()
        for key in ("edges", "rows", "questions", "result", "error", "warnings"):
            assert now[key] == was[key], key
        assert {p: n["status"] for p, n in now["nodes"].items()} == {p: n["status"] for p, n in was["nodes"].items()}
        assert now["header"]["status"] == "waiting"
        assert now["header"]["since"] == pytest.approx(opened.pending[0].asked_at, abs=1)
        assert opened.description == live.description
        assert "Sure?" in opened.to_html()

    asyncio.run(main())


SCRIPT = """
import sys
import adk_nb as adk
sys.path.insert(0, {root!r})
from tests.notebook.test_open_run import flow
print(adk.run_sync(flow(), "hi", sessions="s.db", session="s").status)
"""


def test_after_a_restart_in_plain_code(tmp_path: Path) -> None:
    """What one process has begun, another answers, without a running event loop."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = SCRIPT.format(root=str(ROOT))
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("waiting\n", "")
    opened = adk_nb.open_run("s", flow(), sessions=str(tmp_path / "s.db"))
    assert adk_nb.run_sync(opened.respond("yes")).output == "done yes"
    assert adk_nb.open_run("s", sessions=str(tmp_path / "s.db")).status == "completed"


def test_without_root_it_is_looked_at() -> None:
    """Without its root a run shows what ran, and what would go on with it says that root= is needed."""

    async def main() -> None:
        store = InMemorySessionService()
        await stored(flow(), store)
        opened = adk_nb.open_run("s", sessions=store)
        assert [(edge.source, edge.target) for edge in opened.description.edges] == [
            ("__START__", "first"),
            ("first", "ask"),
        ]
        assert (opened.name, opened.outputs("first"), len(opened.nodes_frame())) == ("flow", ["HI"], 3)
        for act in (lambda: opened.respond("yes"), lambda: opened.approve("q")):
            with pytest.raises((ConfigurationError, AnswerError)):
                await act()
        with pytest.raises(ConfigurationError, match=r"open it with adk_nb.open_run\('s', root=...\)"):
            await opened.respond("yes")
        with pytest.raises(ConfigurationError, match=r"root=\.\.\."):
            opened.send("more")
        assert opened.status == "waiting"

    asyncio.run(main())


def test_a_failed_run_resumes() -> None:
    """A stored failure says what it failed with; resumed with better code, what had finished isn't run again."""

    async def main() -> None:
        store, ran = InMemorySessionService(), list[str]()

        def count(node_input: str) -> str:
            ran.append(node_input)
            return node_input

        await stored(flow(count, boom), store)
        opened = adk_nb.open_run("s", flow(count, node(last, name="boom")), sessions=store)
        assert opened.error is not None
        assert (opened.status, opened.error.node, opened.error.type) == ("failed", "boom", "ValueError")
        with pytest.raises(StoredRunError, match="flow@1/boom@1 had failed with ValueError: no luck"):
            opened.raise_for_error()
        assert opened.history.fold.snapshot()["error"]["message"] == "no luck"
        await opened.resume()
        assert (opened.status, opened.output, ran) == ("completed", "done hi", ["hi"])

    asyncio.run(main())


CUT = """
import asyncio, os, sys
import adk_nb as adk
sys.path.insert(0, {root!r})
from tests.notebook.test_open_run import flow, first
from adk_nb.workflow import JoinNode, node
from adk_nb.workflow.context import Context
async def die(node_input):
    os._exit(7)
adk.run_sync(flow(first, node(die, name="ask")), "hi", sessions="s.db", session="s")
"""


def test_a_cut_run_resumes(tmp_path: Path) -> None:
    """A run whose kernel was killed says so, and goes on where it was."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = CUT.format(root=str(ROOT))
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (7, "")
    file = str(tmp_path / "s.db")
    assert adk_nb.runs(file).status.tolist() == ["running"]

    async def main() -> None:
        opened = adk_nb.open_run("s", flow(first, node(last, name="ask")), sessions=file)
        assert opened.status == "cancelled"
        assert "its kernel is gone" in opened.warnings[0]
        await opened.resume()
        assert (opened.status, opened.output) == ("completed", "done HI")

    asyncio.run(main())


def test_code_that_changed() -> None:
    """What no longer fits is told in the run's warnings and in its view: another root, nodes and edges gone or new."""

    async def main() -> None:
        store = InMemorySessionService()
        await stored(flow(), store)
        other = adk_nb.open_run("s", flow(name="other"), sessions=store)
        assert other.warnings == [
            "The run began with the root 'flow', and root= is 'other': it can be looked at, and goes on with 'flow' "
            "only."
        ]
        gone = adk_nb.open_run("s", flow(first, last), sessions=store)
        assert gone.warnings == [
            "Node 'ask' is gone and has an open run at flow@1/ask@1, so the run can't go on: bring it back; there is "
            "'first', 'last'.",
            "Edge 'first' → 'last' is new: 'first' had ended without it, so this run doesn't follow it.",
        ]
        assert "is gone and has an open run" in gone.to_html()
        with pytest.raises(ConfigurationError, match="Bring the node back"):
            await gone.respond("yes")
        moved = Workflow(name="flow", edges=[("START", (first, ask)), (ask, last)])
        assert adk_nb.open_run("s", moved, sessions=store).warnings == [
            "Edge 'first' → 'ask' is gone, and was followed in this run."
        ]
        ended = adk_nb.open_run("s", flow(ask, last), sessions=store)
        assert ended.warnings == ["Node 'first' has run and is gone: what it handed on stays."]
        await ended.respond("yes")
        assert ended.output == "done yes"

    asyncio.run(main())


def refund_flow(model: type[BaseModel]) -> Workflow:
    """A workflow whose node asks with what its module calls `Refund` just now, as a cell that ran again does."""
    space = {"RequestInput": RequestInput, "Refund": model}
    exec("def ask(node_input: str):\n    yield RequestInput(interrupt_id='q', response_schema=Refund)", space)
    return Workflow(name="refunds", edges=[("START", space["ask"])])


def test_a_question_whose_model_changed() -> None:
    """What a question's model has gained and lost since it was asked is named; the answer fits what was asked."""

    async def main() -> None:
        store = InMemorySessionService()
        before = create_model("Refund", amount=(float, ...), note=(str, ""))
        await stored(refund_flow(before), store)
        assert adk_nb.open_run("s", refund_flow(before), sessions=store).warnings == []
        after = create_model("Refund", amount=(int, ...), reason=(str, ...))
        again = adk_nb.open_run("s", refund_flow(after), sessions=store)
        told = (
            "Question 'q' of node 'ask' was asked with an earlier Refund: 'reason' is new, 'note' is gone, 'amount' "
            "has changed. Its answer is judged as it was asked."
        )
        assert again.warnings == [told]
        assert told.replace("'", "&#x27;") in again.to_html()
        await again.respond({"amount": 2.5})
        assert again.output == {"amount": 2.5, "note": ""}

    asyncio.run(main())


def test_nested_code_that_changed() -> None:
    """What changed inside a nested workflow is told like what changed at the top."""

    async def main() -> None:
        store = InMemorySessionService()
        await stored(flow(flow(name="inner")), store)
        opened = adk_nb.open_run("s", flow(flow(first, last, name="inner")), sessions=store)
        assert opened.warnings[0].startswith("Node 'ask' is gone and has an open run at flow@1/inner@1/ask@1")
        whole = adk_nb.open_run("s", flow(flow(name="inner")), sessions=store)
        await whole.respond("yes")
        assert (whole.warnings, whole.output) == ([], "done yes")
        names = [
            inner.name
            for one in adk_nb.open_run("s", sessions=store).description.nodes
            if one.inner is not None
            for inner in one.inner.nodes
        ]
        assert names == ["__START__", "first", "ask", "last"]

    asyncio.run(main())


def test_a_conversation_goes_on() -> None:
    """`send` goes on with a stored conversation, under the app and the user that it was begun with."""

    async def main() -> None:
        store = InMemorySessionService()
        model = ScriptedModel(["Hello Ada.", "You are Ada."])
        app = App(name="talks", root_agent=LlmAgent(name="bot", model=model))
        await adk_nb.run(app, "I am Ada", sessions=store, session="s", user="ada")
        opened = adk_nb.open_run("s", LlmAgent(name="bot", model=model), sessions=store)
        said = await opened.send("Who am I?")
        assert (said.output, said.user_id) == ("You are Ada.", "ada")
        assert adk_nb.runs(store)[["session", "user", "app"]].values.tolist() == [["s", "ada", "talks"]] * 2
        older = adk_nb.open_run("s", sessions=store, invocation_id=opened.invocation_id)
        assert older.output == "Hello Ada."

    asyncio.run(main())


def test_what_isnt_there() -> None:
    """A session or run that isn't stored, and an id that two users share, are refused in a sentence that helps."""

    async def main() -> None:
        store = InMemorySessionService()
        with pytest.raises(SessionNotFoundError, match=r"adk_nb.runs\(\) lists"):
            adk_nb.open_run("s", sessions=store)
        await store.create_session(app_name="flow", user_id="user", session_id="s")
        with pytest.raises(InvocationNotFoundError, match="No run is in session 's'"):
            adk_nb.open_run("s", sessions=store)
        await stored(flow(), store)
        with pytest.raises(InvocationNotFoundError, match="No run 'e-9'"):
            adk_nb.open_run("s", sessions=store, invocation_id="e-9")
        await adk_nb.run(flow(), "hi", sessions=store, session="s", user="ada")
        with pytest.raises(ConfigurationError, match="app='flow', user='ada'"):
            adk_nb.open_run("s", sessions=store)
        assert adk_nb.open_run("s", sessions=store, user="ada").user_id == "ada"

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_run_is_named_by_the_beginning_of_an_id(kind: str, tmp_path: Path) -> None:
    """A session's or a run's id is found by its beginning, as a view shows it; one of an older run opens that one."""
    store: Any = InMemorySessionService() if kind == "memory" else SqliteSessionService(tmp_path / "s.db")

    async def main() -> None:
        made = await adk_nb.run(last, "one", sessions=store, session="monday-morning")
        await made.send("two")
        await adk_nb.run(last, "three", sessions=store, session="monday-evening")
        short = made.invocation_id.removeprefix("e-")[:6]
        for name in (made.invocation_id, made.invocation_id[:8], short):
            assert adk_nb.open_run(name, sessions=store).output == "done one"
        assert adk_nb.open_run("monday-m", sessions=store).output == "done two"
        with pytest.raises(ConfigurationError, match="2 sessions begin with 'mond'; say which one: 'monday-"):
            adk_nb.open_run("mond", sessions=store)
        with pytest.raises(SessionNotFoundError) as caught:
            adk_nb.open_run("tuesday-morning", sessions=store)
        said = str(caught.value)
        assert "There is no session or run 'tuesday-morning' in" in said
        assert "'monday-morning' (did you mean this?)" in said
        assert " at 0x" not in said
        for short_name in ("e-", "m", ""):
            with pytest.raises(SessionNotFoundError):
                adk_nb.open_run(short_name, sessions=store)

    asyncio.run(main())


class CatchesUp:
    """Has a run folded at each step, as a live view has."""

    is_seen = True

    def __init__(self, run: adk_nb.Run) -> None:
        self._run = run

    def touch(self) -> None:
        """Fold what has happened."""
        self._run.history.fold.snapshot()
        self._run.history.catch_up()

    def settled(self) -> None:
        """Fold the end."""
        self.touch()


def test_folded_step_by_step_or_at_once() -> None:
    """What a view has followed live is what is shown of the stored run: joins, loops and inner graphs included."""

    async def left(node_input: Any) -> str:
        await asyncio.sleep(0.01)
        return "left"

    async def right(node_input: Any) -> str:
        await asyncio.sleep(0.03)
        return "right"

    def draft(node_input: Any, ctx: Context) -> Any:
        count = ctx.state.get("n", 0) + 1
        return Event(output=str(count), route="again" if count < 3 else "done", state={"n": count})

    inner = Workflow(name="inner", edges=[("START", draft, {"again": draft, "done": last})])
    root = Workflow(name="fan", edges=[("START", first, (left, right), JoinNode(name="gather"), inner)])

    async def main() -> None:
        store = InMemorySessionService()
        live = adk_nb.run(root, "hi", sessions=store, session="s")
        live.watch(CatchesUp(live))
        await live
        was = live.history.fold.snapshot()
        now = adk_nb.open_run("s", root, sessions=store).history.fold.snapshot()
        assert live.status == "completed"
        assert sorted(now["edges"]) == sorted(was["edges"])
        assert {("left", "gather"), ("right", "gather")} <= {tuple(edge) for edge in was["edges"]}
        for key in ("rows", "result", "error", "warnings"):
            assert now[key] == was[key], key
        assert {p: n["status"] for p, n in now["nodes"].items()} == {p: n["status"] for p, n in was["nodes"].items()}

    asyncio.run(main())
