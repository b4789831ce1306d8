"""What a run takes and where it is kept: messages, default stores, plain scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adk_nb.errors import ConfigurationError
from adk_nb.notebook.messages import as_message
from adk_nb.notebook.settings import configure, default_sessions
from adk_nb.sessions import InMemorySessionService
from adk_nb.sessions.sqlite_session_service import SqliteSessionService

ROOT = Path(__file__).resolve().parents[2]


def test_messages_of_any_kind() -> None:
    """A message is a text, a content, or data as JSON text; what JSON can't hold is refused in a sentence."""
    assert [part.text for part in as_message("hi").parts or ()] == ["hi"]
    assert [part.text for part in as_message({"a": 1}).parts or ()] == ['{"a": 1}']
    assert as_message(None).parts == []
    with pytest.raises(ValueError, match="can't be sent"):
        as_message(object())


def test_default_stores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A script keeps runs in memory; ADK_NB_SESSIONS names a file, and `configure` wins over both."""
    monkeypatch.setattr("adk_nb.notebook.settings._chosen", {"prices": None, "sessions": None, "theme": "auto"})
    assert isinstance(default_sessions()[0], InMemorySessionService)
    monkeypatch.setenv("ADK_NB_SESSIONS", str(tmp_path / "deep" / "s.db"))
    assert isinstance(default_sessions()[0], SqliteSessionService)
    assert default_sessions()[0] is default_sessions()[0]
    store = InMemorySessionService()
    configure(sessions=store)
    assert default_sessions()[0] is store
    with pytest.raises(ConfigurationError, match="allowed are a session service"):
        configure(sessions=5)


SCRIPT = """
import adk_nb as adk
from adk_nb.notebook.starts import run_sync
def up(node_input: str) -> str:
    return node_input.upper()
import sys
print(run_sync(adk.Workflow(name="w", edges=[("START", up)]), "a").output)
print(sorted({"IPython", "pandas", "ipywidgets", "anywidget", "nest_asyncio"} & set(sys.modules)))
"""


def test_plain_script_prints_only_its_own(tmp_path: Path) -> None:
    """A plain script runs a workflow with no widget package loaded, and nothing is printed but its own words."""
    script = tmp_path / "demo.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", script], env=env, capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("A\n[]\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.py"]
