"""What a model said in one message; `Event` adds where and when it was said."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, alias_generators


class LlmResponse(BaseModel):
    """One message of a model: content or an error, with its token counts.

    `partial=True` marks a piece of a streamed message; the whole message follows with `partial=False`.
    """

    model_config = ConfigDict(
        alias_generator=alias_generators.to_camel,
        populate_by_name=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        arbitrary_types_allowed=True,
        protected_namespaces=(),
        defer_build=True,  # the schema is built when a response is first made: a graph without agents makes none
    )

    model_version: str | None = None
    """The model that answered, as it names itself."""
    content: types.Content | None = None
    """What was said; `None` for an error and for events that carry only data."""
    grounding_metadata: types.GroundingMetadata | None = None
    partial: bool | None = None
    turn_complete: bool | None = None
    turn_complete_reason: Any = None
    interaction_status: Any = None
    finish_reason: types.FinishReason | None = None
    error_code: str | None = None
    """Short code of an error, for instance the API's status or the exception's class name."""
    error_message: str | None = None
    interrupted: bool | None = None
    custom_metadata: dict[str, Any] | None = None
    usage_metadata: types.GenerateContentResponseUsageMetadata | None = None
    """Token counts of this message, as the provider reports them."""
    live_session_resumption_update: Any = None
    live_session_id: str | None = None
    go_away: Any = None
    voice_activity: Any = None
    input_transcription: Any = None
    output_transcription: Any = None
    avg_logprobs: float | None = None
    logprobs_result: types.LogprobsResult | None = None
    cache_metadata: Any = None
    citation_metadata: types.CitationMetadata | None = None
    interaction_id: str | None = None
    environment_id: str | None = None

    @classmethod
    def create(cls, generate_content_response: types.GenerateContentResponse) -> LlmResponse:
        """Return the first candidate of a Gemini answer, or its error with the finish or block reason as code."""
        answer = generate_content_response
        usage, version = answer.usage_metadata, answer.model_version
        if answer.candidates:
            first = answer.candidates[0]
            if (first.content and first.content.parts) or first.finish_reason == types.FinishReason.STOP:
                return cls(
                    content=first.content,
                    grounding_metadata=first.grounding_metadata,
                    citation_metadata=first.citation_metadata,
                    avg_logprobs=first.avg_logprobs,
                    logprobs_result=first.logprobs_result,
                    finish_reason=first.finish_reason,
                    usage_metadata=usage,
                    model_version=version,
                )
            return cls(
                error_code=first.finish_reason.value if first.finish_reason else "UNKNOWN_ERROR",
                error_message=first.finish_message,
                finish_reason=first.finish_reason,
                usage_metadata=usage,
                model_version=version,
            )
        feedback = answer.prompt_feedback
        if feedback:
            return cls(
                error_code=feedback.block_reason.value if feedback.block_reason else "BLOCKED",
                error_message=feedback.block_reason_message,
                usage_metadata=usage,
                model_version=version,
            )
        return cls(
            error_code="MODEL_RETURNED_NO_CONTENT",
            error_message="The model returned neither a candidate nor a reason.",
            usage_metadata=usage,
            model_version=version,
        )
