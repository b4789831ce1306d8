"""`RunView`: one run under a cell, alive as long as its kernel, and readable without one.

What is displayed, and therefore saved, is HTML that needs no kernel and names no widget: a reopened notebook shows the
run instead of a missing-model error, also when it was saved while a question was open. A widget that is never displayed
itself links every copy of that HTML on the page with the run as long as the kernel lives.

What it looks like: empty, a header and the pale graph; running, nodes light up and rows arrive; waiting, a form for
each open question beside the graph; failed, the error with the person's own line last; restored from a saved notebook,
the last state with its picture, table and answers, without buttons.

Limits: the saved copy is renewed when the run pauses or ends. A program that runs a notebook drops what is said between
two cells, so for one the copy is renewed at the end of each cell as well; what the last cell leaves at work stays
"running", with a hint to await it. After a page reload JupyterLab no longer knows which output belongs to which run, so
that copy moves on the page but isn't renewed: `run.view()` shows a new one. In Colab and VS Code the output names the
widget as well, and reopening falls to what those hosts do with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec

import anywidget
import traitlets
from IPython.display import display, update_display

from adk_nb.models.secrets import without_secrets
from adk_nb.notebook.assets import packed_module, page, style_sheet
from adk_nb.notebook.front_end import FrontEnd, at_cell_end, cell_count, front_end
from adk_nb.notebook.settings import theme
from adk_nb.notebook.view.fold import RunFold
from adk_nb.notebook.view.folded_pictures import folded_pictures
from adk_nb.notebook.view.forms import answer_in
from adk_nb.notebook.view.run_page import STYLES, as_text, fragment, picture, with_details

if TYPE_CHECKING:
    from adk_nb.notebook.running.run_work import RunWork

P = ParamSpec("P")

BATCH_S = 0.15
"""Seconds between two messages to the page."""
BATCH_ROWS = 500
PING_S = 0.2
"""Seconds between two asks whether clicks arrive: one that is sent before a view has mounted is lost."""
PAGE_ROWS = 500
"""Rows in what a live view starts from; it asks for the ones before."""
SAVED_ROWS = 2_000
"""Rows in a saved copy."""
MESSAGE_ROWS = 2_000
MESSAGE_DETAILS = 200
UNAWAITED = (
    "This was saved before the run had ended. A program runs this notebook and doesn't wait for it: await the run in "
    "its cell, or in a later one."
)


class RunLink(anywidget.AnyWidget):
    """The kernel's end of the line to every copy of a run's view on the page."""

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode("").tag(sync=True)
    _key = traitlets.Unicode().tag(sync=True)
    base = traitlets.Dict().tag(sync=True)
    """A snapshot, for a view that appears before it can ask for one: a busy kernel answers late."""
    now = traitlets.Float().tag(sync=True)
    """The kernel's clock when `base` was taken."""
    drafts = traitlets.Dict().tag(sync=True)
    """What is typed and not sent, by question."""
    graph = traitlets.Unicode("").tag(sync=True)


def _harmless(act: Callable[P, None]) -> Callable[P, None]:
    """A view that fails never hides the run's result: it breaks off and leaves a warning."""

    @functools.wraps(act)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            act(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # whatever a front end or a drawing raises is not the run's failure
            view: Any = args[0]
            view.break_off(error)

    return guarded


def _load_schema_checks() -> None:
    """Import what checks an answer while the person reads the question: with JupyterLab's packages it takes seconds."""
    if "jsonschema" not in sys.modules:
        threading.Thread(
            target=importlib.import_module, args=("jsonschema",), name="adk_nb import", daemon=True
        ).start()


class RunView:
    """What is shown of one run, however often it is displayed. Everything happens on the run's own loop."""

    def __init__(self, work: RunWork) -> None:
        self._work = work
        self._history = work.history
        self._key = uuid.uuid4().hex
        self._front_end: FrontEnd = "none"
        self._link: RunLink | None = None
        self._timer: Any = None
        self._flushed_at = 0.0
        self._is_heard = False
        self._heard: asyncio.Event = asyncio.Event()
        self._base_timer: Any = None
        self._base_pause = 0.3
        self._shown_in: int | None = None
        self._is_saved = True
        """A program that runs the notebook has the output as the run is now."""
        self._stop_watching: Callable[[], None] | None = None
        self.fold: RunFold = work.history.fold

    @_harmless
    def show(self) -> None:
        """Display a copy under the running cell."""
        self._front_end = front_end()
        if self._front_end == "none":
            return
        self._history.catch_up()
        if self._front_end != "static" and not self._history.is_over:
            self._open()
        self._shown_in = cell_count()
        data, metadata = self._bundle()
        display(data, metadata=metadata, raw=True, display_id=self._key)
        self._watch_cells()

    @property
    def is_open(self) -> bool:
        """A page can be linked with it."""
        return self._link is not None

    @property
    def is_in_this_cell(self) -> bool:
        """A copy was displayed by the cell that runs now."""
        return self._shown_in is not None and self._shown_in == cell_count()

    @_harmless
    def touch(self) -> None:
        """Something happened: tell the page soon, not more often than it can follow."""
        self._is_saved = False
        if self._timer is None and self._link is not None:
            delay = max(0.0, self._flushed_at + BATCH_S - time.monotonic())
            self._timer = self._work.loop.call_later(delay, self._flush)

    @_harmless
    def settled(self) -> None:
        """The run paused or ended: renew what a save of the notebook keeps, and let go of the page at the end."""
        if self._front_end == "none":
            return
        self._flush()
        if self._link is not None and not self._history.is_over:  # at the end, the output below is the last word
            self._renew_base()
        self._renew_output()
        self._is_saved = False
        if self._history.is_over:
            self._close()
        elif self._link is not None:
            _load_schema_checks()

    async def clicks_arrive(self, within_s: float) -> bool:
        """Say whether what a person does on the page reaches the kernel now, while a cell waits.

        ipykernel 6 keeps all clicks for the end of the cell, and a later one does so for a page that knows no
        subshells; so the page is asked, and its answer is the proof.
        """
        self._heard.clear()
        for _ in range(round(within_s / PING_S)):
            if self._link is None:
                return False
            self._link.send({"kind": "ping"})
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._heard.wait(), PING_S)
                return True
        return False

    @_harmless
    def resumed(self) -> None:
        """The run goes on after its end."""
        if self._front_end in ("live", "isolated") and self._link is None:
            self._open()
            if self._front_end == "isolated":
                self._renew_output()
        self._watch_cells()

    def break_off(self, error: Exception) -> None:
        """Stop showing the run, which goes on."""
        self._front_end = "none"
        self._work.view_broke_off(error)

    def html(self) -> str:
        """Return a whole page."""
        return page(f"{self._history.name}: {self._history.status}", self._fragment())

    def text(self) -> str:
        """Return the run as plain text."""
        self._history.catch_up()
        return as_text(self.fold.snapshot())

    def svg(self) -> tuple[str, str]:
        """Return the graph with where the run stands as SVG, or as text where it can't be drawn."""
        self._history.catch_up()
        return picture(self._history.description, self.fold.snapshot())

    def _watch_cells(self) -> None:
        if self._front_end == "static" and self._stop_watching is None:
            self._stop_watching = at_cell_end(self._cell_ended)

    @_harmless
    def _cell_ended(self) -> None:
        """Renew the output within a cell: a program that runs a notebook takes nothing else."""
        if not self._is_saved:
            self._renew_output()
            self._is_saved = True
        if self._history.is_over and self._stop_watching is not None:
            self._stop_watching()
            self._stop_watching = None

    def _renew_output(self) -> None:
        data, metadata = self._bundle()
        update_display(data, metadata=metadata, raw=True, display_id=self._key)

    def _fragment(self) -> str:
        self._history.catch_up()
        snapshot = with_details(without_secrets(self.fold.snapshot(SAVED_ROWS)), self.fold.rows)
        return fragment(self._key, snapshot, self._history.description, theme())

    def _bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        data: dict[str, Any] = {"text/plain": self.text(), "text/html": self._fragment()}
        if self._front_end == "static" and self._history.status == "running":
            data = {
                "text/plain": f"{data['text/plain']}\n{UNAWAITED}",
                "text/html": f"{data['text/html']}<p>{UNAWAITED}</p>",
            }
        if self._front_end != "isolated" or self._link is None:
            return data, {}
        widget, metadata = self._link._repr_mimebundle_() or ({}, {})
        return {**widget, **data}, metadata

    def _base(self) -> dict[str, Any]:
        # A widget's state may be saved with the notebook.
        snapshot: dict[str, Any] = without_secrets(self.fold.snapshot(PAGE_ROWS))
        if self._front_end == "isolated":
            snapshot["folded"] = folded_pictures(self._history.description)
        return snapshot

    def _open(self) -> None:
        if self._link is not None:
            return
        graph = self.svg()[0] if self._front_end == "isolated" else ""
        css = style_sheet(*STYLES) if self._front_end == "isolated" else ""
        self._is_heard = False
        self._link = RunLink(
            _esm=packed_module("run/main"),
            _css=css,
            _key=self._key,
            graph=graph,
            base=self._base(),
            now=time.time(),
        )
        self._link.on_msg(self._on_message)

    def _close(self) -> None:
        for timer in (self._timer, self._base_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._base_timer = None
        if self._link is not None:
            self._link.layout.close()  # every widget view has one
            self._link.close()
            self._link = None

    @_harmless
    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed_at = time.monotonic()
        self._history.catch_up()
        changes = self.fold.take_changes(BATCH_ROWS)
        if changes is None or self._link is None:
            return
        self._link.send({"kind": "batch", "changes": changes, "now": time.time()})
        # Until a view has spoken, batches may fall on deaf ears; the trait reaches one that is late.
        if not self._is_heard and self._base_timer is None:
            self._base_timer = self._work.loop.call_later(self._base_pause, self._renew_base)
            self._base_pause = min(2 * self._base_pause, 5.0)

    @_harmless
    def _renew_base(self) -> None:
        self._base_timer = None
        if self._link is not None:
            with self._link.hold_sync():
                self._link.now = time.time()
                self._link.base = self._base()

    def _on_message(self, _link: object, content: Any, _buffers: object) -> None:
        # On ipykernel 7.0 to 7.3 this arrives on another thread than the run's loop.
        self._work.call_soon(self._take, content)

    @_harmless
    def _take(self, content: Mapping[str, Any]) -> None:
        kind = content.get("kind")
        self._is_heard = True
        self._heard.set()
        if kind == "snapshot" and self._link is not None:
            self._flush()
            self._link.send({"kind": "snapshot", "snapshot": self.fold.snapshot(PAGE_ROWS), "now": time.time()})
        elif kind == "rows" and self._link is not None:
            rows = list(self.fold.rows.newest(MESSAGE_ROWS, before=int(content["before"])))
            self._link.send({"kind": "rows", "rows": rows})
        elif kind == "details" and self._link is not None:
            numbers = [int(number) for number in content["numbers"][:MESSAGE_DETAILS]]
            self._link.send({"kind": "details", "details": self.fold.rows.details(numbers)})
        elif kind == "stop":
            self._work.cancel()
        elif kind == "answer":
            self._take_answer(str(content.get("key")), content.get("entry"), content.get("json"))

    def _take_answer(self, key: str, entry: Any, json_text: str | None) -> None:
        """Check the answer in a form and hand it on; what is wrong with it goes back to the form, by field."""
        question = self.fold.question(key)
        if question is None or question["answered"] is not None:
            self._tell_errors(key, {"": "This question isn't open any more."})
            return
        answer, errors = answer_in(question, entry, json_text)
        if errors:
            self._tell_errors(key, errors)
            return
        stored = self._work.answer({question["interrupt_id"]: answer})
        stored.add_done_callback(
            lambda done: self._tell_errors(key, {"": str(done.exception())}) if done.exception() else None
        )

    def _tell_errors(self, key: str, errors: dict[str, str]) -> None:
        if self._link is not None:
            self._link.send({"kind": "errors", "key": key, "errors": errors})
