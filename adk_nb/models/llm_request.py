"""`LlmRequest`: everything that is sent to a model in one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field

from adk_nb.events.event import content_text

AGENT_LABEL = "adk_agent_name"
"""Label in a request's configuration that names the agent who asks."""

_T = TypeVar("_T")


class LlmRequest(BaseModel):
    r"""One call of a model: who is asked, the conversation, and how to answer.

    Example:
        >>> request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="Hello")])])
        >>> request.append_instructions(["Be brief.", "Answer in French."])
        >>> request.last_user_text, request.system
        ('Hello', 'Be brief.\n\nAnswer in French.')
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    model: str | None = None
    """Name of the model, `None` for the one that the asked object stands for."""
    contents: list[types.Content] = Field(default_factory=list)
    """The conversation, oldest first."""
    config: types.GenerateContentConfig = Field(default_factory=types.GenerateContentConfig)
    """System text, temperature, the shape of the answer and all other settings."""
    tools_dict: dict[str, Any] = Field(default_factory=dict)
    """Tools that the model may call, by name."""

    @property
    def text(self) -> str:
        """Text of all contents, one a line, oldest first."""
        return "\n".join(_texts(self.contents))

    @property
    def system(self) -> str:
        """The system text, `""` when there is none."""
        return "\n".join(_texts(self.config.system_instruction))

    @property
    def last_user_text(self) -> str:
        """Text of the newest user message, `""` when there is none."""
        for content in reversed(self.contents):
            if content.role == "user":
                return "\n".join(_texts(content))
        return ""

    @property
    def agent_name(self) -> str:
        """Name of the agent who asks, `""` when nobody signed the request."""
        return (self.config.labels or {}).get(AGENT_LABEL, "")

    def append_instructions(self, instructions: list[str] | types.Content) -> None:
        """Add to the system text, each block after a blank line; parts that aren't text become a user message."""
        if isinstance(instructions, types.Content):
            parts = instructions.parts or []
            other = [part for part in parts if part.text is None]
            if other:
                self.contents.append(types.Content(role="user", parts=other))
            instructions = [part.text for part in parts if part.text is not None]
        blocks = [block for block in (self.system, *instructions) if block]
        self.config.system_instruction = "\n\n".join(blocks) or None

    def append_tools(self, tools: Iterable[Any]) -> None:
        """Let the model call tools: all of them are told in one list, and kept in `tools_dict` by name.

        A tool without a declaration is left out. Of two with one name, the later one is told and called.
        """
        told = {tool.name: (tool, found) for tool in tools if (found := tool.declaration()) is not None}
        if not told:
            return
        listed = list(self.config.tools or [])
        place = next(
            (i for i, one in enumerate(listed) if isinstance(one, types.Tool) and one.function_declarations), None
        )
        if place is None:
            listed.append(types.Tool())
            place = -1
        before: Any = listed[place]
        kept = [one for one in before.function_declarations or () if one.name not in told]
        declared = [*kept, *(declaration for _, declaration in told.values())]
        listed[place] = before.model_copy(update={"function_declarations": declared})
        self.config.tools = listed
        self.tools_dict.update({name: tool for name, (tool, _) in told.items()})

    def set_output_schema(self, output_schema: Any) -> None:
        """Ask for JSON of this shape: a pydantic model, `list[...]` of models or plain types, or a JSON schema."""
        self.config.response_mime_type = "application/json"
        if isinstance(output_schema, dict):
            self.config.response_json_schema = output_schema
        else:
            self.config.response_schema = output_schema

    def copied(self) -> LlmRequest:
        """Return a copy whose contents and settings no longer change with this request; tools are shared."""
        return LlmRequest(
            model=self.model,
            contents=[content.model_copy(deep=True) for content in self.contents],
            config=copy_settings(self.config),
            tools_dict=dict(self.tools_dict),
        )


def copy_settings(value: _T) -> _T:
    """Return settings with every container copied, but not what can't be: clients, callables, classes."""
    copied: Any = value
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        changed = {name: copy_settings(inner) for name, inner in fields.items() if inner is not None}
        copied = value.model_copy(update=changed)
    elif isinstance(value, dict):
        copied = {key: copy_settings(inner) for key, inner in value.items()}
    elif isinstance(value, list):
        copied = [copy_settings(inner) for inner in value]
    return copied  # type: ignore[no-any-return]  # the same type as came in


def _texts(said: Any) -> list[str]:
    if said is None:
        return []
    if isinstance(said, str):
        return [said]
    if isinstance(said, (list, tuple)):
        return [text for item in said for text in _texts(item)]
    if isinstance(said, types.Content):
        text = content_text(said)
        return [text] if text else []
    own = getattr(said, "text", None)
    return [own] if isinstance(own, str) else []
