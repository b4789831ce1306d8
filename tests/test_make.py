"""The one script that sets everything up: what it says when something is missing, and its headless run."""

from __future__ import annotations

import ast
import pathlib

import nbformat
import pytest

import make
from scripts import outcome


def test_starts_on_an_old_python() -> None:
    """The script is valid Python 3.6, so that an old Python can say which one is needed instead of a SyntaxError."""
    ast.parse(pathlib.Path(make.__file__).read_text(encoding="utf-8"), feature_version=(3, 6))


def test_missing_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a fitting Python the message says which are needed, what was found and how to name one."""
    monkeypatch.setattr(make, "probe", lambda path: (3, 9, True))
    with pytest.raises(make.Unable, match=r"3\.11, 3\.12 or 3\.13 .*found: 3\.9.*--python PATH"):
        make.find_python("/some/python3.9")


def test_newer_python_is_tried_with_a_word(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A Python newer than the tested ones is used, and one line says that it is untested."""
    monkeypatch.setattr(make, "probe", lambda path: (3, 15, True))
    assert make.find_python("/some/python3.15") == "/some/python3.15"
    assert "3.15 is newer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("present", "missing"), [((), "Chromium"), (("chromium",), "dot"), (("chromium", "dot"), "initdb")]
)
def test_missing_program_is_an_error(
    present: tuple[str, ...], missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """Where Chromium, dot or PostgreSQL is missing and can't be installed, the test command fails, with no skip."""
    for program in present:
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ADK_NB_CHROMIUM", raising=False)
    monkeypatch.setattr(make, "MAC_CHROME", str(tmp_path / "none"))
    monkeypatch.setattr(make, "POSTGRES_PROGRAMS", str(tmp_path / "none"))
    with pytest.raises(make.Unable, match=f"{missing}.*not found.*--fast"):
        make.add_test_programs()


def test_missing_notebook_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A notebook that isn't there ends the command with one sentence, before anything is set up."""
    monkeypatch.setattr("sys.argv", ["make.py", "lab", "nowhere.ipynb"])
    assert make.main() == 1
    assert "There is no notebook" in capsys.readouterr().out


@pytest.mark.slow
def test_headless_run_prints_the_outcome(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The headless run prints what cells show, ends at a cell that raises, says which, and returns 1."""
    cells = ["print('hello')\n6 * 7", "x = 1", "1 / 0", "print('never')"]
    path = tmp_path / "small.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells]), path)
    assert outcome.main(path) == 1
    printed = capsys.readouterr().out
    assert "hello\n42" in printed
    assert "never" not in printed
    assert printed.strip().endswith("cell 2: ZeroDivisionError: division by zero")
