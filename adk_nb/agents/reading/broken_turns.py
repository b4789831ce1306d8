"""Turns that ended before they were finished, and what a model is told of them, so that it leaves them alone."""

from __future__ import annotations

from collections.abc import Iterable

from adk_nb.events.event import Event

ABORTED = "INVOCATION_ABORTED"
_BROKEN_OFF = ""


def broken_turns(events: Iterable[Event], current: str) -> dict[str, str]:
    """Return the invocations that failed, were stopped or broke off, each with the sentence that says so.

    An invocation that was gone on with and came to its end isn't one of them.

    Args:
        events: The events of a session that weren't taken back, oldest first.
        current: The invocation that goes on now.

    Example:
        >>> failed = Event(invocation_id="e-1", author="a", error_code="ValueError")
        >>> broken_turns([failed], "e-2")
        {'e-1': '[The turn above failed (ValueError) and is closed: take it up again only when asked to.]'}
    """
    ends: dict[str, str | None] = {}
    open_calls: dict[str, str] = {}
    waiting: dict[str, str] = {}
    for event in events:
        turn = event.invocation_id
        for response in event.get_function_responses():
            open_calls.pop(str(response.id), None)
            waiting.pop(str(response.id), None)
        if turn == current or event.author == "user":
            continue
        ends[turn] = event.error_code
        asks = event.long_running_tool_ids or ()
        for call in event.get_function_calls():
            (waiting if call.id in asks else open_calls)[str(call.id)] = turn
    pending = set(waiting.values())
    broken = {turn: _BROKEN_OFF for turn in open_calls.values() if turn not in pending}
    broken.update({turn: code for turn, code in ends.items() if code})
    return {turn: _sentence(code) for turn, code in broken.items()}


def _sentence(code: str) -> str:
    if code == ABORTED:
        what = "was stopped"
    elif code == _BROKEN_OFF:
        what = "broke off"
    else:
        what = f"failed ({''.join(sign for sign in code if sign.isalnum() or sign in '_.')[:60]})"
    return f"[The turn above {what} and is closed: take it up again only when asked to.]"
