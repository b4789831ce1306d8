"""Toolsets: which tools an agent gets from them, under which names, and how often they are looked for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from adk_nb.errors import ConfigurationError
from adk_nb.models.llm_request import LlmRequest
from adk_nb.tools import BaseTool, FunctionTool
from adk_nb.tools.base_toolset import BaseToolset
from adk_nb.workflow import Workflow
from tests.workflow.driving import Conversation, outputs


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def drop(table: str) -> None:
    """Drop a table."""


class Dice(BaseTool):
    """A tool whose declaration names itself."""

    def __init__(self) -> None:
        """Take the name that the declaration holds."""
        super().__init__(name="dice", description="Roll.")

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(name="dice", description="Roll.")

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """Roll."""
        return 4


class Desk(BaseToolset):
    """Offers three tools and counts how often it was asked."""

    asked = 0

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        """Return all tools."""
        self.asked += 1
        return [FunctionTool(add), FunctionTool(drop), Dice()]


def names_of(toolset: BaseToolset) -> list[str]:
    """The names of the tools that an agent gets."""
    return [tool.name for tool in asyncio.run(toolset.get_tools_with_prefix())]


def test_filter_by_name() -> None:
    """A list of names lets those tools through, in the toolset's order, and names that don't exist do nothing."""
    assert names_of(Desk(tool_filter=["dice", "add", "other"])) == ["add", "dice"]
    assert names_of(Desk(tool_filter=[])) == []
    assert names_of(Desk()) == ["add", "drop", "dice"]


def test_filter_by_predicate() -> None:
    """A function gets tool and context, and lets through what it is true of."""
    seen: list[Any] = []

    def is_short(tool: BaseTool, context: Any = None) -> bool:
        seen.append((tool.name, context))
        return len(tool.name) == 3

    assert names_of(Desk(tool_filter=is_short)) == ["add"]
    assert seen == [("add", None), ("drop", None), ("dice", None)]


@pytest.mark.parametrize("wrong", ["add", 3, [1]])
def test_filter_of_another_kind_is_refused(wrong: Any) -> None:
    """A filter that is neither names nor a function is refused where it is written; one text is no list of names."""
    with pytest.raises(ConfigurationError, match=r"tool_filter= of Desk is .* give a list of names"):
        Desk(tool_filter=wrong)


def test_prefix_names_tools_and_declarations() -> None:
    """A prefix stands before each name, also in what a model is told, and the toolset's own tools keep theirs."""
    toolset = Desk(tool_name_prefix="desk", tool_filter=["add", "dice"])
    request = LlmRequest()
    tools = asyncio.run(toolset.get_tools_with_prefix())
    request.append_tools(tools)
    assert [tool.name for tool in tools] == ["desk_add", "desk_dice"]
    assert declared(request) == ["desk_add", "desk_dice"] == list(request.tools_dict)
    assert [tool.name for tool in asyncio.run(toolset.get_tools())] == ["add", "drop", "dice"]


def test_tools_are_looked_for_once_in_a_call_of_the_runner() -> None:
    """Within one call of a runner a toolset is asked once, and in the next call again."""
    toolset = Desk()

    async def ask(ctx: Any) -> list[str]:
        return [tool.name for tool in await toolset.get_tools_with_prefix(ctx)]

    def again(ctx: Any) -> Any:
        return ask(ctx)

    async def play() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", ask, again)]))
        for turn in (1, 2):
            said = outputs(await talk.say())
            assert said["wf@1/ask@1"] == said["wf@1/again@1"] == ["add", "drop", "dice"]
            assert toolset.asked == turn

    asyncio.run(play())


def test_a_request_tells_all_tools_in_one_list() -> None:
    """Tools go into one list of declarations, beside other settings; a second of the same name replaces the first."""

    class Silent(Dice):
        def _get_declaration(self) -> Any:
            return None

    def another(x: str) -> None: ...

    later = FunctionTool(another)
    later.name = "add"
    config = types.GenerateContentConfig(tools=[types.Tool(google_search=types.GoogleSearch())])
    request = LlmRequest(config=config)
    request.append_tools([FunctionTool(add), Silent()])
    request.append_tools([])
    request.append_tools([FunctionTool(drop), later])
    assert declared(request) == ["drop", "add"]
    assert request.tools_dict["add"] is later
    assert len(request.config.tools or []) == 2


def test_a_tool_tells_a_model_of_itself() -> None:
    """`process_llm_request` adds the tool's own declaration, and a class may override it to do something else."""

    class Greeter(Dice):
        async def process_llm_request(self, *, tool_context: Any, llm_request: Any) -> None:
            llm_request.append_instructions(["Say hello first."])

    request = LlmRequest()
    for tool in (FunctionTool(add), Greeter()):
        asyncio.run(tool.process_llm_request(tool_context=None, llm_request=request))  # type: ignore[arg-type]
    assert (declared(request), request.system) == (["add"], "Say hello first.")


def declared(request: LlmRequest) -> list[str | None]:
    """The names of the functions that a model is told of."""
    tools: list[Any] = list(request.config.tools or [])
    return [one.name for tool in tools for one in tool.function_declarations or ()]


def test_functions_of_a_toolset_are_wrapped() -> None:
    """A toolset may give plain functions, as an agent's `tools` do; what is neither is refused by name."""

    class Plain(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            """Return a function."""
            return [add]

    class Wrong(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            """Return what is no tool."""
            return ["add"]

    [tool] = asyncio.run(Plain().get_tools_with_prefix())
    assert (type(tool), tool.name) == (FunctionTool, "add")
    with pytest.raises(ConfigurationError, match="get_tools of Wrong returned 'add'"):
        asyncio.run(Wrong().get_tools_with_prefix())
