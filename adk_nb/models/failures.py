"""Which error an unusable answer is: each kind has a class of its own, so that `RetryConfig` can choose.

Every error carries `status`, the short code that the error event shows: the finish reason, block reason or API status.
"""

from __future__ import annotations

from adk_nb.errors import BlockedAnswerError, EmptyAnswerError, MalformedCallError, UnusableAnswerError
from adk_nb.models.llm_response import LlmResponse

NO_CONTENT = "MODEL_RETURNED_NO_CONTENT"
"""Code of an answer that ended normally without a word."""

_BLOCKS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "JAILBREAK", "MODEL_ARMOR"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "BLOCKED", "BLOCKED_REASON_UNSPECIFIED"}
)
_MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})
_EMPTIES = frozenset({NO_CONTENT, "MAX_TOKENS", "STOP", "NO_IMAGE", "FINISH_REASON_UNSPECIFIED"})


def unusable(agent: str, response: LlmResponse) -> UnusableAnswerError:
    """Return the error for a response that carries an error code, saying whose it is and what to do."""
    code = response.error_code or NO_CONTENT
    model = f" (model {response.model_version})" if response.model_version else ""
    detail = f": {response.error_message}" if response.error_message else "."
    subject = f"Agent {agent!r}{model}"
    if code in _BLOCKS:
        advice = "Asking the same again won't help: change the input or instruction, or route around this node."
        return BlockedAnswerError(f"{subject} was blocked with {code}{_sentence(detail)} {advice}", code)
    if code in _EMPTIES:
        if code == "MAX_TOKENS":
            advice = "Raise generate_content_config.max_output_tokens or lower the thinking budget."
        else:
            advice = "Ask again (retry_config=), or make the instruction say what to answer."
        return EmptyAnswerError(f"{subject} got an empty answer with {code}{_sentence(detail)} {advice}", code)
    if code in _MALFORMED:
        advice = "Ask again (retry_config=), give the tool fewer or simpler parameters, or describe them better."
        return MalformedCallError(f"{subject} wrote a tool call that is none, {code}{_sentence(detail)} {advice}", code)
    return UnusableAnswerError(f"{subject} got no usable answer, but {code}{_sentence(detail)}", code)


def is_malformed(response: LlmResponse) -> bool:
    """Say whether a response is a call of a tool that the model wrote wrong, and nothing else."""
    says = response.content is not None and any(
        part.text or part.function_call for part in response.content.parts or () if not part.thought
    )
    return response.error_code in _MALFORMED and not says


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
