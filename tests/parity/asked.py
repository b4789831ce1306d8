"""Models that write down what they were asked, in words that both packages share.

What others said is quoted in each package's own words; written down is who did what, and that it was quoted. The text
that surrounds quotations, and that which each package adds to the system text, is left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from google.genai import types

from tests.parity.side import Side
from tests.parity.written import written

_QUOTE = re.compile(
    r"\[(?P<who>[\w.]+)\] (?:(?P<said>said|thought)|called tool `?(?P<called>\w+)`? with parameters"
    r"|(?:`(?P<gave1>\w+)` tool|tool (?P<gave2>\w+)) returned result):\n<<<\w+\n(?P<text>.*)\n(?:<<<\w+>>>|\w+>>>)",
    re.DOTALL,
)
_BEGIN = re.compile(r"<<<(BEGIN_QUOTED_AGENT_CONTENT>>>|said)")
_NOTE = re.compile(
    r"<<<(?:BEGIN_SYSTEM_INSTRUCTION>>>|instruction)\n(.*)\n(?:<<<END_SYSTEM_INSTRUCTION>>>|instruction>>>)", re.DOTALL
)
_PREAMBLE = "For context"

Reply = str | types.Part | list[types.Part] | Exception


class Asked:
    """What one model is to reply, and what it was asked."""

    def __init__(self, adk: Side, name: str, *replies: Reply, words: tuple[str, ...] = ()) -> None:
        """Prepare a model.

        Args:
            adk: The package.
            name: What to call it in the lines.
            replies: What it says, in turn.
            words: Words of the scenario's own whose order in the system text is written down.
        """
        self._adk, self._name, self._words = adk, name, words
        self._left = list(replies)
        self.requests: list[Any] = []
        """Each request's system words, tools, settings and contents."""
        self.model = self._model()

    def tell(self) -> None:
        """Write down all that was asked."""
        for number, request in enumerate(self.requests, 1):
            for what, value in request.items():
                self._adk.note(f"{self._name} asked {number}, {what}", value)

    def _model(self) -> Any:
        BaseLlm: Any = self._adk.BaseLlm
        asked = self

        class Scripted(BaseLlm):  # type: ignore[misc]  # the class of one of the two packages
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
                asked.requests.append(asked._seen(llm_request))
                said = asked._left.pop(0)
                if isinstance(said, Exception):
                    raise said
                parts = said if isinstance(said, list) else [said]
                parts = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
                yield asked._adk.LlmResponse(content=types.Content(role="model", parts=parts))

        return Scripted(model="scripted")

    def _seen(self, request: Any) -> dict[str, Any]:
        config = request.config
        system = str(config.system_instruction or "")
        places = sorted((system.index(word), word) for word in self._words if word in system)
        tools = [one.name for tool in config.tools or () for one in tool.function_declarations or ()]
        seen: dict[str, Any] = {"contents": [_line(content) for content in request.contents]}
        if self._words:
            seen["system"] = [word for _, word in places]
        if tools:
            seen["tools"] = tools
        if config.response_schema or getattr(config, "response_json_schema", None):
            seen["shape"] = config.response_mime_type
        return seen


def calls(name: str, call_id: str | None = None, **args: Any) -> types.Part:
    """Return a part that calls a tool."""
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))


def _line(content: types.Content) -> str:
    parts = [line for part in content.parts or () if (line := _part(part))]
    return f"{content.role}: {' | '.join(parts)}"


def _part(part: types.Part) -> str:
    if part.function_call:
        return f"calls {part.function_call.name}({written(part.function_call.args or {})})"
    if part.function_response:
        return f"{part.function_response.name} gave {written(part.function_response.response)}"
    if part.inline_data:
        return f"<{part.inline_data.mime_type}>"
    text = part.text or ""
    quote = _QUOTE.fullmatch(_BEGIN.sub("<<<quote", text))
    if quote:
        return _quoted(quote)
    note = _NOTE.search(text)
    if note:
        return f"instruction: {note[1]}"
    if text.startswith(_PREAMBLE):
        return ""
    return f"({text})" if part.thought else text


def _quoted(quote: re.Match[str]) -> str:
    who, text = quote["who"], quote["text"]
    if quote["said"]:
        return f"[{who} {quote['said']} {text}]"
    try:
        value = json.loads(text)
    except ValueError:
        value = ast.literal_eval(text)
    if quote["called"]:
        return f"[{who} called {quote['called']}({written(value)})]"
    return f"[{who} got from {quote['gave1'] or quote['gave2']} {written(value)}]"
