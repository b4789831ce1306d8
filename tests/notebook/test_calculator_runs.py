"""The calculator fitted to runs: what counts as a step, a judgment, a loop, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

import adk_nb as adk
from adk_nb.calculator import compare_in_detail
from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event
from adk_nb.models.llm_response import LlmResponse
from adk_nb.notebook.calculator.calculator_view import Calculator, calculator
from adk_nb.testing import ScriptedModel, call


def look(order: str) -> str:
    """Look an order up."""
    return f"{order}: paid, delivered"


def fetch(node_input: Any) -> Any:
    """Code before the judgment."""
    return node_input


def close(node_input: Any) -> Any:
    """Code after the judgment."""
    return node_input


def loop_run(*replies: Any) -> adk.Run:
    """One agent with a tool that does everything."""
    agent = adk.Agent(name="loop", instruction="Handle the order.", tools=[look])
    script = replies or (call("look", order="a"), call("look", order="b"), call("look", order="c"), "done")
    return adk.run_sync(agent, "My order?", model=ScriptedModel(list(script)), sessions="memory").raise_for_error()


def graph_run() -> adk.Run:
    """Three nodes of which one judges, with a tool."""
    judge = adk.Agent(name="judge", instruction="Judge.", tools=[look])
    flow = adk.Workflow(name="flow", edges=[("START", fetch, judge, close)])
    model = ScriptedModel([call("look", order="a"), "fine"])
    return adk.run_sync(flow, "My order?", model=model, sessions="memory").raise_for_error()


def test_a_loop_alone() -> None:
    """A loop's steps are its calls of tools, and its last call is the answer; totals come with their error."""
    run = loop_run()
    calc = calculator().fit(run)
    assert (calc.process_length, calc.closing_call, calc.calls_per_step, calc.is_extended) == (3, True, 1, True)
    assert calc.fitted is not None
    assert calc.fitted.loop_tokens == run.usage.tokens
    assert calc.details.loop.output_tokens == pytest.approx(run.usage.output_tokens)
    assert calc.details.loop.prompt_tokens == pytest.approx(calc.fitted.loop.prompt_predicted)  # type: ignore[union-attr]  # measured
    assert abs(calc.fitted.loop_error or 0) < 0.05
    assert calc.fit_note.startswith(f"Loop: {run.usage.tokens} tokens measured, ")
    assert calc.fit_note.endswith("Graph: not measured, so what the fields say.")


def test_a_graph_alone() -> None:
    """A graph's steps are the nodes that ran, tools of agents aside; a run of several nodes is known as a graph's."""
    run = graph_run()
    calc = calculator(loop_base=900).fit(run)
    assert (calc.process_length, calc.judgment_share, calc.node_calls) == (3, pytest.approx(1 / 3), 2)
    assert (calc.details.judgment_nodes, calc.loop_base) == (1, 900)
    assert calc.details.graph.tokens == pytest.approx(run.usage.tokens)
    assert Calculator().fit(graph_run=run).details.graph == Calculator().fit(run).details.graph


def test_both_designs() -> None:
    """With both, the graph's nodes are the steps of either, and both totals are the measured ones within the error."""
    loop, graph = loop_run(), graph_run()
    calc = calculator().fit(loop, graph)
    assert calc.fitted is not None
    assert (calc.process_length, calc.closing_call) == (3, False)
    assert calc.details.loop.calls == pytest.approx(4)
    for measured, design, error in (
        (loop, calc.details.loop, calc.fitted.loop_error),
        (graph, calc.details.graph, calc.fitted.graph_error),
    ):
        assert error is not None
        assert design.tokens == pytest.approx(measured.usage.tokens * (1 + error))
        assert abs(error) < 0.05
    assert calc.fit_note in calc.to_html()


def test_several_runs_and_bare_events() -> None:
    """Several runs are one fit with the variance of their lengths; events of a run are as good as the run."""
    short, long = loop_run(call("look", order="a"), "done"), loop_run()
    calc = calculator().fit([short, long])
    assert (calc.details.loop.calls, calc.length_variance) == (3, 1)
    assert calculator().fit(long.events).fitted == calculator().fit(long).fitted
    assert calculator().fit(graph_run().events).process_length == 3


def test_room_fits() -> None:
    """`adk_nb.calculator.fit(run)` opens the calculator fitted; what the run doesn't tell can be given."""
    calc = adk.calculator.fit(loop_run(), routing_accuracy=0.9)  # type: ignore[attr-defined]  # a room with doors
    assert (calc.process_length, calc.routing_accuracy) == (3, 0.9)
    assert "Fitted" in calc.to_html()


def test_new_preset_forgets_the_fit() -> None:
    """The note about a fit doesn't stand beside values of a preset."""
    assert calculator().fit(loop_run()).use("refund").fit_note == ""


def test_changed_values_are_told() -> None:
    """A fitted value that somebody changes is told beside the fit; one that no run tells isn't a change of it."""
    calc = calculator().fit(loop_run())
    calc.routing_accuracy = 0.8
    assert "changed" not in calc.fit_note
    calc.loop_base = 900
    calc.loop_result = 9
    assert calc.fit_note.count("Values were changed since.") == 1
    assert "changed" not in calc.fit(loop_run()).fit_note


def test_what_cannot_be_fitted() -> None:
    """No run, no model call, uncounted tokens: refused in a sentence, and nothing changes."""
    calc = calculator()
    before = calc.details
    silent = adk.run_sync(fetch, "hi", sessions="memory")
    uncounted = Event(author="agent", node_path="agent@1", model_version="m", message="hi")
    for run, message in (
        (None, "A fit needs a run of a loop or of a graph; found neither."),
        ("run-17", "A fit takes a run, its events, or a list of several of them; found str"),
        ([], "A fit takes a run, its events, or a list of several of them; found list"),
        ([loop_run(), 3], "found list"),
        ([uncounted], "'agent@1' has a model call without token counts"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            calc.fit(run)
    with pytest.raises(ConfigurationError, match="at least one model call"):
        calc.fit(silent, graph_run())
    assert (calc.details, calc.fitted, calc.is_extended) == (before, None, False)


def test_silent_graph() -> None:
    """A graph that calls no model has nothing to judge."""
    flow = adk.Workflow(name="flow", edges=[("START", fetch, close)])
    calc = calculator().fit(graph_run=adk.run_sync(flow, "hi", sessions="memory"))
    assert (calc.process_length, calc.judgment_share, calc.details.graph.tokens) == (2, 0, 0)
    assert calc.fit_note.endswith("Graph: no model calls.")


def test_fit_is_what_the_arithmetic_says() -> None:
    """The values that a fit sets are those of the pure room."""
    calc = calculator().fit(loop_run())
    assert calc.fitted is not None
    assert calc.details == compare_in_detail(**calc.fitted.values)


def test_thinking_is_told_apart() -> None:
    """Hidden reasoning is not visible output: it isn't sent again."""
    thinking = LlmResponse(
        content=types.ModelContent("done"),
        usage_metadata=types.GenerateContentResponseUsageMetadata(
            prompt_token_count=100, candidates_token_count=5, thoughts_token_count=40
        ),
    )
    calc = calculator().fit(loop_run(thinking))
    assert (calc.loop_base, calc.loop_visible, calc.loop_hidden) == (100, 5, 40)
