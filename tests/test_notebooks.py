"""Every notebook of the project, run in a real kernel as a test of its own.

A code cell may carry what a reader must see under it, as metadata: `{"expect": ["refund issued", …]}`.
"""

from __future__ import annotations

import pathlib
import shutil

import pytest

from scripts.outcome import errors, heading, run_notebook, shown

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[1] / "notebooks"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_notebook_runs(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook runs from top to bottom without a person, a key or a network, and shows what its cells promise."""
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOKS.parent))
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    folder = shutil.copytree(
        NOTEBOOKS, tmp_path / "notebooks", ignore=shutil.ignore_patterns(".adk_nb", ".ipynb_checkpoints")
    )
    notebook = run_notebook(folder / name)
    assert errors(notebook) == []
    missing = [
        f"{text!r} is not shown under {heading(cell)!r}"
        for cell in notebook.cells
        for text in cell.metadata.get("expect", [])
        if text not in shown(cell)
    ]
    assert missing == []
