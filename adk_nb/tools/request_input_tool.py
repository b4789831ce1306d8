"""`request_input`: a tool by which a model asks the person a question and waits for the answer."""

from __future__ import annotations

from typing import Any

from adk_nb.tools.long_running_tool import LongRunningFunctionTool


def adk_request_input(message: str, response_schema: dict[str, Any] | None = None) -> None:
    """Ask the user a question and wait for the answer, when you need to know something before you go on.

    message is the question in words. response_schema is the JSON schema of the answer: {"type": "string"} for words,
    {"type": "boolean"} for yes or no, an object's schema for several values at once.
    """


request_input = LongRunningFunctionTool(adk_request_input)
