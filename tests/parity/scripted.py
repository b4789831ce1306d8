"""Models that reply as they were told, by agent, and note what each was asked, in meaning."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from google.genai import types

from tests.parity.side import Side
from tests.parity.written import written

LABEL = "adk_agent_name"


def calls(tool: str, call_id: str, /, **args: Any) -> types.Part:
    """Return a reply, or a part of one, in which the model calls a tool."""
    return types.Part(function_call=types.FunctionCall(id=call_id, name=tool, args=args))


def scripted(adk: Side, *replies: Any, notes: bool = True, **by_agent: list[Any]) -> Any:
    """Return a model that gives replies in turn, or to each agent its own.

    Args:
        adk: The package.
        replies: Texts, parts, lists of parts, or errors.
        notes: Write down what is asked.
        by_agent: Replies by the name of the agent.
    """
    BaseLlm: Any = adk.BaseLlm
    left = {name: list(told) for name, told in by_agent.items()} or {"": list(replies)}

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
            agent = (llm_request.config.labels or {}).get(LABEL, "")
            if notes:
                adk.note(f"{agent} is asked", [_said(content) for content in llm_request.contents])
            reply = left[agent if agent in left else ""].pop(0)
            if isinstance(reply, Exception):
                raise reply
            parts = reply if isinstance(reply, list) else [reply]
            parts = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
            yield adk.LlmResponse(content=types.Content(role="model", parts=parts))

    return Scripted(model="scripted")


def _said(content: types.Content) -> str:
    words = [str(content.role)]
    for part in content.parts or ():
        if part.function_call:
            words.append(f"calls {part.function_call.name} {written(part.function_call.args)}")
        elif part.function_response:
            response = part.function_response.response or {}
            told = "an error" if set(response) == {"error"} else written(response)
            words.append(f"{part.function_response.name} gave {told}")
        else:
            words.append(repr(part.text))
    return " ".join(words)


def told_names(request: Any) -> list[str]:
    """Return the names of the tools that a request tells of, in order."""
    return [one.name for tool in request.config.tools or () for one in tool.function_declarations or ()]
