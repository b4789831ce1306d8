"""`event_from_json`: what comes out is what validation of the same text gives, however it was written."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from google.genai import types
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from adk_nb.events import Event
from adk_nb.events.rebuilt import rebuilt_event
from adk_nb.events.stored import event_from_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
"""What may stand anywhere in a text that somebody wrote."""


def fields_of(values: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Return dictionaries with some of these fields, now and then with a value that doesn't fit.

    google-genai fails on its own on a finish reason that is no text.
    """
    return st.fixed_dictionaries(
        {}, optional={name: value | JSON if name != "finish_reason" else value for name, value in values.items()}
    )


TEXT, DICT = st.text(max_size=3), st.dictionaries(st.text(max_size=2), JSON, max_size=2)
PART = fields_of(
    {
        "text": TEXT,
        "thought": st.booleans(),
        "thought_signature": st.just("aGk="),
        "inline_data": st.just({"data": "aGk=", "mime_type": "image/png"}),
        "function_call": fields_of({"id": TEXT, "name": TEXT, "args": DICT}),
        "function_response": fields_of({"id": TEXT, "name": TEXT, "response": DICT}),
        "functionCall": st.just({"name": "f"}),
    }
)
EVENT = fields_of(
    {
        "id": TEXT,
        "timestamp": st.floats(0, 1e10),
        "author": TEXT,
        "invocationId": TEXT,
        "branch": TEXT,
        "output": JSON,
        "partial": st.booleans(),
        "finish_reason": st.sampled_from(["STOP", "MAX_TOKENS"]),
        "long_running_tool_ids": st.lists(TEXT, max_size=2),
        "custom_metadata": DICT,
        "usage_metadata": fields_of(
            {
                "prompt_token_count": st.integers(0, 9),
                "prompt_tokens_details": st.just([{"modality": "TEXT", "token_count": 1}]),
            }
        ),
        "content": fields_of({"role": TEXT, "parts": st.lists(PART, max_size=2)}),
        "node_info": fields_of({"path": TEXT, "output_for": st.lists(TEXT, max_size=2)}),
        "actions": fields_of(
            {
                "state_delta": DICT,
                "artifact_delta": st.dictionaries(TEXT, st.integers(), max_size=1),
                "route": TEXT | st.lists(TEXT | st.booleans(), max_size=2),
                "escalate": st.booleans(),
                "transferToAgent": TEXT,
                "compaction": st.just({"start_timestamp": 1, "end_timestamp": 2, "compacted_content": {"parts": []}}),
            }
        ),
    }
)


def told(value: Any) -> Any:
    """Return a value with all that models hold, types and names of set fields included."""
    if isinstance(value, BaseModel):
        fields = {name: told(inner) for name, inner in sorted(value.__dict__.items())}
        return type(value), fields, sorted(value.model_fields_set), value.__pydantic_private__
    if isinstance(value, dict):
        return "dict", [(key, told(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return "list", [told(inner) for inner in value]
    return type(value), repr(value)


@given(EVENT)
@example({"content": {"parts": [None]}})
@example({"content": {"parts": [5, {"text": "a"}]}})
@example({"content": {"role": "user", "parts": [[], "a"]}})
@example({"node_info": 5})
@example({"actions": [None], "usage_metadata": "x"})
def test_an_event_is_what_validation_gives(data: dict[str, Any]) -> None:
    """For any JSON values, fitting or not, the event or the refusal is that of validation."""
    whole = {"id": "x", "timestamp": 1.0, **data}
    expected: Event | None = None
    with contextlib.suppress(ValidationError):
        expected = Event.model_validate(whole)
    if expected is None:
        with pytest.raises(ValidationError):
            rebuilt_event(whole)
    else:
        assert told(rebuilt_event(whole)) == told(expected)


def test_what_is_made_again_can_be_changed_and_is_nobody_elses() -> None:
    """Two events made of the same text share nothing that can be changed, and a sealed one stays as it is."""
    text = '{"author": "a", "id": "x", "timestamp": 1.0, "content": {"parts": [{"text": "hi"}]}}'
    one, two = event_from_json(text), event_from_json(text)
    one.own_actions().state_delta["seen"] = 1
    one.node_info.path = "wf@1"
    assert one.content is not None
    assert one.content.parts is not None
    one.content.parts.append(types.Part(text="more"))
    assert told(two) == told(Event.model_validate_json(text))
