"""`record` and `replay`: the same run again from a tape, without a model; and a loud miss where it would differ."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import errors, types
from pydantic import BaseModel

import adk_nb as adk
from adk_nb.errors import ConfigurationError, ModelConnectionError, TapeError, TapeMissError
from adk_nb.models import BaseLlm, LlmRequest, LlmResponse
from adk_nb.models.ask import ask_model
from adk_nb.models.call_log import Caller
from adk_nb.testing import FunctionModel, ScriptedModel, call
from adk_nb.workflow import JoinNode
from adk_nb.workflow.retry import RetryConfig
from tests.models.gemini_server import candidate, failure, piece, quick, serving

# The client derives a class in a way that its optional HTTP package, where installed, discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")


@pytest.fixture
def tape(tmp_path: Path) -> str:
    """Return the path of a tape that isn't there yet."""
    return str(tmp_path / "tapes" / "tape.jsonl")


@pytest.fixture(autouse=True)
def _no_switch_left() -> Iterator[None]:
    """Leave neither a recording nor a replay switched on."""
    yield
    adk.record(None)


class Broken(BaseLlm):
    """A model that must not be asked."""

    model: str = "scripted"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Fail."""
        raise AssertionError("the model was asked")
        yield LlmResponse()


def two(model: BaseLlm, ask: str = "count") -> adk.Workflow:
    """Return a chain of two agents."""
    first = adk.Agent(name="a", model=model, instruction=ask)
    return adk.Workflow(name="w", edges=[("START", first, adk.Agent(name="b", model=model))])


def run(root: Any, message: Any = "x") -> adk.Run:
    """Run to the end, in memory."""
    return adk.run_sync(root, message, sessions="memory")


def lines(tape: str) -> list[dict[str, Any]]:
    """Return the entries of a tape."""
    return [json.loads(line) for line in Path(tape).read_text().splitlines()]


def request(text: str, **config: Any) -> LlmRequest:
    """Return a request with one user message."""
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return LlmRequest(contents=[content], config=types.GenerateContentConfig(**config))


def ask(model: BaseLlm, asked: LlmRequest, run_id: str = "r", *, stream: bool = False) -> list[LlmResponse]:
    """Return all responses to a request of a run."""

    async def collected() -> list[LlmResponse]:
        caller = Caller("a", "a@1", run_id)
        return [response async for response in ask_model(model, asked, stream=stream, caller=caller)]

    return asyncio.run(collected())


def said(responses: list[LlmResponse]) -> list[str]:
    """Return the texts of responses."""
    parts = [(response.content.parts if response.content else None) or [] for response in responses]
    return ["".join(part.text or "" for part in each) for each in parts]


def test_a_run_again_from_its_tape(tape: str) -> None:
    """A replayed run has the same output, events and usage, and asks no model."""
    with adk.record(tape):
        first = run(two(ScriptedModel(["one", "two"])))
    with adk.replay(tape):
        again = run(two(Broken()))
    assert again.output == first.output == "two"
    assert again.usage == first.usage
    assert [event.content for event in again.events] == [event.content for event in first.events]
    assert again.calls_frame().source.tolist() == ["tape", "tape"]
    assert first.calls_frame().source.tolist() == ["model", "model"]


def test_a_changed_instruction_is_a_loud_miss(tape: str) -> None:
    """A request that isn't on the tape fails, with agent, difference and how to record it again; no model is asked."""
    with adk.record(tape):
        run(two(ScriptedModel(["one", "two"])))
    with adk.replay(tape):
        missed = run(two(Broken(), ask="count again"))
    assert missed.error is not None
    assert (missed.status, missed.error.type, missed.error.node) == ("failed", "TapeMissError", "a")
    assert [event.error_code for event in missed.events if event.error_code] == ["TAPE_MISS"]
    for word in ("agent 'a'", "the instruction", "'count'", "count again", "adk_nb.record("):
        assert word in missed.error.message
    assert "\n" not in missed.error.message


def test_a_miss_is_not_tried_again(tape: str) -> None:
    """A retry rule doesn't ask a tape again for what isn't there."""
    with adk.record(tape):
        run(two(ScriptedModel(["one", "two"])))
    agent = adk.Agent(name="a", model=Broken(), retry_config=RetryConfig(max_attempts=3, initial_delay=0))
    with adk.replay(tape):
        missed = run(adk.Workflow(name="w", edges=[("START", agent)]))
    assert len(missed.calls_frame()) == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (request("hi", temperature=0.5), "setting temperature (not recorded, now: '0.5')"),
        (request("ho"), "message 1 (user) (recorded: 'hi', now: 'ho')"),
        (LlmRequest(model="other", contents=request("hi").contents), "the model (recorded: 'scripted', now: 'other')"),
        (request("hi", response_json_schema={"type": "object"}), "the shape of the answer"),
        (
            request("hi", tools=[types.Tool(function_declarations=[types.FunctionDeclaration(name="look")])]),
            "tool 'look'",
        ),
    ],
)
def test_what_differs_is_named(tape: str, asked: LlmRequest, words: str) -> None:
    """Model, instruction, messages, tools, shape and settings are compared, and only what differs is named."""
    with adk.record(tape):
        ask(ScriptedModel(["x"]), request("hi"))
    with adk.replay(tape), pytest.raises(TapeMissError) as caught:
        ask(Broken(), asked)
    assert words in str(caught.value)


def test_same_requests_get_their_replies_in_order(tape: str) -> None:
    """A run's nth identical request gets the nth reply; once more is a miss; later runs get theirs, then again."""
    with adk.record(tape):
        model = ScriptedModel(["1a", "1b", "2a", "2b"])
        for run_id in ("r1", "r1", "r2", "r2"):
            ask(model, request("same"), run_id)
    with adk.replay(tape):
        got = [said(ask(Broken(), request("same"), run_id))[0] for run_id in ("x", "y", "y", "x", "z")]
        assert got == ["1a", "2a", "2b", "1b", "1a"]
        with pytest.raises(TapeMissError, match=r"once more than the tape .* recorded 2 times a run"):
            ask(Broken(), request("same"), "x")


def test_parallel_branches_in_any_order(tape: str) -> None:
    """Branches that ask the same at the same time each get their own reply, whatever the order."""

    def flow(model: BaseLlm) -> adk.Workflow:
        agents = tuple(adk.Agent(name=name, model=model) for name in ("p", "q", "r"))
        return adk.Workflow(name="w", edges=[("START", agents, JoinNode(name="j"))])

    with adk.record(tape):
        first = run(flow(FunctionModel(lambda asked: f"by {asked.agent_name}", model="scripted")))
    Path(tape).write_text("".join(reversed(Path(tape).read_text().splitlines(keepends=True))))
    with adk.replay(tape):
        again = run(flow(Broken()))
    assert again.output == first.output == {"p": "by p", "q": "by q", "r": "by r"}


def test_ids_labels_signatures_and_secrets_dont_count(tape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of calls, signatures, labels and headers aren't in the key; no key or header is on the tape."""
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-a-key-in-the-environment")

    def asked(n: int) -> LlmRequest:
        headers = types.HttpOptions(headers={"Authorization": f"Bearer token-{n}"}, api_version="v1")
        made = request("AIza-a-key-in-the-environment", labels={"x": str(n)}, http_options=headers)
        called = types.Part(
            function_call=types.FunctionCall(id=f"adk-{n}", name="look", args={"none": None}),
            thought_signature=bytes([n]),
        )
        replied = types.Part(function_response=types.FunctionResponse(id=f"adk-{n}", name="look", response={"r": 1}))
        made.contents += [types.Content(role="model", parts=[called]), types.Content(role="user", parts=[replied])]
        return made

    with adk.record(tape):
        ask(ScriptedModel(["found"]), asked(1))
    with adk.replay(tape):
        assert said(ask(Broken(), asked(2))) == ["found"]
    raw = Path(tape).read_text()
    assert not any(word in raw for word in ("api_key", "AIza", "Bearer", "token-1", "adk-1", "labels", "http_options"))


def test_replies_come_back_byte_for_byte(tape: str) -> None:
    """Signatures, bytes, calls with None in their arguments, usage and finish reason survive the tape."""
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=3, cached_content_token_count=2)
    parts = [
        types.Part(text="hm", thought=True, thought_signature=bytes(range(256))),
        call("look", none=None, list=[1, {"x": 2.5}]),
        types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png")),
    ]
    reply = LlmResponse(
        content=types.Content(role="model", parts=parts), usage_metadata=usage, custom_metadata={"http_attempts": 2}
    )
    with adk.record(tape):
        (first,) = ask(ScriptedModel([reply]), request("hi"))
    with adk.replay(tape):
        (again,) = ask(Broken(), request("hi"))
    assert again == first


def test_streams_stay_streams(tape: str) -> None:
    """A recorded stream comes back piece by piece, and whole for who doesn't stream; an unrecorded one in one piece."""
    with adk.record(tape):
        ask(ScriptedModel(["one two"]), request("streamed"), stream=True)
        ask(ScriptedModel(["one two"]), request("whole"))
    with adk.replay(tape):
        assert said(ask(Broken(), request("streamed"), "1", stream=True)) == ["one", " two", "one two"]
        assert said(ask(Broken(), request("streamed"), "2")) == ["one two"]
        responses = ask(Broken(), request("whole"), "3", stream=True)
    assert [response.partial for response in responses] == [True, False]
    assert said(responses) == ["one two", "one two"]


def test_failures_are_recorded(tape: str) -> None:
    """What a call failed with is raised again, so that a retried run is the same run; Google's errors keep status."""

    def flow(model: BaseLlm) -> adk.Agent:
        retry = RetryConfig(max_attempts=4, initial_delay=0, exceptions=["ServerError", "TimeoutError"])
        return adk.Agent(name="a", model=model, retry_config=retry)

    with serving(failure(503, "UNAVAILABLE"), candidate("up")) as server, adk.record(tape):
        first = run(flow(server.gemini()))
    with adk.replay(tape):
        again = run(flow(Broken(model="gemini-test")))
    assert again.output == first.output == "up"
    assert again.calls_frame().error.tolist() == ["UNAVAILABLE", None]


@pytest.mark.parametrize(
    "error",
    [
        errors.ClientError(429, {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}),
        ModelConnectionError("gone"),
        TimeoutError("late"),
    ],
)
def test_errors_keep_their_class(tape: str, error: Exception) -> None:
    """Google's, our own and builtin errors come back as their own class with message and status."""
    with adk.record(tape), pytest.raises(type(error)):
        ask(ScriptedModel([error]), request("hi"))
    with adk.replay(tape), pytest.raises(type(error)) as caught:
        ask(Broken(), request("hi"))
    assert str(caught.value) == str(error)
    assert getattr(caught.value, "status", None) == getattr(error, "status", None)


class Odd(Exception):
    """An error of a provider's own."""

    status = "ODD"


def test_unknown_errors_say_what_they_were(tape: str) -> None:
    """An error of a class that the tape can't make again is a TapeError with its class, text and status."""
    with adk.record(tape), pytest.raises(Odd):
        ask(ScriptedModel([Odd("strange")]), request("hi"))
    with adk.replay(tape), pytest.raises(TapeError, match="failed with Odd: strange") as caught:
        ask(Broken(), request("hi"))
    assert vars(caught.value)["status"] == "ODD"


def test_gemini_needs_no_key_when_replayed(tape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorded Gemini stream is replayed without a key, a client or a server; its address isn't on the tape."""
    stream = [piece("Hel"), piece("lo", finish="STOP")]
    with serving(stream) as server, adk.record(tape):
        first = ask(server.gemini(retry_options=quick()), request("hi"), stream=True)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with adk.replay(tape):
        again = ask(adk.models.Gemini(model="gemini-test"), request("hi"), stream=True)
    assert again == first
    assert "127.0.0.1" not in Path(tape).read_text()


def test_recording_again_takes_the_place_of_the_older_reply(tape: str) -> None:
    """A later recording of a request replaces its replies, leaves others, and `fresh` starts anew."""
    with adk.record(tape):
        ask(ScriptedModel(["old", "kept"]), request("a"))
        ask(ScriptedModel(["kept"]), request("b"))
    with adk.record(tape):
        ask(ScriptedModel(["new"]), request("a"))
    with adk.replay(tape):
        assert said(ask(Broken(), request("a"))) + said(ask(Broken(), request("b"))) == ["new", "kept"]
    with adk.record(tape, fresh=True):
        ask(ScriptedModel(["only"]), request("a"))
    assert len(lines(tape)) == 1


def test_everywhere_until_none(tape: str) -> None:
    """Called plainly, record and replay hold in the whole process until None, and a block covers them."""
    adk.record(tape)
    ask(ScriptedModel(["x"]), request("hi"))
    adk.record(None)
    ask(ScriptedModel(["unrecorded"]), request("ho"))
    adk.replay(tape)
    assert said(ask(Broken(), request("hi"))) == ["x"]
    with adk.replay(None):
        assert said(ask(ScriptedModel(["asked"]), request("ho"))) == ["asked"]
    with pytest.raises(TapeMissError):
        ask(Broken(), request("ho"))
    adk.replay(None)
    assert said(ask(ScriptedModel(["asked"]), request("ho"))) == ["asked"]


def test_a_killed_process_leaves_a_usable_tape(tape: str) -> None:
    """A line that was cut off is left out, and what is recorded later starts on a line of its own."""
    with adk.record(tape):
        ask(ScriptedModel(["x"]), request("hi"))
    whole = Path(tape).read_text()
    Path(tape).write_text(whole + whole[: len(whole) // 2])
    with adk.record(tape):
        ask(ScriptedModel(["y"]), request("ho"))
    with adk.replay(tape):
        assert said(ask(Broken(), request("hi"))) + said(ask(Broken(), request("ho"))) == ["x", "y"]


def test_many_threads_record_at_once(tape: str) -> None:
    """Threads that record into one file, each with a tape of its own, never mix their lines."""

    def talk(n: int) -> None:
        with adk.record(tape):
            for i in range(20):
                ask(ScriptedModel([f"{n}.{i}" * 500]), request(f"{n}.{i}"))

    threads = [threading.Thread(target=talk, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(tape)) == 80
    with adk.replay(tape):
        assert said(ask(Broken(), request("3.7"))) == ["3.7" * 500]


class Shape(BaseModel):
    """The shape of an answer."""

    n: int


def test_large_attachments_stand_there_as_checksums(tape: str) -> None:
    """A large attachment is compared by its checksum and isn't on the tape."""

    def asked(data: bytes) -> LlmRequest:
        made = request("look")
        made.set_output_schema(Shape)
        made.contents.append(
            types.Content(role="user", parts=[types.Part(inline_data=types.Blob(data=data, mime_type="image/png"))])
        )
        return made

    with adk.record(tape):
        ask(ScriptedModel(["seen"]), asked(b"x" * 100_000))
    assert len(Path(tape).read_text()) < 5_000
    with adk.replay(tape):
        assert said(ask(Broken(), asked(b"x" * 100_000))) == ["seen"]
        with pytest.raises(TapeMissError, match="message 2"):
            ask(Broken(), asked(b"y" * 100_000))


def test_what_is_no_tape_is_refused(tape: str, tmp_path: Path) -> None:
    """A missing file, a folder, another file and another value are refused at once, and nothing is changed."""
    with pytest.raises(TapeError, match=r"There is no tape .*adk_nb.record\("):
        adk.replay(tape)
    with pytest.raises(TapeError, match="can't be"):
        adk.replay(tmp_path)
    with pytest.raises(TapeError, match="can't be written"):
        adk.record(tmp_path)
    other = tmp_path / "notes.txt"
    other.write_text("Dear diary")
    for verb in (adk.replay, adk.record):
        with pytest.raises(TapeError, match="no recorded model call: 'Dear diary'"):
            verb(other)
    with pytest.raises(ConfigurationError, match="give its path"):
        adk.replay(3)  # type: ignore[arg-type]
    assert said(ask(ScriptedModel(["asked"]), request("ho"))) == ["asked"]
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with adk.replay(empty), pytest.raises(TapeMissError, match="which is empty"):
        ask(Broken(), request("hi"))


def test_a_cancelled_call_isnt_recorded(tape: str) -> None:
    """A call that is cancelled before its answer leaves nothing on the tape; a script that ran out isn't a reply."""

    async def cancelled() -> None:
        task = asyncio.ensure_future(anext(ask_model(ScriptedModel(["x"], delay=60), request("hi"))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with adk.record(tape):
        asyncio.run(cancelled())
        with pytest.raises(ConfigurationError):
            ask(ScriptedModel([]), request("hi"))
    assert lines(tape) == []
