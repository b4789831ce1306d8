"""What a model's server may answer: nothing, a block, a broken call, too much load; each is told as what it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

import adk_nb as adk
from adk_nb.agents import LlmAgent, RunConfig
from adk_nb.errors import BlockedAnswerError
from adk_nb.events import Event
from adk_nb.events.event import content_text
from adk_nb.models import LlmResponse
from adk_nb.runners import InMemoryRunner
from adk_nb.workflow import RetryConfig, Workflow
from adk_nb.workflow.run_config import StreamingMode
from tests.agents.asking import flow, run
from tests.models.gemini_server import candidate, failure, piece, quick, serving

# The client derives a class in a way that its optional HTTP package, where installed, discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

STREAMED = [None, RunConfig(streaming_mode=StreamingMode.SSE)]
EAGER = RetryConfig(max_attempts=5, initial_delay=0, jitter=0)


def either(whole: dict[str, Any], *pieces: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that comes whole to who asks for it whole, and in these pieces, or in one, to who streams."""
    return {"$whole": whole, "$stream": list(pieces or (whole,))}


def calls(name: str, **args: Any) -> dict[str, Any]:
    """Return an answer that calls a tool."""
    answer = candidate(None)
    answer["candidates"][0]["content"] = {"role": "model", "parts": [{"functionCall": {"name": name, "args": args}}]}
    return answer


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.parametrize("config", STREAMED, ids=["whole", "streamed"])
def test_a_busy_server_is_asked_again_whether_streamed_or_not(config: RunConfig | None) -> None:
    """503 and 429 are asked again by one rule, the wait that the server names is kept, and all of it is counted."""
    busy = [failure(503, "UNAVAILABLE"), failure(429, "RESOURCE_EXHAUSTED", {"Retry-After": "0.05"})]
    with serving(*busy, either(candidate("Hello"), piece("Hel"), piece("lo", finish="STOP"))) as server:
        turns = run(LlmAgent(name="a", model=server.gemini(retry_options=quick())), config=config)
    assert turns.output == "Hello"
    assert server.calls == 3
    metadata = turns.events[-1].custom_metadata or {}
    assert metadata["http_attempts"] == 3
    assert metadata["wait_s"] >= 0.05


def test_attempts_are_in_the_table_of_calls() -> None:
    """Two attempts of one call are one row, which says how many there were; a retry rule of the node adds none."""
    with serving(failure(503, "UNAVAILABLE"), candidate("Hello")) as server:
        agent = LlmAgent(name="a", model=server.gemini(retry_options=quick()), retry_config=EAGER)

        async def main() -> Any:
            return await adk.run(flow(agent), "hi", sessions="memory", view=False)

        done = asyncio.run(main())
    assert (done.status, done.output) == ("completed", "Hello")
    (row,) = done.calls_frame().to_dict("records")
    assert (row["http_attempts"], row["finish"]) == (2, "STOP")


def test_a_bad_request_is_asked_once() -> None:
    """What the server calls our fault isn't asked again, and fails the run under its own name."""
    with serving(failure(400, "INVALID_ARGUMENT")) as server:
        turns = run(LlmAgent(name="a", model=server.gemini(retry_options=quick())))
    assert server.calls == 1
    assert turns.events[-1].error_code == "INVALID_ARGUMENT"


THOUGHT = {"promptTokenCount": 10, "thoughtsTokenCount": 200, "totalTokenCount": 210}
NOTHING = [
    ({"candidates": [{"finishReason": "MAX_TOKENS"}], "usageMetadata": THOUGHT}, "MAX_TOKENS"),
    ({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}]}, "MAX_TOKENS"),
    ({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": []}}]}, "NO_CONTENT"),
    ({"candidates": [], "usageMetadata": THOUGHT}, "NO_CONTENT"),
    ({"usageMetadata": THOUGHT}, "NO_CONTENT"),
    ({}, "NO_CONTENT"),
]


@pytest.mark.parametrize("config", STREAMED, ids=["whole", "streamed"])
@pytest.mark.parametrize(("answer", "code"), NOTHING)
def test_every_shape_of_nothing_is_one_named_error(answer: Any, code: str, config: RunConfig | None) -> None:
    """However the server says nothing, the run fails at the agent with the finish reason; used tokens are named."""
    with serving(either(answer)) as server:
        turns = run(flow(LlmAgent(name="a", model=server.gemini())), config=config)
    assert type(turns.error).__name__ == "EmptyAnswerError"
    last = turns.events[-1]
    assert (last.node_info.path, code in str(last.error_code)) == ("wf@1/a@1", True)
    assert ("200 thinking tokens" in str(turns.error)) is (answer.get("usageMetadata") is not None)


@pytest.mark.parametrize("config", STREAMED, ids=["whole", "streamed"])
def test_cut_text_is_an_answer_that_says_so(config: RunConfig | None) -> None:
    """Text that reached the output limit is the output; event and table of calls hold why it ended."""
    with serving(either(candidate("half a sen", "MAX_TOKENS"))) as server:
        turns = run(flow(LlmAgent(name="a", model=server.gemini())), config=config)
    assert turns.output == "half a sen"
    assert turns.events[-1].finish_reason is types.FinishReason.MAX_TOKENS


class Total(BaseModel):
    """A declared answer."""

    total: int


def test_cut_data_is_an_error_that_says_so() -> None:
    """JSON that reached the output limit isn't blamed on its syntax."""
    with serving(candidate('{"total": 1', "MAX_TOKENS")) as server:
        turns = run(flow(LlmAgent(name="a", model=server.gemini(), output_schema=Total)))
    assert turns.events[-1].error_code == "MAX_TOKENS"
    assert "max_output_tokens" in str(turns.error)


BLOCKED = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 13}}
RATED = candidate(
    None, "SAFETY", safetyRatings=[{"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH", "blocked": True}]
)


@pytest.mark.parametrize("config", STREAMED, ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("answer", "code", "why"), [(BLOCKED, "PROHIBITED_CONTENT", "prompt"), (RATED, "SAFETY", "HARASSMENT HIGH")]
)
def test_a_block_is_asked_once(answer: Any, code: str, why: str, config: RunConfig | None) -> None:
    """A block has its own class, reason and ratings; neither the model nor the node's retry rule asks again."""
    with serving(either(answer)) as server:
        model = server.gemini(retry_options=quick(5))
        turns = run(flow(LlmAgent(name="a", model=model, retry_config=EAGER)), config=config)
    assert server.calls == 1
    assert type(turns.error).__name__ == "BlockedAnswerError"
    assert turns.events[-1].error_code == code
    assert why in str(turns.error)
    usage = turns.events[-2].usage_metadata
    assert usage is not None
    assert usage.prompt_token_count in (10, 13)


@pytest.mark.parametrize("config", STREAMED, ids=["whole", "streamed"])
def test_an_answer_that_was_stopped_is_no_answer(config: RunConfig | None) -> None:
    """What was said until a filter stopped it is seen, with the reason, and isn't the output; going on asks anew."""
    stopped = candidate("half a sen", "SAFETY", safetyRatings=[{"category": "HARM_CATEGORY_HATE_SPEECH"}])
    script = [either(stopped), either(candidate("whole"))]

    async def main() -> None:
        agent = LlmAgent(name="a", model=server.gemini())
        runner = InMemoryRunner(flow(agent))
        runner.auto_create_session = True
        where: dict[str, Any] = {"user_id": "u", "session_id": "s", "run_config": config}
        said = types.Content(role="user", parts=[types.Part(text="hi")])
        events: list[Event] = []
        error: Exception | None = None
        try:
            async for event in runner.run_async(**where, new_message=said):
                events.append(event)
        except BlockedAnswerError as blocked:
            error = blocked
        assert "HATE_SPEECH" in str(error)
        *_, told, failed = events
        assert (content_text(told.content), told.error_code, told.output) == ("half a sen", "SAFETY", None)
        assert (failed.content, failed.error_code) == (None, "SAFETY")
        again = [one async for one in runner.run_async(**where, invocation_id=told.invocation_id)]
        assert content_text(again[-1].content) == "whole"
        assert "half a sen" not in str(server.requests[1])
        root = await runner.root_run(user_id="u", session_id="s")
        assert root is not None
        assert (root.status, root.output) == ("completed", "whole")

    with serving(*script) as server:
        asyncio.run(main())


def test_a_block_can_be_answered_otherwise() -> None:
    """A callback that reads the code gives words in the place of a blocked answer, and the graph goes on with them."""

    def on_block(callback_context: Any, llm_response: LlmResponse) -> LlmResponse | None:
        if llm_response.error_code != "PROHIBITED_CONTENT":
            return None
        return LlmResponse(content=types.Content(role="model", parts=[types.Part(text="cannot answer that")]))

    with serving(BLOCKED) as server:
        agent = LlmAgent(name="a", model=server.gemini(), after_model_callback=on_block)
        assert run(flow(agent)).output == "cannot answer that"


BROKEN = candidate(None, "MALFORMED_FUNCTION_CALL", finishMessage="print(add(1,")


@pytest.mark.parametrize("config", STREAMED, ids=["whole", "streamed"])
def test_a_broken_call_is_put_right(config: RunConfig | None) -> None:
    """The model is told what was wrong and how the tools are called; later requests hold nothing of it."""
    with serving(
        *[either(one) for one in (BROKEN, calls("add", a=1, b=2), candidate("3"), candidate("bye"))]
    ) as server:
        turns = run(LlmAgent(name="a", model=server.gemini(), tools=[add]), "1+2?", "thanks", config=config)
    assert turns.output == "bye"
    told = [content["parts"][-1].get("text", "") for content in server.requests[1]["contents"]][-1]
    assert "not a valid call" in told
    assert "add(a: int, b: int)" in told
    assert [event.error_code for event in turns.events if event.error_code] == ["MALFORMED_FUNCTION_CALL"]
    assert all("not a valid call" not in str(request) for request in server.requests[2:])
    repaired = next(event for event in turns.events if event.error_code)
    assert repaired.usage_metadata is not None


@pytest.mark.parametrize("allowed", [0, 2])
def test_broken_calls_are_put_right_only_so_often(allowed: int) -> None:
    """After the tries that an agent has, the run fails with the error of the last one, and is asked no more."""
    with serving(*[BROKEN] * 9) as server:
        turns = run(LlmAgent(name="a", model=server.gemini(), tools=[add], max_model_repairs=allowed))
    assert server.calls == allowed + 1
    assert type(turns.error).__name__ == "MalformedCallError"
    assert turns.root is not None
    assert turns.root.status == "failed"


def test_each_step_has_its_own_tries() -> None:
    """A good call in between ends the count, and repairs count as calls of the model."""
    script = [BROKEN, calls("add", a=1, b=2), BROKEN, candidate("3")]
    with serving(*script) as server:
        assert run(LlmAgent(name="a", model=server.gemini(), tools=[add], max_model_repairs=1)).output == "3"
    with serving(*script) as server:
        turns = run(LlmAgent(name="a", model=server.gemini(), tools=[add]), config=RunConfig(max_llm_calls=1))
    assert server.calls == 1
    assert type(turns.error).__name__ == "LlmCallsLimitExceededError"


def test_a_broken_call_in_a_graph() -> None:
    """As a node beside others, and after a pause of nobody, an agent puts its own calls right."""
    with serving(BROKEN, calls("add", a=1, b=2), candidate("3")) as server:
        inner = Workflow(name="inner", edges=[("START", LlmAgent(name="a", model=server.gemini(), tools=[add]))])
        assert run(flow(inner)).output == "3"
