"""Plugins around an agent: in its place, after it, around its model calls, told of its errors."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.agents import LlmAgent
from adk_nb.errors import LlmCallsLimitExceededError, PluginError
from adk_nb.events import Event
from adk_nb.models import LlmRequest, LlmResponse
from adk_nb.plugins import BasePlugin
from adk_nb.testing import FunctionModel, ScriptedModel
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.runners.talking import AppTalk
from tests.workflow.driving import outputs, run

show = node(lambda node_input: repr(node_input), name="show")


def said(text: str) -> types.Content:
    """Return what a model says."""
    return types.Content(role="model", parts=[types.Part(text=text)])


class Around(BasePlugin):
    """Notes which hooks of an agent are called, and answers as it was told."""

    def __init__(self, **answers: Any) -> None:
        super().__init__("around")
        self.log: list[str] = []
        self.answers = answers

    def _note(self, hook: str) -> Any:
        self.log.append(hook)
        return self.answers.get(hook)

    async def before_agent_callback(self, *, agent: Any, callback_context: Context) -> types.Content | None:
        """Note it."""
        assert (agent.name, callback_context.agent_name) == ("agent", "agent")
        answer: types.Content | None = self._note("before_agent")
        return answer

    async def after_agent_callback(self, *, agent: Any, callback_context: Context) -> types.Content | None:
        """Note it."""
        answer: types.Content | None = self._note("after_agent")
        return answer

    async def on_agent_error_callback(self, *, agent: Any, callback_context: Context, error: Exception) -> None:
        """Note it."""
        self._note("agent_error")

    async def before_model_callback(self, *, callback_context: Context, llm_request: Any) -> LlmResponse | None:
        """Note it."""
        assert isinstance(llm_request, LlmRequest)
        callback_context.state["asked"] = True
        answer: LlmResponse | None = self._note("before_model")
        return answer

    async def after_model_callback(self, *, callback_context: Context, llm_response: LlmResponse) -> LlmResponse | None:
        """Note it."""
        answer: LlmResponse | None = self._note("after_model")
        return answer

    async def on_model_error_callback(
        self, *, callback_context: Context, llm_request: Any, error: Exception
    ) -> LlmResponse | None:
        """Note it."""
        answer = self._note("model_error")
        if isinstance(answer, Exception):
            raise answer
        saved: LlmResponse | None = answer
        return saved


def talk_of(plugin: BasePlugin, model: Any = None, **options: Any) -> AppTalk:
    """Return a talk with an agent between START and a node that shows what it got."""
    agent = LlmAgent(name="agent", model=model or ScriptedModel(["said"]), **options)
    return AppTalk(Workflow(name="wf", edges=[("START", agent, show)]), plugin)


def shown(events: list[Event]) -> Any:
    """Return what the node behind the agent got."""
    return outputs(events)["wf@1/show@1"]


def test_order() -> None:
    """Before the agent, before the model, after the model, after the agent; state written meanwhile is stored."""

    async def test() -> None:
        plugin = Around()
        talk = talk_of(plugin)
        assert shown(await talk.say()) == "'said'"
        assert plugin.log == ["before_agent", "before_model", "after_model", "after_agent"]
        assert await talk.state() == {"asked": True}

    run(test)


def test_in_place_of_the_agent() -> None:
    """What a plugin says is the agent's output; the model isn't asked, and the hook after it is."""

    async def test() -> None:
        plugin, model = Around(before_agent=said("no")), ScriptedModel(["said"])
        talk = talk_of(plugin, model)
        events = await talk.say()
        assert (events[0].author, shown(events)) == ("agent", "'no'")
        assert (plugin.log, model.requests) == (["before_agent", "after_agent"], [])
        chat = AppTalk(LlmAgent(name="agent", model=model), Around(before_agent=said("no")))
        await chat.say()
        assert (await chat.root()).output == "no"

    run(test)


def test_added_to_what_the_agent_said() -> None:
    """A message after the agent is an event of its own, and the output stays the agent's."""

    async def test() -> None:
        talk = talk_of(Around(after_agent=said("more")))
        events = await talk.say()
        assert [event.content for event in events[:2]] == [said("said"), said("more")]
        assert shown(events) == "'said'"

    run(test)


def test_in_place_of_the_model() -> None:
    """A cached response isn't a call: the model isn't asked, nothing is counted, and it isn't reviewed again."""

    async def test() -> None:
        plugin, model = Around(before_model=LlmResponse(content=said("cached"))), ScriptedModel([])
        talk = talk_of(plugin, model)
        assert shown(await talk.say()) == "'cached'"
        assert plugin.log == ["before_agent", "before_model", "after_agent"]

    run(test)


def test_after_the_model() -> None:
    """Another response takes the place of the model's; what the call cost stays known."""

    async def test() -> None:
        talk = talk_of(Around(after_model=LlmResponse(content=said("other"))))
        events = await talk.say()
        assert shown(events) == "'other'"
        assert events[0].usage_metadata is not None

    run(test)


def test_a_model_that_fails() -> None:
    """A plugin may have a response in its place; without one, the agent fails and plugins are told."""

    def fail(request: LlmRequest) -> Any:
        raise OSError("no net")

    async def test() -> None:
        plugin = Around(model_error=LlmResponse(content=said("sorry")))
        assert shown(await talk_of(plugin, FunctionModel(fail)).say()) == "'sorry'"
        assert plugin.log == ["before_agent", "before_model", "model_error", "after_model", "after_agent"]
        plugin = Around()
        talk = talk_of(plugin, FunctionModel(fail))
        await talk.fail(OSError, talk.say())
        assert plugin.log == ["before_agent", "before_model", "model_error", "agent_error"]
        plugin = Around(model_error=ValueError("oh"))
        talk = talk_of(plugin, FunctionModel(fail))
        error = await talk.fail(PluginError, talk.say())
        assert "on_model_error_callback" in str(error)

    run(test)


def test_the_limit_of_calls_is_not_the_models_failure() -> None:
    """No plugin can answer a call that the run's limit forbids."""

    async def test() -> None:
        plugin = Around(model_error=LlmResponse(content=said("sorry")))
        first = LlmAgent(name="agent", model=ScriptedModel(["1", "2"]))
        talk = AppTalk(Workflow(name="wf", edges=[("START", first), (first, node(first, name="agent2"))]), plugin)
        plugin.before_agent_callback = _nothing  # type: ignore[method-assign]
        await talk.fail(LlmCallsLimitExceededError, talk.say(run_config=RunConfig(max_llm_calls=1)))
        assert "model_error" not in plugin.log

    run(test)


async def _nothing(**_: Any) -> None:
    return None
