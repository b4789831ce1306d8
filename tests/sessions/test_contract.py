"""The contract of session services, over every service of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from adk_nb.sessions import BaseSessionService, InMemorySessionService, SqliteSessionService
from adk_nb.testing.sessions import SessionServiceContract


class TestInMemory(SessionServiceContract):
    """In memory."""

    def make(self) -> BaseSessionService:
        """Return a new service."""
        return InMemorySessionService()


class TestSqliteFile(SessionServiceContract):
    """In a file, read back by a second service that has never seen the sessions."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "folder" / "sessions.db"

    def make(self) -> BaseSessionService:
        """Return a service on a new file."""
        return SqliteSessionService(self.path)

    def reopen(self, service: BaseSessionService) -> BaseSessionService:
        """Return another service on the file."""
        return SqliteSessionService(self.path)


class TestSqliteInMemory(SessionServiceContract):
    """In SQLite's memory."""

    def make(self) -> BaseSessionService:
        """Return a new service."""
        return SqliteSessionService(":memory:")
