"""What a run takes and where it is kept: messages, default stores, plain scripts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

import adk_nb
from adk_nb.errors import ConfigurationError, SessionStoreError
from adk_nb.notebook.running.messages import as_message
from adk_nb.notebook.settings import as_sessions, configure, default_sessions
from adk_nb.sessions import InMemorySessionService
from adk_nb.sessions.database_session_service import DatabaseSessionService
from adk_nb.sessions.sqlite_session_service import SqliteSessionService
from adk_nb.workflow import node
from adk_nb.workflow.context import Context
from tests.sessions.plain_store import PlainStore

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


@pytest.mark.parametrize("named", ["memory", ":memory:"])
def test_memory_by_either_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str) -> None:
    """Where runs are to be kept in memory, under our name or SQLite's, no file is made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("adk_nb.notebook.settings._chosen", {"prices": None, "sessions": None, "theme": "auto"})
    monkeypatch.setenv("ADK_NB_SESSIONS", named)
    assert isinstance(default_sessions()[0], InMemorySessionService)
    assert as_sessions(named) is default_sessions()[0]
    assert list(tmp_path.iterdir()) == []


def test_a_database_by_its_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An address of a database is one, and no path of a file."""
    monkeypatch.chdir(tmp_path)
    address = f"sqlite:///{tmp_path / 's.db'}"
    assert isinstance(as_sessions(address), DatabaseSessionService)
    assert as_sessions(address) is as_sessions(address)
    with pytest.raises(SessionStoreError, match="it keeps sessions in PostgreSQL"):
        as_sessions("mysql://host/db")
    assert list(tmp_path.iterdir()) == []


def test_state_of_a_store_that_keeps_only_events() -> None:
    """The state of a run is what its nodes wrote, of the same types, on a store of events only, too."""

    def write(ctx: Context) -> None:
        ctx.state["pair"] = (1, Decimal("9.90"))

    async def test() -> None:
        store = PlainStore()
        run = adk_nb.run(node(write, name="w"), "hi", sessions=store, view=False)
        await run
        assert run.state == {"pair": (1, Decimal("9.90"))}
        again = adk_nb.run(node(lambda: 1, name="w"), "hi", sessions=store, session=run.session_id, view=False)
        await again
        assert again.state == {"pair": (1, Decimal("9.90"))}

    asyncio.run(test())


SCRIPT = """
import adk_nb as adk
from adk_nb.notebook.running.starts import run_sync
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
