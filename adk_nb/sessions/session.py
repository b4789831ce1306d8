"""`Session`: one conversation or run history, as a session service hands it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, alias_generators, model_serializer

from adk_nb.events.event import Event


class Handle(Protocol):
    """What a service knows of a stored session; every `Session` object of it in one process shares it."""

    def load_events(self) -> list[Event]:
        """Return all stored events, oldest first, as a list that the caller owns."""


class Session(BaseModel):
    """One session: its state and everything that happened in it, oldest first.

    Events are shared history and can't be changed. Writing to `state` here isn't stored: append an event with a
    `state_delta`, or use `ctx.state` in a node.

    Example:
        >>> Session(id="s", app_name="app", user_id="ada").events
        []
    """

    model_config = ConfigDict(
        alias_generator=alias_generators.to_camel, populate_by_name=True, extra="forbid", arbitrary_types_allowed=True
    )

    id: str
    app_name: str
    user_id: str
    state: dict[str, Any] = Field(default_factory=dict)
    """The session's own keys, those of its user (`user:`) and of its app (`app:`)."""
    events: list[Event] = Field(default_factory=list)
    """A session from a file reads its events when this is first asked for."""
    last_update_time: float = 0.0
    """Seconds since the epoch."""

    _handle: Any = PrivateAttr(default=None)

    if not TYPE_CHECKING:  # A typed __getattr__ would make every misspelled name an Any.

        def __getattr__(self, name: str) -> Any:
            if name == "events":
                return self._read()
            return super().__getattr__(name)

    def _read(self) -> list[Event]:
        fields = self.__dict__
        if "events" not in fields:
            fields["events"] = self._handle.load_events()
        events: list[Event] = fields["events"]
        return events

    @model_serializer(mode="wrap")
    def _serialize(self, serialize: Any) -> Any:
        self._read()
        return serialize(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Session):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Session.model_fields)

    def __repr_args__(self) -> Any:
        self._read()
        return super().__repr_args__()

    def __iter__(self) -> Any:
        self._read()
        return super().__iter__()

    def __getstate__(self) -> dict[Any, Any]:
        self._read()
        state = super().__getstate__()
        # What a service knows stays with it: the pickled session is a copy for reading.
        return {**state, "__pydantic_private__": {"_handle": None}}


def new_session(
    handle: Handle | None,
    key: tuple[str, str, str],
    state: dict[str, Any],
    *,
    last_update_time: float,
    events: list[Event] | None = None,
) -> Session:
    """Return a session that belongs to a service.

    Args:
        handle: What the service knows of it; `None` when that is looked up once it is needed.
        key: App name, user id and session id.
        state: The merged state; the session owns it.
        last_update_time: Seconds since the epoch.
        events: The events; the session owns the list. `None` leaves them to be read when asked for.
    """
    app_name, user_id, session_id = key
    session = Session.model_construct(
        id=session_id,
        app_name=app_name,
        user_id=user_id,
        state=state,
        events=[] if events is None else events,
        last_update_time=last_update_time,
    )
    session._handle = handle
    if events is None:
        del session.__dict__["events"]
    return session


def key_of(session: Any) -> tuple[str, str, str]:
    """Return a session's app name, user id and id."""
    return session.app_name, session.user_id, session.id


def handle_of(session: Any) -> Any:
    """Return what the service knows of a session, `None` for a session that user code built."""
    return session._handle if isinstance(session, Session) else None


def adopt(session: Any, handle: Handle) -> None:
    """Tie a session that user code built to what the service knows of it."""
    if isinstance(session, Session):
        session._handle = handle


def show_event(session: Any, event: Event) -> None:
    """Add a stored event to a session's list, unless the list will be read with this event in it."""
    if not isinstance(session, Session) or "events" in session.__dict__:
        session.events.append(event)
    if event.timestamp > session.last_update_time:
        session.__dict__["last_update_time"] = event.timestamp  # a float: the model needn't check it at each event


def show_delta(session: Any, delta: Mapping[str, Any]) -> None:
    """Bring the state that a session shows up to a change; containers that are equal already keep their identity."""
    state = session.state
    for key, value in delta.items():
        if type(value) not in (dict, list) or key not in state or state[key] != value:
            state[key] = value
