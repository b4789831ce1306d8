"""The contract of models as tests: derive from `ModelContract` and give your model a server or a script.

```
class TestMyModel(ModelContract):
    @contextmanager
    def answering(self, *answers):
        with my_server(answers) as url:        # each answer is a text, or a list of parts
            yield MyModel(model="m", base_url=url)
```

pytest then runs every rule against it.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from typing import Any

from google.genai import types

from adk_nb.models.ask import ask_model
from adk_nb.models.base_llm import BaseLlm, LlmCapabilities
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.testing.models import call

ANSWER = "Paris is the capital of France."


class ModelContract:
    """What holds for every model."""

    def answering(self, *answers: str | list[types.Part]) -> AbstractContextManager[BaseLlm]:
        """Give a model that gives these answers in order, in whatever way it is asked; derived classes say how.

        An answer that it is asked for in a stream should come in several pieces, if it has several words.
        """
        raise NotImplementedError(f"{type(self).__name__} must define answering().")

    def test_one_response_without_streaming(self) -> None:
        """Without streaming there is exactly one response, it isn't partial, and it has the text from the model."""
        with self.answering(ANSWER) as model:
            (response,) = asyncio.run(heard(model))
        assert not response.partial
        assert response.error_code is None
        assert response.content is not None
        assert response.content.role == "model"
        assert said(response) == ANSWER

    def test_pieces_then_the_whole(self) -> None:
        """With streaming there are pieces with `partial=True`, then one whole answer that holds what they said."""
        with self.answering(ANSWER) as model:
            *pieces, whole = asyncio.run(heard(model, stream=True))
        assert all(piece.partial for piece in pieces)
        assert not whole.partial
        assert said(whole) == ANSWER
        assert "".join(map(said, pieces)) in ("", ANSWER)

    def test_calls_come_over(self) -> None:
        """Calls of tools come with name and arguments, in order, streamed or not."""
        calls = [call("look", q="x"), call("look", q="y", deep=True)]
        with self.answering(calls, calls) as model:
            for stream in (False, True):
                whole = asyncio.run(heard(model, stream=stream))[-1]
                assert [(one.name, one.args) for one in calls_in(whole)] == [
                    ("look", {"q": "x"}),
                    ("look", {"q": "y", "deep": True}),
                ]

    def test_a_call_keeps_its_id(self) -> None:
        """A call that was shown in a piece is in the whole under the same id."""
        with self.answering([call("look", q="x")]) as model:
            *pieces, whole = asyncio.run(heard(model, stream=True))
        shown = {one.id for piece in pieces for one in calls_in(piece)}
        assert shown <= {one.id for one in calls_in(whole)}

    def test_tokens_add_up(self) -> None:
        """Where tokens are counted, cached ones are a part of the prompt, and the total isn't less than its parts."""
        with self.answering(ANSWER, ANSWER) as model:
            for stream in (False, True):
                usage = asyncio.run(heard(model, stream=stream))[-1].usage_metadata
                if usage is None:
                    continue
                prompt, cached = usage.prompt_token_count or 0, usage.cached_content_token_count or 0
                output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
                assert cached <= prompt
                assert usage.total_token_count is None or usage.total_token_count >= prompt + output

    def test_side_by_side_and_on_other_loops(self) -> None:
        """One object serves several calls at once, and one event loop after another."""
        answers = [f"answer {n}" for n in range(4)]

        async def two(model: BaseLlm) -> list[str]:
            both = await asyncio.gather(heard(model), heard(model, stream=True))
            return [said(responses[-1]) for responses in both]

        with self.answering(*answers) as model:
            assert sorted(asyncio.run(two(model)) + asyncio.run(two(model))) == answers

    def test_who_stops_listening_leaves_nothing(self) -> None:
        """A stream that is left after its first piece leaves no task behind, and the next call goes well."""

        async def leave(model: BaseLlm) -> set[asyncio.Task[Any]]:
            responses = ask_model(model, question(), stream=True)
            await anext(responses)
            await responses.aclose()
            here = asyncio.current_task()
            for _ in range(100):
                left = {task for task in asyncio.all_tasks() if task is not here}
                if not left:
                    break
                await asyncio.sleep(0.01)
            assert said((await heard(model))[-1]) == "again"
            return left

        with self.answering(ANSWER, "again") as model:
            assert asyncio.run(leave(model)) == set()

    def test_it_says_what_it_can(self) -> None:
        """A model has a name, tells its capabilities, and lists its names as regular expressions."""
        with self.answering() as model:
            assert model.model
            assert isinstance(model.capabilities, LlmCapabilities)
            assert all(isinstance(name, str) for name in model.supported_models())


def question(text: str = "What is the capital of France?") -> LlmRequest:
    """Return a request with one user message.

    Example:
        >>> question("Hi").last_user_text
        'Hi'
    """
    return LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text=text)])])


async def heard(model: BaseLlm, request: LlmRequest | None = None, *, stream: bool = False) -> list[LlmResponse]:
    """Return all responses of a model to one request."""
    return [response async for response in model.generate_content_async(request or question(), stream)]


def said(response: LlmResponse) -> str:
    """Return what a response says, without thoughts."""
    parts = (response.content.parts if response.content else None) or []
    return "".join(part.text or "" for part in parts if not part.thought)


def calls_in(response: LlmResponse) -> list[types.FunctionCall]:
    """Return the calls of a response."""
    parts = (response.content.parts if response.content else None) or []
    return [part.function_call for part in parts if part.function_call]
