"""Fixtures for tests in a real JupyterLab: `open_notebook` is the one that most tests need.

```python
def test_button(open_notebook: OpenNotebook, host: Host) -> None:
    nb = open_notebook(["import ipywidgets as w", "..."], host)   # or a path, or a notebook object
    nb.run_all()
    nb.click("Send")
    nb.wait_text("sent")
    nb.assert_clean()
```

- A test that asks for `host` runs four times: in JupyterLab and in Notebook 7, each with ipykernel 6.29 and 7. Others
  run in JupyterLab with ipykernel 7.
- One server and one Chromium serve a module; every test gets its own notebook, kernel and page.
- Screenshots go to `tests/browser/shots/`, or to the folder that ADK_NB_SHOTS names; a failed test leaves one there.
  With ADK_NB_SHOTS set, every test leaves one of each page that it opened, as it was at its end, to be looked at.
- Playwright's loop runs in the test's thread, so that `asyncio.run` can't be used in this folder: use the kernel.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from typing import TypeAlias

import pytest
from playwright.sync_api import BrowserContext, sync_playwright

from make import OLD_KERNEL_VENV, find_chromium, python_of
from tests.browser.lab import HOSTS, LAB, SIZE, Host, LabServer, NotebookPage, Source

HERE = pathlib.Path(__file__).resolve().parent
SHOTS = pathlib.Path(os.environ.get("ADK_NB_SHOTS") or HERE / "shots")
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
OpenNotebook: TypeAlias = Callable[..., NotebookPage]
failed_key = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder `browser`, so that none can forget to."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note on the test that it failed, for the screenshot that `open_notebook` then takes."""
    report = yield
    if report.failed:
        item.stash[failed_key] = True
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Take the pictures that somebody asked for, while the pages of the test are still open."""
    outcome = yield
    opened = getattr(item, "funcargs", {}).get("chromium")
    if opened is not None and os.environ.get("ADK_NB_SHOTS"):
        SHOTS.mkdir(parents=True, exist_ok=True)
        for number, page in enumerate(opened.pages):
            stem = re.sub(r"\W+", "_", f"{item.path.stem}-{item.name}").strip("_")
            page.screenshot(path=SHOTS / f"{stem}-{number}.png")
    return outcome


@pytest.fixture(params=HOSTS, ids="-".join)
def host(request: pytest.FixtureRequest) -> Host:
    """Where to run, one after the other: `lab` and `notebook`, each with `ipykernel6` (6.29) and `ipykernel7`."""
    found: Host = request.param
    return found


@pytest.fixture(scope="session")
def kernel_pythons() -> dict[str, pathlib.Path]:
    """Kernel name → its Python: this one has ipykernel 7, the second environment (or ADK_NB_IPYKERNEL6) has 6.29."""
    old = pathlib.Path(os.environ.get("ADK_NB_IPYKERNEL6") or python_of(OLD_KERNEL_VENV))
    pythons = {"ipykernel6": old, "ipykernel7": pathlib.Path(sys.executable)}
    for name, python in pythons.items():
        ask = [str(python), "-c", "import ipykernel; print(ipykernel.__version__)"]
        found = subprocess.run(ask, capture_output=True, text=True).stdout if python.exists() else ""
        wanted = "6.29." if name == "ipykernel6" else "7."
        if not found.startswith(wanted):
            pytest.fail(
                f"{python} has ipykernel {found.strip() or 'none'}, {wanted}* is needed: run python3 make.py test"
            )
    return pythons


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, kernel_pythons: dict[str, pathlib.Path]) -> Iterator[LabServer]:
    """A JupyterLab server for this module; `lab.work` is the folder of its notebooks."""
    server = LabServer(tmp_path_factory.mktemp("lab"), kernel_pythons)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[BrowserContext]:
    """A headless Chromium with an empty profile, for this module: while it runs, `asyncio.run` can't be used."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        yield browser.new_context(viewport=SIZE)
        browser.close()


@pytest.fixture
def open_notebook(request: pytest.FixtureRequest, lab: LabServer, chromium: BrowserContext) -> Iterator[OpenNotebook]:
    """A function that opens a notebook and hands out its `NotebookPage`, kernel idle.

    `open_notebook(source, host=LAB, name=None, trust=False)`: `source` is a list of code cells, a notebook
    object, or the path of an .ipynb file (a copy of it is opened; copy data files to `lab.work` first). `name` is the
    file's name, by default the test's. `trust` signs it, as for a notebook that this person saved before.
    """
    pages: list[NotebookPage] = []

    def open_one(source: Source, host: Host = LAB, name: str | None = None, trust: bool = False) -> NotebookPage:
        stem = re.sub(r"\W+", "_", request.node.name).strip("_")
        path = lab.write(source, name or f"{stem}-{len(pages)}.ipynb", host.kernel)
        if trust:
            lab.trust(path)
        pages.append(NotebookPage(lab, chromium, path, SHOTS, host.app))
        return pages[-1]

    yield open_one
    for page in pages:
        if request.node.stash.get(failed_key, False):
            page.screenshot(f"failed-{page.path.stem}")
        page.close()
    lab.reset_theme()
