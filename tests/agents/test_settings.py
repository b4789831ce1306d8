"""Settings of agents and of calls: where they come from, which of two counts, and what is refused."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_nb.agents import LlmAgent, RunConfig
from adk_nb.errors import ConfigurationError, LlmCallsLimitExceededError
from adk_nb.testing import ScriptedModel, call
from tests.agents.asking import run


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def test_the_limit_of_model_calls_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ADK_MAX_LLM_CALLS` is the limit of calls that name none; what a call names counts, and 0 is no limit."""
    monkeypatch.setenv("ADK_MAX_LLM_CALLS", "1")

    def agent() -> LlmAgent:
        return LlmAgent(name="a", model=ScriptedModel([call("add", a=1, b=2), "3"]), tools=[add])

    with pytest.raises(LlmCallsLimitExceededError):
        _ = run(agent()).output
    assert run(agent(), config=RunConfig(max_llm_calls=2)).output == "3"
    assert run(agent(), config=RunConfig(max_llm_calls=0)).output == "3"
    monkeypatch.setenv("ADK_MAX_LLM_CALLS", "many")
    with pytest.raises(ConfigurationError, match="ADK_MAX_LLM_CALLS is 'many'"):
        RunConfig()
    monkeypatch.delenv("ADK_MAX_LLM_CALLS")
    assert RunConfig().max_llm_calls == 500


def test_options_of_the_way_to_the_server() -> None:
    """Headers of agent and call go together; of two values for one thing the agent's counts, and neither changes."""
    own = types.HttpOptions(timeout=5, headers={"x-team": "agents", "x-own": "1"})
    of_call = types.HttpOptions(timeout=9, api_version="v1", headers={"x-team": "calls", "x-run": "7"})
    model = ScriptedModel(["one", "two"])
    settings = types.GenerateContentConfig(http_options=own)
    run(LlmAgent(name="a", model=model, generate_content_config=settings), config=RunConfig(http_options=of_call))
    run(LlmAgent(name="b", model=model), config=RunConfig(http_options=of_call))
    both, alone = (request.config.http_options for request in model.requests)
    assert both is not None
    assert (both.timeout, both.api_version) == (5, "v1")
    assert both.headers == {"x-team": "agents", "x-own": "1", "x-run": "7"}
    assert alone == of_call
    assert own.headers == {"x-team": "agents", "x-own": "1"}


def test_code_of_a_model_is_not_executed() -> None:
    """`code_executor=None` may be said, as code for google-adk does, and anything else is refused with what to do."""
    assert LlmAgent(name="a", code_executor=None).code_executor is None
    with pytest.raises(ConfigurationError, match=r"code_executor.*tools="):
        LlmAgent(name="a", code_executor=object())  # type: ignore[arg-type]
