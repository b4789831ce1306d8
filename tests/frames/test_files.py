"""Frames and sessions in files, and what is in the frames of messages, state, sessions and runs."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adk_nb
from adk_nb import Agent, Context, Event, Workflow, frames, run_sync
from adk_nb.errors import ConfigurationError, DataError
from adk_nb.events import RequestInput
from adk_nb.events.values import freeze
from adk_nb.frames.importing import import_jsonl
from adk_nb.frames.paging import pages
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call

ALL: dict[str, Any] = {
    "calls": frames.calls_frame,
    "events": frames.events_frame,
    "messages": frames.messages_frame,
    "nodes": frames.nodes_frame,
    "runs": frames.runs_frame,
    "sessions": frames.sessions_frame,
    "state": frames.state_frame,
    "timeline": frames.timeline_frame,
    "usage": frames.usage_frame,
}


def count(ctx: Context, node_input: Any) -> dict[str, Any]:
    """Write nested state."""
    ctx.state["n"] = {"of": [1, 2]}
    ctx.state["user:lang"] = "en"
    return {"t": (1, b"x"), "text": "ü\n<b>"}


def ask() -> RequestInput:
    """Ask a person."""
    return RequestInput(interrupt_id="q", message="ok?")


def look(q: str) -> dict[str, Any]:
    """Look something up."""
    return {"found": q}


@pytest.fixture
def kept(tmp_path: Path) -> Any:
    """Return a file of sessions: a finished one, one that waits, one that failed."""
    service = SqliteSessionService(str(tmp_path / "s.db"))
    agent = Agent(
        name="a", model=ScriptedModel([call("look", q="x"), "found"] * 3, model="gemini-2.5-flash"), tools=[look]
    )
    flow = Workflow(name="wf", edges=[("START", count, agent)])
    run_sync(flow, "one", sessions=service, session="s1", user="ada")
    run_sync(Workflow(name="asks", edges=[("START", ask)]), "two", sessions=service, session="s2", user="bo")

    def bad(node_input: Any) -> None:
        raise ValueError("broken")

    run_sync(Workflow(name="fails", edges=[("START", bad)]), "three", sessions=service, session="s3", user="bo")
    return service


@pytest.mark.parametrize("name", ALL)
def test_columns_and_types_are_the_same_for_nothing(name: str, kept: Any) -> None:
    """Every frame has its columns and types also when nothing is found, and goes to JSON and CSV."""
    full, empty = ALL[name](kept), ALL[name](kept, user="nobody")
    assert len(full) > 0
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == full.dtypes.to_dict()
    json.loads(full.to_json(date_format="iso"))
    full.to_csv()


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", ALL)
def test_frames_go_out_and_in_without_loss(name: str, suffix: str, kept: Any, tmp_path: Path) -> None:
    """A saved frame is loaded with the same rows, columns and types, full and empty, nested values included."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    for filters in ({}, {"user": "nobody"}):
        frame = ALL[name](kept, **filters)
        frames.save_frame(frame, tmp_path / f"frame.{suffix}")
        pd.testing.assert_frame_equal(frames.load_frame(tmp_path / f"frame.{suffix}"), frame)


HOSTILE: list[Any] = [
    *(float("nan"), float("inf"), -0.0, 2**70, 10**400, True, "", "nan", "None", "\x00", "\u2028", b"\xff\x00"),
    *(dt.date(2026, 1, 2), dt.datetime(1, 1, 1), dt.timedelta(days=-1), decimal.Decimal("1.10"), (1, (2,)), {3, 4}),
    *({}, [], {"": {}}, {"a": None, "b": [None, [None]]}, {"a.b": 1, "a": {"b": 2}}, {1: 2, "1": 3}, {"$adk_nb": 1}),
    "x" * 10_000_000,
]


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_values_that_files_have_no_form_for_survive(suffix: str, tmp_path: Path) -> None:
    """A column in which each value is of another kind comes back value by value, and so do columns of one name."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    events = [Event(invocation_id="e", output=freeze(one), state={"k": freeze(one)}) for one in HOSTILE]
    path = tmp_path / f"frame.{suffix}"
    whole = frames.events_frame(events, expand="output")
    twice = pd.DataFrame([[1, "x"], [2, None]], columns=["same", "same"])
    for frame in (whole, frames.events_frame(events, expand="state"), frames.state_frame(events), twice):
        frames.save_frame(frame, path)
        found = frames.load_frame(path)
        pd.testing.assert_frame_equal(found, frame)
        for place in range(frame.shape[1]):
            kinds = [[type(value) for value in one.iloc[:, place]] for one in (found, frame)]
            assert kinds[0] == kinds[1]


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A suffix that isn't known and a file that something else wrote are refused in a sentence."""
    with pytest.raises(ConfigurationError, match=r"\.parquet"):
        frames.save_frame(pd.DataFrame(), tmp_path / "frame.xlsx")
    with pytest.raises(ConfigurationError, match=r"end it in '\.jsonl'"):
        frames.export_jsonl([], tmp_path / "all.txt")
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(DataError, match="wasn't written by save_frame"):
        frames.load_frame(tmp_path / "other.jsonl")
    with pytest.raises(DataError, match="line 1 is"):
        frames.events_frame(tmp_path / "other.jsonl")


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_sessions_go_out_and_in_without_loss(name: str, kept: Any, tmp_path: Path) -> None:
    """All frames of exported sessions are those of the store; imported into another store, too."""
    path = tmp_path / name
    assert frames.export_jsonl(kept, path) == 3
    other = InMemorySessionService()
    assert asyncio.run(import_jsonl(path, other)) == 3
    now = {"now": 2e9}
    for source in (path, other):
        for one in ("events", "messages", "nodes", "state", "timeline"):
            more = now if one in ("nodes", "timeline") else {}
            pd.testing.assert_frame_equal(ALL[one](source, **more), ALL[one](kept, **more))
        columns = ["session", "status", "events", "node_runs", "state", "tokens", "open_questions"]
        theirs, ours = ALL["sessions"](source), ALL["sessions"](kept)
        assert (
            theirs[columns].sort_values("session").values.tolist()
            == ours[columns].sort_values("session").values.tolist()
        )
    assert frames.export_jsonl(kept, path, user="ada") == 1


def test_an_imported_session_goes_on(kept: Any, tmp_path: Path) -> None:
    """A question that was exported is answered in the store that the session was imported into."""
    frames.export_jsonl(kept, tmp_path / "all.jsonl", session="s2")
    other = SqliteSessionService(":memory:")

    async def main() -> Any:
        await import_jsonl(tmp_path / "all.jsonl", other)
        runner = adk_nb.Runner(
            node=Workflow(name="asks", edges=[("START", ask)]), app_name="asks", session_service=other
        )
        from adk_nb.events.request_input import answer_content  # beside its only use

        answer = answer_content({"q": "yes"})
        return [one async for one in runner.run_async(user_id="bo", session_id="s2", new_message=answer)]

    asyncio.run(main())
    assert frames.runs_frame(other)["status"].tolist() == ["completed"]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(values, max_size=4))
def test_any_output_survives_the_text(tmp_path_factory: Any, outputs: list[Any]) -> None:
    """Whatever a node may return is the same after it was written to text and read again."""
    path = tmp_path_factory.mktemp("text") / "all.jsonl"
    events = [Event(invocation_id="e", output=freeze(output)) for output in outputs]
    frames.export_jsonl(events, path)
    pd.testing.assert_frame_equal(frames.events_frame(path), frames.events_frame(events))
    from adk_nb.frames.jsonl import sessions_in  # beside its only use

    found = [event.output for session in sessions_in(str(path)) for event in session.events()]
    assert found == [event.output for event in events]


def test_messages_state_sessions_and_runs(kept: Any) -> None:
    """What was said part by part, each change of the state with what was before, and one row a session and a run."""
    said: Any = frames.messages_frame(kept, session="s1")
    assert said["kind"].tolist() == ["text", "call", "reply", "text"]
    assert said.loc[1, ["tool", "arguments"]].tolist() == ["look", '{"q": "x"}']
    assert said.loc[2, "result"] == '{"found": "x"}'
    assert said.loc[1, "call_id"] == said.loc[2, "call_id"]
    state: Any = frames.state_frame(kept)
    assert state[["key", "scope", "value"]].values.tolist() == [
        ["n", "session", '{"of": [1, 2]}'],
        ["user:lang", "user", "en"],
    ]
    runs: Any = frames.runs_frame(kept).set_index("session")
    assert runs["status"].to_dict() == {"s1": "completed", "s2": "waiting", "s3": "failed"}
    assert runs.loc["s1", ["root", "message", "output", "model_calls"]].tolist() == ["wf", "one", "found", 2]
    assert runs.loc["s2", "open_questions"] == 1
    assert runs.loc["s3", ["error", "error_message", "error_path"]].tolist() == [
        "ValueError",
        "broken",
        "fails@1/bad@1",
    ]
    assert adk_nb.runs(kept, user="ada")["session"].tolist() == ["s1"]
    assert adk_nb.runs(kept.path, user="ada")["session"].tolist() == ["s1"]
    with pytest.raises(ConfigurationError, match="allowed: app, user"):
        frames.runs_frame(kept, status="failed")
    sessions: Any = frames.sessions_frame(kept).set_index("session")
    assert sessions.loc["s1", ["user", "runs", "status"]].tolist() == ["ada", 1, "completed"]


def test_a_store_comes_in_pages(kept: Any) -> None:
    """Pages put together are the whole frame; what isn't a frame in pages is refused."""
    for of in ("events", "nodes", "calls"):
        whole = ALL[of](kept)
        parts = list(pages(kept, of, rows=2))
        assert max(map(len, parts)) == 2
        assert pd.concat(parts, ignore_index=True)["invocation"].equals(whole["invocation"])
    with pytest.raises(ConfigurationError, match="allowed: events, nodes, calls"):
        next(iter(pages(kept, "colours")))
