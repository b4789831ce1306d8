"""`events_frame`: one row an event, the same columns whatever is in the events."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.errors import ConfigurationError
from adk_nb.events import Event
from adk_nb.events.request_input import answer_content
from adk_nb.frames import events_frame
from adk_nb.frames.events import COLUMNS
from adk_nb.frames.plain import plain, text_of

VALUES = st.recursive(
    st.sampled_from([None, True, False, 10**4299, 10**4299 * 9, float("nan"), -0.0, b"x", "\ud800", "é", (1, 2), {3}])
    | st.integers()
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([True, False, None, 1, 1.5, "a", "true", "\ud800"]), inner, max_size=3)
        | st.sampled_from([61, 70]).flatmap(lambda depth: inner.map(lambda value: nested(value, depth)))
    ),
    max_leaves=6,
)


def nested(value: Any, depth: int) -> Any:
    """Return a value in so many lists."""
    for _ in range(depth):
        value = [value]
    return value


def test_every_output_is_text_or_nothing() -> None:
    """Nested values are compact JSON, texts stay as they are, bytes are summarised, no output is `None`."""
    outputs = [{"a": {"b": [1, {"c": 2}]}}, "<img src=x onerror=alert(1)>", b"\x00" * 9_999, None, [1, "a", None]]
    frame: Any = events_frame([Event(author="m", output=output) for output in outputs])
    assert frame["output"].tolist() == [
        '{"a": {"b": [1, {"c": 2}]}}',
        "<img src=x onerror=alert(1)>",
        "<9999 bytes>",
        None,
        '[1, "a", null]',
    ]
    assert "<img" not in frame.to_html()


def test_columns_and_types_never_change() -> None:
    """An empty run has the columns and types of a full one."""
    full: Any = events_frame([Event(output=Decimal("9.90"), author="a", route=["x", 1], state={"k": 1})])
    empty = events_frame([])
    assert empty.columns.tolist() == full.columns.tolist() == list(COLUMNS)
    assert empty.dtypes.astype(str).to_dict() == full.dtypes.astype(str).to_dict() == COLUMNS
    assert full.loc[0, ["output", "route", "state"]].tolist() == ["9.90", "x, 1", '{"k": 1}']


def test_frame_goes_to_csv_and_json() -> None:
    """A frame is written to CSV and JSON with no further work."""
    frame: Any = events_frame([Event(author="m", output={"t": (1, 2)}), Event(author="user", message="hi")])
    buffer = io.StringIO()
    frame.to_csv(buffer)
    assert '{""t"": [1, 2]}' in buffer.getvalue()
    assert '"hi"' in frame.to_json(date_format="iso")


def test_tokens_are_counted_once() -> None:
    """Cached tokens are part of the prompt, thoughts part of the output; pieces of a streamed message count nothing."""
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=100, cached_content_token_count=40, candidates_token_count=7, thoughts_token_count=3
    )
    frame: Any = events_frame(
        [
            Event(author="a", message="x", usage_metadata=usage, partial=True),
            Event(author="a", message="x", usage_metadata=usage, model_version="m-1"),
            Event(author="a", output=1),
        ]
    )
    row: Any = frame.loc[1]
    assert row[["prompt_tokens", "cached_tokens", "output_tokens", "thought_tokens", "tokens"]].tolist() == [
        100,
        40,
        10,
        3,
        110,
    ]
    assert frame["tokens"].sum() == 110
    assert frame["model"].tolist() == [None, "m-1", None]


def test_question_and_answer_rows() -> None:
    """A question row names its interrupt id, an answer row is of kind `answer`."""
    call = types.FunctionCall(id="q1", name="adk_request_input", args={"interruptId": "q1", "message": "ok?"})
    asked = Event(
        author="wf",
        content=types.Content(role="model", parts=[types.Part(function_call=call)]),
        long_running_tool_ids={"q1"},
        node_path="wf@1/ask@1",
    )
    frame: Any = events_frame([asked, Event(author="user", content=answer_content({"q1": 5}))])
    assert frame["kind"].tolist() == ["question", "answer"]
    assert frame["question"].tolist() == ["q1", "q1"]
    assert frame["text"].tolist()[1] == "5"


def test_expand_gives_a_column_a_value() -> None:
    """`expand` opens nested values into columns named by their keys, and refuses a column it doesn't know."""
    frame: Any = events_frame([Event(output={"a": [1, {"c": 2}]}), Event(output="flat"), Event()], expand="output")
    assert frame["output.a.1.c"].tolist()[0] == 2
    assert frame["output"].tolist()[1:] == ["flat", None]
    assert frame.columns.is_unique
    with pytest.raises(ConfigurationError, match="allowed: 'output', 'state'"):
        events_frame([], expand="text")


def test_seconds_start_with_each_invocation() -> None:
    """`seconds` counts from the first event of the same invocation."""
    at = [("e1", 10.0), ("e1", 12.5), ("e2", 20.0), ("e2", 20.5)]
    frame: Any = events_frame([Event(invocation_id=name, timestamp=when) for name, when in at])
    assert frame["seconds"].tolist() == [0.0, 2.5, 0.0, 0.5]
    assert frame["time"].dtype.kind == "M"


@given(VALUES)
def test_the_text_of_a_value_is_that_of_its_plain_form(value: Any) -> None:
    """However a cell's text is made, it is the JSON of the value's plain form: keys, half characters, depth and all."""
    found = plain(value)
    assert text_of(value) == (
        None if value is None else found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    )
