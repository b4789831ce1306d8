"""A notebook that a program runs: nothing hangs, nothing needs a widget, and what is saved says it all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
SETUP = """
from adk_nb.events import RequestInput
from adk_nb.workflow import Workflow
import adk_nb as adk
def ask(node_input):
    yield RequestInput(message="What limit?", interrupt_id="limit", response_schema=int)
def double(node_input: int):
    return node_input * 2
flow = Workflow(name="flow", edges=[("START", ask, double)])
"""


def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *cells: str) -> Any:
    """Run cells as nbconvert, papermill and `jupyter execute` do, in a folder of their own."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    return client.execute()


def test_open_question_ends_the_cell_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an answer the cell ends at once; its output names the question, and later cells run on."""
    done = executed(tmp_path, monkeypatch, SETUP, "made = await adk.run(flow, 'x')", "print(made.status)\nmade")
    [output] = done.cells[1].outputs
    assert set(output.data) == {"text/plain", "text/html"}
    assert "ask asks: What limit?" in output.data["text/plain"]
    assert "await run.respond(answer, 'limit')" in output.data["text/plain"]
    assert done.cells[2].outputs[0].text == "waiting\n"
    assert "waiting" in done.cells[2].outputs[1].data["text/plain"]


def test_prepared_answers_finish_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `answers=` the same cell runs to the end, prints nothing, and keeps its run beside the notebook."""
    done = executed(
        tmp_path, monkeypatch, SETUP, "made = await adk.run(flow, 'x', answers={'limit': 21})", "print(made.output)"
    )
    [output] = done.cells[1].outputs
    assert output.output_type == "display_data"
    assert "result: 42" in output.data["text/plain"]
    assert done.cells[2].outputs[0].text == "42\n"
    assert os.listdir(tmp_path / ".adk_nb") != []


def test_run_sync_in_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run_sync` works in a cell, inside the kernel's running loop, and shows the same view."""
    done = executed(
        tmp_path, monkeypatch, SETUP, "made = adk.run_sync(flow, 'x', answers={'limit': 4})\nprint(made.output)"
    )
    assert [output.output_type for output in done.cells[1].outputs] == ["display_data", "stream"]
    assert done.cells[1].outputs[1].text == "8\n"
    assert "result: 8" in done.cells[1].outputs[0].data["text/plain"]
