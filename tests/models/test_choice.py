"""Which model is asked: names and classes in the registry, and `use_model` over everything."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest
from google.genai import types

from adk_nb.errors import ConfigurationError
from adk_nb.models import BaseLlm, Gemini, LLMRegistry, LlmRequest, LlmResponse, current_model, use_model
from adk_nb.testing import ScriptedModel


class Parrot(BaseLlm):
    """A model of one's own."""

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return the names of parrots."""
        return [r"parrot-\d+"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Say it again."""
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=llm_request.last_user_text)]))


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    """Leave the registry and the switch as they were; a class is registered for good, so this takes it out by hand."""
    registered = list(LLMRegistry._registered)
    yield
    LLMRegistry._registered[:] = registered
    LLMRegistry._shared.clear()
    use_model(None)


@pytest.mark.parametrize("name", ["gemini-2.5-flash", "gemma-4-e4b", "projects/p/locations/l/endpoints/1"])
def test_google_names_belong_to_gemini(name: str) -> None:
    """Gemini's names need no registration."""
    model = LLMRegistry.new_llm(name)
    assert isinstance(model, Gemini)
    assert model.model == name


def test_forced_class() -> None:
    """`Class:name` chooses the class, and only the rest is the model's name."""
    LLMRegistry.register(Parrot)
    assert isinstance(LLMRegistry.new_llm("Gemini:tuned"), Gemini)
    parrot = LLMRegistry.new_llm("Parrot:polly")
    assert (type(parrot), parrot.model) == (Parrot, "polly")


def test_registered_class_wins_and_replaces_itself() -> None:
    """A registered class serves its names; registering it again, as a re-run cell does, keeps one of it."""
    for _ in range(2):
        LLMRegistry.register(Parrot)
    assert isinstance(LLMRegistry.new_llm("parrot-7"), Parrot)
    with pytest.raises(ConfigurationError) as caught:
        LLMRegistry.new_llm("parrot-x")
    assert str(caught.value).count("Parrot (") == 1


def test_unknown_name_says_what_is_known() -> None:
    """An unknown name is a ValueError that lists the known classes and what to do."""
    with pytest.raises(ValueError, match=r"'gpt-9'.*Gemini \(gemini-.*LLMRegistry.register") as caught:
        LLMRegistry.resolve("gpt-9")
    assert isinstance(caught.value, ConfigurationError)


def test_agents_share_one_object_a_name_and_loop() -> None:
    """On one loop a name gives one object; another loop gives another, and closed loops are let go."""

    async def twice() -> tuple[BaseLlm, BaseLlm]:
        return LLMRegistry.shared_llm("gemini-x"), LLMRegistry.shared_llm("gemini-x")

    first, again = asyncio.run(twice())
    other, _ = asyncio.run(twice())
    assert first is again
    assert first is not other
    LLMRegistry.shared_llm("gemini-x")
    assert list(LLMRegistry._shared) == [None]  # what is let go can be seen from inside only


def test_block_ends_and_nests() -> None:
    """In a block its model is used, an inner block wins, None gives agents their own back, and the end undoes it."""
    outer, inner = ScriptedModel([]), ScriptedModel([])
    with use_model(outer) as given:
        assert given is outer
        with use_model(inner):
            assert current_model() is inner
        with use_model(None):
            assert current_model() is None
        assert current_model() is outer
    assert current_model() is None


def test_plain_call_holds_until_none() -> None:
    """Called plainly it holds everywhere, other threads included, a block covers it, and None ends it."""
    everywhere, block = ScriptedModel([]), ScriptedModel([])
    use_model(everywhere)
    seen: list[BaseLlm | None] = []
    thread = threading.Thread(target=lambda: seen.append(current_model()))
    thread.start()
    thread.join()
    assert seen == [everywhere]
    with use_model(block):
        assert current_model() is block
    assert current_model() is everywhere
    use_model(None)
    assert current_model() is None


def test_blocks_of_concurrent_tasks_dont_meet() -> None:
    """Two tasks in two blocks, interleaved, each see their own model, and a task started in a block keeps it."""
    models = {name: ScriptedModel([], model=name) for name in ("a", "b")}

    async def task(name: str, turn: asyncio.Barrier) -> list[BaseLlm | None]:
        with use_model(models[name]):
            await turn.wait()
            started = asyncio.create_task(late(turn))
            inside = current_model()
            await turn.wait()
        return [inside, await started, current_model()]

    async def late(turn: asyncio.Barrier) -> BaseLlm | None:
        await asyncio.sleep(0)
        return current_model()

    async def both() -> list[list[BaseLlm | None]]:
        turn = asyncio.Barrier(2)
        return list(await asyncio.gather(task("a", turn), task("b", turn)))

    assert asyncio.run(both()) == [[models["a"], models["a"], None], [models["b"], models["b"], None]]


def test_an_error_in_a_block_ends_it() -> None:
    """A block left by an exception is over."""
    with pytest.raises(RuntimeError), use_model(ScriptedModel([])):
        raise RuntimeError
    assert current_model() is None
    assert contextvars.copy_context().run(current_model) is None


def test_names_and_wrong_values() -> None:
    """A name is looked up; anything else is refused and changes nothing."""
    with use_model("gemini-2.5-flash") as model:
        assert isinstance(model, Gemini)
    with pytest.raises(ConfigurationError, match="a model's name, a BaseLlm object or None"):
        use_model(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="gpt-9"):
        use_model("gpt-9")
    assert current_model() is None


def test_a_model_must_define_its_generator() -> None:
    """A subclass without generate_content_async can't be made."""

    class Silent(BaseLlm):
        """Says nothing."""

    with pytest.raises(TypeError, match="generate_content_async"):
        Silent(model="silent")  # type: ignore[abstract]
