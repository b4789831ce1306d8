"""The public names that drive the two engines which speak ADK's names: the package is the only difference."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple


class Names(NamedTuple):
    """The public names the cases use, taken from one package."""

    package: str
    Content: Any
    Event: Any
    FunctionResponse: Any
    FunctionNode: Any
    InMemorySessionService: Any
    JoinNode: Any
    Part: Any
    Runner: Any
    Workflow: Any
    node: Any


def names_of(package: str) -> Names:
    """Import the public names from `package`: "adk_nb" or "google.adk"."""
    top = importlib.import_module(package)
    workflow = importlib.import_module(f"{package}.workflow")
    sessions = importlib.import_module(f"{package}.sessions")
    types = importlib.import_module("google.genai.types")
    return Names(
        package=package,
        Content=types.Content,
        Event=top.Event,
        FunctionResponse=types.FunctionResponse,
        FunctionNode=workflow.FunctionNode,
        InMemorySessionService=sessions.InMemorySessionService,
        JoinNode=workflow.JoinNode,
        Part=types.Part,
        Runner=top.Runner,
        Workflow=top.Workflow,
        node=workflow.node,
    )


def sqlite_sessions(package: str, path: Path) -> Any:
    """Open the package's SQLite session service on `path`."""
    # Imported by the one case that needs it, so that the import row of the others doesn't pay for SQLite.
    sessions: ModuleType = importlib.import_module(f"{package}.sessions")
    if not hasattr(sessions, "SqliteSessionService"):
        sessions = importlib.import_module(f"{package}.sessions.sqlite_session_service")
    return sessions.SqliteSessionService(str(path))
