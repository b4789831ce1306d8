"""The first notebook as a person meets it: run all, answer the refund's form, see what came of it."""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import LAB, ROOT, Host, NotebookPage

NOTEBOOK = ROOT / "notebooks" / "01_support_inbox.ipynb"
CELL = {cell.id: number for number, cell in enumerate(nbformat.read(NOTEBOOK, as_version=4).cells)}
MOST_SAVED_BYTES = 450_000


@pytest.fixture(scope="module", autouse=True)
def without_key() -> Iterator[None]:
    """Keep a key of the person who tests away from the kernels, which would spend money on Gemini."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GOOGLE_API_KEY", raising=False)
        yield


def run_all(open_notebook: OpenNotebook, host: Host = LAB) -> NotebookPage:
    """Open a copy of the notebook and run it to its end."""
    nb = open_notebook(NOTEBOOK, host)
    nb.run_all()
    nb.wait_text("waiting for you", CELL["refund"])
    return nb


def test_refund_is_issued_after_a_click(open_notebook: OpenNotebook, host: Host) -> None:
    """Run All reaches the end with the question open; a click on "yes" issues the refund, and the log goes on."""
    nb = run_all(open_notebook, host)
    nb.wait_text("Graph or agent loop?", CELL["calculator"])
    for text in ("FL-27002", "EUR", "Approve?"):
        nb.wait_text(text, CELL["refund"])
    assert "issue_refund" not in nb.text(CELL["events"])
    nb.screenshot("first-notebook-waiting", CELL["refund"])
    nb.click("yes", CELL["refund"])
    nb.wait_text("Refund issued.", CELL["refund"])
    nb.wait_text("completed", CELL["refund"])
    nb.run_cell(CELL["events"])
    nb.wait_text("issue_refund", CELL["events"])
    assert nb.run_code("run.status, run.output") == "('completed', 'Refund issued.')"
    nb.assert_clean()


def test_refund_is_declined_in_the_dark(open_notebook: OpenNotebook) -> None:
    """The form is there in Lab's dark theme too, and "no" declines the refund."""
    nb = run_all(open_notebook)
    light = background(nb)
    nb.theme("dark")
    nb.wait_for(lambda: background(nb) != light, "the run view to turn dark")
    nb.screenshot("first-notebook-dark-waiting", CELL["refund"])
    nb.click("no", CELL["refund"])
    nb.wait_text("Refund declined.", CELL["refund"])
    nb.wait_text("completed", CELL["refund"])
    nb.screenshot("first-notebook-dark")
    nb.assert_clean()


def test_a_bug_ends_in_a_report(open_notebook: OpenNotebook) -> None:
    """The view of a run that was over at once shows its end: the report, the tokens, no form."""
    nb = run_all(open_notebook)
    for text in ("completed", "Environment: not stated", "2 model calls"):
        nb.wait_text(text, CELL["bug"])
    assert "running" not in nb.text(CELL["bug"])


def test_saved_notebook_is_small_and_readable(open_notebook: OpenNotebook) -> None:
    """Saved after the answer and opened again by somebody else, it shows graph, answer and result, below a set size."""
    nb = run_all(open_notebook)
    nb.click("yes", CELL["refund"])
    nb.wait_text("completed", CELL["refund"])
    nb.wait_text("completed", CELL["bug"])
    saved = nb.save()
    assert nb.path.stat().st_size < MOST_SAVED_BYTES
    nb.close()
    saved.metadata["title"] = "touched by somebody else, so no longer signed"
    again = open_notebook(saved)
    for text in ("Refund issued.", "approve_refund", "yes"):
        again.wait_text(text, CELL["refund"])
    again.wait_text("photo picker", CELL["bug"])
    again.wait_text("7 times fewer", CELL["calculator"])
    again.screenshot("first-notebook-reopened")
    assert again.errors() == []


def background(nb: NotebookPage) -> str:
    """The colour behind the refund's run."""
    box = nb.output(CELL["refund"]).get_by_text("waiting for you").first
    found: str = box.evaluate("box => getComputedStyle(box.closest('.adknb') ?? box).backgroundColor")
    return found
