"""`State`: the data that a whole session sees, with scopes by prefix and a record of what was changed."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adk_nb.errors import AdkNbError
from adk_nb.events.values import PLAIN, snapshot


class State:
    """A dictionary-like view of session state that writes through and remembers what it wrote.

    A write is seen at once by everyone in the same run. A list or dictionary read from here is the reader's own copy:
    changed in place, it counts as written with the node's next event. Keys can't be deleted: set them to `None`.

    Example:
        >>> state = State({"seen": ["a"]}, {})
        >>> state["seen"].append("b"); state["user:name"] = "Ada"
        >>> state.take_delta()
        {'user:name': 'Ada', 'seen': ['a', 'b']}
    """

    APP_PREFIX = "app:"
    """Shared by all users of the app."""
    USER_PREFIX = "user:"
    """Shared by all sessions of the user."""
    TEMP_PREFIX = "temp:"
    """Lives for one call of the runner and is never stored."""

    def __init__(
        self, value: dict[str, Any], delta: dict[str, Any], check: Callable[[str, Any], None] | None = None
    ) -> None:
        """Look at `value` and collect writes in `delta`; both dictionaries are used, not copied.

        Args:
            value: The live state of the session.
            delta: Where writes are collected.
            check: Called with key and value before each write; raises to refuse it.
        """
        self._value = value
        self._delta = delta
        self._check = check
        self._handed_out: dict[str, tuple[Any, Any]] = {}

    def __getitem__(self, key: str) -> Any:
        value = self._value[key]
        if type(value) in PLAIN or key.startswith(self.TEMP_PREFIX):
            return value
        held = self._handed_out.get(key)
        if held is not None and held[1] is value:
            return held[0]
        own = copy.deepcopy(value)
        self._handed_out[key] = (own, value)
        return own

    def check(self, key: str, value: Any) -> None:
        """Raise if this key may not be written, or not with this value."""
        if self._check is not None:
            self._check(key, value)

    def __setitem__(self, key: str, value: Any) -> None:
        self.check(key, value)
        self._handed_out.pop(key, None)
        kept = value
        if type(value) not in PLAIN and not key.startswith(self.TEMP_PREFIX):
            kept = snapshot(value, f"state[{key!r}]")
            self._handed_out[key] = (value, kept)
        self._value[key] = self._delta[key] = kept

    def __contains__(self, key: object) -> bool:
        return key in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._value))

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or `default` when it isn't set."""
        return self[key] if key in self._value else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, setting it to `default` first when it isn't set."""
        if key not in self._value:
            self[key] = default
        return self[key]

    def update(self, delta: Mapping[str, Any]) -> None:
        """Write several keys."""
        for key, value in delta.items():
            self[key] = value

    def twin(self) -> State:
        """Return a second handle on the same state and the same record of what was written."""
        return copy.copy(self)

    def cut_off(self, twin: State) -> None:
        """Let nothing that is written through the twin from now on be seen by others."""
        with contextlib.suppress(AdkNbError, RuntimeError):  # a change that can't be kept, or is being made right now
            self._notice_changes()
        self._handed_out = {}
        twin._value, twin._delta, twin._handed_out = dict(self._value), {}, {}

    def wrote(self, key: str) -> bool:
        """Say whether a key was written, or its value changed in place, since the last event."""
        return self.has_delta() and key in self._delta

    @property
    def is_touched(self) -> bool:
        """Something was written, or handed out and so may have been changed, since the last event."""
        return bool(self._delta or self._handed_out)

    def has_delta(self) -> bool:
        """Say whether anything was written and not yet taken into an event."""
        if not self.is_touched:
            return False
        self._notice_changes()
        return bool(self._delta)

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of all keys and values."""
        self._notice_changes()
        return copy.deepcopy(dict(self._value))  # of one moment: other threads may write

    def take_delta(self) -> dict[str, Any]:
        """Return a snapshot of what was written since the last call, and start again with nothing written.

        Raises:
            WorkflowDataError: what was changed in place can't be stored; the change is dropped.
        """
        if not self._delta and not self._handed_out:
            return {}
        try:
            self._notice_changes()
            return dict(self._delta)
        finally:
            self._delta.clear()

    def _notice_changes(self) -> None:
        for key, (own, base) in list(self._handed_out.items()):
            del self._handed_out[key]  # a change that is refused is forgotten: live state never had it
            now = snapshot(own, f"state[{key!r}]")
            if now != base:
                self.check(key, now)
                self._value[key] = self._delta[key] = base = now
            self._handed_out[key] = (own, base)


def split_scopes(delta: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return a state change split by scope: app keys and user keys without prefix, session keys; `temp:` is dropped.

    Example:
        >>> split_scopes({"app:a": 1, "user:b": 2, "c": 3, "temp:d": 4})
        ({'a': 1}, {'b': 2}, {'c': 3})
    """
    app: dict[str, Any] = {}
    user: dict[str, Any] = {}
    session: dict[str, Any] = {}
    for key, value in delta.items():
        if key.startswith(State.APP_PREFIX):
            app[key.removeprefix(State.APP_PREFIX)] = value
        elif key.startswith(State.USER_PREFIX):
            user[key.removeprefix(State.USER_PREFIX)] = value
        elif not key.startswith(State.TEMP_PREFIX):
            session[key] = value
    return app, user, session


def merge_scopes(app: Mapping[str, Any], user: Mapping[str, Any], session: Mapping[str, Any]) -> dict[str, Any]:
    """Return one state with prefixed keys: the inverse of `split_scopes`."""
    merged = dict(session)
    merged.update({State.APP_PREFIX + key: value for key, value in app.items()})
    merged.update({State.USER_PREFIX + key: value for key, value in user.items()})
    return merged
