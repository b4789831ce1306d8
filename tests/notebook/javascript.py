"""Run the front end's functions outside a page: in the system's Node, in Playwright's, else in Chromium."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from typing import Any

import playwright
from playwright.sync_api import Page, sync_playwright

from make import find_chromium

# JSON has no infinity.
_PLAIN = '(_, v) => (v === Infinity ? "inf" : v)'


def answers(module: str, body: str, given: Any, folder: pathlib.Path) -> Any:
    """What `body`, the body of a function of `given`, returns beside the functions of a module; infinity as `"inf"`."""
    node = find_node()
    if node is None:
        return answers_in_chromium(module, body, given)
    source = f"""{module}
import {{ readFileSync, writeFileSync }} from "node:fs";
const answer = ((given) => {{ {body} }})(JSON.parse(readFileSync("given.json", "utf8")));
writeFileSync("answers.json", JSON.stringify(answer, {_PLAIN}));
"""
    (folder / "run.mjs").write_text(source, encoding="utf-8")
    (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
    subprocess.run([node, "run.mjs"], cwd=folder, check=True)
    return json.loads((folder / "answers.json").read_text(encoding="utf-8"))


def answers_in_chromium(module: str, body: str, given: Any) -> Any:
    """The same, worked out by Chromium."""
    with sync_playwright() as engine:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = engine.chromium.launch(executable_path=find_chromium(), args=arguments)
        found = answers_on_page(browser.new_page(), module, body, given)
        browser.close()
    return found


def answers_on_page(page: Page, module: str, body: str, given: Any) -> Any:
    """The same, on an empty page."""
    # A page may use a module's functions only from inside of it.
    opened = f"globalThis.answer = (given) => JSON.stringify(((given) => {{ {body} }})(given), {_PLAIN});"
    page.add_script_tag(type="module", content=f"{module}\n{opened}")
    page.wait_for_function("Boolean(globalThis.answer)")
    return json.loads(page.evaluate("given => globalThis.answer(JSON.parse(given))", json.dumps(given)))


def find_node() -> str | None:
    """The system's Node, or the one that comes with Playwright."""
    bundled = pathlib.Path(playwright.__file__).parent / "driver" / ("node.exe" if os.name == "nt" else "node")
    return shutil.which("node") or (str(bundled) if bundled.exists() else None)
