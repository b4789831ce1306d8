"""Tokens, money and re-sent tokens: figures that match the bill."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from adk_nb import Agent, Context, Event, Workflow, run_sync
from adk_nb.errors import ConfigurationError, DataError
from adk_nb.events.prices import Price, cost_of, cost_of_event
from adk_nb.frames import calls_frame, nodes_frame, usage_frame
from adk_nb.models.llm_response import LlmResponse
from adk_nb.sessions import InMemorySessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.workflow import JoinNode, node

genai_prices: Any = pytest.importorskip("genai_prices")
PRICES: dict[str, Any] = {"big": (1.0, 10.0), "small": (0.1, 1.0)}


def used(prompt: int, output: int, **more: int) -> types.GenerateContentResponseUsageMetadata:
    """Return usage with these counts."""
    counts = {"prompt_token_count": prompt, "candidates_token_count": output, **more}
    return types.GenerateContentResponseUsageMetadata.model_validate(counts)


def says(text: str, prompt: int, output: int) -> LlmResponse:
    """Return a reply of a model that used so many tokens."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, usage_metadata=used(prompt, output))


def writers() -> Workflow:
    """Return a writer beside a node that asks a critic twice."""
    writer = Agent(name="writer", model=ScriptedModel([says("a", 1000, 100)], model="big"))
    replies = [says("b", 200, 20), says("c", 200, 20)]
    critic = Agent(name="critic", model=ScriptedModel(replies, model="small"))

    @node(rerun_on_resume=True)
    async def twice(ctx: Context, node_input: Any) -> list[Any]:
        return [await ctx.run_node(critic, "x"), await ctx.run_node(critic, "y")]

    return Workflow(name="w", edges=[("START", (writer, twice), JoinNode(name="j"))])


def test_tokens_and_money_by_node_agent_round_and_model() -> None:
    """Rows of node runs add up exactly to the run, own and inclusive; sums by anything add up to the same."""
    run = run_sync(writers(), "go")
    frame: Any = nodes_frame(run, prices=PRICES)
    by_path = frame.set_index("path")
    assert by_path.loc["w@1/twice@1/critic@2", ["prompt_tokens", "round"]].tolist() == [200, 2]
    assert frame["prompt_tokens"].sum() == run.usage.prompt_tokens == 1400
    assert by_path.loc["w@1/twice@1", ["prompt_tokens", "prompt_tokens_incl", "output_tokens_incl"]].tolist() == [
        0,
        400,
        40,
    ]
    assert by_path.loc["w@1", "money_incl"] == pytest.approx(frame["money"].sum()) == pytest.approx(0.00208)
    assert by_path.loc["w@1/writer@1", "money"] == pytest.approx(0.002)
    for by in ("node", "agent", "round", "model", "path", ["agent", "model"]):
        sums: Any = usage_frame(run, by, prices=PRICES)
        assert sums["tokens"].sum() == 1540
        assert sums["money"].sum() == pytest.approx(0.00208)
    rounds: Any = usage_frame(run, ["agent", "round"]).set_index(["agent", "round"])
    assert rounds["model_calls"].to_dict() == {("writer", 1): 1, ("critic", 1): 1, ("critic", 2): 1}
    with pytest.raises(ConfigurationError, match="allowed: node, agent, path, round"):
        usage_frame(run, "colour")


def test_an_unknown_price_is_unknown_in_every_sum() -> None:
    """A call without a price makes each sum that it is in unknown, never smaller; the rest stays known."""
    run = run_sync(writers(), "go")
    frame: Any = nodes_frame(run, prices={"big": (1.0, 10.0)}).set_index("path")
    assert frame.loc["w@1/writer@1", "money"] == pytest.approx(0.002)
    assert frame["money"].isna().tolist() == [path.endswith(("critic@1", "critic@2")) for path in frame.index]
    assert frame["money_incl"].isna().to_dict()["w@1"]
    sums: Any = usage_frame(run, "model", prices={"big": (1.0, 10.0)}).set_index("model")
    assert sums["unpriced_calls"].to_dict() == {"big": 0, "small": 2}


def test_cached_tokens_are_part_of_the_prompt() -> None:
    """The cached part is taken out before pricing, costs the full price without one of its own, and can't be larger."""
    price = Price(input=1.25, cached=0.625, output=10.0)
    usage = used(262_960, 1_744, cached_content_token_count=257_955)
    assert cost_of(usage, price) == pytest.approx((5_005 * 1.25 + 257_955 * 0.625 + 1_744 * 10) / 1e6)
    assert cost_of(used(100, 1), price) == cost_of(used(100, 1, cached_content_token_count=0), price)
    assert cost_of(usage, Price(1.25, 10.0)) == pytest.approx((262_960 * 1.25 + 1_744 * 10) / 1e6)
    wrong = used(10, 1, cached_content_token_count=20)
    with pytest.raises(DataError, match="cached"):
        cost_of(wrong, price)
    event = Event(invocation_id="e", node_path="w@1/a@1", usage_metadata=wrong, model_version="m")
    assert cost_of_event(event, {"m": price}) is None
    assert nodes_frame([event], prices={"m": (1.0, 1.0)})["money"].isna().tolist()[-1]


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-2.5-flash", "gpt-4o", "claude-sonnet-4-5"])
@pytest.mark.parametrize("prompt", [1, 1_000, 199_999, 200_000, 200_001, 900_000])
def test_listed_prices_are_those_of_genai_prices(model: str, prompt: int) -> None:
    """Money is what genai-prices itself works out, on both sides of the size where a model's price changes."""
    usage = genai_prices.Usage(input_tokens=prompt, cache_read_tokens=prompt // 3, output_tokens=70)
    expected = float(genai_prices.calc_price(usage, model_ref=model).total_price)
    said = used(prompt, 50, cached_content_token_count=prompt // 3, thoughts_token_count=20)
    assert cost_of_event(Event(model_version=model, usage_metadata=said)) == pytest.approx(expected)


def test_resent_tokens_of_an_agent_loop() -> None:
    """Each call of a loop sends again what the calls before it sent; the first sends nothing again."""

    def look(q: str) -> str:
        return f"found {q} " * 20

    model = ScriptedModel([call("look", q="a"), call("look", q="b"), "done"])
    kept = InMemorySessionService()
    run = run_sync(Agent(name="a", model=model, tools=[look], instruction="Look. " * 20), "go", sessions=kept)
    frame = run.calls_frame()
    prompts, resent = frame["prompt_tokens"].tolist(), frame["resent_tokens"].tolist()
    assert resent[0] == 0
    assert resent[1:] == prompts[:-1]
    stored = calls_frame(run.events)
    assert stored["source"].unique().tolist() == ["model"]
    asyncio.run(kept.close())


def test_resent_tokens_of_stored_calls_are_known_or_missing() -> None:
    """From counts alone, a later call of the same node run sent all of the call before it again; others are unknown."""

    def said(path: str, prompt: int) -> Event:
        return Event(invocation_id="stored", node_path=path, model_version="m", usage_metadata=used(prompt, 5))

    events = [said("w@1/a@1", 10), said("w@1/a@1", 30), said("w@1/b@1", 12), said("w@1/b@1", 11)]
    resent = calls_frame(events)["resent_tokens"]
    assert resent.isna().tolist() == [False, False, True, False]
    assert [resent[place] for place in (0, 1, 3)] == [0, 10, 11]
