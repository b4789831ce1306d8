"""A JupyterLab server of its own and a notebook open in Chromium, as the fixtures of `conftest.py` hand them out.

Waiting is always for something that can be seen (a text, a kernel state), never for a time. A wait that runs out says
what it waited for, what the kernel was doing, what the outputs showed and what the browser's console said.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, urlsplit

import nbformat
from nbformat.sign import NotebookNotary
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, ViewportSize
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ("ipykernel6", "ipykernel7")
APPS = {"lab": "doc/tree", "notebook": "notebooks"}
"""Front end → under which address it opens a notebook: JupyterLab with one document, Notebook 7."""
Source: TypeAlias = "str | pathlib.Path | Sequence[str] | nbformat.NotebookNode"

# Set in a fresh profile so that Lab shows nothing of its own, saves only when told, and keeps every cell in the page.
QUIET_SETTINGS: dict[str, dict[str, Any]] = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "notebook-extension/tracker": {"windowingMode": "none", "maxNumberOutputs": 10_000, "scrollPastEnd": False},
    "docmanager-extension/plugin": {"autosave": False},
    "extensionmanager-extension/plugin": {"enabled": False},
    "completer-extension/manager": {"autoCompletion": False},
}
SIZE: ViewportSize = {"width": 1280, "height": 900}
# Console lines that Lab itself writes and that say nothing of the notebook; the last two are Notebook 7's own, as it
# starts, also with a notebook of one cell.
CONSOLE_NOISE = (
    "favicon",
    "WebSocket connection to",
    "React DevTools",
    "of undefined (reading 'schema')",
    "Command 'filebrowser:open-path' not registered",
)


class Host(NamedTuple):
    """Where a notebook runs: the front end that shows it and the kernel that runs it, by their names."""

    app: str = "lab"
    kernel: str = "ipykernel7"


LAB = Host()
HOSTS = tuple(Host(app, kernel) for app in APPS for kernel in KERNELS)


def _exactly(label: str) -> re.Pattern[str]:
    """Matches a label and nothing longer."""
    return re.compile(rf"^\s*{re.escape(label)}\s*$")


class LabServer:
    """One JupyterLab server with its own config, data, runtime and settings folders, on a free loopback port.

    Args:
        home: An empty folder for everything the server keeps; notebooks live in its `work` folder.
        pythons: kernel name → the Python it runs on, one kernelspec each.
    """

    def __init__(self, home: pathlib.Path, pythons: dict[str, pathlib.Path]) -> None:
        self.home = home
        self.work = home / "work"
        self.url = ""
        for folder in ("work", "config", "data", "runtime", "settings", "workspaces", "ipython"):
            (home / folder).mkdir()
        for plugin, values in QUIET_SETTINGS.items():
            path = home / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))
        for name, python in pythons.items():
            spec = home / "data" / "kernels" / name
            spec.mkdir(parents=True)
            argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            spec.joinpath("kernel.json").write_text(
                json.dumps({"argv": argv, "display_name": name, "language": "python", "env": {"PYTHONPATH": str(ROOT)}})
            )

    def start(self, timeout_s: float = 90) -> None:
        """Start the server and return when it answers."""
        folders = {"CONFIG_DIR": "config", "DATA_DIR": "data", "RUNTIME_DIR": "runtime"}
        env = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_"))}
        env |= {f"JUPYTER_{name}": str(self.home / folder) for name, folder in folders.items()}
        env["JUPYTERLAB_SETTINGS_DIR"] = str(self.home / "settings")
        env["JUPYTERLAB_WORKSPACES_DIR"] = str(self.home / "workspaces")
        env["IPYTHONDIR"] = str(self.home / "ipython")
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
        command += ["--IdentityProvider.token=", "--LabApp.extension_manager=readonly", "--expose-app-in-browser"]
        command += ["--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={self.work}"]
        command += ["--JupyterNotebookApp.expose_app_in_browser=True"]  # Notebook 7 is an extension of the same server
        with open(self.home / "server.log", "wb") as log:
            self._process = subprocess.Popen(
                command, cwd=self.work, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + timeout_s
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError(f"JupyterLab did not start:\n{self.log()}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        for info in self.home.joinpath("runtime").glob("jpserver-*.json"):
            with contextlib.suppress(OSError, ValueError):  # not yet written in full, or not yet listening
                self.url = json.loads(info.read_text())["url"]
                self.request("api/status")
                return True
        return False

    def request(self, path: str, method: str = "GET") -> bytes:
        """Ask the server's REST interface; the body of its answer."""
        request = urllib.request.Request(self.url + path, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as answer:
            body: bytes = answer.read()
        return body

    def reset_theme(self) -> None:
        """Forget a theme that a test chose: Lab keeps it on the server, for every page opened later."""
        self.home.joinpath("settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings").unlink(missing_ok=True)

    def log(self) -> str:
        """The end of what the server wrote."""
        return self.home.joinpath("server.log").read_text(errors="replace")[-4000:]

    def stop(self) -> None:
        """Shut the server down, its kernels with it."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                self.request("api/shutdown", "POST")
            for end in (self._process.terminate, self._process.kill):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(20)
                    return
                end()
            self._process.wait(20)

    def write(self, source: Source, name: str, kernel: str) -> pathlib.Path:
        """Put a notebook into the work folder, set to run on a kernel."""
        if isinstance(source, nbformat.NotebookNode):
            notebook = source
        elif isinstance(source, str | pathlib.Path):
            notebook = nbformat.read(source, as_version=4)
        else:
            notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in source])
        notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        return path

    def trust(self, path: pathlib.Path) -> None:
        """Sign a notebook, so that Lab runs the scripts in its saved outputs."""
        notary = NotebookNotary(data_dir=str(self.home / "data"))
        notary.sign(nbformat.read(path, as_version=4))
        notary.store.close()


_NO_SPLASH = "!document.querySelector('#jupyterlab-splash')"
# What the tests ask of the page. `app` is there because the server is started with --expose-app-in-browser.
_PAGE_JS = """(path) => {
  const app = window.jupyterapp;
  const panel = () => [...app.shell.widgets('main')].find(w => w.context && w.context.path === path);
  const outputs = cell => [...cell.node.querySelectorAll('.jp-Cell-outputArea .jp-OutputArea-output')];
  window.notebookUnderTest = {
    finished: {},
    panel,
    cells: () => panel().content.widgets,
    kernel: () => {
      const p = panel();
      const session = p && p.sessionContext.session;
      return session && session.kernel && p.context.isReady ? session.kernel.status : 'none';
    },
    text: index => {
      const cells = panel().content.widgets;
      const nested = o => o.parentElement.closest('.jp-OutputArea-output');
      return (index === null ? cells : [cells[index]])
        .flatMap(outputs).filter(o => !nested(o)).map(o => o.innerText).join('\\n');
    },
    bundles: index => { const m = panel().content.widgets[index].model; return m.outputs ? m.outputs.toJSON() : []; },
    start: (command, key, args) => {
      app.shell.activateById(panel().id);
      app.commands.execute(command, args).then(
        () => { window.notebookUnderTest.finished[key] = 'done'; },
        error => { window.notebookUnderTest.finished[key] = String(error); });
    },
  };
}"""


class NotebookPage:
    """One notebook open in the browser.

    Cells are numbered from 0, negative numbers from the end; `cell=None` means the whole notebook. `page` is
    Playwright's own page and `output(cell)` a Playwright locator, for what has no method here.
    """

    def __init__(
        self, server: LabServer, browser: BrowserContext, path: pathlib.Path, shots: pathlib.Path, app: str = "lab"
    ) -> None:
        self.server = server
        self.app = app
        self.path = path
        self.shots = shots
        self.foreign_requests: list[str] = []
        self._console: list[str] = []
        self._runs = 0
        self.page: Page = browser.new_page()
        self.page.set_default_timeout(15_000)
        self.page.on("console", self._note_console)
        self.page.on("pageerror", lambda error: self._note(f"uncaught: {error}"))
        self.page.on("request", self._note_request)
        self._load()

    def _load(self) -> None:
        relative = self.path.relative_to(self.server.work).as_posix()
        self.page.goto(f"{self.server.url}{APPS[self.app]}/{quote(relative)}?reset")
        for is_last in (False, False, True):
            try:
                self._wait("() => Boolean(window.jupyterapp)", "JupyterLab's page", 60)
                self.page.evaluate("() => window.jupyterapp.restored.then(() => true)")
                self._wait(f"() => {_NO_SPLASH}", "Lab's splash screen to go", 30)
                self.page.evaluate(_PAGE_JS, relative)
                break
            except PlaywrightError as error:
                # A second page of one server is sent on to a workspace of its own while it loads: look at that one.
                if is_last or "context was destroyed" not in str(error):
                    raise
        self.wait_idle(60)

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(message.text)

    def _note(self, text: str) -> None:
        if not any(noise in text for noise in CONSOLE_NOISE):
            self._console.append(text)

    def _note_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname != "127.0.0.1":
            self.foreign_requests.append(request.url)

    def _wait(self, condition: str, what: str, timeout_s: float, argument: Any = None) -> None:
        try:
            self.page.wait_for_function(condition, arg=argument, timeout=timeout_s * 1000, polling=50)
        except PlaywrightTimeout:
            raise AssertionError(f"Waited {timeout_s} s for {what}. {self._seen()}") from None

    def _seen(self) -> str:
        """What the page shows now, for the message of a wait that ran out."""
        self.screenshot(f"{self.path.stem}-waited")
        if not self.page.evaluate("() => Boolean(window.notebookUnderTest && window.notebookUnderTest.panel())"):
            return f"The page shows: {self.page.inner_text('body')[:500]!r}. Server log: {self.server.log()[-1500:]}"
        dialogs = self.page.locator(".jp-Dialog").all_inner_texts()
        return (
            f"Kernel {self.kernel_state}, dialogs {dialogs}, console {self._console}, outputs: {self.text()[-2000:]!r}"
        )

    # Running

    @property
    def kernel_state(self) -> str:
        """`idle`, `busy`, `dead`, …; `none` while there is no kernel."""
        state: str = self.page.evaluate("() => window.notebookUnderTest.kernel()")
        return state

    def wait_idle(self, timeout_s: float = 60) -> None:
        """Return when the kernel is there and idle."""
        self._wait("() => window.notebookUnderTest.kernel() === 'idle'", "an idle kernel", timeout_s)

    def _command(self, command: str, timeout_s: float, **arguments: Any) -> None:
        self._start(command, **arguments)
        condition = "key => window.notebookUnderTest.finished[key]"
        self._wait(condition, f"{command} to finish", timeout_s, self._runs)
        outcome = self.page.evaluate(condition, self._runs)
        assert outcome == "done", f"{command}: {outcome}"

    def _start(self, command: str, **arguments: Any) -> None:
        self._runs += 1
        values = [command, self._runs, arguments]
        self.page.evaluate("([command, key, args]) => window.notebookUnderTest.start(command, key, args)", values)

    def run_all(self, timeout_s: float = 120) -> None:
        """Run every cell and return when all have ended and the kernel is idle; after an error Lab runs no further."""
        self._command("notebook:run-all-cells", timeout_s)
        self.wait_idle(timeout_s)

    def run_cell(self, cell: int, timeout_s: float = 60, *, wait: bool = True) -> None:
        """Run one cell; with `wait=False` return while it runs."""
        select = """index => { const content = window.notebookUnderTest.panel().content;
          content.deselectAll(); content.activeCellIndex = index; }"""
        self.page.evaluate(select, self._index(cell))
        if wait:
            self._command("notebook:run-cell", timeout_s)
        else:
            self._start("notebook:run-cell")

    def run_code(self, source: str, timeout_s: float = 60) -> str:
        """Run source in a new last cell; the text it shows."""
        append = """source => { const model = window.notebookUnderTest.panel().content.model.sharedModel;
          model.insertCell(model.cells.length, {cell_type: 'code', source, metadata: {}}); }"""
        self.page.evaluate(append, source)
        self.run_cell(-1, timeout_s)
        self.wait_idle(timeout_s)
        return self.text(-1)

    def interrupt(self) -> None:
        """Press Stop."""
        self._command("notebook:interrupt-kernel", 30)

    def restart_kernel(self) -> None:
        """Restart the kernel without touching the outputs, and wait until it is idle."""
        self.page.evaluate("() => window.notebookUnderTest.panel().sessionContext.session.kernel.restart()")
        self.wait_idle()

    def save(self) -> nbformat.NotebookNode:
        """Save the notebook; what stands on disk now."""
        self._command("docmanager:save", 30)
        saved: nbformat.NotebookNode = nbformat.read(self.path, as_version=4)
        return saved

    def reopen(self) -> None:
        """Load the page anew, as a person who comes back to the saved notebook; the kernel runs on."""
        self._load()

    def close(self) -> None:
        """Close the page; kernels end with the server."""
        self.page.close()

    # Reading

    def _index(self, cell: int) -> int:
        count: int = self.page.evaluate("() => window.notebookUnderTest.cells().length")
        return range(count)[cell]

    def text(self, cell: int | None = None) -> str:
        """What a reader sees in the outputs (never in the source) of one cell or of all."""
        index = None if cell is None else self._index(cell)
        shown: str = self.page.evaluate("index => window.notebookUnderTest.text(index)", index)
        return shown

    def wait_text(self, text: str, cell: int | None = None, timeout_s: float = 30) -> None:
        """Return when the outputs show a text."""
        condition = "([text, index]) => window.notebookUnderTest.text(index).includes(text)"
        self._wait(condition, f"the text {text!r}", timeout_s, [text, None if cell is None else self._index(cell)])

    def wait_gone(self, text: str, cell: int | None = None, timeout_s: float = 30) -> None:
        """Return when the outputs no longer show a text."""
        condition = "([text, index]) => !window.notebookUnderTest.text(index).includes(text)"
        self._wait(condition, f"{text!r} to go", timeout_s, [text, None if cell is None else self._index(cell)])

    def wait_for(self, condition: Callable[[], bool], what: str, timeout_s: float = 30) -> None:
        """Return when a condition of the test's own holds, asked again and again while the page lives on."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"Waited {timeout_s} s for {what}. {self._seen()}")
            self.page.wait_for_timeout(50)

    def bundles(self, cell: int) -> list[dict[str, Any]]:
        """The outputs of a cell as they would be saved: one dict each, mime bundles under `data`."""
        saved: list[dict[str, Any]] = self.page.evaluate(
            "index => window.notebookUnderTest.bundles(index)", self._index(cell)
        )
        return saved

    def errors(self) -> list[str]:
        """Every Python error in the outputs, as `Name: message`."""
        count: int = self.page.evaluate("() => window.notebookUnderTest.cells().length")
        outputs = [output for cell in range(count) for output in self.bundles(cell)]
        return [f"{o['ename']}: {o['evalue']}" for o in outputs if o["output_type"] == "error"]

    def console_errors(self) -> list[str]:
        """What the browser's console called an error, and uncaught exceptions of scripts."""
        return list(self._console)

    def assert_clean(self) -> None:
        """No Python error, no script error, nothing asked from another machine."""
        found = {"errors": self.errors(), "console": self.console_errors(), "requests": self.foreign_requests}
        assert not any(found.values()), found

    # Acting

    def output(self, cell: int | None = None) -> Locator:
        """Where a cell (or the whole notebook) shows its outputs."""
        if cell is None:
            return self.page.locator(".jp-NotebookPanel-notebook")
        return self.page.locator(".jp-Notebook .jp-Cell").nth(self._index(cell)).locator(".jp-Cell-outputArea").first

    def button(self, label: str, cell: int | None = None) -> Locator:
        """The button that carries a label, ipywidget or plain HTML; the last one if several do."""
        return self.output(cell).locator("button, [role=button]").filter(has_text=_exactly(label)).last

    def field(self, label: str, cell: int | None = None) -> Locator:
        """The input, text area or drop-down with a label: a widget's description, an HTML label, a placeholder."""
        area = self.output(cell)
        labelled = area.get_by_label(label, exact=True).or_(area.get_by_placeholder(label, exact=True))
        return labelled.and_(self.page.locator("input, textarea, select")).last

    def click(self, label: str, cell: int | None = None) -> None:
        """Click the button with a label."""
        self.button(label, cell).click()

    def fill(self, label: str, value: object, cell: int | None = None) -> None:
        """Type into the field with a label and leave it, so that its value is sent."""
        field = self.field(label, cell)
        field.fill(str(value))
        field.blur()

    def choose(self, label: str, option: str, cell: int | None = None) -> None:
        """Pick an option of the drop-down with a label."""
        self.field(label, cell).select_option(label=option)

    def tick(self, label: str, on: bool = True, cell: int | None = None) -> None:
        """Tick or clear the checkbox with a label."""
        box = self.output(cell).locator("label").filter(has_text=_exactly(label)).last
        box.locator("input[type=checkbox]").set_checked(on)

    def slide(self, label: str, value: float, cell: int | None = None) -> None:
        """Set the ipywidgets slider with a label, by typing into its readout."""
        described = self.output(cell).locator(".widget-label").filter(has_text=_exactly(label)).last
        readout = described.locator("xpath=..").locator(".widget-readout")
        readout.fill(str(value))
        readout.press("Enter")

    def theme(self, name: str) -> None:
        """Switch Lab to its `light` or `dark` theme and wait until it is drawn."""
        self._command("apputils:change-theme", 30, theme=f"JupyterLab {name.title()}")
        light = json.dumps(name == "light")
        drawn = f"light => document.body.dataset.jpThemeLight === light && {_NO_SPLASH}"
        self._wait(drawn, f"the {name} theme", 30, light)

    def screenshot(self, name: str, cell: int | None = None) -> pathlib.Path:
        """Save what the page (or one cell's outputs) looks like, to its full height, as `<name>.png`; the path."""
        self.shots.mkdir(parents=True, exist_ok=True)
        path = self.shots / f"{name}.png"
        height = """() => Math.max(900, 120 + Math.max(0,
          ...[...document.querySelectorAll('.jp-WindowedPanel-outer, .jp-Notebook')].map(e => e.scrollHeight)))"""
        self.page.set_viewport_size({**SIZE, "height": min(self.page.evaluate(height), 8000)})
        if cell is None:
            self.page.screenshot(path=path)
        else:
            self.output(cell).screenshot(path=path)
        self.page.set_viewport_size(SIZE)
        return path
