"""What Gemini is sent where a call of a tool has no thought signature, since another model made the call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from google.genai import types

STAND_IN = b"skip_thought_signature_validator"
"""What Google documents for calls that have no signature; any other value is checked, and refused."""

_CHECKING_MODELS = re.compile(r"(?:.*/)?gemini-(?:[3-9]|\d\d)[.\-].*")


def wants_signatures(model: str) -> bool:
    """Say whether a model refuses calls in the conversation that have no thought signature.

    Example:
        >>> [wants_signatures(name) for name in ("gemini-3.5-flash", "gemini-2.5-pro", "models/gemini-3-pro-preview")]
        [True, False, True]
    """
    return _CHECKING_MODELS.fullmatch(model) is not None


def with_stand_ins(contents: Sequence[types.Content]) -> tuple[list[types.Content], list[str]]:
    """Return a conversation in which the first call of each message is signed, and the names of the calls that weren't.

    Of several calls in one message only the first one has a signature. Nothing given is changed.

    Example:
        >>> call = types.Part(function_call=types.FunctionCall(name="add"))
        >>> signed, unsigned = with_stand_ins([types.Content(role="model", parts=[call, call])])
        >>> unsigned, [part.thought_signature for part in signed[0].parts]
        (['add'], [b'skip_thought_signature_validator', None])
    """
    found: list[types.Content] = []
    unsigned: list[str] = []
    for content in contents:
        parts = list(content.parts or ())
        first = next((at for at, part in enumerate(parts) if part.function_call is not None), None)
        if content.role == "user" or first is None or any(part.thought_signature for part in parts):
            found.append(content)
            continue
        call = parts[first].function_call
        unsigned.append(str(call.name) if call else "")
        parts[first] = parts[first].model_copy(update={"thought_signature": STAND_IN})
        found.append(types.Content(role=content.role, parts=parts))
    return found, unsigned
