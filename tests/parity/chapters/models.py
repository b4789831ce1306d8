"""What models answer: cut, stopped, empty and broken answers, and shapes with fields that may be missing."""

from __future__ import annotations

import base64
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.models.gemini_server import candidate, piece, serving
from tests.parity.pieces import flow, gives, plays, shows
from tests.parity.scripted import calls, scripted
from tests.parity.side import Side, said


class Note(BaseModel):
    """A field that must be said, and may be None; one that may be left out."""

    title: str | None
    text: str | None = None


@contextmanager
def asked(adk: Side, *replies: Any) -> Iterator[Any]:
    """Give a Gemini model whose server gives these replies, a list as a stream."""
    with serving(*replies) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the HTTP package, and of google-adk about thoughts and tracking
        yield adk.Gemini(model="gemini-test", base_url=server.url, client_kwargs={"api_key": "test-key"})


async def _hears(adk: Side, what: str, *replies: Any, stream: bool = False) -> None:
    """Ask a Gemini model once, and write down each of its responses."""
    request = adk.LlmRequest(contents=[said("hi")], config=types.GenerateContentConfig(), model="gemini-test")
    with asked(adk, *replies) as model:
        async for response in model.generate_content_async(request, stream=stream):
            parts = (response.content.parts if response.content else None) or []
            texts = [part.text for part in parts]
            adk.note(what, ["piece" if response.partial else "whole", *texts, response.error_code])


class Replies:
    """Responses of a model, as an agent's model gives them."""

    def __init__(self, adk: Side, *responses: dict[str, Any]) -> None:
        self._adk, self._left = adk, list(responses)

    def model(self) -> Any:
        """Return the model."""
        BaseLlm: Any = self._adk.BaseLlm
        adk, left = self._adk, self._left

        class Told(BaseLlm):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
                adk.note("asked", [part.text for one in llm_request.contents for part in one.parts][:1])
                yield adk.LlmResponse(**left.pop(0))

        return Told(model="told")


def content(*parts: str | types.Part) -> types.Content:
    """Return what a model says."""
    made = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    return types.Content(role="model", parts=made)


async def a_good_answer(adk: Side) -> None:
    """A text is one response, or pieces and then the whole."""
    await _hears(adk, "whole", candidate("Hello"))
    await _hears(adk, "streamed", [piece("Hel"), piece("lo", finish="STOP")], stream=True)


async def an_answer_that_is_blocked(adk: Side) -> None:
    """A blocked prompt, or answer, has the reason as its error code."""
    await _hears(adk, "prompt", {"promptFeedback": {"blockReason": "SAFETY"}})
    await _hears(adk, "answer", candidate(None, "PROHIBITED_CONTENT"))
    await _hears(adk, "streamed", [candidate(None, "SAFETY")], stream=True)


async def an_answer_that_is_cut(adk: Side) -> None:
    """Text that reached the output limit, whole or streamed."""
    await _hears(adk, "whole", candidate("half a sen", "MAX_TOKENS"))
    await _hears(adk, "streamed", [piece("half a sen", finish="MAX_TOKENS")], stream=True)


async def an_answer_that_is_stopped(adk: Side) -> None:
    """Text that a filter stopped, whole or streamed."""
    await _hears(adk, "whole", candidate("half a sen", "SAFETY"))
    await _hears(adk, "streamed", [piece("half a sen", finish="SAFETY")], stream=True)


async def a_stream_of_nothing(adk: Side) -> None:
    """A stream without a chunk."""
    await _hears(adk, "streamed", [], stream=True)
    adk.note("it", "ended")


async def texts_with_signatures(adk: Side) -> None:
    """Signed texts in a stream, one behind the other."""
    signature = base64.b64encode(b"s").decode()
    chunks = [piece({"text": "a", "thoughtSignature": signature}), piece("b"), piece("c", finish="STOP")]
    await _hears(adk, "streamed", chunks, stream=True)


async def settings_of_speech(adk: Side) -> None:
    """A model takes the settings of its voice, and says that it doesn't keep conversations on the server."""
    speech = types.SpeechConfig(language_code="de-DE")
    adk.refused("speech", lambda: adk.Gemini(model="gemini-x", speech_config=speech))
    adk.refused("no interactions", lambda: adk.Gemini(model="gemini-x", use_interactions_api=False))


async def conversations_on_the_server(adk: Side) -> None:
    """A model that lets the server keep the conversation."""
    adk.refused("interactions", lambda: adk.Gemini(model="gemini-x", use_interactions_api=True))


async def an_agents_answer_is_an_error(adk: Side) -> None:
    """A response with an error code ends an agent's turn, and its workflow."""
    agent = adk.LlmAgent(name="bot", model=Replies(adk, {"error_code": "SAFETY"}).model())
    await plays(adk, flow(adk, gives(adk, "a", "q"), agent, shows(adk)))


async def an_agents_answer_is_stopped(adk: Side) -> None:
    """A response with an error code and words of before."""
    reply = {"content": content("half a sen"), "error_code": "SAFETY"}
    await plays(adk, flow(adk, gives(adk, "a", "q"), adk.LlmAgent(name="bot", model=Replies(adk, reply).model())))


async def an_agents_answer_is_empty(adk: Side) -> None:
    """An answer without a word, in a chat; the next turn works."""
    replies = ({"content": content()}, {"content": content("well")})
    agent = adk.LlmAgent(name="bot", model=Replies(adk, *replies).model())
    await plays(adk, agent, "hi", "again")


async def an_agents_call_is_broken(adk: Side) -> None:
    """A call of a tool that the model wrote wrong."""

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    replies = ({"error_code": "MALFORMED_FUNCTION_CALL"}, {"content": content("3")})
    agent = adk.LlmAgent(name="bot", model=Replies(adk, *replies).model(), tools=[add])
    await plays(adk, agent)


async def a_key_that_is_missing(adk: Side) -> None:
    """A missing API key, under a retry rule that names no errors."""

    def before(callback_context: Any, llm_request: Any) -> None:
        adk.note("tried", True)

    retry = adk.RetryConfig(max_attempts=2, initial_delay=0.001, jitter=0)
    agent = adk.LlmAgent(
        name="bot", model=adk.Gemini(model="gemini-x"), retry_config=retry, before_model_callback=before
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        talk = adk.talk(flow(adk, gives(adk, "a", "q"), agent))
        try:
            async for _ in talk.runner.run_async(**talk.where, new_message=said("hi")):
                pass
        except ValueError:
            adk.note("ended with", "a ValueError")


async def fields_that_are_none(adk: Side) -> None:
    """A field that must be said and is None, and one that was left out."""
    model = scripted(adk, '{"title": null}', notes=False)
    agent = adk.LlmAgent(name="bot", model=model, output_schema=Note, output_key="o")
    await plays(adk, flow(adk, gives(adk, "a", "q"), agent, shows(adk)))


async def two_tools_of_one_name(adk: Side) -> None:
    """Which of two tools of one name a model is told of, and which is called."""

    def make(value: str) -> Any:
        def look() -> str:
            """Look."""
            return value

        return look

    def before(callback_context: Any, llm_request: Any) -> None:
        adk.note("told", [one.name for tool in llm_request.config.tools for one in tool.function_declarations])

    model = scripted(adk, calls("look", "c"), "ok", notes=False)
    agent = adk.LlmAgent(name="bot", model=model, tools=[make("one"), make("two")], before_model_callback=before)
    await plays(adk, agent)


async def a_call_that_waits_is_answered_from_outside(adk: Side) -> None:
    """A result that is posted for a call which waits for its approval."""

    def pay() -> str:
        """Pay."""
        adk.note("paid", True)
        return "paid"

    tool = adk.FunctionTool(pay, require_confirmation=True)
    talk = adk.talk(adk.LlmAgent(name="bot", model=scripted(adk, calls("pay", "c"), "ok"), tools=[tool]))
    async for _ in talk.runner.run_async(**talk.where, new_message=said("hi")):
        pass
    response = types.FunctionResponse(id="c", name="pay", response={"result": "paid elsewhere"})
    message = types.Content(role="user", parts=[types.Part(function_response=response)])
    try:
        async for _ in talk.runner.run_async(**talk.where, new_message=message):
            pass
    except ValueError:
        adk.note("refused", True)


async def template_agents_warn(adk: Side) -> None:
    """What building the agents that run others warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for kind in (adk.SequentialAgent, adk.ParallelAgent, adk.LoopAgent):
            kind(name="tree", sub_agents=[])
    adk.note("warned", sorted({one.category.__name__ for one in caught}))


async def secrets_in_an_event(adk: Side) -> None:
    """A credential in what a node says of its state, in a file."""
    secret = adk.AuthCredential(auth_type="apiKey", api_key="s3cret")

    async def ask() -> Any:
        return adk.Event(actions=adk.EventActions(agent_state={"held": secret}), output=1)

    talk = adk.talk(flow(adk, adk.node(ask)), sessions=adk.file_store())
    try:
        async for _ in talk.runner.run_async(**talk.where, new_message=said("hi")):
            pass
    except ValueError:
        adk.note("refused", True)
    session = await talk.session()
    adk.note("kept", "s3cret" in "".join(event.model_dump_json() for event in session.events))
