"""State: what is written, seen and recorded."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.errors import WorkflowDataError
from adk_nb.events.state import State, merge_scopes, split_scopes


def test_behaves_like_a_dictionary() -> None:
    """Keys are read, written, defaulted, iterated and copied as in a dictionary; a missing one is a `KeyError`."""
    state = State({"a": 1}, {})
    assert (state["a"], state.get("b"), state.get("b", 2), "a" in state, "b" in state) == (1, None, 2, True, False)
    assert state.setdefault("b", 3) == state.setdefault("b", 4) == 3
    state.update({"c": None})
    assert list(state) == ["a", "b", "c"]
    assert state.to_dict() == {"a": 1, "b": 3, "c": None}
    with pytest.raises(KeyError):
        state["missing"]


def test_writes_are_seen_at_once_and_taken_once() -> None:
    """A write is seen by everyone at once, and recorded once."""
    live: dict[str, Any] = {}
    one, two = State(live, {}), State(live, {})
    one["k"] = 1
    assert two["k"] == 1
    assert (one.has_delta(), two.has_delta()) == (True, False)
    assert (one.take_delta(), one.take_delta(), one.has_delta()) == ({"k": 1}, {}, False)


def test_changes_in_place_are_recorded() -> None:
    """A list or dictionary that is read and changed in place counts as written, each time it is changed."""
    state = State({"rows": [1], "deep": {"a": {"b": []}}, "same": [0]}, {})
    rows = state["rows"]
    state["same"]
    rows.append(2)
    state["deep"]["a"]["b"].append(1)
    assert state.has_delta()
    assert state.take_delta() == {"rows": [1, 2], "deep": {"a": {"b": [1]}}}
    rows.append(3)
    assert state.take_delta() == {"rows": [1, 2, 3]}
    assert state.take_delta() == {}


def test_taken_delta_is_a_snapshot() -> None:
    """What was taken isn't changed by later changes; what can't be stored is named by key."""
    state = State({}, {})
    rows = [1]
    state["rows"] = rows
    taken = state.take_delta()
    rows.append(2)
    assert taken == {"rows": [1]}
    with pytest.raises(WorkflowDataError, match=r"state\['bad'\]\['f'\]"):
        state["bad"] = {"f": print}
    assert "bad" not in state


def test_state_is_nobody_elses_object() -> None:
    """What a writer or a reader still holds can be changed without anyone else seeing it; `temp:` holds any object."""
    live: dict[str, Any] = {}
    held = [1]
    writer, reader, later = State(live, {}), State(live, {}), State(live, {})
    writer["rows"] = held
    seen = reader["rows"]
    held.append(2)
    assert live["rows"] == [1]
    assert writer.take_delta() == {"rows": [1, 2]}
    assert later["rows"] == [1, 2]
    assert seen == [1]
    seen.append(9)
    assert live["rows"] == [1, 2]
    assert reader.take_delta() == {"rows": [1, 2, 9]}  # what was added stands beside what others added
    client = object()
    writer["temp:client"] = client
    assert later["temp:client"] is client


def test_check_refuses_before_the_write() -> None:
    """A refused write leaves state and delta as they were; a change in place is checked when it is taken."""

    def check(key: str, value: Any) -> None:
        if value == "bad" or value == ["bad"]:
            raise TypeError(key)

    live: dict[str, Any] = {"list": []}
    state = State(live, {}, check)
    with pytest.raises(TypeError):
        state["k"] = "bad"
    assert live == {"list": []}
    state["list"].append("bad")
    with pytest.raises(TypeError, match="list"):
        state.take_delta()


keys = st.text(max_size=5)
scoped = st.one_of(keys, *(keys.map((prefix + "{}").format) for prefix in ("app:", "user:", "temp:")))


@given(st.dictionaries(scoped, st.integers()))
def test_scopes_split_and_merge(delta: dict[str, int]) -> None:
    """Merging what was split gives back everything but the temporary keys."""
    before = copy.copy(delta)
    stored = {key: value for key, value in delta.items() if not key.startswith("temp:")}
    assert merge_scopes(*split_scopes(delta)) == stored
    assert delta == before
