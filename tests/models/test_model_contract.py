"""The contract of models, run on every model that comes along."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from google.genai import types

from adk_nb.models import BaseLlm, LiteLlm
from adk_nb.testing import FunctionModel, ScriptedModel
from adk_nb.testing.language_models import ModelContract
from tests.models.chat_server import chatting, chunk, completion, tool_call
from tests.models.gemini_server import broken, candidate, piece, serving

Answer = str | list[types.Part]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


class TestScripted(ModelContract):
    """A prepared script."""

    @contextmanager
    def answering(self, *answers: Answer) -> Iterator[BaseLlm]:
        """Give the script's replies."""
        yield ScriptedModel(list(answers))


class TestFunction(ModelContract):
    """A function's replies."""

    @contextmanager
    def answering(self, *answers: Answer) -> Iterator[BaseLlm]:
        """Give what the function returns."""
        left = list(answers)
        yield FunctionModel(lambda request: left.pop(0))


class TestGemini(ModelContract):
    """The real client and a server on loopback."""

    @contextmanager
    def answering(self, *answers: Answer) -> Iterator[BaseLlm]:
        """Give the server's answers, in chunks where they are asked for so."""
        with serving(*map(_gemini_answer, answers)) as server:
            yield server.gemini()


def _gemini_answer(answer: Answer) -> object:
    """An answer that the server streams or gives whole, by what it is asked for."""
    if isinstance(answer, str):
        words = answer.split(" ")
        chunks = [piece(word if not n else f" {word}") for n, word in enumerate(words)]
        return {"$whole": candidate(answer), "$stream": [*chunks, candidate(None)]}
    calls = [part.function_call for part in answer if part.function_call]
    parts = [{"functionCall": {"name": call.name, "args": call.args}} for call in calls]
    return {"$whole": piece(*parts, finish="STOP"), "$stream": [piece(*parts), piece(finish="STOP")]}


@pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="the extra isn't installed")
class TestLiteLlm(ModelContract):
    """The package litellm and a server on loopback that speaks chat completions."""

    @contextmanager
    def answering(self, *answers: Answer) -> Iterator[BaseLlm]:
        """Give the server's answers, in chunks where they are asked for so."""
        with chatting(*map(_chat_answer, answers)) as server:
            yield LiteLlm(model="openai/m", api_base=server.url, api_key="k")


def _chat_answer(answer: Answer) -> dict[str, object]:
    """An answer that the server streams or gives whole, by what it is asked for."""
    if isinstance(answer, str):
        words = [chunk(content=word if not n else f" {word}") for n, word in enumerate(answer.split(" "))]
        return {"$whole": completion(content=answer), "$stream": [*words, chunk("stop")]}
    calls = [part.function_call for part in answer if part.function_call]
    told = [(f"c{n}", str(call.name), json.dumps(call.args)) for n, call in enumerate(calls)]
    pieces = [chunk(tool_calls=[tool_call(n, *call)]) for n, call in enumerate(told)]
    whole = completion("tool_calls", content=None, tool_calls=[tool_call(None, *call) for call in told])
    return {"$whole": whole, "$stream": [*pieces, chunk("tool_calls")]}


def test_a_broken_model_is_found_out() -> None:
    """The contract isn't empty: a model that never sends a whole answer breaks it."""

    class Broken(TestGemini):
        @contextmanager
        def answering(self, *answers: Answer) -> Iterator[BaseLlm]:
            with serving(broken(piece("Paris"))) as server:
                yield server.gemini()

    with pytest.raises(AssertionError):
        Broken().test_pieces_then_the_whole()
