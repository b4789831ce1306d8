"""Toolsets, agents and nodes as tools, and the tools that come with the package."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.parity.pieces import Boom, plays
from tests.parity.side import Side, said


class Trip(BaseModel):
    """What an agent is given."""

    city: str
    days: int = 1


class Price(BaseModel):
    """What an agent answers."""

    euros: int


def calls(tool: str, call_id: str = "c", /, **args: Any) -> types.Part:
    """Return a reply in which a model calls a tool."""
    return types.Part(function_call=types.FunctionCall(id=call_id, name=tool, args=args))


def model(adk: Side, *replies: Any, notes: str = "") -> Any:
    """Return a model that gives these replies in turn, and notes what it was told of and asked."""
    BaseLlm: Any = adk.BaseLlm
    left = list(replies)

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
            if notes:
                tools = [one.name for tool in llm_request.config.tools or [] for one in tool.function_declarations]
                adk.note(f"{notes} may call", tools)
                texts = [part.text for one in llm_request.contents for part in one.parts or () if part.text]
                adk.note(f"{notes} reads", texts[-1:])
            reply = left.pop(0)
            if isinstance(reply, Exception):
                raise reply
            parts = [types.Part(text=reply)] if isinstance(reply, str) else [reply]
            yield adk.LlmResponse(content=types.Content(role="model", parts=parts))

    return Scripted(model="scripted")


def bot(adk: Side, *replies: Any, tools: list[Any], notes: str = "", **options: Any) -> Any:
    """Return an agent with tools."""
    return adk.LlmAgent(name="bot", model=model(adk, *replies, notes=notes), tools=tools, **options)


def inner(adk: Side, *replies: Any, notes: str = "", **options: Any) -> Any:
    """Return the agent that stands in a tool."""
    return adk.LlmAgent(name="inner", description="Helps.", model=model(adk, *replies, notes=notes), **options)


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def drop(table: str) -> str:
    """Drop."""
    return table


def desk(adk: Side, **options: Any) -> Any:
    """Return a toolset that notes when it is asked."""
    BaseToolset: Any = adk.BaseToolset

    class Desk(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            adk.note("asked", "for tools")
            found = [adk.FunctionTool(add), adk.FunctionTool(drop)]
            return [one for one in found if self._is_tool_selected(one, readonly_context)]

        async def close(self) -> None:
            adk.note("closed", True)

    return Desk(**options)


async def a_toolset_is_asked_once_a_call(adk: Side) -> None:
    """A toolset is asked once in each call of the runner, and closed with it."""
    agent = bot(adk, calls("add", a=1, b=2), "3", "bye", tools=[desk(adk)], notes="bot")
    talk = await plays(adk, agent, "hi", "again")
    await talk.runner.close()


async def a_toolset_is_filtered(adk: Side) -> None:
    """A filter by names or by a function."""
    await plays(adk, bot(adk, "x", tools=[desk(adk, tool_filter=["drop"])], notes="bot"))
    by_rule = desk(adk, tool_filter=lambda tool, ctx=None: tool.name == "add")
    await plays(adk, bot(adk, "x", tools=[by_rule], notes="bot"), session_id="s2")


async def a_toolset_has_a_prefix(adk: Side) -> None:
    """A prefix names the tools for the model and for its calls."""
    tools = [desk(adk, tool_name_prefix="desk", tool_filter=["add"])]
    await plays(adk, bot(adk, calls("desk_add", a=1, b=2), "3", tools=tools, notes="bot"))


async def a_toolset_fails(adk: Side) -> None:
    """An agent goes on without a toolset that can't say what it has."""
    BaseToolset: Any = adk.BaseToolset

    class Broken(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            raise Boom("no server")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # google-adk logs it, adk_nb warns of it
        await plays(adk, bot(adk, "x", tools=[Broken(), add], notes="bot"))


async def an_agent_is_a_tool(adk: Side) -> None:
    """An agent as a tool reads the request and nothing else, and its answer is the result."""
    tool = adk.AgentTool(inner(adk, "42", notes="inner"))
    await plays(adk, bot(adk, calls("inner", request="how much?"), "done", tools=[tool], notes="bot"))


async def an_agent_as_a_tool_is_given_fields(adk: Side) -> None:
    """With an input schema the agent reads the fields, defaults filled in."""
    tool = adk.AgentTool(inner(adk, "ok", input_schema=Trip))
    schema = tool._get_declaration().parameters_json_schema
    adk.note("fields", [list(schema["properties"]), schema["required"]])
    await plays(adk, bot(adk, calls("inner", city="Bern"), "done", tools=[tool]))


async def an_agent_as_a_tool_gives_data(adk: Side) -> None:
    """With an output schema the result is the data."""
    tool = adk.AgentTool(inner(adk, '{"euros": 3}', output_schema=Price))
    await plays(adk, bot(adk, calls("inner", request="x"), "done", tools=[tool]))


async def an_agent_as_a_tool_writes_state(adk: Side) -> None:
    """What it writes to the state is the caller's, and it sees the caller's."""
    Context: Any = adk.Context

    def look(tool_context: Any) -> Any:
        """Look."""
        tool_context.state["found"] = tool_context.state.get("seed")
        tool_context.state["temp:t"] = 1
        return "ok"

    look.__annotations__["tool_context"] = Context
    tool = adk.AgentTool(inner(adk, calls("look"), "seen", tools=[look]))
    await plays(adk, bot(adk, calls("inner", request="x"), "done", tools=[tool]), state={"seed": 1})


async def an_agent_as_a_tool_saves(adk: Side) -> None:
    """What it saves is saved in the caller's session."""
    Context: Any = adk.Context

    async def save(tool_context: Any) -> Any:
        """Save."""
        return await tool_context.save_artifact("a.txt", types.Part(text="x"))

    save.__annotations__["tool_context"] = Context
    tool = adk.AgentTool(inner(adk, calls("save"), "saved", tools=[save]))
    service = adk.InMemoryArtifactService()
    await plays(adk, bot(adk, calls("inner", request="x"), "done", tools=[tool]), artifact_service=service)
    adk.note("keys", await service.list_artifact_keys(app_name="x", user_id="u", session_id="s"))


async def an_agent_as_a_tool_fails(adk: Side) -> None:
    """Its error ends the caller's run."""
    tool = adk.AgentTool(inner(adk, Boom("no")))
    await plays(adk, bot(adk, calls("inner", request="x"), "done", tools=[tool]))


async def an_agent_as_a_tool_has_the_last_word(adk: Side) -> None:
    """With `skip_summarization` its answer ends the turn."""
    tool = adk.AgentTool(inner(adk, "42"), skip_summarization=True)
    await plays(adk, bot(adk, calls("inner", request="x"), "never", tools=[tool]))


async def an_agent_as_a_tool_is_given_too_little(adk: Side) -> None:
    """A call without the request."""
    tool = adk.AgentTool(inner(adk, "42"))
    await plays(adk, bot(adk, calls("inner"), "done", tools=[tool]))


async def an_agent_as_a_tool_asks(adk: Side) -> None:
    """An agent that waits for a person can't be answered: its call fails softly, and the caller goes on."""
    tool = adk.AgentTool(inner(adk, calls("adk_request_input", message="Well?"), "never", tools=[adk.request_input]))
    talk = adk.talk(bot(adk, calls("inner", request="x"), "done", tools=[tool]))
    events = [event async for event in talk.runner.run_async(**talk.where, new_message=said("hi"))]
    adk.note("authors", [event.author for event in events])
    adk.note("last", [event.content.parts[0].text for event in events][-1])


async def an_agent_as_a_tool_counts_its_own_calls(adk: Side) -> None:
    """The limit of model calls holds for the agent and its caller apart."""
    tool = adk.AgentTool(inner(adk, calls("add", a=1, b=2), "3", tools=[add]))
    talk = adk.talk(bot(adk, calls("inner", request="x"), "done", tools=[tool]))
    config = adk.RunConfig(max_llm_calls=2)
    events = [event async for event in talk.runner.run_async(**talk.where, new_message=said("hi"), run_config=config)]
    adk.note("last", [event.content.parts[0].text for event in events][-1])


async def a_workflow_as_a_tool_asks(adk: Side) -> None:
    """A question in a workflow pauses the agent, and the answer goes to the workflow."""

    async def ask(node_input: Any) -> Any:
        return adk.RequestInput(interrupt_id="q", message="Well?")

    async def told(node_input: Any) -> str:
        return f"told {node_input}"

    flow = adk.Workflow(name="flow", edges=[("START", ask, told)], input_schema=str)
    agent = bot(adk, calls("flow", request="x"), "done", tools=[flow])
    await plays(adk, agent, "hi", _answer("q", "adk_request_input", "yes"))


async def memories_on_call(adk: Side) -> None:
    """`load_memory` finds what was said, and the model goes on."""
    memory = adk.InMemoryMemoryService()
    told = adk.Event(author="user", content=said("I love tea"), timestamp=1.0)
    await memory.add_events_to_memory(app_name="x", user_id="u", events=[told])
    agent = bot(adk, calls("load_memory", query="tea"), "ok", tools=[adk.load_memory], notes="bot")
    talk = adk.talk(agent, memory_service=memory)
    events = [event async for event in talk.runner.run_async(**talk.where, new_message=said("hi"))]
    (response,) = [one for event in events for one in event.get_function_responses()]
    adk.note("found", "I love tea" in str(response.response))
    adk.note("last", events[-1].content.parts[0].text)


async def a_workflow_is_a_tool(adk: Side) -> None:
    """A workflow as a tool runs on a lane of the call, and its output is the result."""

    async def shout(node_input: str) -> str:
        return node_input.upper()

    flow = adk.Workflow(name="flow", edges=[("START", shout)])
    await plays(adk, bot(adk, calls("flow", request="hi"), "done", tools=[flow], notes="bot"))


async def a_loop_is_ended_by_its_model(adk: Side) -> None:
    """`exit_loop` ends the loop without another model call."""
    first = bot(adk, calls("exit_loop"), "never", tools=[adk.exit_loop])
    second = adk.LlmAgent(name="second", model=model(adk, "never"))
    await plays(adk, adk.LoopAgent(name="loop", sub_agents=[first, second], max_iterations=2))


def _answer(call_id: str, name: str, value: Any) -> types.Content:
    response = types.FunctionResponse(id=call_id, name=name, response={"result": value})
    return types.Content(role="user", parts=[types.Part(function_response=response)])


async def a_model_asks_a_person(adk: Side) -> None:
    """`request_input` pauses, and the model reads the answer."""
    asks = calls("adk_request_input", message="How old?")
    agent = bot(adk, asks, "thanks", tools=[adk.request_input])
    await plays(adk, agent, "hi", _answer("c", "adk_request_input", 5))


async def a_person_chooses(adk: Side) -> None:
    """`get_user_choice` pauses until one of the options is chosen."""
    agent = bot(adk, calls("get_user_choice", options=["a", "b"]), "fine", tools=[adk.get_user_choice])
    await plays(adk, agent, "hi", _answer("c", "get_user_choice", "b"))


async def memories_before_the_message(adk: Side) -> None:
    """`preload_memory` tells the model of memories without a declaration, and nothing of it is stored."""
    memory = adk.InMemoryMemoryService()
    told = adk.Event(author="user", content=said("I love tea"), timestamp=1.0)
    await memory.add_events_to_memory(app_name="x", user_id="u", events=[told])
    agent = bot(adk, "ok", tools=[adk.preload_memory], notes="bot")
    await plays(adk, agent, "tea?", memory_service=memory)


async def artifacts_for_a_model(adk: Side) -> None:
    """`load_artifacts` shows the model what it calls for in the next step only."""
    service = adk.InMemoryArtifactService()
    where = {"app_name": "x", "user_id": "u", "session_id": "s"}
    await service.save_artifact(**where, filename="a.txt", artifact=types.Part(text="the content"))
    asks = calls("load_artifacts", artifact_names=["a.txt"])
    agent = bot(adk, asks, "ok", "later", tools=[adk.load_artifacts], notes="bot")
    talk = adk.talk(agent, artifact_service=service)
    for words in ("hi", "again"):
        async for event in talk.runner.run_async(**talk.where, new_message=said(words)):
            adk.note("event", [event.author, len(event.content.parts), event.is_final_response()])


async def plugins_around_tools(adk: Side) -> None:
    """Plugins are told of run, agent, model, tool and event in one order."""
    BasePlugin: Any = adk.BasePlugin
    told: list[str] = []

    def note(name: str) -> Any:
        async def hook(self: Any, **what: Any) -> None:
            told.append(name)

        return hook

    names = ["on_user_message", "before_run", "after_run", "on_event", "before_agent", "after_agent"]
    names += ["before_model", "after_model", "before_tool", "after_tool"]
    kind = type("Watcher", (BasePlugin,), {f"{name}_callback": note(name) for name in names})
    agent = bot(adk, calls("add", a=1, b=2), "3", tools=[add])
    app = adk.App(name="x", root_agent=agent, plugins=[kind(name="watcher")])
    talk = adk.talk(app, is_app=True)
    await talk.turn("hi")
    adk.note("told", told)


async def a_plugin_saves_a_failing_tool(adk: Side) -> None:
    """What a plugin gives in place of a tool's error is the result, and it hears of the result, too."""
    BasePlugin: Any = adk.BasePlugin

    class Saver(BasePlugin):
        async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any) -> Any:
            return {"saved": str(error)}

        async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> None:
            adk.note("result", result)

    def fail() -> None:
        """Fail."""
        raise Boom("no")

    app = adk.App(name="x", root_agent=bot(adk, calls("fail"), "fine", tools=[fail]), plugins=[Saver(name="saver")])
    await adk.talk(app, is_app=True).turn("hi")
