"""`race`: an agent loop and a graph on the same cases, with what each took and whether it was right."""

from __future__ import annotations

import asyncio
import pathlib
import time
import uuid
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

from adk_nb.calculator import DesignsFit
from adk_nb.errors import ConfigurationError
from adk_nb.frames import usage_frame
from adk_nb.frames.plain import glance
from adk_nb.frames.whole_file import write_page
from adk_nb.models.secrets import without_secrets
from adk_nb.notebook import settings
from adk_nb.notebook.assets import page
from adk_nb.notebook.calculator.calculator_runs import fit_runs
from adk_nb.notebook.front_end import front_end
from adk_nb.notebook.racing.cases import DESIGNS, Design, RaceCase, as_cases, path_of
from adk_nb.notebook.racing.race_page import race_html, race_text
from adk_nb.notebook.racing.results import RaceRow, race_frame, summary_frame
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run
from adk_nb.workflow.limits import Limits

if TYPE_CHECKING:
    import pandas as pd

SHOW_S = 0.2
"""Seconds between two drawings of a race that goes on."""

_alive: set[asyncio.Task[None]] = set()
"""Tasks of races: a loop alone holds them weakly."""


class Race:
    """A race under way or over; `await` it to wait for its end.

    Attributes:
        cases: What is run.
        total: How many runs there will be.
        rows: A row for each run that has ended.
        runs: The runs that have ended, by design, in the order of the rows.
        status: `running`, `completed` or `cancelled`.
    """

    def __init__(
        self, roots: dict[Design, Any], cases: list[RaceCase], repeat: int, model: Any, limits: Limits | None
    ) -> None:
        self.cases = cases
        self.total = len(cases) * repeat * len(DESIGNS)
        self.rows: list[RaceRow] = []
        self.runs: dict[str, list[Run]] = {design: [] for design in DESIGNS}
        self.status = "running"
        self._roots = roots
        self._repeat = repeat
        self._settings: dict[str, Any] = {"model": model, "limits": limits, "sessions": "memory", "view": False}
        self._task: asyncio.Task[None] | None = None
        self._display: str | None = None
        self._shown_at = 0.0

    def __await__(self) -> Generator[Any, None, Race]:
        return self._ended().__await__()

    async def _ended(self) -> Race:
        assert self._task is not None  # `race` starts it
        while not self._task.done():
            # A short wait again and again: without it a kernel's interrupt isn't noticed.
            try:
                await asyncio.wait({self._task}, timeout=0.1)
            except asyncio.CancelledError:
                self.cancel()
                await asyncio.wait({self._task}, timeout=1.0)
                raise
        if not self._task.cancelled() and self._task.exception() is not None:
            raise self._task.exception() or RuntimeError  # what a case's own check raised
        return self

    def cancel(self) -> None:
        """Stop it; what has ended is kept."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    def frame(self) -> pd.DataFrame:
        """Return a row for each run: case, design, calls, tokens, money, seconds, right path and answer, error."""
        return race_frame(self.rows)

    def summary(self) -> pd.DataFrame:
        """Return means and shares of both designs with 95 % intervals, a row a measure, and the share that is saved.

        Means (`tokens`, `calls`, `seconds`, `money`) are over the runs that went well and have bootstrap intervals,
        from 200 runs on normal ones; shares (`right_path`, `right_answer`) have Wilson's, and count a failed run as
        wrong. `money` is missing where the price of a call isn't known. Of `seconds` nothing is called saved: both
        designs share one process, and the first run of all pays for imports.
        """
        return summary_frame(self.rows)

    def fit(self) -> DesignsFit:
        """Return the calculator's inputs fitted to the runs, with how far its totals lie from what was measured.

        Raises:
            ConfigurationError: no run of either design has ended well, or nobody counted its tokens.
        """
        good = {design: [one for one in runs if one.status == "completed"] for design, runs in self.runs.items()}
        if not good["loop"] and not good["graph"]:
            raise ConfigurationError("A fit needs runs that went well; this race has none: see race.frame()['error'].")
        return fit_runs(good["loop"] or None, good["graph"] or None)

    def html(self) -> str:
        """Return what is shown, as an HTML fragment."""
        return race_html(self, settings.theme())

    def to_html(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the race as one page that needs neither kernel nor network; return its path."""
        return write_page(path, page("Agent loop against graph", self.html()))

    def __repr__(self) -> str:
        return race_text(self)

    def _repr_html_(self) -> str:
        return self.html()

    def start(self) -> Race:
        """Begin, on the running event loop; `race` does this."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="adk_nb race")
        _alive.add(self._task)
        self._task.add_done_callback(_alive.discard)
        return self

    def show(self) -> None:
        """Display it under the running cell, where somebody looks, and keep that up to date."""
        if front_end() == "none":
            return
        from IPython.display import display  # only a notebook has it

        self._display = uuid.uuid4().hex
        display({"text/html": self.html(), "text/plain": race_text(self)}, raw=True, display_id=self._display)

    async def _run(self) -> None:
        try:
            for turn in range(1, self._repeat + 1):
                for number, case in enumerate(self.cases, start=1):
                    await asyncio.gather(*(self._measure(design, number, turn, case) for design in DESIGNS))
            self.status = "completed"
        finally:
            if self.status == "running":
                self.status = "cancelled"
            self._redraw(is_over=True)

    async def _measure(self, design: Design, number: int, turn: int, case: RaceCase) -> None:
        began = time.perf_counter()
        place = {"case": number, "round": turn, "design": design, "message": _shown(case.message)}
        try:
            made = run(self._roots[design], case.message, answers=case.answers, **self._settings)
            try:
                await made
            finally:
                made.cancel()
            row = _row(made, design, case, time.perf_counter() - began, place)
            self.runs[design].append(made)
        except Exception as error:  # noqa: BLE001  # a root, an answer or a check of the person's own: this row's error
            row = _failed_row(error, case, time.perf_counter() - began, place)
        self.rows.append(row)
        self._redraw()

    def _redraw(self, *, is_over: bool = False) -> None:
        now = time.monotonic()
        if self._display is None or (now - self._shown_at < SHOW_S and not is_over):
            return
        self._shown_at = now
        from IPython.display import update_display  # only a notebook has it

        data = {"text/html": self.html(), "text/plain": race_text(self)}
        update_display(data, raw=True, display_id=self._display)


def _shown(value: Any) -> str:
    return glance(without_secrets(str(value)), 120)


def _failed_row(error: Exception, case: RaceCase, seconds: float, place: dict[str, Any]) -> RaceRow:
    return RaceRow(
        **place,
        status="failed",
        calls=0,
        tokens=0,
        prompt_tokens=0,
        cached_tokens=0,
        output_tokens=0,
        thought_tokens=0,
        money=None,
        seconds=seconds,
        right_path=None if case.path is None else False,
        right_answer=None if case.answer is None else False,
        path="",
        output="",
        error=glance(without_secrets(f"{type(error).__name__}: {error}"), 200),
    )


def _row(made: Run, design: Design, case: RaceCase, seconds: float, place: dict[str, Any]) -> RaceRow:
    used = made.usage
    ran = path_of(design, made.events, made.history.records.values())
    expected = case.expected_path(design)
    is_well = made.status == "completed"
    error = made.error
    said = None if is_well else f"{error.type}: {error.message}" if error is not None else made.status
    money = usage_frame(made, "model", prices=settings.prices())["money"] if used.model_calls else None
    return RaceRow(
        **place,
        status=made.status,
        calls=used.model_calls,
        tokens=used.tokens,
        prompt_tokens=used.prompt_tokens,
        cached_tokens=used.cached_tokens,
        output_tokens=used.output_tokens,
        thought_tokens=used.thought_tokens,
        money=0.0 if money is None else None if money.isna().any() else float(money.sum()),
        seconds=seconds,
        right_path=None if expected is None else is_well and ran == expected,
        right_answer=None if case.answer is None else is_well and bool(case.is_right(made.output)),
        path=" → ".join(ran),
        output=_shown(made.output),
        error=None if said is None else glance(without_secrets(said), 200),
    )


def race(
    *,
    loop: Any,
    graph: Any,
    cases: Iterable[Any],
    model: Any = None,
    repeat: int = 1,
    view: bool = True,
    limits: Limits | None = None,
) -> Race:
    """Run an agent loop and a graph on the same cases, side by side, and measure both.

    Each case is run once by each design, in a session of its own, one case after the other. What is right is judged by
    the case, see `RaceCase`; a run, a case or a check that fails is one row's error and ends nothing.

    Args:
        loop: The agent that decides every step itself.
        graph: The workflow that does the same work.
        cases: Messages, dictionaries with `message`, `answer`, `path` and `answers`, or `RaceCase`s.
        model: The model that every agent asks; `None` leaves each its own.
        repeat: How often each case is run.
        view: Show the race under the cell, where there is somebody to look.
        limits: What each run may use up.

    Raises:
        ConfigurationError: there is no case, `repeat` is below 1, or no event loop runs: `await` it in a coroutine.

    Example:
        >>> import asyncio
        >>> from adk_nb import Agent, Workflow
        >>> from adk_nb.testing import ScriptedModel
        >>> agent = Agent(name="bot", model=ScriptedModel(["hello"]))
        >>> def greet(node_input):
        ...     return "hello"
        >>> flow = Workflow(name="flow", edges=[("START", greet)])
        >>> async def main():
        ...     return await race(loop=agent, graph=flow, cases=[{"message": "hi", "answer": "hello"}])
        >>> found = asyncio.run(main())
        >>> found.frame()[["design", "calls", "right_answer"]].sort_values("design").values.tolist()
        [['graph', 0, True], ['loop', 1, True]]
    """
    if repeat < 1:
        raise ConfigurationError(f"repeat={repeat} can't be: each case is run at least once.")
    found = as_cases(cases)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError(
            "race() was called where no event loop runs; in a notebook write `await adk_nb.race(...)`, in a script "
            "call it in a coroutine that asyncio.run runs."
        ) from None
    made = Race({"loop": loop, "graph": graph}, found, repeat, model, limits).start()
    if view:
        made.show()
    return made
