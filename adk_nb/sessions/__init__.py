"""Keep sessions: what was said and done, the state, and the record of every node run; in memory, a file, a database."""

from adk_nb.errors import StateSchemaError
from adk_nb.events.state import State
from adk_nb.sessions.base_session_service import BaseSessionService
from adk_nb.sessions.database_session_service import DatabaseSessionService
from adk_nb.sessions.in_memory_session_service import InMemorySessionService
from adk_nb.sessions.session import Session
from adk_nb.sessions.sqlite_session_service import SqliteSessionService

__all__ = [
    "BaseSessionService",
    "DatabaseSessionService",
    "InMemorySessionService",
    "Session",
    "SqliteSessionService",
    "State",
    "StateSchemaError",
]
