"""`Run.calls_frame`: what exactly every model call asked and got."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

import adk_nb as adk
from adk_nb.events.prices import Price
from adk_nb.frames import calls_frame
from adk_nb.frames.calls import COLUMNS
from adk_nb.models import LlmRequest, LlmResponse
from adk_nb.models.ask import ask_model
from adk_nb.models.call_log import Caller, CallLog, call_log
from adk_nb.testing import FunctionModel, ScriptedModel
from adk_nb.workflow.retry import RetryConfig


class Answer(BaseModel):
    """The shape of an answer."""

    n: int


def test_one_row_a_call_with_request_and_reply() -> None:
    """A row holds who asked, the tokens, and the very request and reply as dictionaries."""
    model = ScriptedModel(['{"n": 1}', "two"])
    first = adk.Agent(name="first", model=model, instruction="Count.", output_schema=Answer)
    flow = adk.Workflow(name="flow", edges=[("START", first, adk.Agent(name="second", model=model))])
    frame = adk.run_sync(flow, "go", sessions="memory").calls_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame[["agent", "path", "attempt", "source"]].values.tolist() == [
        ["first", "flow@1/first@1", 1, "model"],
        ["second", "flow@1/second@1", 1, "model"],
    ]
    asked = frame.request[0]
    assert asked["model"] == "scripted"
    assert asked["contents"] == [{"role": "user", "parts": [{"text": "go"}]}]
    assert asked["config"]["system_instruction"].startswith("Count.")
    assert asked["config"]["response_schema"]["properties"]["n"]["type"] == "integer"
    assert frame.reply[1]["content"]["parts"] == [{"text": "two"}]
    assert json.loads(json.dumps(asked)) == asked
    assert (frame.seconds >= 0).all()


def test_retries_and_errors_are_rows() -> None:
    """Each try of a node is a row of its own; a failed one has the error and no reply."""
    model = ScriptedModel([OSError("down"), "up"])
    agent = adk.Agent(name="a", model=model, retry_config=RetryConfig(max_attempts=2, initial_delay=0, jitter=0))
    run = adk.run_sync(adk.Workflow(name="flow", edges=[("START", agent)]), "go", sessions="memory")
    frame = run.calls_frame()
    assert run.output == "up"
    assert frame[["attempt", "error", "error_message"]].values.tolist() == [[1, "OSError", "down"], [2, None, None]]
    assert frame.reply[0] is None


def test_money_by_price() -> None:
    """Money follows the prices given; cached tokens are a part of the prompt; an unknown price is missing, not 0."""
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1_000_000, cached_content_token_count=400_000, candidates_token_count=100_000
    )
    reply = LlmResponse(content=types.Content(parts=[types.Part(text="x")]), usage_metadata=usage)
    run = adk.run_sync(adk.Agent(name="a", model=ScriptedModel([reply])), "go", sessions="memory")
    calls = call_log.calls(run.invocation_id)
    assert calls_frame(calls).money.isna().all()
    frame = calls_frame(calls, prices={"scripted": Price(input=1.0, output=10.0, cached=0.25)})
    assert frame.money[0] == pytest.approx(1.7)
    assert frame[["prompt_tokens", "cached_tokens"]].values.tolist() == [[1_000_000, 400_000]]


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers are left out; a key in a text, an answer or an error is blotted out."""
    monkeypatch.setenv("SOME_API_KEY", "my-very-own-key")
    google = "AIza" + "x" * 35

    def reply(request: LlmRequest) -> str:
        return f"{google} my-very-own-key"

    settings = types.GenerateContentConfig(http_options=types.HttpOptions(headers={"Authorization": "Bearer hunter2"}))
    agent = adk.Agent(
        name="a", model=FunctionModel(reply), instruction=f"Use {google}.", generate_content_config=settings
    )
    frame = adk.run_sync(agent, "my-very-own-key", sessions="memory").calls_frame()
    shown = json.dumps([frame.request[0], frame.reply[0]])
    assert "<hidden>" in shown
    assert not any(secret in shown for secret in (google, "my-very-own-key", "hunter2"))


def test_another_process_is_told_by_its_events(tmp_path: Path) -> None:
    """Calls of another process stand there from their events, without request; those made here follow with theirs."""
    code = """
import sys
import adk_nb as adk
from adk_nb.testing import ScriptedModel
agent = adk.Agent(name="a", model=ScriptedModel(["from there"]), mode="single_turn")
flow = adk.Workflow(name="flow", edges=[("START", agent)])
adk.run_sync(flow, "go", session="s", sessions=sys.argv[1])
"""
    file = tmp_path / "s.db"
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)

    async def stored() -> Any:
        from adk_nb.sessions import SqliteSessionService  # what the other process wrote

        service = SqliteSessionService(str(file))
        session = await service.get_session(app_name="flow", user_id="user", session_id="s")
        await service.close()
        return session

    session = asyncio.run(stored())
    frame = calls_frame(call_log.calls(session.events[0].invocation_id), session.events)
    assert frame[["agent", "path", "source"]].values.tolist() == [["a", "flow@1/a@1", "event"]]
    assert frame.request[0] is None
    assert frame.reply[0] == {"content": {"role": "model", "parts": [{"text": "from there"}]}}


def test_the_log_is_bounded() -> None:
    """The log keeps the newest calls only, over all runs together."""
    log = CallLog(kept=2)
    for run in ("r1", "r2", "r1"):
        log.begin(Caller(invocation_id=run), "m", LlmRequest(), stream=False)
    assert (len(log.calls("r1")), len(log.calls("r2"))) == (1, 1)
    log.begin(Caller(invocation_id="r3"), "m", LlmRequest(), stream=False)
    assert (len(log.calls("r1")), len(log.calls("r2"))) == (1, 0)


def test_what_was_asked_doesnt_change_with_the_request() -> None:
    """What is added to a request after the call isn't in the log."""
    request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="hi")])])

    async def ask() -> None:
        async for _ in ask_model(ScriptedModel(["x"]), request, caller=Caller("a", "a@1", "changed-later")):
            request.contents.clear()
            request.append_instructions(["late"])

    asyncio.run(ask())
    (call,) = call_log.calls("changed-later")
    assert call.request == {
        "model": "scripted",
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "config": {},
    }


def test_a_call_left_early_is_no_error_when_the_answer_was_there() -> None:
    """Who stops listening after the whole answer got it; before it the call is marked as left."""

    async def leave(stream: bool, run: str) -> None:
        responses = ask_model(ScriptedModel(["one two"]), LlmRequest(), stream=stream, caller=Caller("a", "a@1", run))
        await anext(responses)
        await responses.aclose()

    asyncio.run(leave(False, "left-late"))
    asyncio.run(leave(True, "left-early"))
    assert [call_log.calls(run)[0].error_type for run in ("left-late", "left-early")] == [None, "GeneratorExit"]


def test_empty_frame_has_the_columns() -> None:
    """Without calls the frame has all columns with their types."""
    frame = calls_frame([])
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == COLUMNS
