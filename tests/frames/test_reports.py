"""Faults that users of event logs met elsewhere, each as a rule: timelines, comparisons, path checks, routing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from google.genai import types

import adk_nb
from adk_nb import Agent, Context, Event, Workflow, frames, run_sync
from adk_nb.errors import ConfigurationError
from adk_nb.events import RequestInput
from adk_nb.events.record import Attempt, NodeRun, Question, Status
from adk_nb.models.llm_response import LlmResponse
from adk_nb.notebook.drawing.timeline_picture import Timeline
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call, check_path
from adk_nb.workflow import FunctionNode, JoinNode, RetryConfig, node


def says(text: str, prompt: int, output: int) -> LlmResponse:
    """Return a reply of a model that used so many tokens."""
    counts = {"prompt_token_count": prompt, "candidates_token_count": output}
    usage = types.GenerateContentResponseUsageMetadata.model_validate(counts)
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, usage_metadata=usage)


def adds_up(frame: Any) -> bool:
    """Say whether the parts of each node run's time are the time from its start to its end."""
    whole = (frame["end"] - frame["start"]).dt.total_seconds()
    parts = frame[["seconds", "waiting_s", "retry_s", "stopped_s", "framework_s"]].sum(axis=1)
    return bool(((whole - parts).abs() < 1e-6).all())


def test_a_timeline_has_true_starts_and_ends_and_adds_up(tmp_path: Path) -> None:
    """Siblings are siblings with their own starts; work, waiting for a person, for a retry, and the rest add up."""
    tries: list[int] = []

    async def a(node_input: Any) -> int:
        await asyncio.sleep(0.03)
        return 1

    async def b(node_input: Any) -> int:
        tries.append(1)
        await asyncio.sleep(0.02)
        if len(tries) == 1:
            raise ValueError("no")
        return 2

    def ask() -> RequestInput:
        return RequestInput(interrupt_id="q", message="?")

    again = FunctionNode(b, retry_config=RetryConfig(max_attempts=2, initial_delay=0.05, jitter=0))
    flow = Workflow(name="w", edges=[("START", (a, again), JoinNode(name="j"), ask)])
    kept = SqliteSessionService(str(tmp_path / "tl.db"))

    async def main() -> Any:
        run = await adk_nb.run(flow, "x", sessions=kept, view=False)
        await asyncio.sleep(0.1)  # what is measured is how long a person takes
        return await run.respond(1)

    run = asyncio.run(main())
    frame: Any = frames.nodes_frame(run)
    by_node = frame.set_index("node")
    assert by_node["parent"].to_dict() == {"w": "", "a": "w@1", "b": "w@1", "j": "w@1", "ask": "w@1"}
    assert by_node.loc["a", "start"] < by_node.loc["b", "end"]
    assert by_node.loc["b", "start"] < by_node.loc["a", "end"]
    assert by_node.loc["a", "seconds"] >= 0.025
    assert by_node.loc["b", "retry_s"] == pytest.approx(0.05, abs=0.02)
    assert by_node.loc["ask", "waiting_s"] >= 0.1 > by_node.loc["ask", "seconds"]
    assert adds_up(frame)
    times = frames.times(run)
    root = by_node.loc["w"]
    assert times.total == pytest.approx((root["end"] - root["start"]).total_seconds())
    assert times.person == pytest.approx(root["waiting_s"])
    line: Any = frames.timeline_frame(run)
    for _, stretches in line.groupby("path"):
        assert stretches["end"].tolist()[:-1] == stretches["start"].tolist()[1:]
    drawn = run.timeline()
    assert drawn.svg.count("<rect") == len(line)
    assert "waiting for a person" in repr(drawn)
    assert "<svg" in drawn._repr_mimebundle_()["text/html"]
    stored = frames.nodes_frame(tmp_path / "tl.db")
    pd.testing.assert_frame_equal(stored.drop(columns=["app"]), frame.drop(columns=["app"]))


def test_time_in_which_nothing_ran_is_no_work() -> None:
    """Between a failure and the call that went on, and after a crash, a run is stopped, which is no work."""
    tries = (Attempt(0.0, 1.0, "ValueError", "no"), Attempt(5.0, 7.0))
    failed = NodeRun("a@1", "a", "1", "", "e", Status.COMPLETED, started_at=0.0, ended_at=7.0, attempts=tries)
    cut = NodeRun(
        "b@1",
        "b",
        "1",
        "",
        "f",
        Status.COMPLETED,
        started_at=0.0,
        ended_at=7.0,
        attempts=(Attempt(0.0), Attempt(6.0, 7.0)),
    )
    frame: Any = frames.nodes_frame([failed, cut]).set_index("node")
    assert frame.loc["a", ["seconds", "stopped_s", "framework_s"]].tolist() == [3.0, 4.0, 0.0]
    assert frame.loc["b", ["seconds", "stopped_s", "framework_s"]].tolist() == [1.0, 6.0, 0.0]
    asked = (Question("q", asked_at=1.0),)
    waiting = NodeRun(
        "c@1", "c", "1", "", "g", Status.WAITING, started_at=0.0, questions=asked, attempts=(Attempt(0.0, 1.0),)
    )
    frame = frames.nodes_frame([waiting], now=11.0)
    assert frame.loc[0, ["seconds", "waiting_s"]].tolist() == [1.0, 10.0]


def router(node_input: str) -> Event:
    """Route by length."""
    return Event(output=node_input, route="long" if len(node_input) > 3 else "short")


def routed(answer: str, model: str = "m") -> Workflow:
    """Return a workflow that asks a deep or a quick agent."""
    deep = Agent(name="deep", model=ScriptedModel([says(answer, 500, 50)], model=model))
    quick = Agent(name="quick", model=ScriptedModel([says(answer, 50, 5)], model=model))
    return Workflow(name="w", edges=[("START", text, router), (router, {"long": deep, "short": quick})])


def text(node_input: Any) -> str:
    """Return what the user said."""
    return node_input if isinstance(node_input, str) else node_input.parts[0].text


def test_runs_side_by_side() -> None:
    """A comparison names the first difference, nodes in only one, differences in figures, and what isn't comparable."""
    kept = InMemorySessionService()
    a = run_sync(routed("A"), "abcdef", sessions=kept, session="long")
    b = run_sync(routed("B", model="n"), "ab", sessions=kept, session="short")
    found = adk_nb.compare(a, b, prices={"m": (1.0, 1.0), "n": (1.0, 1.0)})
    frame: Any = found.frame
    assert frame.loc["total", ["prompt_tokens_a", "prompt_tokens_delta", "prompt_tokens_percent"]].tolist() == [
        500,
        -450,
        -90.0,
    ]
    assert frame.loc["total", "money_delta"] == pytest.approx(-495e-6)
    assert (found.only_in_a, found.only_in_b) == (["deep"], ["quick"])
    said = " ".join(found.warnings)
    assert "different input" in said
    assert "different model" in said
    assert not found.same
    assert "-A" in found.output_diff
    html = found._repr_html_()
    assert "<table" in html
    assert adk_nb.compare(a, b, a).frame.shape[1] > frame.shape[1]
    stored = adk_nb.compare("long", "short", sessions=kept)
    assert stored.first_difference == found.first_difference
    assert stored.frame["tokens_a"].tolist() == frame["tokens_a"].tolist()
    with pytest.raises(ConfigurationError, match="No session 'other' is stored"):
        adk_nb.compare("other", "short", sessions=kept)
    with pytest.raises(ConfigurationError, match="Nothing ran in b"):
        adk_nb.compare(a, [])


def test_the_first_difference_is_the_route_and_not_what_follows() -> None:
    """With the same input, runs part at the node that decided otherwise; ids and times make no difference."""
    one, two, other = (
        [
            Event(invocation_id=name, node_path="w@1/r@1", output="x", route=route),
            Event(invocation_id=name, node_path=f"w@1/{route}@1", output=route),
        ]
        for name, route in (("e1", "long"), ("e2", "long"), ("e3", "short"))
    )
    assert adk_nb.compare(one, two).same
    found = adk_nb.compare(one, other).first_difference
    assert found is not None
    assert (found.node, found.field, found.a, found.b) == ("r", "route", "long", "short")


def test_what_a_comparison_shows_is_text() -> None:
    """Names and outputs that look like markup stay text in the table and in the diff."""
    hostile = "<img src=x onerror=alert(1)>"
    one, two = ([Event(invocation_id="e", node_path="w@1/a@1", output=out)] for out in (hostile, "b"))
    assert "<img" not in adk_nb.compare(one, two)._repr_html_()


def test_what_a_timeline_shows_is_text() -> None:
    """A node whose name looks like markup stays text in the drawing."""
    run = NodeRun("<b>@1", "<b>x</b>", "1", "", "e", Status.COMPLETED, started_at=0.0, ended_at=1.0)
    svg = Timeline(frames.timeline_frame([run])).svg
    assert "<b>" not in svg
    assert Timeline(frames.timeline_frame([])).svg.startswith("<svg")


def search(q: str, ts: int = 0) -> str:
    """Search."""
    return q


def searched() -> Any:
    """Return a run: a plan, two searches side by side in an agent, and a text."""
    calls = [call("search", q="a", ts=123), call("search", q="b", ts=456)]
    agent = Agent(name="finder", model=ScriptedModel([calls, "found"]), tools=[search])
    return run_sync(Workflow(name="w", edges=[("START", plan, agent, write)]), "go")


def plan(node_input: Any) -> str:
    """Plan."""
    return "plan"


def write(node_input: Any) -> str:
    """Write."""
    return "text"


def test_path_checks() -> None:
    """Steps that ran side by side fit in any order, gaps and prefixes by choice; arguments exact, some or ignored."""
    run = searched()
    both = {"search(q='b', ts=456)", "search(q='a', ts=123)"}
    assert check_path(run, ["plan", "finder", both, "write"])
    assert check_path(run, ["plan", "finder", "search(q='b', ts=456)", "search(q='a', ts=123)", "write"])
    assert check_path(run, ["plan", ..., "write"])
    assert check_path(run, ["plan", "finder", "search"], match="prefix")
    assert check_path(run, ["plan", ..., call("search", q="a"), ..., "write"], args="some")
    assert check_path(run, ["plan", ..., call("search", q="z"), ..., "write"], args="ignore")
    assert check_path(run, tools_used={"search": (1, 3)}, nodes_used={"plan": 1}, nodes_not_used=["refund"])
    assert check_path(run.events, ["plan", "finder", both, "write"])
    bad = check_path(run, ["plan", "finder", "search(q='c')", ..., "write"])
    assert not bad.passed
    assert bad.first_mismatch is not None
    assert bad.first_mismatch.index == 2
    assert "q='a'" in bad.explain
    assert not check_path(run, ["plan", "finder", call("search", q="a"), ..., "write"])
    assert not check_path(run, ["finder", "plan", ...])
    assert not check_path(run, ["plan", "finder", both])
    assert "3 to 5" in check_path(run, tools_used={"search": (3, 5)}).explain
    assert "'plan' was used" in check_path(run, nodes_not_used=["plan"]).explain


@pytest.mark.parametrize("expected", [None, [], [3], ["search(1)"], [{...}], [set()]])
def test_an_expectation_that_says_nothing_is_an_error(expected: Any) -> None:
    """An empty or unfit expectation is refused, so that a check can't pass because it checks nothing."""
    with pytest.raises(ConfigurationError):
        check_path([], expected)


def test_fan_out_fits_in_any_order() -> None:
    """Nodes that a graph runs side by side fit in the order in which they are written, whatever order they ran in."""

    async def slow(node_input: Any) -> int:
        await asyncio.sleep(0.01)
        return 1

    async def fast(node_input: Any) -> int:
        return 2

    run = run_sync(Workflow(name="w", edges=[("START", (slow, fast), JoinNode(name="j"))]), "x")
    assert check_path(run, ["slow", "fast", "j"])
    assert check_path(run, ["fast", "slow", "j"])
    assert not check_path(run, ["j", "slow", "fast"])


def test_routing_accuracy_over_labelled_cases() -> None:
    """For each routing node: right against taken, the share with its interval, per label, and cases that never came."""
    cases = [("abcdef", "long"), ("abcd", "long"), ("ab", "short"), ("abcde", "short")]
    runs = [(run_sync(routed("A"), said), right) for said, right in cases]
    found = frames.routing_accuracy([*runs, (runs[0][0], {"other": "x", "router": "long"})])
    frame: Any = found.frame.set_index("node")
    assert frame.loc["router", ["decisions", "right", "not_reached"]].tolist() == [5, 4, 0]
    assert frame.loc["other", ["decisions", "not_reached"]].tolist() == [0, 1]
    assert found.p == pytest.approx(0.8)
    low, high = found.interval
    assert 0.37 < low < 0.8 < high < 0.97
    confusion: Any = found.confusion("router")
    assert confusion.loc["short", "long"] == 1
    assert confusion.loc["long", "long"] == 3
    errors: Any = found.errors("router").set_index("label")
    assert errors.loc["short", ["cases", "wrong", "error"]].tolist() == [2, 1, 0.5]
    with pytest.raises(ConfigurationError, match="no case"):
        frames.routing_accuracy([])
    with pytest.raises(ConfigurationError, match="names no node"):
        frames.routing_accuracy([([], "x")])


def test_a_loop_is_summed_by_round() -> None:
    """Tokens of an agent in a loop are told by the round of the loop, also of agents in a workflow inside it."""
    writer = Agent(name="writer", model=ScriptedModel([says("1", 10, 1), says("2", 20, 1), says("3", 30, 1)]))
    inner = Workflow(name="inner", edges=[("START", writer)])

    def review(ctx: Context, node_input: Any) -> Event:
        return Event(output=node_input, route="on" if node_input == "3" else "again")

    flow = Workflow(name="w", edges=[("START", inner, review), (review, {"again": inner, "on": finish})])
    sums: Any = frames.usage_frame(run_sync(flow, "go"), "round").set_index("round")
    assert sums["prompt_tokens"].to_dict() == {1: 10, 2: 20, 3: 30}


@node
def finish(node_input: Any) -> Any:
    """End."""
    return node_input
