"""The live view of a run against a stub comm: what is sent, what is saved, what comes back from a form."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm
from pydantic import BaseModel, Field

from adk_nb import events
from adk_nb.events import RequestInput
from adk_nb.notebook.assets import script_element
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run
from adk_nb.notebook.view import run_view
from adk_nb.notebook.view.fold import RunFold
from adk_nb.notebook.view.run_page import as_text, fragment
from adk_nb.workflow import Workflow

Event: Any = events.Event  # its shortcuts (message=, route=, …) are unknown to a type checker
WIDGET = "application/vnd.jupyter.widget-view+json"


class Decision(BaseModel):
    """An answer with bounds."""

    limit: float = Field(le=612)


def ask(node_input: Any) -> Iterator[Any]:
    """Ask a person."""
    yield RequestInput(interrupt_id="q", message="How <b>much</b>?", response_schema=Decision)


def pay(node_input: dict[str, Any]) -> dict[str, Any]:
    """Return what was answered."""
    return {"paid": node_input["limit"]}


FLOW = Workflow(name="flow", edges=[("START", ask, pay)])


class Page:
    """Stands in for the page: keeps what is displayed, and what every widget sends."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.comms: list[Any] = []

    def display(self, data: dict[str, Any], **_: Any) -> None:
        """Take an output, or its replacement."""
        self.outputs.append(data)

    def kinds(self) -> list[str]:
        """What kinds of our messages were sent, in order."""
        return [str(message["content"]["kind"]) for message in self.messages if message["method"] == "custom"]

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """Our messages of one kind."""
        contents = [message["content"] for message in self.messages if message["method"] == "custom"]
        return [content for content in contents if content["kind"] == kind]

    def say(self, **content: Any) -> None:
        """Send a message as the page would."""
        self.comms[-1].handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    """A notebook page that shows what it is given."""
    shown = Page()

    class StubComm(BaseComm):
        def publish_msg(
            self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
        ) -> None:
            if msg_type == "comm_open":
                shown.comms.append(self)
            elif msg_type == "comm_msg":
                shown.messages.append(data)
            elif msg_type == "comm_close":
                shown.messages.append({"method": "close"})

    monkeypatch.setattr(comm, "create_comm", StubComm)
    monkeypatch.setattr(run_view, "front_end", lambda: "live")
    monkeypatch.setattr(run_view, "display", shown.display)
    monkeypatch.setattr(run_view, "update_display", shown.display)
    return shown


def drive(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine."""
    asyncio.run(asyncio.wait_for(work(), 30))


def shown(made: Run) -> Run:
    """A run with its view displayed before it gets going."""
    made.view()
    return made


def question_key(page: Page) -> str:
    """The key of the newest question that the page was told."""
    asked = [q for batch in page.sent("batch") for q in batch["changes"].get("questions", ())]
    return str(asked[-1]["key"])


def test_batches_are_numbered_and_the_last_output_needs_no_widget(page: Page) -> None:
    """The page gets numbered batches; every output is HTML that names no widget, the last one complete."""

    async def main() -> None:
        made = await shown(run(FLOW, "x", sessions="memory", answers={"q": {"limit": 5}}))
        assert made.output == {"paid": 5}
        numbers = [batch["changes"]["seq"] for batch in page.sent("batch")]
        assert numbers == list(range(1, len(numbers) + 1))
        assert all(set(output) == {"text/plain", "text/html"} for output in page.outputs)
        assert "result: {paid: 5}" in page.outputs[-1]["text/plain"]
        assert page.messages[-1] == {"method": "close"}

    drive(main)


def test_form_answers_reach_the_run_and_errors_come_back(page: Page) -> None:
    """What a form sends is checked in the kernel: an error comes back for its field, a good answer goes on."""

    async def main() -> None:
        made = await shown(run(FLOW, "x", sessions="memory"))
        key = question_key(page)
        page.say(
            kind="answer",
            key=key,
            entry={"state": "value", "fields": {"limit": {"state": "value", "text": "900"}}},
            json=None,
        )
        await made
        assert page.sent("errors") == [{"kind": "errors", "key": key, "errors": {"/limit": "must be at most 612"}}]
        page.say(kind="answer", key=key, entry=None, json='{"limit": "x')
        await made
        assert "isn't JSON" in page.sent("errors")[-1]["errors"][""]
        assert made.status == "waiting"
        page.say(
            kind="answer",
            key=key,
            entry={"state": "value", "fields": {"limit": {"state": "value", "text": "600"}}},
            json=None,
        )
        await made
        assert (made.status, made.output) == ("completed", {"paid": 600})

    drive(main)


def test_answered_question_takes_no_second_answer(page: Page) -> None:
    """A form that was answered elsewhere in the meantime is told so, and nothing runs twice."""

    async def main() -> None:
        made = await shown(run(ask_again(), "x", sessions="memory"))
        key = question_key(page)
        await made.respond("first")
        page.say(kind="answer", key=key, entry={"state": "value", "text": "second"}, json=None)
        await made
        assert page.sent("errors")[-1]["errors"] == {"": "This question isn't open any more."}
        assert made.outputs("one") == ["first"]

    drive(main)


def ask_again() -> Workflow:
    """Two questions, one after the other."""

    def one(node_input: Any) -> Iterator[Any]:
        yield RequestInput(interrupt_id="1", message="one?")

    def two(node_input: Any) -> Iterator[Any]:
        yield RequestInput(interrupt_id="2", message="two?")

    return Workflow(name="again", edges=[("START", one, two)])


def test_view_that_comes_late_gets_everything(page: Page) -> None:
    """A view that asks for a snapshot gets the whole state, as do views that appear while the kernel is busy."""

    async def main() -> None:
        made = await shown(run(FLOW, "x", sessions="memory"))
        page.say(kind="snapshot")
        await made
        [snapshot] = page.sent("snapshot")
        assert snapshot["snapshot"]["header"]["status"] == "waiting"
        bases = [m["state"]["base"] for m in page.messages if m["method"] == "update" and "base" in m["state"]]
        assert bases[-1]["questions"][0]["message"] == "How <b>much</b>?"

    drive(main)


def test_stop_button_cancels(page: Page) -> None:
    """The Stop button ends a running run, and the page keeps its last state."""

    async def main() -> None:
        started = asyncio.Event()

        async def patient(node_input: str) -> None:
            started.set()
            await asyncio.sleep(60)

        made = shown(run(patient, "x", sessions="memory"))
        await started.wait()
        page.say(kind="stop")
        await made
        assert made.status == "cancelled"
        assert "cancelled" in page.outputs[-1]["text/plain"]

    drive(main)


def test_thousand_events_are_few_messages(page: Page) -> None:
    """A fast run is told in batches: few messages, few bytes, the newest rows in the last; its output stays small."""

    async def talk(node_input: str) -> Any:
        for number in range(1_000):
            yield Event(message=f"line {number}")

    async def main() -> None:
        made = await shown(run(talk, "x", sessions="memory"))
        assert len(made.events) == 1_001
        assert len(page.messages) < 100
        size = sum(len(json.dumps(message)) for message in page.messages)
        assert size < 100_000
        assert len(page.outputs[-1]["text/html"]) < 300_000
        assert page.sent("batch")[-1]["changes"]["rows"][-1][4] == "line 999"

    drive(main)


def test_nobody_there_gets_a_readable_output(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run by a program, a notebook gets no widget; at the pause its output names the question and how to answer."""
    monkeypatch.setattr(run_view, "front_end", lambda: "static")

    async def main() -> None:
        made = await shown(run(FLOW, "x", sessions="memory"))
        assert made.status == "waiting"
        assert page.comms == []
        assert "await run.respond(answer, 'q')" in page.outputs[-1]["text/plain"]

    drive(main)


def test_isolated_hosts_get_a_widget_view_as_well(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where outputs are kept apart the bundle names the widget too, with the readable HTML beside it."""
    monkeypatch.setattr(run_view, "front_end", lambda: "isolated")

    async def main() -> None:
        await shown(run(FLOW, "x", sessions="memory"))
        assert set(page.outputs[-1]) == {"text/plain", "text/html", WIDGET}

    drive(main)


def test_broken_view_does_not_hide_the_result(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view that can't be shown breaks off with a warning; the run and its result are untouched."""

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("no screen")

    monkeypatch.setattr(run_view, "update_display", refuse)

    async def main() -> None:
        made = await shown(run(FLOW, "x", sessions="memory", answers={"q": {"limit": 5}}))
        assert (made.status, made.output) == ("completed", {"paid": 5})
        assert any("no screen" in warning for warning in made.warnings)

    drive(main)


def test_resumed_run_is_live_again(page: Page) -> None:
    """A run that goes on after its end is linked to the page again, under the same key."""
    tries: list[int] = []

    def fragile(node_input: str) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("not yet")
        return "done"

    async def main() -> None:
        made = await shown(run(fragile, "x", sessions="memory"))
        assert "ValueError" in page.outputs[-1]["text/plain"]
        comms_before = len(page.comms)
        await made.resume()
        assert len(page.comms) == 2 * comms_before
        assert "result: done" in page.outputs[-1]["text/plain"]
        keys = {re.findall('data-adknb-run="(.*?)"', output["text/html"])[0] for output in page.outputs}
        assert len(keys) == 1

    drive(main)


HOSTILE = "</script><img src=x onerror=alert(1)><!-- \u2028 \" ' & ]]>"


def test_hostile_text_stays_text() -> None:
    """Whatever a model, tool or person wrote can't leave its place in the HTML: no tag, no script's end, no comment."""

    def echo(node_input: Any) -> Iterator[Any]:
        yield Event(output={HOSTILE: HOSTILE})

    def fail(node_input: Any) -> Iterator[Any]:
        yield RequestInput(interrupt_id=HOSTILE, message=HOSTILE, payload={HOSTILE: [HOSTILE]})

    def burst(node_input: Any) -> None:
        raise ValueError(HOSTILE)

    async def main() -> None:
        for flow, answers in (
            (Workflow(name="w", edges=[("START", echo, fail)]), {}),
            (Workflow(name="w", edges=[("START", fail)]), {"fail": HOSTILE}),
            (Workflow(name="w", edges=[("START", burst)]), {}),
        ):
            made = await run(flow, HOSTILE, sessions="memory", answers=answers)
            page = made.to_html()
            assert page.count("<script") == page.count("</script>") == 1
            assert "<img src=x" not in page
            assert "<!--" not in page
            assert "\u2028" not in page.partition("<script")[2]

    drive(main)


def test_saved_output_stays_small() -> None:
    """An output of a small run, script and style sheet included, is below 150 kB."""

    async def main() -> None:
        made = await run(FLOW, "x", sessions="memory", answers={"q": {"limit": 5}})
        assert len(made.to_html()) < 90_000
        assert len(script_element("run/main", "")) < 45_000

    drive(main)


def test_page_without_scripts_tells_it_all() -> None:
    """Without scripts the HTML still holds the picture, the question, the answer, the rows and the result."""

    async def main() -> None:
        made = await run(FLOW, "x", sessions="memory", answers={"q": {"limit": 5}})
        readable = made.to_html().partition("<script")[0]
        for part in ("<img", "How &lt;b&gt;much&lt;/b&gt;?", "answered at", "paid", "<table>", "completed"):
            assert part in readable

    drive(main)


def test_text_of_a_waiting_run_says_how_to_answer() -> None:
    """As plain text a waiting run names the question, its node and the line that answers it."""

    async def main() -> None:
        made = await run(FLOW, "x", sessions="memory")
        made.history.catch_up()
        text = as_text(made.history.fold.snapshot())
        assert text.splitlines()[1:] == [
            "? ask asks: How <b>much</b>?",
            "  while its kernel runs, answer with: await run.respond(answer, 'q')",
        ]
        assert "waiting for 'q'" in repr(made)
        assert "<Run of flow" in repr(made)

    drive(main)


def test_two_outputs_never_share_a_copy() -> None:
    """Every output has a number of its own, so that the script of a replaced one finds nothing of the next."""
    snapshot = RunFold(name="w").snapshot()
    copies = [re.findall('data-adknb-copy="(.*?)"', fragment("k", snapshot, None))[0] for _ in range(2)]
    assert copies[0] != copies[1]
