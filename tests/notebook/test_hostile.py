"""What a person sees when something odd happens: hostile text, odd exceptions, doubled warnings, broken stores."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

import adk_nb as adk
from adk_nb import events
from adk_nb.errors import ConfigurationError, SessionStoreError
from adk_nb.events import RequestInput
from adk_nb.notebook import settings
from adk_nb.notebook.chat.chat_page import chat_fragment
from adk_nb.notebook.display import mime_bundle
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run
from adk_nb.notebook.view.forms import answer_in, form_of
from adk_nb.workflow import JoinNode, Workflow

Event: Any = events.Event  # its shortcuts (message=, route=, …) are unknown to a type checker


def drive(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine."""
    asyncio.run(asyncio.wait_for(work(), 30))


def silent(node_input: Any) -> None:
    """Return nothing."""


def two(node_input: Any) -> int:
    """Return 2."""
    return 2


def test_warning_is_told_once_by_the_node_it_is_about() -> None:
    """What a graph repeats of a node inside it is one warning, in `run.warnings`, the view's batches and its text."""

    async def main() -> None:
        inner = Workflow(name="inner", edges=[("START", (silent, two), JoinNode(name="join"))])
        made = run(Workflow(name="outer", edges=[("START", inner)]), "x", sessions="memory")
        fold = made.history.fold
        await made
        said = "silent gave no output, so the join 'join' gets None for it"
        assert made.warnings == [f"join: {said}"]
        changes = fold.take_changes()
        assert changes is not None
        assert changes["warnings"] == fold.snapshot()["warnings"] == [{"node": "join", "message": said}]
        assert made.to_html().count(f"<p>⚠ join: {said.replace(chr(39), '&#x27;')}</p>") == 1

    drive(main)


def test_many_warnings_are_counted_not_listed() -> None:
    """A view names the first warnings and how many there are besides; `run.warnings` holds them all."""

    async def main() -> None:
        joins = tuple(JoinNode(name=f"join{number}") for number in range(30))
        edges: list[Any] = [("START", (silent, two)), *(((silent, two), join) for join in joins)]
        made = await run(Workflow(name="w", edges=edges), "x", sessions="memory")
        assert len(made.warnings) == 30
        shown = made.history.fold.snapshot()["warnings"]
        assert len(shown) == 21
        assert shown[-1] == {"node": "", "message": "… and 10 more in run.warnings"}

    drive(main)


def everything_shown(made: Run) -> list[str]:
    """Every text that a run can be shown as, made the way a file or a message to the page is made."""
    frames = [made.events_frame(), made.nodes_frame(), made.events_frame(expand="output")]
    shown = [
        made._shown().text(),
        made.to_html(),
        *made._shown().svg(),
        json.dumps(made.history.fold.snapshot(), allow_nan=False),
    ]
    shown += [frame.to_csv() for frame in frames]
    for text in shown:
        text.encode("utf-8")
    return shown


@pytest.mark.parametrize(
    "value", [10**5000, [10**5000], float("nan"), ["\x00\x1b[31m"], {"k" * 10_000: "v" * 100_000}], ids=range(5)
)
def test_odd_outputs_are_shown(value: Any) -> None:
    """Numbers that Python doesn't write out, control characters and long keys are shown, in every way there is."""

    def odd(node_input: str) -> Any:
        return value

    async def main() -> None:
        made = await run(odd, "x", sessions="memory")
        assert made.status == "completed"
        everything_shown(made)

    drive(main)


class Silent(Exception):
    """An exception whose text can't be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("half \ud800 \u202e\x00\x1b[31m</script><img src=x onerror=hack()>"),
        ValueError("y" * 2_000_000),
        ExceptionGroup("\ud800", [ValueError("<b>"), ExceptionGroup("in", [TypeError()])]),
        Silent(),
        KeyError(),
    ],
    ids=["hostile", "huge", "group", "silent", "empty"],
)
def test_odd_exceptions_are_shown(error: Exception) -> None:
    """Whatever a node raises, the run fails with it and can be shown in every way there is, in little room."""

    def burst(node_input: str) -> None:
        raise error

    async def main() -> None:
        made = await run(burst, "x", sessions="memory")
        assert made.status == "failed"
        page = everything_shown(made)[1]
        assert "<img src=x" not in page
        assert len(page) < 200_000

    drive(main)


def test_huge_question_takes_little_room() -> None:
    """Of a question's megabytes a view holds the beginning, and the question itself all."""

    def ask(node_input: str) -> Iterator[Any]:
        yield RequestInput(message="m" * 1_000_000, payload=["p" * 1_000_000], interrupt_id="big")

    async def main() -> None:
        made = await run(ask, "x", sessions="memory")
        assert len(made.pending[0].message or "") == 1_000_000
        assert all(len(text) < 200_000 for text in everything_shown(made)[:5])
        await made.respond("a" * 1_000_000)
        assert all(len(text) < 300_000 for text in everything_shown(made)[:5])

    drive(main)


def test_no_digit_of_a_long_number_is_lost() -> None:
    """A browser rounds whole numbers beyond 2**53; on a page they are texts."""

    def ask(node_input: str) -> Iterator[Any]:
        yield RequestInput(message="Which?", payload={"order": 2**60 + 1}, interrupt_id="q")

    def echo(node_input: int) -> Any:
        return [{"order": node_input, "n": 7}]

    async def main() -> None:
        made = await run(Workflow(name="w", edges=[("START", ask, echo)]), "x", sessions="memory")
        assert made.history.fold.snapshot()["questions"][0]["payload"] == {"order": str(2**60 + 1)}
        await made.respond(2**60 + 3)
        assert made.output == [{"order": 2**60 + 3, "n": 7}]
        assert made.history.fold.snapshot()["result"]["value"] == [{"order": str(2**60 + 3), "n": 7}]

    drive(main)


@pytest.fixture
def notebook_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a notebook that a person works in, as far as defaults go."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADK_NB_SESSIONS", raising=False)
    monkeypatch.setattr(settings, "front_end", lambda: "live")
    return tmp_path


def test_folder_that_cannot_be_written_keeps_runs_in_memory(notebook_folder: Path) -> None:
    """Where the default file can't be made, a run goes on in memory, and one warning says so, in the view as well."""
    (notebook_folder / ".adk_nb").write_text("a file where the folder should be")

    async def main() -> None:
        made = await run(two, "x")
        assert (made.status, made.output) == ("completed", 2)
        [warning] = made.warnings
        assert "File exists" in warning
        assert "gone with the kernel" in warning
        assert "configure(sessions=" in warning
        assert warning in [one["message"] for one in made.history.fold.snapshot()["warnings"]]

    drive(main)


def test_file_that_is_no_database_is_left_alone(notebook_folder: Path) -> None:
    """A default file of another kind is refused in one sentence that says what to do, and stays as it is."""
    file = notebook_folder / ".adk_nb" / "sessions.db"
    file.parent.mkdir()
    file.write_bytes(b"not a database " * 500)

    async def main() -> None:
        with pytest.raises(SessionStoreError, match=r"isn't an SQLite database.*left as it is.*configure\(sessions="):
            run(two, "x")
        assert (await run(two, "x", sessions="memory")).output == 2

    drive(main)
    assert file.read_bytes() == b"not a database " * 500
    assert list(file.parent.iterdir()) == [file]


def test_named_place_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    """A place that a person named is never replaced by another one."""
    (tmp_path / "file").write_text("")

    async def main() -> None:
        with pytest.raises(ConfigurationError, match=r"can't be used: .*Give a path in a folder"):
            run(two, "x", sessions=tmp_path / "file" / "sessions.db")

    drive(main)


def test_no_text_is_taken_for_a_formula() -> None:
    """JupyterLab typesets what stands between dollar signs in an HTML output; every display of ours says not to."""

    def pay(node_input: str) -> str:
        return "from $5 to $10"

    flow = Workflow(name="flow", edges=[("START", pay)])

    async def main() -> None:
        made = await run(flow, "from $5 to $10", sessions="memory", view=False)
        again = await run(flow, "from $5 to $10", sessions="memory", view=False)
        raced = await adk.race(loop=flow, graph=flow, cases=["from $5 to $10"])
        talk = adk.chat(flow, sessions="memory", view=False)
        shown = [
            made.to_html().partition("<body>")[2],
            made.graph()._repr_mimebundle_()["text/html"],
            made.timeline()._repr_mimebundle_()["text/html"],
            adk.compare(made, again)._repr_html_(),
            raced._repr_html_().partition("</style>")[2],
            chat_fragment("k", talk._fold.snapshot()),
            adk.calculator().to_html().partition("<body>")[2],
            mime_bundle(flow)["text/html"],
        ]
        for text in shown:
            first = re.search(r"<div class=['\"]([^'\"]*)['\"]", text)
            assert first is not None
            assert "mathjax_ignore" in first[1].split(), text[:200]

    drive(main)


def test_choices_that_read_alike_are_told_apart() -> None:
    """A person sees whether a choice is the number 1 or the text "1", and gets what was picked, type included."""
    values = [1, "1", True, "Yes", 1.0]
    question = {"schema": {"enum": values}, "form": form_of({"enum": values})}
    assert [choice["label"] for choice in question["form"]["field"]["choices"]] == ["1", '"1"', "true", '"Yes"', "1.0"]
    for index, value in enumerate(values):
        answer, errors = answer_in(question, {"state": "value", "text": str(index)}, None)
        assert (type(answer), answer, errors) == (type(value), value, {})
