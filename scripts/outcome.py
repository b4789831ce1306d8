"""Run a notebook in a real kernel without a browser, and print what each cell shows.

`python3 make.py lab --headless` calls it; the tests run every notebook through it.
"""

from __future__ import annotations

import contextlib
import pathlib
import sys
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode


def run_notebook(path: pathlib.Path, timeout_s: int = 300) -> NotebookNode:
    """Run every cell of a notebook, in its own folder, until one raises; the file is not changed.

    Args:
        path: The .ipynb file.
        timeout_s: Seconds that one cell may take.

    Returns:
        NotebookNode: a copy of the notebook with the outputs of this run.
    """
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout_s,
        kernel_name="python3",
        store_widget_state=False,
        # ipykernel 7.4 warns that it talks over TCP without encryption, which it does on this machine only.
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    with contextlib.suppress(CellExecutionError):  # it stands in the outputs too
        client.execute()
    return notebook


def shown(cell: NotebookNode) -> str:
    """The outputs of a cell as text; empty if it shows nothing."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(output.data.get("text/plain", ""))
    return "\n".join(part.rstrip() for part in parts if part.strip())


def errors(notebook: NotebookNode) -> list[str]:
    """What each cell that raised says, with the cell's number: `cell 3: ValueError: …`."""
    return [
        f"cell {number}: {output.ename}: {output.evalue}"
        for number, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]


def heading(cell: NotebookNode) -> str:
    """The first line of a cell's source, to say which cell is meant."""
    lines: list[str] = cell.source.strip().splitlines()
    return lines[0] if lines else "(empty)"


def main(path: pathlib.Path) -> int:
    """Run, print, and return 1 if a cell raised."""
    started = time.monotonic()
    notebook = run_notebook(path)
    for cell in notebook.cells:
        text = shown(cell)
        if cell.cell_type == "markdown" and heading(cell).startswith("#"):
            print(f"\n{heading(cell)}")
        elif text:
            print(f"\n>>> {heading(cell)}\n{text}")
    failed = errors(notebook)
    ran = sum(cell.get("execution_count") is not None for cell in notebook.cells)
    print(f"\n{path.name}: {ran} cells ran in {time.monotonic() - started:.0f} s; {'; '.join(failed) or 'no errors'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
