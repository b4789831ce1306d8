"""What the documents show runs: their Python blocks here, docstring examples as doctests of their modules."""

from __future__ import annotations

import ast
import asyncio
import inspect
import pathlib
import re
import subprocess
import sys
import types
import zipfile

import pytest

import make

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLE = re.compile(r"^\s*Examples?:\s*$", re.MULTILINE)


async def run_block(source: str, path: pathlib.Path, line: int, names: dict[str, object]) -> None:
    """Run a block as a notebook cell: `await` is allowed at its top, and names live on in the next block."""
    padded = "\n" * line + source
    code = compile(padded, str(path), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        await types.FunctionType(code, names)()
    else:
        exec(code, names)


@pytest.mark.parametrize(
    "path", [path for path in DOCUMENTS if BLOCK.search(path.read_text(encoding="utf-8"))], ids=str
)
def test_python_blocks_run(path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a document run one after the other, like the cells of a notebook; its asserts hold."""
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")

    async def run_all() -> None:
        names: dict[str, object] = {"__name__": "__main__"}
        for block in BLOCK.finditer(text):
            await run_block(block[1], path, text.count("\n", 0, block.start(1)), names)

    asyncio.run(run_all())


@pytest.mark.parametrize(
    "path", sorted((ROOT / "adk_nb").rglob("*.py")), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_docstring_examples_can_run(path: pathlib.Path) -> None:
    """An `Example:` in a docstring is written as a doctest, so that it is run with all the others."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    documented = [(node, ast.get_docstring(node) or "") for node in ast.walk(tree) if isinstance(node, kinds)]
    dead = [
        getattr(node, "name", "the module")
        for node, text in documented
        if EXAMPLE.search(text) and ">>>" not in EXAMPLE.split(text, maxsplit=1)[1]
    ]
    assert dead == []


def test_readme_commands_exist() -> None:
    """Every `python3 make.py …` in the README names a verb and options that the script knows."""
    commands = re.findall(r"python3 make\.py ([^`\n]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        options, rest = make.arguments().parse_known_args(command.split())
        assert options.verb in ("lab", "test", "format")
        assert not rest or options.verb == "test"


@pytest.mark.slow
def test_wheel_holds_the_data_files(tmp_path: pathlib.Path) -> None:
    """The built wheel holds every file of the package: front-end modules, style sheets, data sets, `py.typed`."""
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = zipfile.ZipFile(tmp_path / done.stdout.split()[-1]).namelist()
    files = [path for path in (ROOT / "adk_nb").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.relative_to(ROOT).as_posix() for path in files} <= set(names)
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "make.py", "notebooks/"))]
