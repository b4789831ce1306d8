"""`adk_nb.chat`: a conversation from code, what it prints, what its box shows and takes."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator, Coroutine
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

import adk_nb
from adk_nb.agents import LlmAgent
from adk_nb.errors import ConfigurationError
from adk_nb.events import Event
from adk_nb.models import BaseLlm, LlmRequest, LlmResponse
from adk_nb.notebook.chat.chat import Chat
from adk_nb.notebook.chat.chat_fold import ChatFold
from adk_nb.notebook.chat.chat_page import chat_fragment
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import FunctionTool


def drive(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine; whatever it leaves hanging fails the test."""
    asyncio.run(asyncio.wait_for(work, 30))


def weather(city: str) -> dict[str, Any]:
    """Tell the weather."""
    return {"city": city, "celsius": 21}


def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def helpdesk() -> LlmAgent:
    """An agent with a tool, and one below it whose tool needs an approval."""
    model = ScriptedModel(
        {
            "bot": ["Hello!", call("weather", city="Oslo"), "21.", call("transfer_to_agent", agent_name="billing")],
            "billing": [call("pay", amount=5), "Paid five."],
        }
    )
    tool = FunctionTool(pay, require_confirmation=True)
    billing = LlmAgent(name="billing", description="pays", model=model, tools=[tool])
    return LlmAgent(name="bot", model=model, tools=[weather], sub_agents=[billing])


def items(chat: Chat) -> list[dict[str, Any]]:
    """What the box shows."""
    return list(chat._fold.snapshot()["items"])


def test_a_conversation_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a notebook each turn is printed once it has ended: replies, calls, hand-overs, questions."""

    async def main() -> None:
        chat = adk_nb.chat(helpdesk(), sessions="memory")
        await chat.send("hi")
        await chat.send("weather?")
        run = await chat.send("pay")
        assert (chat.status, chat.pending[0].is_confirmation) == ("waiting", True)
        await run.approve()
        assert chat.status == "completed"
        assert len(chat.runs) == 3
        assert {one.session_id for one in chat.runs} == {chat.session_id}
        assert len(chat.events_frame()) == len(chat.events) == sum(len(one.events) for one in chat.runs)

    drive(main())
    assert capsys.readouterr().out.splitlines() == [
        "user > hi",
        "bot > Hello!",
        "user > weather?",
        '  bot called weather({city: "Oslo"}) → {city: "Oslo", celsius: 21}',
        "bot > 21.",
        "user > pay",
        "  bot → billing",
        "  billing called pay({amount: 5})",
        "  billing asks: Please approve or reject the tool call pay().",
        "billing > Paid five.",
    ]


def test_plain_code(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a running loop a turn is waited for with `run_sync`, and nothing hangs on a question."""
    chat = adk_nb.chat(helpdesk(), sessions="memory")
    assert adk_nb.run_sync(chat.send("hi")).output == "Hello!"
    adk_nb.run_sync(chat.send("weather?"))
    assert adk_nb.run_sync(chat.send("pay")).status == "waiting"
    assert "asks: Please approve" in capsys.readouterr().out
    with pytest.raises(ConfigurationError, match=r"answer it with chat\.runs"):
        chat.send("more")


class Talker(BaseLlm):
    """A model that streams, and waits in the middle until it may go on."""

    model: str = "talker"
    gate: Any = None
    said: Any = None

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Say a text in two pieces."""
        assert stream
        for piece in ("Once upon", " a time"):
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=piece)]), partial=True)
            self.said.set()  # it is asked for more once what it said is on its way
            await self.gate.wait()
        whole = types.Content(role="model", parts=[types.Part(text="Once upon a time")])
        yield LlmResponse(content=whole)


def test_replies_stream(capsys: pytest.CaptureFixture[str]) -> None:
    """A reply grows piece by piece, is told to a page in pieces, and ends whole; stopped, what was said stays."""

    async def main() -> None:
        gate = asyncio.Event()
        model = Talker(gate=gate, said=asyncio.Event())
        chat = adk_nb.chat(LlmAgent(name="bot", model=model), sessions="memory")
        chat._shown()  # somebody looks
        run = chat.send("tell")
        await model.said.wait()
        chat._catch_up()
        assert [(one["kind"], one.get("text")) for one in items(chat)] == [("user", "tell"), ("agent", "Once upon")]
        first = chat._fold.take_changes()
        assert first is not None
        assert first["items"][1]["is_partial"]
        gate.set()
        await run
        assert items(chat)[1]["text"] == "Once upon a time"
        gate.clear()
        run = chat.send("again")
        model.said.clear()
        await model.said.wait()
        chat._catch_up()
        chat.stop()
        await run
        assert [(one["kind"], one["text"]) for one in items(chat)[3:]] == [("agent", "Once upon"), ("note", "stopped")]
        assert chat.status == "cancelled"

    drive(main())


def test_pieces_are_numbered() -> None:
    """Of a reply that streams, a batch holds only what is new, with where it belongs."""

    def piece(text: str) -> Event:
        return Event(author="bot", message=text, partial=True, node_path="bot@1")

    fold = ChatFold("bot")
    told = []
    for text in ("one", " two", " three"):
        fold.event(piece(text))
        told.append(fold.take_changes())
    fold.event(Event(author="bot", message="one two three.", node_path="bot@1"))
    told.append(fold.take_changes())
    assert [one and one["seq"] for one in told] == [1, 2, 3, 4]
    assert [one and one["pieces"] for one in told] == [[], [[1, 3, " two"]], [[1, 7, " three"]], []]
    assert told[3] is not None
    assert (told[3]["items"][0]["text"], told[3]["items"][0]["is_partial"]) == ("one two three.", False)
    assert fold.take_changes() is None


def test_errors_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A turn that fails is one line in the conversation, once, and the next message begins a new turn."""

    async def main() -> None:
        model = ScriptedModel([ValueError("no\nluck"), "Fine now."])
        chat = adk_nb.chat(LlmAgent(name="bot", model=model), sessions="memory")
        await chat.send("hi")
        await chat.send("again")
        kinds = [(one["kind"], one["text"]) for one in items(chat)]
        assert [kind for kind, _ in kinds] == ["user", "error", "user", "agent"]
        assert re.fullmatch(r".*ValueError.*no.*luck.*", kinds[1][1])

    drive(main())


def test_a_task_asks_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """What an agent asks in the course of a task is answered by the next message, in the same run."""

    async def main() -> None:
        model = ScriptedModel(
            {
                "bot": [call("book", request="a trip"), "Booked."],
                "book": ["Where to?", call("finish_task", result="Oslo")],
            }
        )
        book = LlmAgent(name="book", description="books", mode="task", model=model)
        chat = adk_nb.chat(LlmAgent(name="bot", model=model, sub_agents=[book]), sessions="memory")
        first = await chat.send("a trip")
        assert (first.status, items(chat)[-1]["text"]) == ("waiting", "Where to?")
        second = chat.send("Oslo")
        assert second is first
        await second
        assert (len(chat.runs), second.output) == (1, "Booked.")
        assert [one["text"] for one in items(chat) if one["kind"] == "user"] == ["a trip", "Oslo"]

    drive(main())


def test_a_workflow_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """A root that says nothing in words answers with what it returns."""

    async def main() -> None:
        def shout(node_input: str) -> str:
            return node_input.upper()

        chat = adk_nb.chat(adk_nb.Workflow(name="flow", edges=[("START", shout)]), sessions="memory")
        await chat.send("hi")
        assert str(chat) == "user > hi\nflow > HI"

    drive(main())


def test_what_is_saved_is_text() -> None:
    """Whatever is said stands in the saved page as text, and nothing in it names a widget or fetches anything."""
    fold = ChatFold("<b>bot</b>")
    hostile = "</script><img src=x onerror=alert(1)><!--\u202e\x07"
    fold.event(Event(author="user", message=hostile))
    fold.event(Event(author=hostile, message=hostile))
    fold.fail(hostile)
    fold.settle("failed")
    saved = chat_fragment("k", fold.snapshot())
    still, script = saved.split("<script", 1)
    assert "<img" not in still
    assert script.count("</script") == 1
    assert "\u202e" not in still
    assert "http" not in still
    assert "widget-view" not in saved
    assert json.dumps("<b>bot")[1:-1] not in still


def test_what_a_page_sends(capsys: pytest.CaptureFixture[str]) -> None:
    """A message and an answer from the box do what `send` and `respond` do; what is refused is told to the box."""

    async def main() -> None:
        chat = adk_nb.chat(helpdesk(), sessions="memory")
        view = chat._shown()
        told: list[tuple[str, dict[str, str]]] = []
        view.tell_errors = lambda key, errors: told.append((key, errors))  # type: ignore[method-assign]
        for text in ("hi", "weather?", "pay"):
            chat._take({"kind": "say", "text": text})
            await chat.runs[-1]
        chat._take({"kind": "say", "text": "more"})
        assert told[-1][0] == ""
        assert "waiting" in told[-1][1][""]
        question = next(one["question"] for one in items(chat) if one["kind"] == "question")
        chat._take({"kind": "answer", "key": question["key"], "values": {}, "json": '{"confirmed": 7}'})
        assert told[-1][0] == question["key"]
        chat._take({"kind": "answer", "key": question["key"], "values": {}, "json": '{"confirmed": true}'})
        await asyncio.gather(*chat.answering)
        assert items(chat)[-1]["text"] == "Paid five."
        chat._take({"kind": "answer", "key": question["key"], "values": {}, "json": "{}"})
        assert told[-1] == (question["key"], {"": "This question isn't open any more."})

    drive(main())


def printing(amount: int) -> str:
    """Pay, and say so."""
    sys.stdout.write(f"paying {amount}\n")
    sys.stdout.write("paid\n")
    return f"paid {amount}"


SCRIPTS: dict[str, list[Any]] = {
    "words": ["Hello!", "Again."],
    "calls": [call("weather", city="Oslo"), "21.", call("weather", city="<b>"), "Cold."],
    "unknown": [call("nothing"), "Sorry.", "Hm."],
    "failing": ["Hi.", ValueError("no luck")],
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_earlier_turns_look_as_they_did(kind: str, script: str, tmp_path: Path) -> None:
    """A chat that is opened again on its session shows what it showed, and goes on."""
    store: Any = InMemorySessionService() if kind == "memory" else SqliteSessionService(tmp_path / "s.db")

    async def main() -> None:
        def desk() -> LlmAgent:
            return LlmAgent(name="bot", model=ScriptedModel(SCRIPTS[script]), tools=[weather])

        live = adk_nb.chat(desk(), sessions=store, session="s", view=False)
        assert live.runs == []
        for text in ("one", "two"):
            await live.send(text)
        again = adk_nb.chat(desk(), sessions=store, session="s", view=False)
        assert (items(again), again.status, len(again.runs)) == (items(live), live.status, 2)
        assert again.events == live.events
        await again.send("three")
        assert [one["text"] for one in items(again) if one["kind"] == "user"] == ["one", "two", "three"]

    drive(main())


def test_an_open_question_is_answered_in_a_chat_opened_again(tmp_path: Path) -> None:
    """An approval, and a question in words, that a kernel left open are there in the next one, and go on from there."""

    async def main() -> None:
        store = SqliteSessionService(tmp_path / "s.db")
        first = adk_nb.chat(helpdesk(), sessions=store, session="s", view=False)
        for text in ("hi", "weather?", "pay"):
            await first.send(text)
        model = ScriptedModel({"billing": ["Paid five."]})
        desk = helpdesk()
        desk.sub_agents[0].model = model
        again = adk_nb.chat(desk, sessions=SqliteSessionService(tmp_path / "s.db"), session="s", view=False)
        assert (again.status, again.pending[0].is_confirmation) == ("waiting", True)
        assert items(again) == items(first)
        question = next(one["question"] for one in items(again) if one["kind"] == "question")
        again._take({"kind": "answer", "key": question["key"], "json": '{"confirmed": true}'})
        await asyncio.gather(*again.answering)
        assert (again.status, items(again)[-1]["text"]) == ("completed", "Paid five.")

    drive(main())


def test_what_tools_print_is_in_the_chat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In a notebook, prints of a turn are an item of the conversation, live and opened again, and not in the cell."""
    monkeypatch.setattr("adk_nb.notebook.running.printing.front_end", lambda: "live")
    store = InMemorySessionService()

    async def main() -> None:
        model = ScriptedModel([call("printing", amount=5), "Paid."])
        bot = LlmAgent(name="bot", model=model, tools=[printing])
        chat = adk_nb.chat(bot, sessions=store, session="s", view=False)
        chat._shown()
        await chat.send("pay")
        log = items(chat)[-1]
        assert (log["kind"], log["lines"], log["text"]) == ("log", 2, "paying 5\npaid")
        assert "printed 2 lines" in chat._shown().html()
        assert items(adk_nb.chat(bot, sessions=store, session="s", view=False)) == items(chat)

    drive(main())
    assert "paying" not in capsys.readouterr().out.splitlines()[0]
