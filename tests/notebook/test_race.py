"""A race: both designs on the same cases, measured, judged and fitted, whatever goes wrong in one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import adk_nb as adk
from adk_nb import Agent, Workflow
from adk_nb.errors import ConfigurationError
from adk_nb.examples import race_model, refund_cases, refund_graph, refund_loop, wilson_interval
from adk_nb.examples.refund_race import PUBLISHED_TOKENS
from adk_nb.notebook.racing import race as race_module
from adk_nb.notebook.racing.cases import RaceCase, as_cases
from adk_nb.notebook.racing.race import Race
from adk_nb.notebook.racing.results import race_frame, summary_frame
from adk_nb.testing import FunctionModel, ScriptedModel

HOSTILE = "<img src=x onerror=globalThis.harm=1>\u202e"


def drive(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine."""
    asyncio.run(asyncio.wait_for(work(), 60))


def echo(node_input: str) -> str:
    """Say what was said."""
    return node_input


ECHO = Workflow(name="echo_flow", edges=[("START", echo)])


def frame_of(made: Race) -> Any:
    """The frame, as something that a type checker lets be looked into."""
    return made.frame()


def summary_of(made: Race) -> Any:
    """The summary, likewise."""
    return made.summary()


def test_the_refund_case_comes_out_as_published() -> None:
    """The worked example has the published totals within one per cent, six calls against four, and its fit says so."""

    async def main() -> None:
        model = race_model()
        made = await adk.race(loop=refund_loop(model), graph=refund_graph(model), cases=refund_cases()[:1])
        frame = frame_of(made).set_index("design")
        for design, published in PUBLISHED_TOKENS.items():
            assert abs(frame.loc[design, "tokens"] / published - 1) < 0.01
        assert frame["calls"].to_dict() == {"loop": 6, "graph": 4}
        assert frame["right_path"].all()
        assert frame["right_answer"].all()
        fit = made.fit()
        assert abs(fit.loop_error or 0) < 0.01
        assert abs(fit.graph_error or 0) < 0.01
        assert 0.55 < summary_of(made).loc["tokens", "saved"] < 0.57

    drive(main)


def test_wrong_turns_follow_the_law() -> None:
    """Right paths of many runs lie around pⁿ: of the loop over its six choices, of the graph over its one verdict."""

    async def main() -> None:
        model = race_model(wrong_turn=0.1, seed=3)
        case = refund_cases()[0]
        made = await adk.race(loop=refund_loop(model), graph=refund_graph(model), cases=[case], repeat=150)
        frame = frame_of(made)
        for design, choices in (("loop", 6), ("graph", 1)):
            right = frame[frame["design"] == design]["right_path"]
            low, high = wilson_interval(int(right.sum()), len(right))
            assert low < 0.9**choices < high
        # The same seed makes the same mistakes.
        again = race_model(wrong_turn=0.1, seed=3)
        second = await adk.race(loop=refund_loop(again), graph=refund_graph(again), cases=[case], repeat=20)
        both = [one[one["design"] == "loop"]["right_path"].tolist()[:20] for one in (frame, frame_of(second))]
        assert both[0] == both[1]

    drive(main)


def test_a_failing_design_ends_nothing() -> None:
    """A run that fails is a wrong one with its error; the other design and later cases go on; means leave it out."""

    def reply(request: Any) -> str:
        if "boom" in request.last_user_text:
            raise ValueError(HOSTILE)
        return "fine"

    async def main() -> None:
        loop = Agent(name="bot", model=FunctionModel(reply))
        made = await adk.race(loop=loop, graph=ECHO, cases=[{"message": "boom", "answer": "boom"}, {"message": "fine"}])
        assert made.status == "completed"
        frame = frame_of(made)
        failed = frame[frame["error"].notna()]
        assert failed[["case", "design", "right_answer"]].values.tolist() == [[1, "loop", False]]
        assert summary_of(made).loc["calls", "loop_runs"] == 1
        assert summary_of(made).loc["right_answer", ["loop", "graph"]].tolist() == [0.0, 1.0]
        assert "ValueError" in repr(made)

    drive(main)


def test_a_case_that_is_wrong_itself_is_one_row() -> None:
    """A check that raises and an answer that can't be are errors of their rows; what ran and what follows is kept."""

    def broken(output: Any) -> bool:
        raise KeyError("oops")

    class Ticket:
        """A person's own kind of case."""

        message = "hello"
        answer = "HELLO"

    async def main() -> None:
        cases = [{"message": "a", "answer": broken}, {"message": "b", "answers": ["yes"]}, Ticket()]
        made = await adk.race(loop=ECHO, graph=ECHO, cases=cases)
        assert (made.status, len(made.rows)) == ("completed", 6)
        failed = [row.error is not None for row in sorted(made.rows, key=lambda row: row.case)]
        assert failed == [True, True, True, True, False, False]
        assert {row.right_answer for row in made.rows if row.case == 3} == {True}

    drive(main)


def test_cases_are_judged_as_they_say() -> None:
    """A text is looked for, a function decides, other values are equal; paths are exact and may differ by design."""
    assert RaceCase("x", "Yes").is_right("oh yes!") is True
    assert RaceCase("x", {"a": 1}).is_right({"a": 1}) is True
    assert RaceCase("x", lambda output: output > 3).is_right(5) is True
    assert RaceCase("x").is_right(5) is None
    assert [RaceCase("x", path=["a"]).expected_path(design) for design in ("loop", "graph")] == [("a",), ("a",)]
    assert RaceCase("x", path={"loop": ["a"]}).expected_path("graph") is None
    for wrong, words in (([], "empty"), ("hello", "takes a list"), ([{"text": "hi"}], "fields message, answer")):
        with pytest.raises(ConfigurationError, match=words):
            as_cases(wrong)


def test_a_race_can_be_stopped() -> None:
    """What has ended by then is kept, the status says so, and no run goes on."""

    async def main() -> None:
        forever, begun = asyncio.Event(), asyncio.Event()

        async def slow(node_input: str) -> str:
            if node_input == "slow":
                begun.set()
                await forever.wait()
            return node_input

        loop = Workflow(name="loop_flow", edges=[("START", slow)])
        made = adk.race(loop=loop, graph=ECHO, cases=["quick", "slow", "never"])
        await begun.wait()
        made.cancel()
        await made
        assert made.status == "cancelled"
        assert {(1, "graph"), (1, "loop")} <= {(row.case, row.design) for row in made.rows}
        assert (2, "loop") not in {(row.case, row.design) for row in made.rows if row.error is None}
        assert max(row.case for row in made.rows) < 3

    drive(main)


def test_it_is_shown_while_it_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a notebook one output is kept up to date, from nothing to the whole; what people and models say stays text."""
    shown: list[dict[str, str]] = []
    take: Any = lambda data, **_: shown.append(data)  # noqa: E731
    monkeypatch.setattr(race_module, "front_end", lambda: "live")
    monkeypatch.setattr("IPython.display.display", take)
    monkeypatch.setattr("IPython.display.update_display", take)
    monkeypatch.setattr(race_module, "SHOW_S", 0.0)

    async def main() -> None:
        loop = Agent(name="bot", model=ScriptedModel([HOSTILE] * 2))
        made = await adk.race(loop=loop, graph=ECHO, cases=[HOSTILE, "sk-abcdefghijklmnopqrstuvwx"])
        assert "Nothing has ended yet" in shown[0]["text/html"]
        assert "4 of 4 runs" in shown[-1]["text/html"]
        assert {frozenset(data) for data in shown} == {frozenset({"text/html", "text/plain"})}
        page = made.to_html(tmp_path / "race.html").read_text(encoding="utf-8")
        for text in (shown[-1]["text/html"], page):
            assert "<img" not in text
            assert "\u202e" not in text
            assert "sk-abc" not in text

    drive(main)


def test_frames_are_the_same_when_empty() -> None:
    """Columns and types don't depend on what was measured."""
    assert race_frame([])["tokens"].dtype == pd.Int64Dtype()
    assert summary_frame([])["saved"].isna().all()
    assert list(summary_frame([]).index) == ["tokens", "calls", "seconds", "money", "right_path", "right_answer"]


def test_misuse_is_one_sentence() -> None:
    """No event loop, a repeat of nothing: said at once, with what to do."""
    with pytest.raises(ConfigurationError, match=r"await adk_nb\.race"):
        adk.race(loop=ECHO, graph=ECHO, cases=["x"])
    with pytest.raises(ConfigurationError, match="at least once"):
        adk.race(loop=ECHO, graph=ECHO, cases=["x"], repeat=0)
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        race_model(wrong_turn=2)
