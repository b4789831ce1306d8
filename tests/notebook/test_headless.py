"""A notebook that a program runs: nothing hangs, nothing needs a widget, and what is saved says it all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill  # type: ignore[import-untyped]
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


def test_papermill_gives_answers_as_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A papermill run ends at an open question instead of hanging, and answers it when the answer is a parameter."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    parameters = nbformat.v4.new_code_cell("answers = None", metadata={"tags": ["parameters"]})
    run = nbformat.v4.new_code_cell("made = await adk.run(flow, 'x', answers=answers)\nprint(made.status, made.output)")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SETUP), parameters, run])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "in.ipynb")
    said = []
    for given in ({}, {"answers": {"limit": 21}}):
        done = papermill.execute_notebook(
            str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"), given, cwd=str(tmp_path), progress_bar=False
        )
        said += [output.text for output in done.cells[-1].outputs if output.output_type == "stream"]
    assert said == ["waiting None\n", "completed 42\n"]
    assert len(nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs) == 2


def test_a_run_that_its_cell_does_not_await_is_saved_as_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed run is saved as failed by a later cell, whether that one awaits it or not, and whatever it comes to."""
    failing = (
        "import asyncio\nasync def slow(node_input):\n    await asyncio.sleep(0.5)\n    quick(node_input)\n"
        "def quick(node_input):\n    raise ValueError('no such order')\n"
        "soon, late = adk.run(quick, 'x'), adk.run(slow, 'x')"
    )
    done = executed(tmp_path, monkeypatch, SETUP, failing, "await late\nprint(soon.status, late.status)", "print('on')")
    soon, late = done.cells[1].outputs
    for name, output in {"quick": soon, "slow": late}.items():
        assert f"{name} · failed" in output.data["text/plain"]
        assert f"ValueError in {name}@1: no such order" in output.data["text/plain"]
        assert f"<b>{name}</b>" in output.data["text/html"]
        assert "before the run had ended" not in output.data["text/plain"]
    assert [cell.outputs[0].text for cell in done.cells[2:]] == ["failed failed\n", "on\n"]


def test_a_run_that_no_cell_awaits_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the last cell leaves at work can't be saved as it ends: the output says so and what to do."""
    started = "async def slow(node_input):\n    await asyncio.sleep(60)\nmade = adk.run(slow, 'x')"
    done = executed(tmp_path, monkeypatch, SETUP + "import asyncio", started)
    [output] = done.cells[1].outputs
    assert "await the run in its cell" in output.data["text/plain"]
    assert "await the run in its cell" in output.data["text/html"]


def test_nbconvert_saves_a_run_and_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`jupyter nbconvert --execute` ends at an open question and at an end alike; notebook and page name both."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    cells = (SETUP, "asked = await adk.run(flow, 'x')", "made = await adk.run(flow, 'x', answers={'limit': 21})")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "in.ipynb")
    for kind in ("notebook", "html"):
        subprocess.run(
            [sys.executable, "-m", "nbconvert", "--execute", "--to", kind, "--output", "out", "in.ipynb"],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            timeout=120,
        )
    _, asked, made = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    assert "ask asks: What limit?" in asked.outputs[0].data["text/plain"]
    assert "result: 42" in made.outputs[0].data["text/plain"]
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "What limit?" in page
    assert page.count("data-adknb-run=") == 2


def test_a_later_notebook_answers_what_was_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that a scheduled notebook left open is listed, opened and answered in another one, by magic too."""
    executed(tmp_path, monkeypatch, SETUP, "made = await adk.run(flow, 'x', session='nightly')")
    done = executed(
        tmp_path,
        monkeypatch,
        SETUP + "%load_ext adk_nb",
        "open_ones = %adk runs --status waiting\nprint(open_ones['session'].tolist(), open_ones['root'].tolist())",
        "made = %adk open nightly flow\nawait made.respond(4)\nprint(made.status, made.output)",
        "%adk open nightly",
        "try:\n    %adk open nightly nothing\nexcept Exception as error:\n    print(error)",
    )
    assert done.cells[1].outputs[0].text == "['nightly'] ['flow']\n"
    assert done.cells[2].outputs[-1].text == "completed 8\n"
    assert [set(output.data) for output in done.cells[3].outputs] == [{"text/plain", "text/html"}]
    assert "this notebook has no variable of that name" in done.cells[4].outputs[0].text
