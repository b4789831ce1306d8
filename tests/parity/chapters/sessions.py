"""Sessions: the stores and what they hand out."""

from __future__ import annotations

from typing import Any

from tests.parity.pieces import answers, asks, flow, gives, shows
from tests.parity.side import Side
from tests.parity.written import written

WHERE = {"app_name": "x", "user_id": "u"}
FOUND = {**WHERE, "session_id": "s"}


class Held:
    """What JSON has no form for."""

    def __repr__(self) -> str:
        return "Held()"


async def a_session_is_made_and_found(adk: Side) -> None:
    """A session is made with or without an id, found, listed and deleted."""
    store = adk.InMemorySessionService()
    made = await store.create_session(**WHERE, session_id=" s ", state={"k": 1, "user:u": 2, "app:p": 3, "temp:t": 4})
    adk.note("made", [made.id, made.app_name, made.user_id, made.state, made.events])
    other = await store.create_session(**WHERE)
    adk.note("other", [len(other.id), other.state])
    found = await store.get_session(**WHERE, session_id="s")
    adk.note("found", [found.id, found.state])
    listed = (await store.list_sessions(**WHERE)).sessions
    adk.note("listed", [len(listed), [one.events for one in listed]])
    await store.delete_session(**WHERE, session_id="s")
    adk.note("deleted", await store.get_session(**WHERE, session_id="s"))


async def a_session_id_is_taken_once(adk: Side) -> None:
    """A second session of the same id is refused."""
    store = adk.InMemorySessionService()
    await store.create_session(**WHERE, session_id="s")
    try:
        await store.create_session(**WHERE, session_id="s")
    except Exception as error:  # noqa: BLE001  # which class is what is compared
        adk.note("refused", type(error).__name__)


async def a_session_handed_out_is_a_copy(adk: Side) -> None:
    """What is done to a session that was handed out doesn't change the store."""
    store = adk.InMemorySessionService()
    made = await store.create_session(**WHERE, session_id="s", state={"list": [1]})
    made.state["k"] = 1
    adk.note("state", (await store.get_session(**WHERE, session_id="s")).state)


async def events_are_appended(adk: Side) -> None:
    """Appending an event applies its state, takes `temp:` keys out, and leaves partial events out."""
    store = adk.InMemorySessionService()
    session = await store.create_session(**WHERE, session_id="s")
    await store.append_event(session, adk.Event(author="a", output=1, state={"k": 1, "temp:t": 2, "user:u": 3}))
    await store.append_event(session, adk.Event(author="a", message="so far", partial=True))
    found = await store.get_session(**WHERE, session_id="s")
    adk.note("state", found.state)
    adk.note("events", [[event.output, event.actions.state_delta] for event in found.events])
    other = await store.create_session(**WHERE, session_id="other")
    adk.note("other", other.state)
    adk.note("user's", await store.get_user_state(**WHERE))


async def events_go_to_a_known_session(adk: Side) -> None:
    """Appending to a session that isn't in the store is an error."""
    store = adk.InMemorySessionService()
    session = await store.create_session(**WHERE, session_id="s")
    await store.delete_session(**WHERE, session_id="s")
    try:
        await store.append_event(session, adk.Event(author="a", output=1))
    except Exception as error:  # noqa: BLE001  # which class is what is compared
        adk.note("refused", type(error).__name__)


async def some_events_are_asked_for(adk: Side) -> None:
    """A session is read with its newest events only, or with those after a time."""
    store = adk.InMemorySessionService()
    session = await store.create_session(**WHERE, session_id="s")
    for number in range(4):
        await store.append_event(session, adk.Event(author="a", output=number, timestamp=float(number)))
    for what, config in {
        "two": adk.GetSessionConfig(num_recent_events=2),
        "none": adk.GetSessionConfig(num_recent_events=0),
        "after": adk.GetSessionConfig(after_timestamp=2.0),
    }.items():
        found = await store.get_session(**WHERE, session_id="s", config=config)
        adk.note(what, [event.output for event in found.events])


async def users_are_kept_apart(adk: Side) -> None:
    """`user:` state is one user's, `app:` state is everybody's."""
    store = adk.InMemorySessionService()
    await store.create_session(**WHERE, session_id="s", state={"user:u": 1, "app:p": 2})
    other = await store.create_session(app_name="x", user_id="other", session_id="s")
    adk.note("other user", other.state)
    adk.note("other app", (await store.create_session(app_name="y", user_id="u", session_id="s")).state)
    adk.note("all", sorted(one.user_id for one in (await store.list_sessions(app_name="x")).sessions))


async def a_run_is_kept_in_a_file(adk: Side) -> None:
    """A run in a file pauses, is answered and ends as in memory, its state included."""

    def a(ctx: Any) -> dict[str, Any]:
        ctx.state.update({"k": [1], "user:u": 2, "app:p": 3, "temp:t": 4})
        return {"n": 1}

    await adk.play(flow(adk, a, asks(adk, "q"), shows(adk)), "hi", answers(q={"k": 1}), sessions=adk.file_store())


async def lanes_are_kept_in_a_file(adk: Side) -> None:
    """Lanes with questions in a file go on one by one."""
    lanes = (asks(adk, "k1"), asks(adk, "k2"), gives(adk, "b", 1))
    root = flow(adk, lanes, adk.JoinNode(name="j"), shows(adk))
    await adk.play(root, "hi", answers(k2=1), answers(k1=2), sessions=adk.file_store())


async def values_from_a_file_keep_their_type(adk: Side) -> None:
    """Tuples and integer keys that a node gets again after a pause, from a file."""

    def b(node_input: Any, ctx: Any) -> Any:
        return written(node_input) if ctx.resume_inputs else adk.RequestInput(interrupt_id="q")

    for kind, value in {"tuple": (1, 2), "keys": {1: "x"}, "bytes": b"\xff"}.items():
        root = flow(adk, gives(adk, "a", value), adk.node(b, rerun_on_resume=True))
        await adk.play(root, "hi", answers(q=1), sessions=adk.file_store(), session_id=kind)


async def a_file_lists_its_sessions(adk: Side) -> None:
    """A store in a file makes, finds, lists and deletes sessions like one in memory."""
    store = adk.file_store()
    await store.create_session(**WHERE, session_id="s", state={"k": 1, "user:u": 2})
    session = await store.get_session(**WHERE, session_id="s")
    await store.append_event(session, adk.Event(author="a", output={"n": [1, None]}, state={"m": 1}))
    found = await store.get_session(**WHERE, session_id="s")
    adk.note("found", [found.state, [event.output for event in found.events]])
    adk.note("listed", [one.id for one in (await store.list_sessions(**WHERE)).sessions])
    await store.delete_session(**WHERE, session_id="s")
    adk.note("deleted", await store.get_session(**WHERE, session_id="s"))


async def an_event_is_appended_twice(adk: Side) -> None:
    """The same event appended twice to a session in a file."""
    store = adk.file_store()
    session = await store.create_session(**FOUND)
    event = adk.Event(author="a", message="once", id="e1")
    await store.append_event(session, event)
    try:
        await store.append_event(session, event.model_copy(deep=True))
    except Exception:  # noqa: BLE001  # an error of SQLite itself
        adk.note("refused", True)
    adk.note("kept", len((await store.get_session(**FOUND)).events))


async def an_event_of_yesterday(adk: Side) -> None:
    """An event with an older time than the newest one, in a file."""
    store = adk.file_store()
    session = await store.create_session(**FOUND)
    now = session.last_update_time + 10
    for text, at in (("new", now), ("old", now - 9)):
        await store.append_event(session, adk.Event(author="a", message=text, timestamp=at))
    session = await store.get_session(**FOUND)
    adk.note("order", [event.content.parts[0].text for event in session.events])


async def an_older_session_in_memory(adk: Side) -> None:
    """Two objects of one session, both appended to, in memory."""
    store = adk.InMemorySessionService()
    await store.create_session(**FOUND)
    one, two = await store.get_session(**FOUND), await store.get_session(**FOUND)
    await store.append_event(one, adk.Event(author="a", message="1"))
    await store.append_event(two, adk.Event(author="a", message="2"))
    adk.note("kept", len((await store.get_session(**FOUND)).events))


async def a_value_that_json_lacks(adk: Side) -> None:
    """An object that JSON has no form for, written to the state, in a file."""

    async def write(ctx: Any) -> Any:
        ctx.state["held"] = Held()
        return 1

    write.__annotations__["ctx"] = adk.Context
    await adk.play(flow(adk, adk.node(write)), sessions=adk.file_store())


async def an_address_of_a_database(adk: Side) -> None:
    """Which addresses a store in a database takes."""
    adk.refused("no driver named", lambda: adk.DatabaseSessionService(db_url="postgresql://u:secret@localhost/d"))
    adk.refused("nonsense", lambda: adk.DatabaseSessionService(db_url="zzz"))
