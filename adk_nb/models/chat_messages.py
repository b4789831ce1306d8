"""A request in the form of OpenAI's chat completions, which most providers take, and what comes back from them."""

from __future__ import annotations

import base64
import json
from typing import Any

from google.genai import types
from pydantic import TypeAdapter

from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse

_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_tokens",
    "stop_sequences": "stop",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "seed": "seed",
}
_CHOICES = {"ANY": "required", "NONE": "none", "AUTO": "auto"}
_FINISHES = {
    "stop": types.FinishReason.STOP,
    "tool_calls": types.FinishReason.STOP,
    "function_call": types.FinishReason.STOP,
    "length": types.FinishReason.MAX_TOKENS,
    "content_filter": types.FinishReason.SAFETY,
}


def chat_arguments(request: LlmRequest) -> dict[str, Any]:
    """Return the arguments of a chat completion for a request: messages, tools, shape of the answer, settings.

    Example:
        >>> request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="Hi")])])
        >>> request.append_instructions(["Be brief."])
        >>> [message["role"] for message in chat_arguments(request)["messages"]]
        ['system', 'user']
    """
    config = request.config
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    for content in request.contents:
        messages += _messages(content)
    arguments: dict[str, Any] = {"messages": messages}
    for own, theirs in _SETTINGS.items():
        value = getattr(config, own)
        if value is not None:
            arguments[theirs] = value
    tools = _tools(config.tools or ())
    if tools:
        arguments["tools"] = tools
        mode = config.tool_config.function_calling_config if config.tool_config else None
        if mode is not None and mode.mode is not None:
            arguments["tool_choice"] = _CHOICES.get(mode.mode.value, "auto")
    shape = _shape(config)
    if shape is not None:
        arguments["response_format"] = shape
    return arguments


def _messages(content: types.Content) -> list[dict[str, Any]]:
    parts = content.parts or []
    replies = [part.function_response for part in parts if part.function_response]
    found: list[dict[str, Any]] = [
        {
            "role": "tool",
            "tool_call_id": reply.id or "",
            "name": reply.name,
            "content": json.dumps(reply.response or {}, ensure_ascii=False, default=str),
        }
        for reply in replies
    ]
    said = [said for part in parts if (said := _said(part)) is not None]
    if content.role == "model":
        calls = [_call(part.function_call) for part in parts if part.function_call]
        text = "".join(one["text"] for one in said if one["type"] == "text")
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        return [message | ({"tool_calls": calls} if calls else {})] if calls or text else []
    if said:
        is_text = all(one["type"] == "text" for one in said)
        found.append({"role": "user", "content": "\n".join(one["text"] for one in said) if is_text else said})
    return found


def _said(part: types.Part) -> dict[str, Any] | None:
    if part.text is not None:
        return None if part.thought or not part.text else {"type": "text", "text": part.text}
    if part.inline_data is not None:
        data = base64.b64encode(part.inline_data.data or b"").decode()
        kind = part.inline_data.mime_type or "application/octet-stream"
        address = f"data:{kind};base64,{data}"
        if kind.startswith("image/"):
            return {"type": "image_url", "image_url": {"url": address}}
        return {"type": "file", "file": {"file_data": address}}
    if part.file_data is not None:
        kind = part.file_data.mime_type or ""
        address = part.file_data.file_uri or ""
        if kind.startswith("image/"):
            return {"type": "image_url", "image_url": {"url": address}}
        return {"type": "file", "file": {"file_id": address}}
    return None


def _call(call: types.FunctionCall) -> dict[str, Any]:
    arguments = json.dumps(call.args or {}, ensure_ascii=False)
    return {"id": call.id or "", "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _tools(tools: Any) -> list[dict[str, Any]]:
    found = []
    for tool in tools:
        for declared in getattr(tool, "function_declarations", None) or ():
            schema = declared.parameters_json_schema
            if schema is None and declared.parameters is not None:
                schema = declared.parameters.json_schema.model_dump(mode="json", exclude_none=True, by_alias=True)
            function = {"name": declared.name, "parameters": schema or {"type": "object", "properties": {}}}
            if declared.description:
                function["description"] = declared.description
            found.append({"type": "function", "function": function})
    return found


def _shape(config: types.GenerateContentConfig) -> dict[str, Any] | None:
    schema: Any = config.response_json_schema
    if schema is None and config.response_schema is not None:
        declared: Any = config.response_schema
        if isinstance(declared, types.Schema):
            schema = declared.json_schema.model_dump(mode="json", exclude_none=True, by_alias=True)
        else:
            schema = declared if isinstance(declared, dict) else TypeAdapter(declared).json_schema()
    if schema is None:
        return {"type": "json_object"} if config.response_mime_type == "application/json" else None
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": False}}


def answer_of(
    *,
    text: str | None,
    thought: str | None,
    calls: list[tuple[str, str, str]],
    finish: str | None,
    usage: Any,
    model: str | None,
) -> LlmResponse:
    """Return a chat completion's answer as a response.

    Args:
        text: What was said.
        thought: What was thought, where the provider tells.
        calls: Id, name and arguments, as JSON text, of each call.
        finish: The provider's finish reason.
        usage: Its token counts.
        model: The model that answered.
    """
    parts = [types.Part(text=thought, thought=True)] if thought else []
    if text:
        parts.append(types.Part(text=text))
    response = LlmResponse(
        finish_reason=None if finish is None else _FINISHES.get(finish, types.FinishReason.OTHER),
        usage_metadata=_usage(usage),
        model_version=model,
    )
    for call_id, name, arguments in calls:
        args = _parsed(arguments)
        if args is None or not name:
            response.error_code = "MALFORMED_FUNCTION_CALL"
            response.error_message = f"the arguments of the call of {name!r} are no JSON object: {arguments[:200]!r}"
            return response
        call = types.FunctionCall(id=call_id or None, name=name, args=args)
        parts.append(types.Part(function_call=call))
    if parts:
        response.content = types.Content(role="model", parts=parts)
    if response.finish_reason in (types.FinishReason.SAFETY, types.FinishReason.OTHER):
        response.error_code, response.error_message = response.finish_reason.value, f"the provider said {finish!r}"
    elif not parts:
        cut = response.finish_reason is types.FinishReason.MAX_TOKENS
        response.error_code = "MAX_TOKENS" if cut else "MODEL_RETURNED_NO_CONTENT"
        response.error_message = "the answer holds neither text nor calls"
    return response


def _parsed(arguments: str) -> dict[str, Any] | None:
    try:
        found = json.loads(arguments or "{}")
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _usage(usage: Any) -> types.GenerateContentResponseUsageMetadata | None:
    """Token counts; the provider counts thinking into the answer, and the cached part into the prompt."""
    if usage is None or getattr(usage, "prompt_tokens", None) is None:
        return None
    thoughts = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
    cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None)
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=usage.prompt_tokens,
        cached_content_token_count=cached,
        candidates_token_count=(usage.completion_tokens or 0) - (thoughts or 0),
        thoughts_token_count=thoughts,
        total_token_count=usage.total_tokens,
    )
