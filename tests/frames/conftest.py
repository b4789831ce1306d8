"""The PostgreSQL server of the stores' tests, for frames of what is in it."""

from __future__ import annotations

from tests.sessions.conftest import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
