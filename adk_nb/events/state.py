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
        self,
        value: dict[str, Any],
        delta: dict[str, Any],
        check: Callable[[str, Any], None] | None = None,
        informed: dict[str, Any] | None = None,
    ) -> None:
        """Look at `value` and collect writes in `delta`; both dictionaries are used, not copied.

        Args:
            value: The live state of the session.
            delta: Where writes are collected.
            check: Called with key and value before each write; raises to refuse it.
            informed: The newest value of each key that was written knowing the one before it; shared by all who look
                at the same live state.
        """
        self._value = value
        self._delta = delta
        self._check = check
        self._informed = {} if informed is None else informed
        self._handed_out: dict[str, tuple[Any, Any]] = {}
        self._seen: dict[str, Any] = {}
        self._uninformed: dict[str, bool] = {}

    def __getitem__(self, key: str) -> Any:
        held = self._handed_out.get(key)
        if held is not None and held[1] is not self._value.get(key, _ABSENT):
            self._notice_change(key, *held)  # before a newer copy takes its place
        value = self._seen[key] = self._value[key]
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
        if key not in self._seen:
            self._write(key, kept, is_stale=None)
        else:
            now = self._value.get(key, _ABSENT)
            self._write(key, kept, is_stale=now is not self._seen[key] and (now is _ABSENT or now != kept))

    def __contains__(self, key: object) -> bool:
        return key in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._value))

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or `default` when it isn't set."""
        if key in self._value:
            return self[key]
        self._seen[key] = _ABSENT
        return default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, setting it to `default` first when it isn't set."""
        if key not in self._value:
            self._seen[key] = _ABSENT
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
        twin._informed, twin._seen, twin._uninformed = {}, {}, {}

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

    def take_uninformed(self) -> dict[str, bool]:
        """Return the keys written since the last call without knowing the value before, and start again with none.

        `True` stands for one that was read, and changed by others before it was written; `False` for one never read.
        """
        found, self._uninformed = self._uninformed, {}
        return found

    def _write(self, key: str, kept: Any, *, is_stale: bool | None) -> None:
        if is_stale is False:
            self._informed[key] = kept
        else:
            self._informed.pop(key, None)
            self._uninformed[key] = bool(is_stale)
        self._value[key] = self._delta[key] = self._seen[key] = kept

    def _notice_changes(self) -> None:
        for key, (own, base) in list(self._handed_out.items()):
            self._notice_change(key, own, base)

    def _notice_change(self, key: str, own: Any, base: Any) -> None:
        self._handed_out.pop(key, None)  # a change that is refused is forgotten: live state never had it
        now = snapshot(own, f"state[{key!r}]")
        if now != base:
            live = self._value.get(key, _ABSENT)
            is_stale = live is not base
            kept = now
            if is_stale:
                kept, is_stale = merged(base, now, live)
            self.check(key, kept)
            self._write(key, kept, is_stale=is_stale)
            base = now
        self._handed_out[key] = (own, base)


_ABSENT: Any = object()


def merged(base: Any, own: Any, live: Any) -> tuple[Any, bool]:
    """Return a value with the changes of two who began with the same one, and whether anything of `live` is lost.

    What was added to the end of a list and the changed keys of a dictionary go on top of the live value; every other
    change replaces it.

    Example:
        >>> merged([1], [1, 2], [1, 3])
        ([1, 3, 2], False)
        >>> merged({"n": 0}, {"n": 1, "b": 2}, {"n": 5})
        ({'n': 1, 'b': 2}, True)
    """
    if own == base:
        return live, False
    if type(base) is type(own) is type(live) is list and own[: len(base)] == base:
        return [*live, *own[len(base) :]], False
    if not type(base) is type(own) is type(live) is dict:
        return own, live is not _ABSENT and live not in (base, own)
    kept, is_lost = dict(live), False
    for key in [*base, *[key for key in own if key not in base]]:
        was, now, other = (one.get(key, _ABSENT) for one in (base, own, live))
        value, is_lost_here = merged(was, now, other)
        is_lost |= is_lost_here
        if value is _ABSENT:
            kept.pop(key, None)
        else:
            kept[key] = value
    return kept, is_lost


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
