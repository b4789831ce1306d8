"""Forms: a JSON schema becomes fields, and what a person fills in becomes exactly the answer that was meant."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from adk_nb.events.request_input import schema_of
from adk_nb.notebook.view.form_fields import form_of
from adk_nb.notebook.view.form_values import collect, dereferenced, fill, read_json
from adk_nb.notebook.view.forms import answer_in, problems


class Address(BaseModel):
    """A nested model."""

    street: str
    number: int | None = None


class Colour(enum.Enum):
    """A small enum."""

    RED = "red"
    BLUE = "blue"


class Card(BaseModel):
    """One way to pay."""

    kind: Literal["card"]
    digits: str


class Cash(BaseModel):
    """Another one."""

    kind: Literal["cash"]


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
    tags: list[str] = ["new", ""]
    pay: Card | Cash = Field(discriminator="kind")
    stock: dict[str, int]
    place: tuple[float, float]
    lines: list[Address] | None = Field(None, min_length=1)


def parts(form: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The fields of a form by their pointer; of a model that holds itself, once."""
    found: dict[str, dict[str, Any]] = {}

    def walk(field: dict[str, Any], key: str, above: tuple[str, ...]) -> None:
        if field["kind"] == "ref":
            if field["ref"] in above:
                return
            above = (*above, field["ref"])
        whole = dereferenced(field, form["defs"])
        found[key] = whole
        for inner in whole.get("fields", ()):
            walk(inner, f"{key}/{inner['name']}", above)
        for place in [*whole.get("first", ()), *filter(None, [whole.get("item"), whole.get("others")])]:
            walk(place, f"{key}/*", above)
        for variant in whole.get("variants", ()):
            walk(variant["field"], f"{key}|{variant['label']}", above)

    walk(form["field"], "", ())
    return found


def text(value: str) -> dict[str, str]:
    """What a form sends for a field that was filled in."""
    return {"state": "value", "text": value}


def alone(schema: Any, entry: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """The answer in a form for a type."""
    return collect(form_of(schema_of(schema)), entry)


def test_each_type_has_its_kind() -> None:
    """Types of a model become the kinds of fields a person expects, at every depth."""
    fields = parts(form_of(schema_of(Decision)))
    assert {key: field["kind"] for key, field in fields.items()} == {
        "": "group",
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
        "/tags": "list",
        "/tags/*": "text",
        "/pay": "union",
        "/pay|Card": "group",
        "/pay|Card/kind": "choice",
        "/pay|Card/digits": "text",
        "/pay|Cash": "group",
        "/pay|Cash/kind": "choice",
        "/stock": "dict",
        "/stock/*": "integer",
        "/place": "list",
        "/place/*": "number",
        "/lines": "list",
        "/lines/*": "group",
        "/lines/*/street": "text",
        "/lines/*/number": "integer",
    }
    assert fields["/limit"]["help"] == "in EUR"
    assert fields["/limit"]["hint"] == "at most 612"
    assert [choice["label"] for choice in fields["/decision"]["choices"]] == ["Approve", "Reject"]
    assert fields["/address"]["label"] == "Address"
    assert fields["/pay"]["variants"][0]["fixed"] == ["kind"]


def test_defaults_are_filled_in() -> None:
    """A declared default stands in the form, typed as it was written; a field without one is left out until filled."""
    initial = {key: field["initial"] for key, field in parts(form_of(schema_of(Decision))).items()}
    assert initial["/limit"] == text("612.0")
    assert initial["/sure"] == text("1")
    assert initial["/colour"] == text("1")
    assert initial["/note"] == {"state": "null"}
    assert initial["/tags"] == {"state": "value", "items": [text("new"), text("")]}
    assert initial["/address"] == {"state": "value", "fields": {}}
    assert initial["/stock"] == {"state": "value", "pairs": []}
    assert initial["/place"]["items"] == [{"state": "missing"}] * 2
    assert initial["/lines"] == {"state": "null"}
    assert initial["/count"] == initial["/decision"] == {"state": "missing"}


def test_filled_form_is_the_answer() -> None:
    """A filled-in form gives the answer that the model takes, and fills back to the same form."""
    form = form_of(schema_of(Decision))
    entry = {
        "state": "value",
        "fields": {
            "decision": text("0"),
            "count": text("7"),
            "due": text("2026-01-31"),
            "address": {"state": "value", "fields": {"street": text("Main St")}},
            "limit": text("100"),
            "pay": {"state": "value", "variant": 0, "entry": {"state": "value", "fields": CARD_FIELDS}},
            "stock": {"state": "value", "pairs": [["a/b", text("1")]]},
            "place": {"state": "value", "items": [text("1.0"), text("2")]},
        },
    }
    answer, errors = collect(form, entry)
    assert errors == {}
    assert problems(schema_of(Decision), answer) == {}
    read = Decision.model_validate(answer)
    assert (read.limit, read.pay, read.stock, read.tags) == (
        100,
        Card(kind="card", digits="42"),
        {"a/b": 1},
        ["new", ""],
    )
    assert answer["address"] == {"street": "Main St", "number": None}
    assert collect(form, fill(form["field"], answer, form["defs"]))[0] == answer


CARD_FIELDS = {"kind": text("0"), "digits": text("42")}


def test_decimals_stay_exact() -> None:
    """A number that may be written as text, as some schemas of `Decimal` say, is sent as it was typed."""
    form = form_of({"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9.]+$"}], "default": "9.90"})
    assert (form["field"]["kind"], form["field"]["initial"]) == ("number", text("9.90"))
    assert collect(form, text("12.50")) == ("12.50", {})


def test_no_schema_is_one_text_box() -> None:
    """A question without a schema takes a text as it was typed, however it looks."""
    form = form_of(None)
    assert (form["field"]["kind"], form["field"]["required"]) == ("text", True)
    for typed in ("yes", "5", "null", '{"a": 1}', " x ", ""):
        assert collect(form, text(typed)) == (typed, {})
    assert collect(form, {}) == (None, {"": "needs a value"})


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
        (list[Any], "[1, 2]", [1, 2]),
        (dict[str, Any], '{"a": 1}', {"a": 1}),
    ],
)
def test_single_values(schema: Any, typed: str, answer: Any) -> None:
    """An answer that is one value is read by its type: 1, 1.0 and true stay apart, big numbers exact."""
    found, errors = alone(schema, text(typed))
    assert (json.dumps(found), errors) == (json.dumps(answer), {})


@pytest.mark.parametrize(
    ("schema", "typed", "message"),
    [
        (int, "1.0", "must be a whole number"),
        (int, "", "must be a whole number"),
        (int, "٣", "must be a whole number"),
        (int, "1" * 5000, "has more than 4,000 digits"),
        (float, "1,5", "must be a number (with a point, not a comma)"),
        (float, "nan", "must be a number"),
        (float, "1e999", "is too large"),
        (bool, "2", "must be one of the choices"),
        (list[Any], "[1,", "isn't JSON: expecting value, line 1, column 4"),
        (list[Any], "[NaN]", "isn't JSON: NaN has no place in it"),
    ],
)
def test_unreadable_values_say_why(schema: Any, typed: str, message: str) -> None:
    """What can't be read is refused at its field, in words."""
    assert alone(schema, text(typed))[1] == {"": message}


def test_null_empty_and_left_out_stay_apart() -> None:
    """`null`, an empty text and no value at all are three different answers."""
    form = form_of({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}})
    for entry, answer in (({"state": "null"}, {"a": None}), (text(""), {"a": ""}), ({"state": "missing"}, {})):
        assert collect(form, {"state": "value", "fields": {"a": entry}}) == (answer, {})
    assert alone(str, {"state": "null"})[1] == {"": "can't be null"}


def test_what_is_wrong_inside_is_told_at_its_place() -> None:
    """What can't be read in a list, a dictionary, a tuple or a shape is told with the way to it."""
    entry = {
        "state": "value",
        "fields": {
            "decision": text("0"),
            "count": text("1"),
            "due": text("2026-01-31"),
            "address": {"state": "value", "fields": {}},
            "pay": {"state": "value", "variant": 0, "entry": {"state": "value", "fields": {"kind": text("0")}}},
            "stock": {"state": "value", "pairs": [["a/b", text("x")], ["c", text("1")], ["c", text("2")]]},
            "place": {"state": "value", "items": [text("1"), {"state": "missing"}]},
            "lines": {"state": "value", "items": [{"state": "value", "fields": {"street": text("S")}}, {}]},
        },
    }
    assert collect(form_of(schema_of(Decision)), entry)[1] == {
        "/address/street": "needs a value",
        "/pay/digits": "needs a value",
        "/stock/a~1b": "must be a whole number",
        "/stock/c": "is a key that is there twice",
        "/place/1": "needs a value",
        "/lines/1": "needs a value",
    }
    assert alone(Card | Cash, {"state": "value", "variant": 7})[1] == {"": "needs a shape to be chosen"}


def test_everything_wrong_is_told_at_once() -> None:
    """What can't be read and what the schema refuses are told together, each once, at their places."""
    schema = schema_of(Decision)
    fields = {"limit": text("900"), "count": text("x"), "tags": {"state": "value", "items": [text("a"), {}]}}
    fields["decision"] = {"state": "value", "json": '"Maybe"'}
    _, errors = answer_in({"form": form_of(schema), "schema": schema}, {"state": "value", "fields": fields}, None)
    assert errors == {
        "/limit": "must be at most 612",
        "/count": "must be a whole number",
        "/tags/1": "needs a value",
        "/decision": "must be one of 'Approve', 'Reject'",
        "/due": "needs a value",
        "/address/street": "needs a value",
        "/pay": "needs a value",
        "/place/0": "needs a value",
        "/place/1": "needs a value",
    }


def test_problems_name_their_place() -> None:
    """What the schema refuses is said with the place it belongs to, in our own words."""
    answer = {"decision": "Maybe", "limit": 900, "due": "31.1.", "address": {"number": "x"}, "tags": [1], "note": 5}
    answer |= {"pay": {"kind": "cash"}, "stock": {}, "place": [1, 2]}
    assert problems(schema_of(Decision), answer) == {
        "/decision": "must be one of 'Approve', 'Reject'",
        "/limit": "must be at most 612",
        "/due": "must be a date such as 2026-01-31",
        "/address/street": "is required",
        "/address/number": "must be a whole number",
        "/tags/0": "must be a text",
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
        {"type": "array", "items": True},
        {"type": "object"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"},
        {"allOf": [{"type": "integer"}, {"minimum": 3}]},
        True,
    ],
)
def test_odd_schema_still_gives_a_form(schema: Any) -> None:
    """A schema that can't be shown or checked gives a JSON field, and no error of ours."""
    form = form_of(schema)
    assert dereferenced(form["field"], form["defs"])["kind"] == "json"
    assert collect(form, text('{"a": 1}')) == ({"a": 1}, {})
    problems(schema, {"a": 1})


class Tree(BaseModel):
    """A model that holds itself, in every way."""

    name: str
    best: Tree | None = None
    children: list[Tree] = []
    by_name: dict[str, Tree] = {}


def test_a_model_that_holds_itself_has_a_form() -> None:
    """A recursive model is as deep as the person makes it; its form is no larger than its schema."""
    form = form_of(schema_of(Tree))
    answer = {"name": "a", "best": None, "children": [{"name": "b", "by_name": {"c": {"name": "c", "children": []}}}]}
    entry = json.loads(json.dumps(fill(form["field"], answer, form["defs"])))
    assert collect(form, entry) == (answer, {})
    assert "json" not in json.dumps(entry)
    must = {"type": "object", "properties": {"child": {"$ref": "#/$defs/N"}}, "required": ["child"]}
    endless = form_of({"$defs": {"N": must}, "$ref": "#/$defs/N"})
    assert collect(endless, endless["field"]["initial"])[1] == {"/child": "needs a value"}


def test_a_form_grows_with_its_schema_only() -> None:
    """Models that name each other twice and more make a form as large as the schema, not as their tree."""
    defs: dict[str, Any] = {"L0": {"type": "integer"}}
    for level in range(1, 40):
        inner = {"$ref": f"#/$defs/L{level - 1}"}
        defs[f"L{level}"] = {"type": "object", "properties": {"a": inner, "b": inner}, "required": ["a", "b"]}
    assert len(json.dumps(form_of({"$defs": defs, "$ref": "#/$defs/L39"}))) < 60_000


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
    user, password = form_of(schema)["field"]["fields"]
    assert (user["kind"], password["kind"]) == ("text", "secret")
    entry = {"state": "value", "fields": {"password": text("x y")}}
    assert answer_in({"form": form_of(schema), "schema": schema}, entry, None) == ({"password": "x y"}, {})
