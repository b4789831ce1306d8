"""What a model gets back of its own words: signatures, ids and shapes as they came, broken turns closed, no noise."""

from __future__ import annotations

import asyncio
import base64
import gc
import io
import logging
import threading
import warnings
from pathlib import Path
from typing import Any, Literal

import pytest
from google.genai import types
from pydantic import BaseModel, ConfigDict

import adk_nb as adk
from adk_nb.agents import LlmAgent, RunConfig
from adk_nb.events import Event, RequestInput
from adk_nb.events.event import content_text
from adk_nb.runners import Runner
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import FunctionTool
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.run_config import StreamingMode
from tests.agents.asking import flow, run
from tests.faults.test_model_answers import calls
from tests.models.gemini_server import candidate, failure, piece, quick, serving

# The client derives a class in a way that its optional HTTP package, where installed, discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

SSE = RunConfig(streaming_mode=StreamingMode.SSE)
SIGNATURES = [b"\x00\xffsig", b"\x00\xffsig2"]


def look(q: str) -> str:
    """Look something up."""
    return q


def signed(signature: bytes, name: str, **args: Any) -> dict[str, Any]:
    """Return a part that calls a tool, with its thought signature."""
    encoded = base64.b64encode(signature).decode()
    return {"functionCall": {"name": name, "args": args}, "thoughtSignature": encoded}


def sent_signatures(request: dict[str, Any]) -> list[bytes | None]:
    """Return the signature of each call in a request."""
    parts = [part for content in request["contents"] for part in content["parts"] if "functionCall" in part]
    found = [part.get("thoughtSignature") for part in parts]
    return [None if one is None else base64.urlsafe_b64decode(one) for one in found]


async def say(runner: Runner, text: str = "hi", config: RunConfig | None = None, **part: Any) -> list[Event]:
    """Send a message to session `s`; return its events."""
    content = types.Content(role="user", parts=[types.Part(**part) if part else types.Part(text=text)])
    stream = runner.run_async(user_id="u", session_id="s", new_message=content, run_config=config)
    return [event async for event in stream]


@pytest.mark.parametrize("config", [None, SSE], ids=["whole", "streamed"])
def test_signatures_survive_pause_and_restart(config: RunConfig | None, tmp_path: Path) -> None:
    """Calls go back with the bytes of their signatures and in their order, from a file and in a new process."""

    def ask(node_input: str) -> Any:
        return RequestInput(interrupt_id="q", message="?")

    def approved(node_input: str) -> str:
        return node_input

    script: list[Any] = [piece(signed(SIGNATURES[0], "look", q="a")), piece(signed(SIGNATURES[1], "look", q="b"))]
    script = [{"$whole": one, "$stream": [one]} for one in [*script, candidate("done")]]
    script.insert(2, {"$whole": calls("check"), "$stream": [calls("check")]})

    async def main() -> list[Event]:
        def runner() -> Runner:
            tools = [look, FunctionTool(check, require_confirmation=True)]
            agent = LlmAgent(name="a", model=server.gemini(), tools=tools)
            sessions = SqliteSessionService(str(tmp_path / "s.db"))
            return Runner(node=flow(node(ask), agent), session_service=sessions, auto_create_session=True)

        first = runner()
        await say(first, config=config)
        answer = types.FunctionResponse(id="q", name="adk_request_input", response={"result": "go"})
        events = await say(runner(), config=config, function_response=answer)
        (asked,) = [call for event in events for call in event.get_function_calls() if "confirm" in str(call.name)]
        answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True})
        return await say(runner(), config=config, function_response=answer)

    def check() -> str:
        """Check."""
        return "fine"

    with serving(*script) as server:
        events = asyncio.run(main())
    assert content_text(events[-1].content) == "done"
    assert sent_signatures(server.requests[-1]) == [*SIGNATURES, None]


def test_history_of_another_model_is_signed_with_the_stand_in() -> None:
    """A model that checks signatures gets the documented stand-in for calls of other models, with one warning."""
    sessions = InMemorySessionService()

    async def talk(model: Any, text: str) -> None:
        agent = LlmAgent(name="a", model=model, tools=[look])
        runner = Runner(app_name="x", node=agent, session_service=sessions, auto_create_session=True)
        await say(runner, text)

    async def main() -> None:
        reply = call("look", q="a")
        await talk(ScriptedModel([reply, "found"]), "one")
        model = server.gemini(model="gemini-3-pro-preview")
        with pytest.warns(UserWarning, match=r"agent 'a'.*without a thought signature \(look\)"):
            await talk(model, "two")
        await talk(model, "three")
        await talk(server.gemini(model="gemini-2.5-flash"), "four")

    with serving(candidate("2"), candidate("3"), candidate("4")) as server:
        asyncio.run(main())
    stand_in = b"skip_thought_signature_validator"
    assert [sent_signatures(one) for one in server.requests] == [[stand_in], [stand_in], [None]]


def test_a_call_keeps_its_id_from_piece_to_store() -> None:
    """A streamed call has one id, is stored once, pauses once, and is answered by the id that was seen first."""

    def ask_user(text: str) -> Any:
        """Ask the person."""
        return RequestInput(message=text)

    sessions = InMemorySessionService()
    asks = {"functionCall": {"name": "ask_user", "args": {"text": "ok?"}}}

    async def main() -> None:
        agent = LlmAgent(name="a", model=server.gemini(), tools=[ask_user])
        runner = Runner(app_name="x", node=agent, session_service=sessions, auto_create_session=True)
        events = await say(runner, config=SSE)
        made = [
            (event.partial, one.id) for event in events for one in event.get_function_calls() if one.name == "ask_user"
        ]
        assert [is_partial for is_partial, _ in made] == [True, None]
        assert len({one for _, one in made}) == 1
        root = await runner.root_run(user_id="u", session_id="s")
        assert root is not None
        ((_, question),) = await runner.open_questions(user_id="u", session_id="s")
        answer = types.FunctionResponse(id=question.interrupt_id, name="adk_request_input", response={"result": "yes"})
        events = await say(runner, config=SSE, function_response=answer)
        assert content_text(events[-1].content) == "thanks"
        stored = await sessions.get_session(app_name="x", user_id="u", session_id="s")
        assert stored is not None
        assert not any(event.partial for event in stored.events)
        kept = [one.id for event in stored.events for one in event.get_function_calls() if one.name == "ask_user"]
        assert kept == [made[0][1]]

    with serving([piece(asks, finish="STOP")], [piece("thanks", finish="STOP")]) as server:
        asyncio.run(main())


class A(BaseModel):
    """One kind."""

    kind: Literal["a"]
    n: int


class B(BaseModel):
    """Another kind."""

    kind: Literal["b"]
    m: dict[str, int]


class Tree(BaseModel):
    """A recursive model."""

    kids: list[Tree] = []


class Out(BaseModel):
    """All that is difficult."""

    model_config = ConfigDict(extra="forbid")

    x: A | B
    tags: dict[str, str]
    t: Tree


@pytest.mark.parametrize("use", ["answer", "tool"])
def test_difficult_shapes_arrive_whole(use: str) -> None:
    """Maps, unions and recursive models reach the server with nothing dropped, and their values come back typed."""
    seen: list[Out] = []

    def take(out: Out) -> str:
        """Take it."""
        seen.append(out)
        return "taken"

    value = {"x": {"kind": "b", "m": {"k": 1}}, "tags": {"a": "b"}, "t": {"kids": [{}]}}
    if use == "answer":
        with serving(candidate(Out.model_validate(value).model_dump_json())) as server:
            output = run(flow(LlmAgent(name="a", model=server.gemini(), output_schema=Out))).output
        seen.append(Out.model_validate(output))
        sent = server.requests[0]["generationConfig"]["responseJsonSchema"]
    else:
        with serving(calls("take", out=value), candidate("ok")) as server:
            assert run(flow(LlmAgent(name="a", model=server.gemini(), tools=[take]))).output == "ok"
        sent = server.requests[0]["tools"][0]["functionDeclarations"][0]
        sent = sent.get("parametersJsonSchema") or sent["parameters_json_schema"]
    assert seen[0] == Out.model_validate(value)
    text = str(sent)
    assert all(word in text for word in ("'kind'", "'m'", "'tags'", "'kids'", "additionalProperties"))


def test_the_turn_after_a_failed_one_is_its_own() -> None:
    """A turn that failed half-way is closed: the next request is well formed, and going on is an act of its own."""

    def t() -> str:
        """Do it."""
        return "x"

    busy = failure(429, "RESOURCE_EXHAUSTED")
    script = [calls("t"), busy, busy, candidate("Paris"), candidate("job done")]

    async def main() -> None:
        agent = LlmAgent(name="a", model=server.gemini(retry_options=quick(2)), tools=[t])
        first = await adk.run(agent, "long job", sessions="memory", session="s", view=False)
        assert first.status == "failed"
        second = await first.send("capital of France?", view=False)
        assert second.output == "Paris"
        contents = server.requests[-1]["contents"]
        assert "long job" not in str(contents[-1])
        kinds = [next(iter(part)) for content in contents for part in content["parts"]]
        assert kinds.count("functionCall") == kinds.count("functionResponse")
        again = await first.resume()
        assert (again.status, again.output) == ("completed", "job done")

    with serving(*script) as server:
        asyncio.run(main())


def test_a_good_run_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Tool calls with signatures and a fan-out leave no line on the screen and no warning."""

    def t() -> str:
        """Do it."""
        return "x"

    @node(parallel_worker=True)
    def square(node_input: int) -> int:
        return node_input**2

    def source(node_input: str) -> list[int]:
        return [1, 2, 3]

    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.getLogger().addHandler(handler)
    with serving(piece(signed(b"s", "t")), candidate("done")) as server, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        turns = run(flow(node(source), square, LlmAgent(name="a", model=server.gemini(), tools=[t])))
        gc.collect()
    logging.getLogger().removeHandler(handler)
    out, err = capfd.readouterr()
    assert turns.output == "done"
    ours = [one for one in warned if "AiohttpClientSession" not in str(one.message)]
    assert (ours, said.getvalue(), out, err) == ([], "", "", "")


def test_one_runner_on_loop_after_loop() -> None:
    """A model is asked from several event loops in turn, in threads and in plain code; each leaves nothing open."""
    with serving(*[candidate("hi")] * 5) as server:
        agent = LlmAgent(name="a", model=server.gemini())
        workflow = Workflow(name="w", edges=[("START", agent)])
        outputs: list[Any] = []

        def on_a_fresh_loop(root: Workflow) -> None:
            outputs.append(run(root).output)

        for _ in range(3):
            thread = threading.Thread(target=on_a_fresh_loop, args=(workflow,))
            thread.start()
            thread.join()
        outputs.append(run(workflow).output)
        outputs.append(adk.run_sync(workflow, "x", sessions="memory").output)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            del workflow, agent
            gc.collect()
    assert outputs == ["hi"] * 5
    assert not [one for one in warned if "nclosed" in str(one.message)]
