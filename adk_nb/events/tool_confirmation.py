"""`ToolConfirmation`: a person's approval or refusal of one call, and the JSON schema that it is asked with."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, alias_generators

from adk_nb.errors import AnswerError

REQUEST_CONFIRMATION = "adk_request_confirmation"
"""Name of the function call that asks whether a model's call of a tool may be made."""
CONFIRMATION_SCHEMA: dict[str, Any] = {
    "title": "ToolConfirmation",
    "description": "Approve or reject one call.",
    "type": "object",
    "properties": {
        "hint": {"default": "", "title": "Hint", "type": "string"},
        "confirmed": {"title": "Confirmed", "type": "boolean"},
        "payload": {"anyOf": [{}, {"type": "null"}], "default": None, "title": "Payload"},
    },
    "required": ["confirmed"],
    "additionalProperties": False,
}
"""What an answer to a confirmation must be. `confirmed` must be said: silence is neither yes nor no."""


class ToolConfirmation(BaseModel):
    """A person's decision on one call of a tool or node.

    Example:
        >>> ToolConfirmation(confirmed=True).confirmed
        True
    """

    model_config = ConfigDict(
        alias_generator=alias_generators.to_camel, populate_by_name=True, extra="forbid", defer_build=True
    )

    hint: str = ""
    """What the person is told about the call."""
    confirmed: bool = False
    """The person lets the call run."""
    payload: Any = None
    """Data for the person when asked, data from the person when answered."""

    @classmethod
    def from_response_dict(cls, response: dict[str, Any]) -> ToolConfirmation:
        """Return the decision inside a function response; `{"response": "<JSON>"}` and `{"result": ...}` are unwrapped.

        Raises:
            AnswerError: it doesn't say `confirmed`, or says something that a decision doesn't have.

        Example:
            >>> ToolConfirmation.from_response_dict({"response": '{"confirmed": true}'}).confirmed
            True
        """
        found: Any = response
        for wrapper in ("result", "response"):
            if isinstance(found, dict) and set(found) == {wrapper}:
                found = found[wrapper]
        if isinstance(found, str):
            with contextlib.suppress(ValueError):
                found = json.loads(found)
        if isinstance(found, bool):
            found = {"confirmed": found}
        if not isinstance(found, dict) or "confirmed" not in found:
            raise AnswerError(
                f"The answer to a confirmation is {found!r:.80}, which doesn't say 'confirmed': answer "
                f'{{"confirmed": true}} or {{"confirmed": false}}.'
            )
        try:
            return cls.model_validate({name: value for name, value in found.items() if value is not None})
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, line['loc']))}: {line['msg']}" for line in error.errors())
            raise AnswerError(
                f"The answer to a confirmation doesn't fit ({wrong}): its keys are 'confirmed', 'payload' and 'hint'."
            ) from None
