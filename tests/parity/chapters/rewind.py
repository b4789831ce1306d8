"""Rewinding: going back to before an invocation."""

from __future__ import annotations

from typing import Any

from tests.parity.pieces import answers, asks, flow, gives, shows
from tests.parity.side import Side


def remembers(adk: Side) -> Any:
    """Return a node that counts its runs in the state."""

    def count(ctx: Any) -> int:
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        ctx.state["user:n"] = ctx.state["n"]
        return int(ctx.state["n"])

    return adk.node(count)


async def a_session_is_rewound(adk: Side) -> None:
    """Rewinding takes the state back to before an invocation; scopes beyond the session stay."""
    talk = await adk.play(flow(adk, remembers(adk)), "one", "two")
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[1])
    await talk.turn("three")


async def a_rewound_session_says_so(adk: Side) -> None:
    """Rewinding adds an event that says so, with the state that it restores."""
    talk = await adk.play(flow(adk, remembers(adk)), "one", "two")
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[0])
    session = await talk.session()
    last = session.events[-1]
    adk.note("author", last.author)
    adk.note("goes back to", last.actions.rewind_before_invocation_id == talk.invocation_ids[0])
    adk.note("state", dict(session.state))


async def a_rewound_question_is_gone(adk: Side) -> None:
    """A question of a run that was rewound can't be answered."""
    talk = await adk.play(flow(adk, asks(adk, "q"), shows(adk)))
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[0])
    adk.listen("not found")
    await talk.turn(answers(q=1))


async def an_unknown_run_cant_be_rewound(adk: Side) -> None:
    """Rewinding to an invocation that isn't in the session is an error."""
    talk = await adk.play(flow(adk, gives(adk, "a", 1)))
    try:
        await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id="e-no-such")
    except ValueError as error:
        adk.note("says which", "e-no-such" in str(error))


async def a_seeded_state_is_rewound(adk: Side) -> None:
    """A session that was made with a state: what of it is there after a rewind."""
    talk = adk.talk(flow(adk, remembers(adk)), state={"seed": 1})
    await talk.turn("one")
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[0])
    adk.note("state", dict((await talk.session()).state))


async def a_rewound_run_goes_on(adk: Side) -> None:
    """Going on with a run that was taken back."""
    talk = await adk.play(flow(adk, asks(adk, "q"), shows(adk)))
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[0])
    await talk.go_on()


async def a_rewound_run_is_rewound_again(adk: Side) -> None:
    """Rewinding to a run that was taken back."""
    talk = await adk.play(flow(adk, remembers(adk)))
    for time in ("first", "second"):
        try:
            await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[0])
            adk.note(time, "accepted")
        except ValueError as error:
            adk.note(time, f"refused with {type(error).__name__}")


async def half_a_run_is_rewound(adk: Side) -> None:
    """Rewinding to between the two halves of an earlier run, which was answered since."""
    first = await adk.play(flow(adk, asks(adk, "q"), shows(adk)))
    other = adk.talk(flow(adk, gives(adk, "a", 1)), sessions=first.sessions)
    await other.turn("in between")
    await first.turn(answers(q=1))
    try:
        await first.runner.rewind_async(**first.where, rewind_before_invocation_id=other.invocation_ids[0])
        adk.note("rewind", "accepted")
    except ValueError as error:
        adk.note("rewind", f"refused with {type(error).__name__}")
