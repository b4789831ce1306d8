"""A person's answer, checked in full against the question's schema before anything is stored."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import enum
import ipaddress
import math
import uuid
from typing import Any, Literal

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, Field, TypeAdapter

from adk_nb.errors import AnswerError
from adk_nb.events import RequestInput
from adk_nb.events.record import Question
from adk_nb.events.request_input import schema_of
from adk_nb.events.values import Answer
from adk_nb.workflow import Workflow
from adk_nb.workflow.answers import asked_schema, check_answer, field_errors, read_answer
from tests.workflow.driving import Conversation


class Color(enum.Enum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Size(BaseModel):
    """Something inside."""

    width: int = Field(ge=1)
    unit: str = "kg"


class Order(BaseModel):
    """A form with everything in it."""

    tags: list[int]
    unit: str = "kg"
    color: Color = Color.RED
    size: Size | None = None
    due: dt.date | None = None


def asked(response_schema: Any) -> Question:
    """Return the question that a node asks with this schema."""
    return Question("q", response_schema=asked_schema(response_schema, "ask"))


def taken(response_schema: Any, answer: Any) -> Any:
    """Return what an answer becomes."""
    return check_answer(asked(response_schema), answer)


def refusal(response_schema: Any, answer: Any) -> str:
    """Return what is said about an answer that doesn't fit."""
    with pytest.raises(AnswerError) as caught:
        taken(response_schema, answer)
    return str(caught.value)


# Reading


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (None, "5", 5),
        (None, "hello", "hello"),
        (None, '{"a": 1}', {"a": 1}),
        (None, "NaN", "NaN"),
        (None, "[Infinity]", "[Infinity]"),
        (None, "9" * 5000, "9" * 5000),
        (int, "5", 5),
        (str, "5", "5"),
        (str, "null", "null"),
        (str | None, "true", "true"),
        (Literal["1", "2"], "1", "1"),
        (Literal[1, 2], "1", 1),
        (Color, "red", "red"),
        (Color | None, "null", "null"),
        (list[str], '["a"]', ["a"]),
    ],
)
def test_text_is_read_as_json(schema: Any, text: str, value: Any) -> None:
    """Text is read as JSON, unless the question takes text, also in a nested or referenced option."""
    assert read_answer(asked(schema), text) == value


def test_what_is_no_text_is_taken() -> None:
    """An answer that isn't text is taken as it is."""
    assert read_answer(asked(str), 5) == 5


# Checking


@pytest.mark.parametrize(
    ("schema", "answer", "value"),
    [
        (None, {"any": [1, (2,)]}, {"any": [1, (2,)]}),
        (int, "5", 5),
        (int, 5.0, 5),
        (int, "5.0", 5),
        (float, 5, 5),
        (float, "2.5", 2.5),
        (bool, "yes", True),
        (bool, "false", False),
        (bool, 0, False),
        (str, "5", "5"),
        (str, "", ""),
        (int | str, "5", "5"),
        (int | None, "5", 5),
        (int | None, None, None),
        (Literal[1, 2], "2", 2),
        (Color | None, "red", "red"),
        (list[int], ["1", 2], [1, 2]),
        (tuple[int, str], ["1", "2"], [1, "2"]),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (list[Size], [{"width": "1"}], [{"width": 1, "unit": "kg"}]),
        (Size | Color, {"width": "2"}, {"width": 2, "unit": "kg"}),
        (decimal.Decimal, "9.90", "9.90"),
        (int, 10**30, 10**30),
        ({"const": 3}, "3", 3),
        ({}, {"a": 1}, {"a": 1}),
        ({"type": ["integer", "null"]}, "3", 3),
    ],
)
def test_what_fits(schema: Any, answer: Any, value: Any) -> None:
    """Numbers and booleans are read from text at every depth; where text is allowed, it stays text."""
    found = taken(schema, answer)
    assert found == value
    assert type(found) in (type(value), Answer)


def test_defaults() -> None:
    """Fields that are left out get their declared default, at every depth, and what was given stays."""
    assert taken(Order, {"tags": []}) == {"tags": [], "unit": "kg", "color": "red", "size": None, "due": None}
    answer = taken(Order, {"tags": [1], "size": {"width": 2}, "extra": "kept"})
    assert answer["size"] == {"width": 2, "unit": "kg"}
    assert answer["extra"] == "kept"


def test_defaults_are_not_shared() -> None:
    """Each answer has its own copy of a default."""
    schema = {"type": "object", "properties": {"tags": {"type": "array", "default": []}}}
    question = Question("q", response_schema=schema)
    check_answer(question, {})["tags"].append(1)
    assert check_answer(question, {}) == {"tags": []}


def test_fields_as_attributes() -> None:
    """An answer with fields can be read by key and by attribute, and the caller's own dictionary stays as it is."""
    given = {"width": "3"}
    answer = taken(Size, given)
    assert (answer.width, answer["unit"]) == (3, "kg")
    assert given == {"width": "3"}


@pytest.mark.parametrize(
    ("schema", "answer", "words"),
    [
        (int, "abc", "must be a whole number, found 'abc'"),
        (int, True, "must be a whole number, found True"),
        (int, 2.5, "must be a whole number, found 2.5"),
        (int, None, "must be a whole number, found None"),
        (int, "9" * 5000, "must be a whole number, found '999"),
        (float, "nan", "must be a number, found 'nan'"),
        (float, math.nan, "must hold finite numbers only"),
        (list[float], [1, math.inf], "must hold finite numbers only"),
        (str, 5, "must be a text, found 5"),
        (bool, "maybe", "must be true or false, found 'maybe'"),
        (list[int], {"a": 1}, "must be a list, found {'a': 1}"),
        (Order, "x", "must be an object, found 'x'"),
        (Order, {}, "tags: is required"),
        (Order, {"tags": ["zz", 1, "yy"]}, "tags.0: must be a whole number, found 'zz'; tags.2: must be"),
        (Order, {"tags": [], "color": "green"}, "color: must be one of 'red', 'blue', found 'green'"),
        (Order, {"tags": [], "size": {"unit": "g"}}, "size.width: is required"),
        (Order, {"tags": [], "size": {"width": 0}}, "size.width: must be at least 1, found 0"),
        (Order, {"tags": [], "due": "2026-02-30"}, "due: must be a date such as 2026-01-31, found '2026-02-30'"),
        (Literal["a", "b"], "c", "must be one of 'a', 'b', found 'c'"),
        (Literal["a"], "c", "must be 'a', found 'c'"),
        (Size | Color, 3, "must fit one of the allowed forms, found 3"),
        (Size | Color, {"width": "x"}, "width: must be a whole number, found 'x'"),
        ({"type": "string", "pattern": "^a"}, "b", "must match ^a, found 'b'"),
        ({"type": "string", "minLength": 1}, "", "must have at least 1 character"),
        ({"type": "string", "maxLength": 2}, "abc", "must have at most 2 characters"),
        ({"type": "array", "minItems": 1}, [], "must have at least 1 item"),
        ({"type": "array", "maxItems": 1}, [1, 2], "must have at most 1 item"),
        ({"type": "array", "uniqueItems": True}, [1, 1], "must not hold one item twice"),
        ({"exclusiveMinimum": 0, "type": "number"}, 0, "must be more than 0"),
        ({"exclusiveMaximum": 9, "type": "number"}, 9, "must be less than 9"),
        ({"multipleOf": 5, "type": "integer"}, 7, "must be a multiple of 5"),
        ({"type": "object", "additionalProperties": False}, {"a": 1}, "holds a name that isn't asked for"),
        ({"not": {"type": "null"}}, None, "should not be valid"),
    ],
)
def test_what_does_not_fit(schema: Any, answer: Any, words: str) -> None:
    """What is wrong is said by place: what it must be, and what was found."""
    message = refusal(schema, answer)
    assert message.startswith("Validation failed for interrupt 'q': ")
    assert words in message
    assert message.endswith("The question stays open: answer again.")


@pytest.mark.parametrize(
    "answer",
    [
        {"tags": "x" * 10**5},
        {"tags": ["x" * 10**4] * 1000},
        {"tags": [], "color": ["<script>" * 1000]},
        {"tags": [], "size": {"y" * 10**5: 1}},
        {"tags": [], "due": "\n".join("line" for _ in range(9999))},
    ],
)
def test_messages_stay_short(answer: Any) -> None:
    """However long an answer is, what is said about it is not."""
    message = refusal(Order, answer)
    assert len(message) < 800
    assert "\n" not in message


def test_many_faults() -> None:
    """A message names the first faults and counts the others."""
    message = refusal(list[int], ["x"] * 12)
    assert message.count("must be a whole number") == 5
    assert "; and 7 more." in message


# Formats


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (dt.date, ["2026-01-31"], ["2026-02-30", "20260131", "tomorrow", "2026-01-31T10:00", ""]),
        (dt.time, ["14:30", "14:30:05", "14:30:05.25+01:00"], ["25:00", "14", "half past two", "14:30:61"]),
        (
            dt.datetime,
            ["2026-01-31T14:30", "2026-01-31T14:30:00Z", "2026-01-31 14:30:00.5+01:00"],
            ["2026-01-31", "2026-02-30T14:30", "2026-01-31T24:61", "now", "1769869800"],
        ),
        (dt.timedelta, ["P1D", "PT1H30M", "P1DT12H"], ["1 day", "P", "90"]),
        (uuid.UUID, ["12345678-1234-4234-8234-123456789012"], ["12345678", "x"]),
        (AnyUrl, ["https://example.org/a?b=c"], ["example", "http://"]),
        (ipaddress.IPv4Address, ["127.0.0.1"], ["127.0.0.256", "::1"]),
        (ipaddress.IPv6Address, ["::1"], ["127.0.0.1", "g::"]),
    ],
)
def test_formats(kind: Any, good: list[str], bad: list[str]) -> None:
    """The formats of Python's own types are checked, whichever other packages are installed."""
    for text in good:
        assert taken(kind, text) == text
        TypeAdapter(kind).validate_python(text)
    for text in bad:
        assert "must be a" in refusal(kind, text)


def test_email() -> None:
    """An e-mail address has one @ between two parts without blanks."""
    schema = {"type": "string", "format": "email"}
    assert taken(schema, "ada@example.org") == "ada@example.org"
    for text in ("ada", "@example.org", "ada@", "a b@example.org", "a@b@c"):
        assert "must be a email such as ada@example.org" in refusal(schema, text).replace("an email", "a email")


def test_unknown_formats() -> None:
    """A format that nobody knows is a remark and not a rule, as JSON schema has it."""
    assert taken({"type": "string", "format": "our-own"}, "x") == "x"


# For forms


def test_faults_by_place() -> None:
    """Every place with a fault has one sentence, missing fields each their own; an answer that fits has none."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "object", "properties": {"c": {}}, "required": ["c", "d"]},
        },
        "required": ["a", "b", "e"],
    }
    question = asked(schema)
    assert field_errors(question, {"b": {}}) == {
        ("a",): "is required",
        ("e",): "is required",
        ("b", "c"): "is required",
        ("b", "d"): "is required",
    }
    assert field_errors(question, {"a": "x", "b": {"c": 1, "d": 1}, "e": 1}) == {("a",): "must be a whole number"}
    assert field_errors(question, {"a": "1", "b": {"c": 1, "d": 1}, "e": 1}) == {}
    assert field_errors(asked(None), {"any": 1}) == {}


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["1", "x", "red", "2026-01-31"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["tags", "size", "width", "due", "color"]), inner, max_size=4),
    ),
    max_leaves=8,
)
KINDS: list[Any] = [int, str, bool, int | str, Order, list[Order], Size | None, dict[str, int], Color | None, dt.date]


@settings(deadline=None)
@given(st.sampled_from(KINDS), values)
def test_an_accepted_answer_is_of_the_type(kind: Any, value: Any) -> None:
    """An answer that is taken can be turned into the type that was asked for, and taking it again changes nothing."""
    question = asked(kind)
    faults = field_errors(question, value)
    try:
        once = check_answer(question, value)
    except AnswerError:
        assert faults
        return
    assert not faults
    TypeAdapter(kind).validate_python(once)
    assert check_answer(question, once) == once


def test_recursive_types() -> None:
    """A type that holds itself is checked as deep as the answer goes."""

    class Tree(BaseModel):
        name: str
        below: list[Tree] = []

    assert taken(Tree, {"name": "a", "below": [{"name": "b"}]}) == {"name": "a", "below": [{"name": "b", "below": []}]}
    assert "below.0.name: is required" in refusal(Tree, {"name": "a", "below": [{}]})


def test_an_all_of_one_is_a_reference() -> None:
    """A form that stands in an `allOf` of its own is followed as a reference is: texts are read by it."""
    schema = {"$defs": {"N": {"type": "integer"}}, "allOf": [{"$ref": "#/$defs/N"}], "maximum": 9}
    assert taken(schema, "5") == 5
    assert "must be at most 9" in refusal(schema, "10")
    assert read_answer(asked({"allOf": [{"type": "string"}]}), "5") == "5"


def test_schemas_can_be_asked_with() -> None:
    """Types, models and JSON schemas are asked with as they say; without one, any answer will do."""
    assert asked_schema(None, "ask") is None
    assert asked_schema(Order, "ask") == schema_of(Order)
    assert asked_schema({"type": "integer"}, "ask") == {"type": "integer"}


# End to end


def test_a_bad_answer_changes_nothing() -> None:
    """A bad answer is refused before anything is stored, the question stays open, and a good one is taken after it."""
    seen: list[Any] = []

    def ask() -> Any:
        return RequestInput(interrupt_id="q", message="?", response_schema=Order)

    def use(node_input: Order) -> None:
        seen.append(node_input)

    async def run() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", ask, use)]))
        await talk.say()
        before = [event.model_dump_json() for event in await talk.stored()]
        error = await talk.fail(AnswerError, talk.answer(q={"tags": ["zz"], "unit_": 1}))
        assert "Validation failed for interrupt 'q': tags.0" in str(error)
        assert [event.model_dump_json() for event in await talk.stored()] == before
        assert [question.interrupt_id for _, question in await talk.questions()] == ["q"]
        await talk.answer(q={"tags": ["5"]})

    asyncio.run(run())
    assert seen == [Order(tags=[5])]


@pytest.mark.parametrize("text", ["5", "true", "null", '{"a": 1}', ""])
def test_text_that_looks_like_json(text: str) -> None:
    """Where text is asked for, what a person types arrives as it was typed."""
    seen: list[Any] = []

    def ask() -> Any:
        return RequestInput(interrupt_id="q", response_schema=str)

    def use(node_input: str) -> None:
        seen.append(node_input)

    async def run() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", ask, use)]))
        await talk.say()
        await talk.answer(q=text)

    asyncio.run(run())
    assert seen == [text]


def test_two_answers_to_one_question_in_one_message() -> None:
    """A message that answers a question twice is refused, whichever answer came first, and nothing is stored."""

    async def main() -> None:
        def ask() -> Any:
            yield RequestInput(interrupt_id="q", message="Which?")

        talk = Conversation(Workflow(name="w", edges=[("START", ask)]))
        await talk.say()
        before = await talk.stored()
        part = types.Part(function_response=types.FunctionResponse(id="q", name="adk_request_input", response={"a": 1}))
        twice = types.Content(role="user", parts=[part, part.model_copy(deep=True)])
        with pytest.raises(AnswerError, match="several answers to 'q'"):
            await talk._collect(new_message=twice)
        assert await talk.stored() == before
        assert [question.interrupt_id for _, question in await talk.questions()] == ["q"]

    asyncio.run(main())
