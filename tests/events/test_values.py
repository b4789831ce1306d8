"""Snapshots: what a node may hand on, and its exact form in JSON."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import decimal
import enum
import json
import pickle
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from adk_nb.errors import DataError, WorkflowDataError
from adk_nb.events.packing import needs_packing, pack, unpack
from adk_nb.events.read_only import ReadOnlyDict, ReadOnlyList, ReadOnlySet, thawed
from adk_nb.events.values import cleaned_text, freeze, snapshot
from adk_nb.testing.samples import TYPED, assert_same


def through_json(value: Any) -> Any:
    """Return what comes back of a value that was written as JSON."""
    return unpack(json.loads(json.dumps(pack(value))))


class Colour(enum.Enum):
    """An enum of a user."""

    RED = "red"


class Level(enum.IntEnum):
    """An enum that is a number."""

    HIGH = 3


@dataclasses.dataclass
class Point:
    """A data class of a user."""

    x: int
    tags: list[str]


class Ticket(BaseModel):
    """A model of a user."""

    id: int
    note: str | None = None
    price: decimal.Decimal = decimal.Decimal("1.5")


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Ticket(id=1), {"id": 1, "note": None, "price": decimal.Decimal("1.5")}),
        (Point(1, ["a"]), {"x": 1, "tags": ["a"]}),
        ([Colour.RED, Level.HIGH], ["red", 3]),
        ({Colour.RED: 1, Level.HIGH: 2}, {"red": 1, 3: 2}),
        (Pair(1, [2]), (1, [2])),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (bytearray(b"x"), b"x"),
        (memoryview(b"x"), b"x"),
        ({(1, "a"): dt.date(2026, 1, 1)}, {(1, "a"): dt.date(2026, 1, 1)}),
        (ReadOnlyDict(a=ReadOnlyList([ReadOnlySet([1])])), {"a": [{1}]}),
    ],
)
def test_rich_objects_become_plain_values(value: Any, expected: Any) -> None:
    """Models and data classes become dictionaries, enums their values, subclasses their plain kinds."""
    found = snapshot(value)
    assert_same(found, expected)
    assert_same(unpack(json.loads(json.dumps(pack(found)))), expected)


@pytest.mark.parametrize(
    ("value", "place", "found"),
    [
        (object(), "value is", "builtins.object"),
        ({"a": [1, {"b": print}]}, "value['a'][1]['b']", "builtin_function"),
        ((1, iter([])), "value[1]", "list_iterator"),
        ({"k": Point(1, [object()])}, "value['k']['tags'][0]", "object"),  # type: ignore[list-item]
        ({object(): 1}, "key", "object"),
        ({"a": {frozenset(): 1}}, "value['a'] has the dictionary key", "frozenset"),
        ("\ud800", "value is a text with a lone surrogate", "position 0"),
        ({"a": ["ok", "half \ud83d!"]}, "value['a'][1]", "position 5"),
        ({"half \udfff": 1}, "lone surrogate", "position 5"),
        ({("\udfff",): 1}, "lone surrogate", "position 0"),
    ],
)
@pytest.mark.parametrize("take", [snapshot, freeze])
def test_what_cannot_be_stored_is_named(take: Any, value: Any, place: str, found: str) -> None:
    """What can't be stored is refused with its key path and what it is."""
    with pytest.raises(WorkflowDataError) as caught:
        take(value)
    assert place in str(caught.value)
    assert found in str(caught.value)


def test_snapshot_shares_nothing_that_can_change() -> None:
    """Changing the original later doesn't change its snapshot."""
    content = types.Content(role="user", parts=[types.Part(text="hi")])
    original = {"list": [1], "set": {1}, "tuple": ([1],), "content": content}
    taken = snapshot(original)
    original["list"].append(2)  # type: ignore[attr-defined]
    original["set"].add(2)  # type: ignore[attr-defined]
    original["tuple"][0].append(2)  # type: ignore[index]
    content.parts.append(types.Part(text="more"))  # type: ignore[union-attr]
    assert taken == {
        "list": [1],
        "set": {1},
        "tuple": ([1],),
        "content": types.Content(role="user", parts=[types.Part(text="hi")]),
    }


CHANGES: list[Any] = [
    lambda v: v.update(a=1),
    lambda v: v.pop("list"),
    lambda v: v.setdefault("x", 1),
    lambda v: v.clear(),
    lambda v: v.popitem(),
    lambda v: v.__setitem__("a", 1),
    lambda v: v.__delitem__("list"),
    lambda v: v.__ior__({"a": 1}),
    lambda v: v["list"].append(1),
    lambda v: v["list"].extend([1]),
    lambda v: v["list"].insert(0, 1),
    lambda v: v["list"].pop(),
    lambda v: v["list"].remove(1),
    lambda v: v["list"].clear(),
    lambda v: v["list"].sort(),
    lambda v: v["list"].reverse(),
    lambda v: v["list"].__setitem__(0, 1),
    lambda v: v["list"].__delitem__(0),
    lambda v: v["list"].__iadd__([1]),
    lambda v: v["list"].__imul__(2),
    lambda v: v["set"].add(1),
    lambda v: v["set"].discard(1),
    lambda v: v["set"].__ior__({2}),
    lambda v: v["tuple"][0].append(1),
    lambda v: setattr(v["content"], "role", "x"),
    lambda v: v["content"].parts[0].function_call.args.update(x=1),
]


@pytest.mark.parametrize("change", CHANGES)
def test_frozen_values_refuse_every_change(change: Any) -> None:
    """A frozen value is equal to the original and refuses changes at every depth, in a sentence."""
    call = types.Part(function_call=types.FunctionCall(name="f", args={"a": [1]}))
    original = {"list": [1], "set": {1}, "tuple": ([1],), "content": types.Content(role="user", parts=[call])}
    frozen = freeze(original)
    with pytest.raises(DataError, match="history"):
        change(frozen)
    assert frozen == original
    assert freeze(frozen) is frozen


def test_copies_of_frozen_values_are_plain() -> None:
    """Copies, pickles and merges of a frozen value can be changed."""
    frozen = freeze({"a": [1, {"b"}]})
    copies = [copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen)), thawed(frozen), snapshot(frozen)]
    for copied in copies:
        assert_same(copied, {"a": [1, {"b"}]})
        copied["a"][1].add("c")
        copied["a"].append(2)
        copied["x"] = 1
    for shallow in (copy.copy(frozen), frozen.copy(), frozen | {}, dict(frozen)):
        shallow["x"] = 1
    assert type(frozen["a"] + [2]) is list
    assert frozen == {"a": [1, {"b"}]}


@pytest.mark.parametrize("name", list(TYPED))
def test_typed_values_survive_json(name: str) -> None:
    """Each kind of value comes back from JSON as it was, frozen or not; only what JSON has is written plainly."""
    value = TYPED[name]
    assert_same(through_json(value), value)
    assert_same(through_json(freeze(value)), value)
    assert needs_packing(value) == (pack(value) != value or name in ("pair",))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_json_values_are_packed_as_they_are(value: Any) -> None:
    """A value that JSON can hold is its own packed form, so that other programs can read it."""
    if "$adk_nb" not in json.dumps(value):
        assert pack(value) == value
        assert not needs_packing(value)


@pytest.mark.parametrize(
    "foreign",
    [
        {"$adk_nb": "tuple"},
        {"$adk_nb": "nonsense", "v": 1},
        {"$adk_nb": "date", "v": "tomorrow"},
        {"$adk_nb": "decimal", "v": "x"},
        {"$adk_nb": "tuple", "v": 5},
        {"$adk_nb": "dict", "v": [1]},
        {"$adk_nb": ["list"], "v": 1},
        {"$adk_nb": "uuid", "v": None},
        {"$adk_nb": "bytes", "v": "ü"},
        {"$adk_nb": "content", "v": {"parts": 1}},
        {"$adk_nb": "tuple", "v": [1], "more": 1},
        {"$adk_nb": None, "v": [1]},
    ],
)
def test_what_only_looks_packed_is_left_as_it_is(foreign: dict[str, Any]) -> None:
    """A dictionary of another program that resembles a packed value is read as it stands, and comes back as it was."""
    assert unpack(copy.deepcopy(foreign)) == foreign
    assert_same(through_json(foreign), foreign)


def test_what_is_no_snapshot_is_not_packed() -> None:
    """Packing something that isn't a snapshot is refused, not guessed at."""
    with pytest.raises(WorkflowDataError, match="can't be packed"):
        pack({"a": object()})


@given(st.text(st.characters()))
def test_cleaned_texts_can_be_encoded(text: str) -> None:
    """A cleaned text can be written anywhere, and a sound text isn't changed."""
    cleaned = cleaned_text(text)
    cleaned.encode()
    if not any(0xD800 <= ord(character) < 0xE000 for character in text):
        assert cleaned == text


def test_a_snapshot_of_a_content_is_a_deep_copy() -> None:
    """A content is copied down to its bytes and call arguments, from history too, and the copy can be changed."""
    call = types.Part(function_call=types.FunctionCall(id="c", name="f", args={"a": [1, {"b": 2}]}))
    blob = types.Part(inline_data=types.Blob(data=b"\xff", mime_type="x/y"))
    original: Any = types.Content(role="user", parts=[types.Part(text="hi"), call, blob])
    for source in (original, freeze(original)):
        copied = snapshot(source)
        assert copied == original
        assert copied.model_fields_set == original.model_fields_set
        copied.parts[1].function_call.args["a"][1]["b"] = 3
        copied.parts.append(blob)
        copied.role = "model"
        assert (source.role, len(source.parts), source.parts[1].function_call.args) == ("user", 3, {"a": [1, {"b": 2}]})


def test_what_is_frozen_is_shared() -> None:
    """Freezing history again costs nothing: the same object comes back, contents included."""
    values: list[Any] = [{"a": [1]}, [1], types.Content(role="user", parts=[types.Part(text="hi")])]
    for value in values:
        frozen = freeze(value)
        assert frozen is not value
        assert freeze(frozen) is frozen
