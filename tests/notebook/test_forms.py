"""Forms: a JSON schema becomes fields, and what a person fills in becomes exactly the answer that was meant."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from adk_nb.events.request_input import schema_of
from adk_nb.notebook.view.forms import collect, fields_of, fill, problems, read_json


class Address(BaseModel):
    """A nested model."""

    street: str
    number: int | None = None


class Colour(enum.Enum):
    """A small enum."""

    RED = "red"
    BLUE = "blue"


class Decision(BaseModel):
    """One field of each kind."""

    decision: Literal["Approve", "Reject"]
    limit: float = Field(612.0, le=612, description="in EUR")
    note: str | None = Field(None, max_length=500)
    count: int
    due: dt.date
    sure: bool = False
    colour: Colour = Colour.BLUE
    address: Address
    tags: list[str] = []


def by_key(fields: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Fields by their key, those of groups included."""
    found = {field["key"]: field for field in fields}
    for field in fields:
        found |= by_key(field.get("fields", []))
    return found


def text(value: str) -> dict[str, str]:
    """What a form sends for a field that was filled in."""
    return {"state": "value", "text": value}


def test_each_type_has_its_kind() -> None:
    """Types of a model become the kinds of fields a person expects; one level of nesting is a group."""
    fields = by_key(fields_of(schema_of(Decision)))
    assert {key: field["kind"] for key, field in fields.items()} == {
        "/decision": "choice",
        "/limit": "number",
        "/note": "longtext",
        "/count": "integer",
        "/due": "date",
        "/sure": "choice",
        "/colour": "choice",
        "/address": "group",
        "/address/street": "text",
        "/address/number": "integer",
        "/tags": "json",
    }
    assert fields["/limit"]["help"] == "in EUR"
    assert fields["/limit"]["hint"] == "at most 612"
    assert [choice["label"] for choice in fields["/decision"]["choices"]] == ["Approve", "Reject"]


def test_defaults_are_filled_in() -> None:
    """A declared default stands in the form, typed as it was written; a field without one is left out until filled."""
    fields = by_key(fields_of(schema_of(Decision)))
    initial = {key: field["initial"] for key, field in fields.items()}
    assert initial["/limit"] == text("612.0")
    assert initial["/sure"] == text("1")
    assert initial["/colour"] == text("1")
    assert initial["/note"] == {"state": "null"}
    assert initial["/tags"] == text("[]")
    assert initial["/count"] == initial["/decision"] == {"state": "missing"}


def test_filled_form_is_the_answer() -> None:
    """A filled-in form gives the answer that the model takes, and fills back to the same form."""
    fields = fields_of(schema_of(Decision))
    values = {key: field["initial"] for key, field in by_key(fields).items()}
    values |= {
        "/decision": text("0"),
        "/count": text("7"),
        "/due": text("2026-01-31"),
        "/address/street": text("Main St"),
        "/limit": text("100"),
    }
    answer, errors = collect(fields, values)
    assert errors == {}
    assert problems(schema_of(Decision), fields, answer) == {}
    assert Decision.model_validate(answer).limit == 100
    assert answer["address"] == {"street": "Main St"} | {"number": None}
    assert collect(fields, fill(fields, answer))[0] == answer


def test_decimals_stay_exact() -> None:
    """A number that may be written as text, as some schemas of `Decimal` say, is sent as it was typed."""
    fields = fields_of({"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9.]+$"}], "default": "9.90"})
    assert (fields[0]["kind"], fields[0]["initial"]) == ("number", text("9.90"))
    assert collect(fields, {"": text("12.50")}) == ("12.50", {})


def test_no_schema_is_one_text_box() -> None:
    """A question without a schema takes a text as it was typed, however it looks."""
    fields = fields_of(None)
    assert [(field["key"], field["kind"]) for field in fields] == [("", "text")]
    for typed in ("yes", "5", "null", '{"a": 1}', " x ", ""):
        assert collect(fields, {"": text(typed)}) == (typed, {})
    assert collect(fields, {}) == (None, {"": "needs a value"})


@pytest.mark.parametrize(
    ("schema", "typed", "answer"),
    [
        (bool, "0", True),
        (int, " 42 ", 42),
        (int, str(2**70), 2**70),
        (float, "1", 1),
        (float, "1.0", 1.0),
        (Literal["a", 1, True], "1", 1),
        (Literal["a", 1, True], "2", True),
        (list[int], "[1, 2]", [1, 2]),
        (dict[str, int], '{"a": 1}', {"a": 1}),
    ],
)
def test_single_values(schema: Any, typed: str, answer: Any) -> None:
    """An answer that is one value is read by its type: 1, 1.0 and true stay apart, big numbers exact."""
    found, errors = collect(fields_of(schema_of(schema)), {"": text(typed)})
    assert (json.dumps(found), errors) == (json.dumps(answer), {})


@pytest.mark.parametrize(
    ("schema", "typed", "message"),
    [
        (int, "1.0", "must be a whole number"),
        (int, "", "must be a whole number"),
        (float, "1,5", "must be a number (with a point, not a comma)"),
        (float, "nan", "must be a number"),
        (float, "1e999", "is too large"),
        (bool, "2", "must be one of the choices"),
        (list[int], "[1,", "isn't JSON: expecting value, line 1, column 4"),
        (list[float], "[NaN]", "isn't JSON: NaN has no place in it"),
    ],
)
def test_unreadable_values_say_why(schema: Any, typed: str, message: str) -> None:
    """What can't be read is refused at its field, in words."""
    assert collect(fields_of(schema_of(schema)), {"": text(typed)})[1] == {"": message}


def test_null_empty_and_left_out_stay_apart() -> None:
    """`null`, an empty text and no value at all are three different answers."""
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    fields = fields_of(schema)
    assert collect(fields, {"/a": {"state": "null"}}) == ({"a": None}, {})
    assert collect(fields, {"/a": text("")}) == ({"a": ""}, {})
    assert collect(fields, {"/a": {"state": "missing"}}) == ({}, {})
    assert collect(fields_of({"type": "string"}), {"": {"state": "null"}})[1] == {"": "can't be null"}


def test_problems_name_their_field() -> None:
    """What the schema refuses is said beside the field it belongs to, in our own words."""
    schema = schema_of(Decision)
    answer = {"decision": "Maybe", "limit": 900, "due": "31.1.", "address": {"number": "x"}, "tags": [1], "note": 5}
    assert problems(schema, fields_of(schema), answer) == {
        "/decision": "must be one of 'Approve', 'Reject'",
        "/limit": "must be at most 612",
        "/due": "must be a date such as 2026-01-31",
        "/address/street": "is required",
        "/address/number": "must be a whole number",
        "/tags": "must be a text",
        "/note": "must be a text",
        "/count": "is required",
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/nowhere"},
        {"type": "nonsense"},
        {"type": 5},
        {"properties": 3},
        {"anyOf": []},
        {"anyOf": [{"type": "object"}, {"type": ["array", "null"]}]},
        {"allOf": [{"$ref": "#"}]},
    ],
)
def test_odd_schema_still_gives_a_form(schema: Any) -> None:
    """A schema that can't be shown or checked gives a JSON field, and no error of ours."""
    fields = fields_of(schema)
    assert [field["kind"] for field in fields] == ["json"]
    assert collect(fields, {"": text('{"a": 1}')}) == ({"a": 1}, {})
    problems(schema, fields, {"a": 1})


def test_recursive_model_ends() -> None:
    """A model that contains itself becomes a group whose own copies are JSON."""
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/N"}, "n": {"type": "integer"}}}
    fields = by_key(fields_of({"$defs": {"N": node}, "$ref": "#/$defs/N"}))
    assert {key: field["kind"] for key, field in fields.items()} == {
        "/child": "group",
        "/child/child": "json",
        "/child/n": "integer",
        "/n": "integer",
    }


SIMPLE: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    ({"type": "string"}, st.text()),
    ({"type": "integer"}, st.integers()),
    ({"type": "number"}, st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
    ({"type": "boolean"}, st.booleans()),
    ({"enum": ["", "a", 1, 1.0, True, None, [1]]}, st.sampled_from(["", "a", 1, 1.0, True, None, [1]])),
    ({"type": "array"}, st.lists(st.integers() | st.text() | st.none())),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, st.text() | st.none()),
    ({"type": ["integer", "null"]}, st.integers() | st.none()),
]


@st.composite
def flat_cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A flat object schema, and an answer that fits it."""
    names = draw(st.lists(st.text(), min_size=1, max_size=5, unique=True))
    properties, answer, required = {}, {}, []
    for name in names:
        part, values = draw(st.sampled_from(SIMPLE))
        properties[name] = part
        if draw(st.booleans()):
            answer[name] = draw(values)
            required += [name] * draw(st.booleans())
    return {"type": "object", "properties": properties, "required": required}, answer


def exact(value: Any) -> str:
    """A value as text that tells 1, 1.0 and true apart."""
    return json.dumps(value, sort_keys=True)


@settings(deadline=None)
@given(flat_cases())
def test_answers_survive_the_form(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Any answer that fits a flat schema passes through the form unchanged, in value and in type."""
    schema, answer = case
    fields = fields_of(schema)
    back, errors = collect(fields, json.loads(json.dumps(fill(fields, answer))))
    assert (exact(back), errors) == (exact(answer), {})
    assert problems(schema, fields, back) == {}


def test_json_text_is_strict() -> None:
    """Text that a person writes as JSON is read exactly, or refused with the place of the slip."""
    assert read_json("1e2") == 100.0
    assert math.isclose(read_json("-0.5"), -0.5)
    with pytest.raises(ValueError, match="line 2, column 1"):
        read_json("{\n")
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json("[" * 100_000)


def test_secrets_are_typed_into_fields_of_their_own() -> None:
    """A password is a kind of its own, so that a view hides it and keeps it out of its drafts."""
    schema = {"type": "object", "properties": {"user": {"type": "string"}, "password": {"type": "string"}}}
    schema["properties"]["password"] |= {"format": "password"}  # type: ignore[index]
    user, password = fields_of(schema)
    assert (user["kind"], password["kind"]) == ("text", "secret")
    assert collect([password], {"/password": {"state": "value", "text": "x y"}})[0] == {"password": "x y"}
