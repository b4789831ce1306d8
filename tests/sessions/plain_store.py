"""A session service as people write one for google-adk: ADK's five methods, JSON texts, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from adk_nb.errors import AlreadyExistsError, SessionNotFoundError
from adk_nb.events import Event
from adk_nb.events.event import new_id
from adk_nb.sessions import BaseSessionService, Session
from adk_nb.sessions.base_session_service import GetSessionConfig, ListSessionsResponse


class PlainStore(BaseSessionService):
    """Keep sessions as JSON texts in a dictionary; hand out new objects each time."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str, str], str] = {}
        self.shared: dict[str, dict[str, Any]] = {}
        self.appends = 0

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Store a new session."""
        session = Session(id=session_id or new_id(), app_name=app_name, user_id=user_id)
        key = (app_name, user_id, session.id)
        if key in self.texts:
            raise AlreadyExistsError(f"Session {session.id!r} exists already")
        self._write(session, state or {})
        return self._read(key)

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a stored session."""
        key = (app_name, user_id, session_id)
        return self._read(key) if key in self.texts else None

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return sessions without events."""
        found = [self._read(key) for key in self.texts if key[0] == app_name and user_id in (None, key[1])]
        for session in found:
            session.events = []
        return ListSessionsResponse(sessions=sorted(found, key=lambda session: session.last_update_time))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session."""
        self.texts.pop((app_name, user_id, session_id), None)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event, and show it in the session."""
        key = (session.app_name, session.user_id, session.id)
        if key not in self.texts:
            raise SessionNotFoundError(f"Session {session.id!r} isn't stored")
        await super().append_event(session, event)
        stored = self._read(key)
        stored.events.append(Event.model_validate_json(event.model_dump_json()))
        stored.last_update_time = max(stored.last_update_time, event.timestamp)
        self._write(stored, event.actions.state_delta)
        self.appends += 1
        return event

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what the sessions of a user share."""
        return dict(self.shared.get(f"user:{app_name}:{user_id}", {}))

    def _write(self, session: Session, delta: dict[str, Any]) -> None:
        own = {k: v for k, v in session.state.items() if not k.startswith(("app:", "user:"))}
        for key, value in json.loads(json.dumps(delta)).items():
            scope, _, name = key.partition(":")
            if scope == "app" and name:
                self.shared.setdefault(f"app:{session.app_name}", {})[name] = value
            elif scope == "user" and name:
                self.shared.setdefault(f"user:{session.app_name}:{session.user_id}", {})[name] = value
            elif scope != "temp":
                own[key] = value
        session.state = own
        self.texts[session.app_name, session.user_id, session.id] = session.model_dump_json()

    def _read(self, key: tuple[str, str, str]) -> Session:
        session = Session.model_validate_json(self.texts[key])
        app, user = self.shared.get(f"app:{key[0]}", {}), self.shared.get(f"user:{key[0]}:{key[1]}", {})
        session.state |= {f"app:{k}": v for k, v in app.items()} | {f"user:{k}": v for k, v in user.items()}
        return session
