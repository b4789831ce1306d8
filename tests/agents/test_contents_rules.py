"""Rules of what a model reads that hold for every history."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.agents.reading.contents import Reader, contents_for
from adk_nb.agents.reading.quoting import fenced, quoted
from adk_nb.events import Event
from tests.agents.histories import ME, call, event, me, result, text, user

IDS = st.sampled_from(["1", "2", "3", "adk-4", None])
NAMES = st.sampled_from(["look", "add"])
PARTS = st.one_of(
    st.sampled_from(["a", "b", ""]).map(text),
    st.just(text("hm", thought=True)),
    st.builds(call, NAMES, IDS),
    st.builds(result, NAMES, IDS, st.integers(0, 9)),
)
BRANCHES = st.sampled_from([None, "a", "a.b", "c", "look@1", "a.look@adk-4"])
SCOPES = st.sampled_from([None, None, None, "s"])
PATHS = st.sampled_from(["", "wf@1", "wf@1/me@1", "wf@1/bob@1", "wf@1/me@1/deep@1"])


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Draw an event of anybody, anywhere."""
    waits = draw(st.sampled_from([True, False]))
    author = draw(st.sampled_from([ME, ME, "user", "bob"]))
    made = event(
        author,
        *draw(st.lists(PARTS, max_size=3)),
        path=draw(PATHS),
        branch=draw(BRANCHES),
        isolation_scope=draw(SCOPES),
        invocation_id=draw(st.sampled_from(["e-0", "e-1"])),
        partial=draw(st.sampled_from([None, None, True])),
    )
    called = {one.id for one in made.get_function_calls() if one.id}
    return made.model_copy(update={"long_running_tool_ids": called}) if called and waits else made


HISTORIES = st.lists(events(), max_size=12)
READERS = st.builds(
    Reader,
    agent=st.just(ME),
    branch=BRANCHES,
    scope=SCOPES,
    path=st.just("wf@1/me@1"),
    invocation_id=st.just("e-1"),
    is_task=st.booleans(),
    keeps_ids=st.just(True),
)
NEWEST = st.sampled_from([None, types.Content(role="user", parts=[types.Part(text="input")])])
INCLUDE = st.sampled_from(["default", "none"])


@given(READERS, HISTORIES, NEWEST, INCLUDE)
def test_reading_is_pure(reader: Reader, history: list[Event], newest: Any, include: Any) -> None:
    """The same history reads the same, nothing in it changes, and what was read can be changed."""
    before = [one.model_dump() for one in history]
    first = contents_for(reader, history, newest, include)
    told = [one.model_dump() for one in first]
    assert [one.model_dump() for one in contents_for(reader, history, newest, include)] == told
    for content in first:
        content.parts = [types.Part(text="changed"), *(content.parts or ())]
        for part in content.parts:
            part.text = "changed"
            if part.function_response and part.function_response.response is not None:
                part.function_response.response["changed"] = True
    assert [one.model_dump() for one in history] == before
    assert newest is None or newest.parts[0].text == "input"


@given(READERS, HISTORIES, NEWEST, INCLUDE)
def test_calls_and_results_stand_together(reader: Reader, history: list[Event], newest: Any, include: Any) -> None:
    """Each result answers a call of the message right before; only calls that wait for somebody have none."""
    waiting = {one for event in history for one in event.long_running_tool_ids or ()}
    contents = contents_for(reader, history, newest, include)
    for at, content in enumerate(contents):
        calls = [part.function_call for part in content.parts or () if part.function_call]
        following = contents[at + 1].parts or () if at + 1 < len(contents) else ()
        answered = [part.function_response for part in following if part.function_response]
        open_calls = [(one.id, one.name if one.id is None else None) for one in calls]
        for one in answered:
            assert (one.id, one.name if one.id is None else None) in open_calls
            open_calls.remove((one.id, one.name if one.id is None else None))
        assert all(call_id in waiting for call_id, _ in open_calls)
        if not calls:
            assert not answered


@given(READERS, HISTORIES, NEWEST, INCLUDE)
def test_nothing_of_other_lanes_and_scopes_is_read(
    reader: Reader, history: list[Event], newest: Any, include: Any
) -> None:
    """Events of another scope, or of a lane that isn't the reader's or above it, change nothing that is read."""

    def belongs(one: Event) -> bool:
        if one.isolation_scope != reader.scope:
            return False
        if reader.branch is None or one.branch is None:
            return True
        return reader.branch == one.branch or reader.branch.startswith(f"{one.branch}.")

    marked = [one if belongs(one) else _saying(one, "SECRET") for one in history]
    assert "SECRET" not in str(contents_for(reader, marked, newest, include))


@given(READERS, HISTORIES, INCLUDE)
def test_the_input_comes_last_when_a_node_begins(reader: Reader, history: list[Event], include: Any) -> None:
    """Before a node's own run has said anything, its input is the last message, whatever was said before."""
    earlier = [one for one in history if one.invocation_id == "e-0" or "me@1" not in one.node_info.path]
    contents = contents_for(reader, earlier, types.Content(role="user", parts=[types.Part(text="input")]), include)
    assert [part.text for part in contents[-1].parts or ()] == ["input"]
    assert include == "default" or len(contents) == 1


@given(st.text(alphabet=st.sampled_from("<>said \nSAID_instruction")), st.sampled_from(["said", "instruction"]))
def test_no_text_closes_its_quotation(hostile: str, word: str) -> None:
    """Whatever stands between the marks, each mark is there exactly once, and a harmless text is unchanged."""
    whole = fenced(hostile, word)
    assert whole.startswith(f"<<<{word}\n")
    assert whole.endswith(f"\n{word}>>>")
    inner = whole[len(word) + 4 : -len(word) - 4].lower()
    for mark in ("<<<said", "said>>>", "<<<instruction", "instruction>>>"):
        assert mark not in inner
    if not any(mark in hostile for mark in ("<<<", ">>>")):
        assert hostile in whole


@given(st.text(), st.text(), st.dictionaries(st.text(), st.text(), max_size=2))
def test_no_name_or_argument_leaves_its_line(author: str, tool: str, args: dict[str, str]) -> None:
    """Names that a model made up stay one word, arguments stay JSON between the marks."""
    (part,) = quoted(author, [types.Part(function_call=types.FunctionCall(name=tool, args=args))])
    head, mark, payload, end = (part.text or "").split("\n")
    assert len(head.split()) == 6
    assert (mark, end) == ("<<<said", "said>>>")
    if not any(sign in payload for sign in ("<<", ">>")):
        assert json.loads(payload) == args


def test_the_cost_grows_with_the_history_and_no_faster() -> None:
    """Twice as long a history, late results included, takes about twice as many steps: nothing is searched again."""
    reader, shorter, longer = Reader(ME, path="me@1"), _long(1000), _long(2000)
    few, many = _steps(lambda: contents_for(reader, shorter)), _steps(lambda: contents_for(reader, longer))
    assert many < few * 2.2


def test_ten_thousand_events_are_read_whole() -> None:
    """A long history is read to its end, in order."""
    contents = contents_for(Reader(ME, path="me@1"), _long(10_000))
    assert len(contents) == 10_000
    assert [content.role for content in contents[:5]] == ["user", "model", "user", "model", "user"]


def _long(size: int) -> list[Event]:
    """Return turns of four events, in which every second result comes a turn later."""
    turns: list[Event] = []
    for number in range(size // 4):
        turn = f"e{number}"
        asked = me(call("a", f"c{number}"), path="me@1", invocation_id=turn)
        came = me(result("a", f"c{number}", 1), path="me@1", invocation_id=turn)
        turns += [user("q", invocation_id=turn), asked, came, me("done", path="me@1", invocation_id=turn)]
    return turns


def _steps(work: Callable[[], object]) -> int:
    """Count the calls of functions in some work."""
    count = 0

    def note(frame: FrameType, kind: str, argument: Any) -> None:
        nonlocal count
        count += kind in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def _saying(one: Event, words: str) -> Event:
    """Return an event that says something else in all of its parts."""
    parts = copy.deepcopy(list((one.content and one.content.parts) or ()))
    for part in parts:
        part.text = words if part.text is not None else None
        if part.function_call:
            part.function_call.args = {"x": words}
        if part.function_response:
            part.function_response.response = {"result": words}
    return one.model_copy(update={"content": types.Content(role="user", parts=parts)})
