"""Agents in detail: what waits, what is quoted, what is escaped, what is kept."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.parity.asked import Asked, calls
from tests.parity.chapters.callbacks import answers_with
from tests.parity.scripted import scripted
from tests.parity.side import Side, said


def order(what: str) -> None:
    """Order something, which takes a while."""


async def the_callback_after_an_agent_that_waits(adk: Side) -> None:
    """Whether the callback after an agent is asked while a tool of it waits, and once it has answered."""
    model = scripted(adk, calls("order", "c1", what="tea"), "ordered", notes=False)
    tools = [adk.LongRunningFunctionTool(order)]
    after = answers_with(adk, "late")
    talk = adk.talk(adk.LlmAgent(name="bot", model=model, tools=tools, after_agent_callback=after))
    await talk.turn("hi")
    await talk.turn(_result("c1", "order", {"tea": 1}))


async def the_callback_after_a_task_that_asks(adk: Side) -> None:
    """Whether the callback after a task agent is asked when it has only asked the person something."""
    after = answers_with(adk, None, "after")
    booker = adk.LlmAgent(
        name="booker",
        description="Books.",
        mode="task",
        after_agent_callback=after,
        model=scripted(adk, "Where to?", calls("finish_task", "f1", result="Rome"), notes=False),
    )
    coord = adk.LlmAgent(
        name="coord", sub_agents=[booker], model=scripted(adk, calls("booker", "b1", request="x"), "done", notes=False)
    )
    talk = adk.talk(coord)
    await talk.turn("hi")
    await talk.turn("Rome")


async def a_task_in_a_sequence(adk: Side) -> None:
    """A member of a sequence with a task that asks: whether the others wait for it."""
    task = adk.LlmAgent(
        name="task",
        mode="task",
        model=scripted(adk, "Where to?", calls("finish_task", "f1", result="Rome"), notes=False),
    )
    then = adk.LlmAgent(name="then", model=scripted(adk, "then says", "then again", notes=False))
    talk = adk.talk(adk.SequentialAgent(name="seq", sub_agents=[task, then]))
    await talk.turn("hi")
    await talk.turn("Rome")


async def an_agent_as_a_tool_that_must_ask(adk: Side) -> None:
    """What a model is told of an agent that it called and that waits for a person."""
    asks = scripted(adk, calls("adk_request_input", message="Well?"), "never", notes=False)
    inner = adk.LlmAgent(name="inner", description="Helps.", model=asks, tools=[adk.request_input])
    await _calls(adk, inner, request="x")


async def an_agent_as_a_tool_that_is_given_the_wrong_kind(adk: Side) -> None:
    """Arguments that don't fit the schema of an agent that is called as a tool."""

    class Trip(BaseModel):
        """A trip."""

        days: int

    inner = adk.LlmAgent(name="inner", description="Helps.", model=scripted(adk, "ok", notes=False), input_schema=Trip)
    await _calls(adk, inner, days="many")


async def _calls(adk: Side, inner: Any, **args: Any) -> None:
    model = scripted(adk, calls("inner", "c1", **args), "done", notes=False)
    talk = adk.talk(adk.LlmAgent(name="bot", model=model, tools=[adk.AgentTool(inner)]))
    try:
        events = [event async for event in talk.runner.run_async(**talk.where, new_message=said("hi"))]
    except Exception as error:  # noqa: BLE001  # whatever the package raises is what is compared
        adk.note("raised", adk.error(error))
        return
    (response,) = [one.response for event in events for one in event.get_function_responses()]
    adk.note("told", list(response))


async def the_introduction_of_quotations(adk: Side) -> None:
    """How often a request says that what follows was said by others."""
    one, two, three = Asked(adk, "one", "A"), Asked(adk, "two", "B"), _Counted(adk, "C")
    members = [
        adk.Agent(name="one", model=one.model),
        adk.Agent(name="two", model=two.model),
        adk.Agent(name="three", model=three.model),
    ]
    adk.hides_paths = True
    await adk.play(adk.SequentialAgent(name="seq", sub_agents=members), "go")
    adk.note("introductions", three.counts)


async def braces_that_stay(adk: Side) -> None:
    """What writes a key in braces that isn't filled."""
    seen: list[str] = []
    for at, template in enumerate(("{!k}", "{{k}}")):
        model = _Counted(adk, "ok")
        await adk.play(
            adk.LlmAgent(name="bot", model=model.model, instruction=f"<{template}>"),
            session_id=str(at),
            state={"k": "v"},
        )
        text = model.systems[0]
        seen.append(text[text.index("<") : text.index(">") + 1])
    adk.note("filled", seen)


async def times_of_memories(adk: Side) -> None:
    """When something was said, as a memory tells it."""
    memory = adk.InMemoryMemoryService()
    told = adk.Event(author="user", content=said("I love tea"), timestamp=0.0)
    await memory.add_events_to_memory(app_name="x", user_id="u", events=[told])
    found = await memory.search_memory(app_name="x", user_id="u", query="tea")
    adk.note("offset", [one.timestamp.endswith("+00:00") for one in found.memories])


async def files_of_a_message(adk: Side) -> None:
    """A file that a person sends, when files are to be saved as artifacts."""
    service = adk.InMemoryArtifactService()
    talk = adk.talk(adk.LlmAgent(name="bot", model=scripted(adk, "ok", notes=False)), artifact_service=service)
    parts = [types.Part(text="look"), types.Part(inline_data=types.Blob(mime_type="image/png", data=b"1"))]
    config = adk.RunConfig(save_input_blobs_as_artifacts=True)
    await talk.turn(types.Content(role="user", parts=parts), run_config=config)
    kept = await service.list_artifact_keys(app_name=talk.runner.app_name, **talk.where)
    adk.note("saved", len(kept))


class _Counted:
    """A model that counts how often it is told that others are quoted, and keeps the system texts."""

    def __init__(self, adk: Side, *replies: str) -> None:
        self.counts: list[int] = []
        self.systems: list[str] = []
        BaseLlm: Any = adk.BaseLlm
        counted, left = self, list(replies)

        class Scripted(BaseLlm):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                texts = [part.text or "" for one in llm_request.contents for part in one.parts or ()]
                counted.counts.append(sum(text.startswith("For context") for text in texts))
                counted.systems.append(str(llm_request.config.system_instruction))
                content = types.Content(role="model", parts=[types.Part(text=left.pop(0))])
                yield adk.LlmResponse(content=content)

        self.model = Scripted(model="scripted")


def _result(call_id: str, name: str, response: dict[str, Any]) -> types.Content:
    given = types.FunctionResponse(id=call_id, name=name, response=response)
    return types.Content(role="user", parts=[types.Part(function_response=given)])
