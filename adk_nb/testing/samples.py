"""What the contracts store, and how they look at what comes back."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import uuid
from collections.abc import Coroutine
from typing import Any

from adk_nb.events import Attempt, NodeRun, Question, Status
from adk_nb.sessions.base_session_service import BaseSessionService
from adk_nb.sessions.session import Session

APP: dict[str, Any] = {"app_name": "app", "user_id": "ada"}
"""Whose sessions the contracts make."""
TYPED: dict[str, Any] = {
    "pair": (1, "two"),
    "tags": {"a", "b"},
    "price": decimal.Decimal("9.90"),
    "day": dt.date(2026, 2, 28),
    "at": dt.datetime(2026, 2, 28, 12, 30, tzinfo=dt.UTC),
    "wait": dt.timedelta(minutes=5),
    "id": uuid.UUID(int=7),
    "raw": b"\x00\xff",
    "by number": {1: "one", 2: "two"},
    "nothing": None,
    "nested": {"list": [(1,), {"deep": None}]},
    "infinite": float("inf"),
    "like ours": {"$adk_nb": "tuple", "v": [1]},
    "text": "ünï ✓ \x00 </script>",
}
"""One value of each kind that a store must give back as it was."""


def record(name: str, run_id: str = "1", *, parent: str = "wf@1", invocation_id: str = "e-1", **fields: Any) -> NodeRun:
    """Return a record of a running node."""
    path = f"{parent}/{name}@{run_id}" if parent else f"{name}@{run_id}"
    return NodeRun(path, name, run_id, parent, invocation_id, **{"status": Status.RUNNING, **fields})


def whole_record() -> NodeRun:
    """Return a record that has something in every field."""
    return record(
        "all",
        "7",
        status=Status.WAITING,
        input=copy.deepcopy(TYPED),
        output=(1, {"x"}),
        route=["A", 2, True],
        branch="b@1",
        sources=("wf@1/x@1", "wf@1/y@1"),
        kind="agent",
        created_at=1.5,
        started_at=2.5,
        ended_at=3.5,
        attempts=(
            Attempt(1.0, 2.0, "ValueError", "bad", 3.0),
            Attempt(3.0),
        ),
        questions=(
            Question("q1", "Sure?", {"at": dt.date(2026, 1, 1)}, {"type": "boolean"}, 4.0, False, True, (True,), 5.0),
            Question("q2"),
        ),
        open_below=("q3",),
        error_type="ValueError",
        error_message="bad ünï",
        error_path="wf@1/all@7",
        notes=(
            "first",
            "second",
        ),
        has_escalated=True,
    )


def assert_same(found: Any, expected: Any) -> None:
    """Assert that two values are equal and of the same types all the way down; read-only containers count as plain."""
    for kind in (dict, list, set):
        if isinstance(found, kind) and isinstance(expected, kind):
            break
    else:
        assert type(found) is type(expected), f"{found!r} is a {type(found)}, not a {type(expected)}"
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == expected or (found != found and expected != expected), f"{found!r} != {expected!r}"


def assert_same_record(found: NodeRun, expected: NodeRun) -> None:
    """Assert that two records are the same, types of their values included."""
    for name in NodeRun.__slots__:
        one, other = getattr(found, name), getattr(expected, name)
        if name in ("input", "output", "route"):
            assert_same(one, other)
        else:
            assert one == other, f"{name}: {one!r} != {other!r}"


async def stored_session(service: BaseSessionService, session_id: str) -> Session:
    """Return a session that must be in the store."""
    found = await service.get_session(**APP, session_id=session_id)
    assert found is not None, f"session {session_id} is gone"
    return found


async def raised(kind: type[Exception], steps: Coroutine[Any, Any, Any]) -> Exception:
    """Return the error of this kind that the steps must raise."""
    try:
        await steps
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")
