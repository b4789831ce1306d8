"""The contract of session services as tests: derive from `SessionServiceContract` and give your service.

```
class TestMyService(SessionServiceContract):
    def make(self):
        return MyService(...)
```

pytest then runs every rule against it. Rules on run records are checked when the service offers `open_log`.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

from google.genai import types
from pydantic import ValidationError

from adk_nb.errors import AlreadyExistsError, DataError, SessionNotFoundError
from adk_nb.events import Event, EventActions
from adk_nb.sessions.base_session_service import GetSessionConfig
from adk_nb.sessions.session import Session
from adk_nb.testing.run_logs import RunLogContract
from adk_nb.testing.samples import APP, TYPED, assert_same, raised, stored_session


class SessionServiceContract(RunLogContract):
    """What holds for every session service."""

    def test_created_session_is_found(self) -> None:
        """A created session is found by app, user and id, and only so."""

        async def steps() -> None:
            async with self.make() as service:
                made = await service.create_session(**APP, state={"a": 1}, session_id="s")
                assert (made.app_name, made.user_id, made.id, made.state, made.events) == (
                    "app",
                    "ada",
                    "s",
                    {"a": 1},
                    [],
                )
                found = await self.reopen(service).get_session(**APP, session_id="s")
                assert found is not None
                assert (found.id, found.state, found.events) == ("s", {"a": 1}, [])
                for other in ({"app_name": "x"}, {"user_id": "x"}, {"session_id": "x"}):
                    assert await service.get_session(**{**APP, "session_id": "s", **other}) is None

        self.run(steps())

    def test_ids_are_made_and_stripped(self) -> None:
        """Without an id, or with a blank one, an id is made; blanks around an id are dropped."""

        async def steps() -> None:
            async with self.make() as service:
                ids = {(await service.create_session(**APP, session_id=given)).id for given in (None, "", "  ", None)}
                assert len(ids) == 4
                assert all(ids)
                assert (await service.create_session(**APP, session_id=" s ")).id == "s"

        self.run(steps())

    def test_taken_id_is_refused(self) -> None:
        """A second session with an id is refused by name and changes nothing; other users may have the id too."""

        async def steps() -> None:
            async with self.make() as service:
                await service.create_session(**APP, session_id="s", state={"a": 1, "user:b": 1})
                error = await raised(
                    AlreadyExistsError, service.create_session(**APP, session_id="s", state={"user:b": 2})
                )
                assert "'s'" in str(error)
                await service.create_session(app_name="app", user_id="bob", session_id="s")
                found = await stored_session(service, "s")
                assert found.state == {"a": 1, "user:b": 1}

        self.run(steps())

    def test_state_has_scopes(self) -> None:
        """`app:` keys reach all sessions of the app, `user:` keys those of the user, `temp:` keys are never stored."""

        async def steps() -> None:
            async with self.make() as service:
                first = await service.create_session(
                    **APP, session_id="1", state={"a": 1, "app:b": 2, "user:c": 3, "temp:d": 4}
                )
                assert first.state == {"a": 1, "app:b": 2, "user:c": 3}
                assert (await service.create_session(**APP, session_id="2")).state == {"app:b": 2, "user:c": 3}
                assert (await service.create_session(app_name="app", user_id="bob")).state == {"app:b": 2}
                assert (await service.create_session(app_name="other", user_id="ada")).state == {}
                await service.append_event(first, Event(author="x", state={"app:b": 5, "user:c": 6, "user:n": None}))
                assert (await stored_session(service, "2")).state == {"app:b": 5, "user:c": 6, "user:n": None}
                assert await self.reopen(service).get_user_state(**APP) == {"c": 6, "n": None}
                assert await service.get_user_state(app_name="app", user_id="nobody") == {}

        self.run(steps())

    def test_append_brings_session_up_to_date(self) -> None:
        """An append shows in the session object and in the store, in order; a value of `None` stays as an entry."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s", state={"a": 1, "b": {"x": 1, "y": 2}})
                one = Event(author="user", message="hello", timestamp=session.last_update_time + 1)
                two = Event(author="wf", output={"n": 1}, state={"a": None, "b": {"x": 3}}, timestamp=one.timestamp + 1)
                assert await service.append_event(session, one) is one
                await service.append_event(session, two)
                assert session.events == [one, two]
                assert session.state == {"a": None, "b": {"x": 3}}
                assert session.last_update_time == two.timestamp
                found = await stored_session(self.reopen(service), "s")
                assert found.events == [one, two]
                assert found.state == {"a": None, "b": {"x": 3}}

        self.run(steps())

    def test_temp_keys_live_in_the_object_only(self) -> None:
        """`temp:` keys of an event are seen in the session object, and neither in the stored event nor in its state."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                event = await service.append_event(session, Event(author="x", state={"temp:t": 1, "k": 2}))
                assert session.state == {"temp:t": 1, "k": 2}
                assert event.actions.state_delta == {"k": 2}
                found = await stored_session(self.reopen(service), "s")
                assert (found.state, found.events[0].actions.state_delta) == ({"k": 2}, {"k": 2})

        self.run(steps())

    def test_partial_events_are_not_stored(self) -> None:
        """A partial event comes back as it is, and nothing of it is kept."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                event = Event(author="m", message="hel", partial=True, state={"a": 1})
                assert await service.append_event(session, event) is event
                assert (session.events, session.state) == ([], {})
                found = await stored_session(self.reopen(service), "s")
                assert (found.events, found.state) == ([], {})

        self.run(steps())

    def test_order_is_the_order_of_appends(self) -> None:
        """Events come back in the order they were appended in, whatever their times say."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                events = [Event(author="x", timestamp=at) for at in (50.0, 10.0, 50.0, 9e9, 1.0)]
                for event in events:
                    await service.append_event(session, event)
                assert [event.id for event in (await stored_session(self.reopen(service), "s")).events] == [
                    e.id for e in events
                ]

        self.run(steps())

    def test_same_event_twice_is_stored_once(self) -> None:
        """Appending an equal event again changes nothing; another event with its id is refused."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                event = Event(author="x", output=[1, (2,)], id="e")
                await service.append_event(session, event)
                await service.append_event(session, event)
                await service.append_event(session, event.model_copy(deep=True))
                assert session.events == [event]
                await raised(AlreadyExistsError, service.append_event(session, Event(author="x", output=2, id="e")))
                assert (await stored_session(self.reopen(service), "s")).events == [event]

        self.run(steps())

    def test_copies_of_an_event_are_the_same_event(self) -> None:
        """An event whose id was made with it is stored once, however often it or a copy of it is appended."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                event = Event(author="x", output=1)
                early = event.model_copy()
                for again in (event, event, early, event.model_copy(), copy.deepcopy(event)):
                    await service.append_event(session, again)
                assert session.events == [event]
                other = self.reopen(service)
                found = await stored_session(other, "s")
                for again in (event.model_copy(), found.events[0]):
                    await other.append_event(found, again)
                assert (await stored_session(self.reopen(service), "s")).events == [event]

        self.run(steps())

    def test_unknown_and_deleted_sessions_are_refused(self) -> None:
        """Appending to a session that isn't stored, or no longer, is refused and creates nothing."""

        async def steps() -> None:
            async with self.make() as service:
                stranger = Session(id="nowhere", **APP)
                await raised(SessionNotFoundError, service.append_event(stranger, Event(author="x")))
                session = await service.create_session(**APP, session_id="s")
                await service.append_event(session, Event(author="x"))
                await service.delete_session(**APP, session_id="s")
                await service.delete_session(**APP, session_id="s")
                await raised(SessionNotFoundError, service.append_event(session, Event(author="x")))
                assert await service.get_session(**APP, session_id="s") is None
                again = await service.create_session(**APP, session_id="s")
                assert (again.events, again.state) == ([], {})
                await raised(SessionNotFoundError, service.append_event(session, Event(author="x")))

        self.run(steps())

    def test_session_built_by_hand_can_append(self) -> None:
        """A `Session` that only names a stored one can append to it."""

        async def steps() -> None:
            async with self.make() as service:
                await service.create_session(**APP, session_id="s")
                by_hand = Session(id="s", **APP)
                await service.append_event(by_hand, Event(author="x", output=1))
                assert [event.output for event in (await stored_session(service, "s")).events] == [1]

        self.run(steps())

    def test_sessions_are_listed_without_events(self) -> None:
        """Listing gives state and no events, the oldest update first, for one user or for all of the app."""

        async def steps() -> None:
            async with self.make() as service:
                sessions = {
                    name: await service.create_session(app_name="app", user_id=user, session_id=name, state={"n": name})
                    for name, user in (("1", "ada"), ("2", "ada"), ("3", "bob"))
                }
                later = max(session.last_update_time for session in sessions.values())
                for i, name in enumerate(("2", "3", "1")):
                    await service.append_event(sessions[name], Event(author="x", timestamp=later + i + 1))
                listed = (await self.reopen(service).list_sessions(app_name="app")).sessions
                assert [(s.id, s.user_id, s.events, s.state["n"]) for s in listed] == [
                    ("2", "ada", [], "2"), ("3", "bob", [], "3"), ("1", "ada", [], "1")
                ]  # fmt: skip
                assert [s.id for s in (await service.list_sessions(**APP)).sessions] == ["2", "1"]
                assert (await service.list_sessions(app_name="other")).sessions == []

        self.run(steps())

    def test_config_chooses_events(self) -> None:
        """`GetSessionConfig` takes the newest events, those since a time, or both; state stays whole."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                for i in range(6):
                    await service.append_event(
                        session, Event(author="x", output=i, timestamp=100.0 + i, state={"i": i})
                    )
                for config, expected in (
                    (GetSessionConfig(), [0, 1, 2, 3, 4, 5]),
                    (GetSessionConfig(num_recent_events=2), [4, 5]),
                    (GetSessionConfig(num_recent_events=0), []),
                    (GetSessionConfig(num_recent_events=99), [0, 1, 2, 3, 4, 5]),
                    (GetSessionConfig(after_timestamp=103.0), [3, 4, 5]),
                    (GetSessionConfig(after_timestamp=101.0, num_recent_events=2), [4, 5]),
                    (GetSessionConfig(after_timestamp=200.0), []),
                ):
                    found = await self.reopen(service).get_session(**APP, session_id="s", config=config)
                    assert found is not None
                    assert ([event.output for event in found.events], found.state) == (expected, {"i": 5})
                    await service.append_event(session, Event(author="x", output=0, id="none", partial=True))

        self.run(steps())

    def test_config_is_checked(self) -> None:
        """A negative number of events is refused where it is written."""
        try:
            GetSessionConfig(num_recent_events=-1)
        except ValidationError:
            return
        raise AssertionError("GetSessionConfig(num_recent_events=-1) was accepted")

    def test_values_keep_their_types(self) -> None:
        """State, outputs and call arguments come back with the types they had."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s", state=dict(TYPED))
                call = types.FunctionCall(id="c", name="f", args={"day": TYPED["day"], "plain": [None]})
                answer = types.FunctionResponse(id="c", name="f", response={"price": TYPED["price"]})
                blob = types.Blob(data=b"\x00\xfe\xff", mime_type="image/png")
                event = Event(
                    author="x",
                    output=TYPED,
                    content=types.Content(
                        role="model",
                        parts=[
                            types.Part(function_call=call),
                            types.Part(function_response=answer),
                            types.Part(inline_data=blob),
                            types.Part(text="ünï"),
                        ],
                    ),
                    custom_metadata={"when": TYPED["at"]},
                    actions=EventActions(state_delta={"user:typed": TYPED}, agent_state={"t": (1,)}),
                    long_running_tool_ids={"b", "a"},
                    usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3),
                )
                await service.append_event(session, event)
                found = await stored_session(self.reopen(service), "s")
                assert_same(found.state, {**TYPED, "user:typed": TYPED})
                assert_same(found.events[0].output, TYPED)
                assert_same(found.events[0].actions.state_delta, {"user:typed": TYPED})
                assert found.events == [event]
                assert_same(await service.get_user_state(**APP), {"typed": TYPED})

        self.run(steps())

    def test_what_cannot_be_stored_is_refused(self) -> None:
        """Objects, half characters and keys that aren't texts are refused with their place, and nothing changes."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                bad_keys: Any = {1: "x"}
                for event, place in (
                    (Event(author="x", output={"a": [object()]}, state={"k": 1}), "output['a'][0]"),
                    (Event(author="x", output="half \ud83d"), "output"),
                    (Event(author="x", message="half \ud83d"), "content.parts[0].text"),
                    (Event(author="x", state={"k": {"f": print}}), "state_delta['k']['f']"),
                ):
                    error = await raised(DataError, service.append_event(session, event))
                    assert place in str(error), error
                odd = Event(author="x")
                odd.actions.state_delta = bad_keys
                for refused in (
                    service.append_event(session, odd),
                    service.create_session(**APP, session_id="t", state=bad_keys),
                    service.create_session(**APP, session_id="t", state={"f": print}),
                ):
                    await raised(DataError, refused)
                assert (session.events, session.state) == ([], {})
                assert await service.get_session(**APP, session_id="t") is None
                assert (await stored_session(self.reopen(service), "s")).events == []
                kept = await service.append_event(session, Event(author="x", error_message="half \ud83d"))
                assert kept.error_message == "half ?"

        self.run(steps())

    def test_sessions_handed_out_cannot_change_the_store(self) -> None:
        """Nothing done to a session object, its state, its list of events or an appended value reaches the store."""

        async def steps() -> None:
            async with self.make() as service:
                given = {"list": [1]}
                session = await service.create_session(**APP, session_id="s", state=given)
                output = {"rows": [1]}
                event = Event(author="x", output=output, message="hello", state={"d": {"k": [1]}})
                await service.append_event(session, event)
                given["list"].append(2)
                output["rows"].append(2)
                session.state["list"].append(3)
                session.state["d"]["k"].append(3)
                session.state["new"] = 1
                session.events.clear()
                found = await stored_session(service, "s")
                found.state["d"]["k"].append(4)
                for change in (
                    lambda: setattr(found.events[0], "author", "other"),
                    lambda: setattr(found.events[0].actions, "escalate", True),
                    lambda: setattr(found.events[0].content, "role", "other"),
                    lambda: found.events[0].output["rows"].append(5),
                    lambda: found.events[0].actions.state_delta.update(x=1),
                ):
                    assert "history" in str(_refused(change))
                again = await stored_session(self.reopen(service), "s")
                assert again.state == {"list": [1], "d": {"k": [1]}}
                assert [(e.author, e.output) for e in again.events] == [("x", {"rows": [1]})]

        self.run(steps())

    def test_copies_of_events_can_be_changed(self) -> None:
        """`model_copy` and `deepcopy` of a stored event give one that can be changed and appended elsewhere."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s")
                event = await service.append_event(session, Event(author="x", output={"a": [1]}, state={"k": [1]}))
                deep = copy.deepcopy(event)
                assert deep == event
                deep.output["a"].append(2)
                deep.actions.state_delta["k"].append(2)
                deep.id = "deep"
                shallow = event.model_copy(update={"id": "shallow", "output": 3})
                for changed in (deep, shallow):
                    await service.append_event(session, changed)
                found = await stored_session(self.reopen(service), "s")
                assert [e.output for e in found.events] == [{"a": [1]}, {"a": [1, 2]}, 3]

        self.run(steps())

    def test_two_objects_of_one_session_both_append(self) -> None:
        """Two session objects of one process, even with a clock that stands still, both append; nothing is lost."""

        async def steps() -> None:
            async with self.make() as service:
                one = await service.create_session(**APP, session_id="s")
                two = await stored_session(service, "s")
                for i in range(20):
                    at = 1_700_000_000.0
                    await service.append_event(one if i % 2 else two, Event(author="x", output=i, timestamp=at))
                await asyncio.gather(
                    *(
                        service.append_event(one if i % 2 else two, Event(author="x", output=i, state={f"k{i}": i}))
                        for i in range(20, 60)
                    )
                )
                found = await stored_session(self.reopen(service), "s")
                assert sorted(event.output for event in found.events) == list(range(60))
                assert found.state == {f"k{i}": i for i in range(20, 60)}

        self.run(steps())

    def test_copied_and_dumped_sessions_are_whole(self) -> None:
        """Copies and dumps of a session hold its events, read before or not; a copy can append."""

        async def steps() -> None:
            async with self.make() as service:
                session = await service.create_session(**APP, session_id="s", state={"a": [1]})
                await service.append_event(session, Event(author="x", output=1))
                fresh = self.reopen(service)
                dumped = (await stored_session(fresh, "s")).model_dump()
                assert [event["output"] for event in dumped["events"]] == [1]
                assert (
                    Session.model_validate_json((await stored_session(fresh, "s")).model_dump_json()).events
                    == session.events
                )
                assert await stored_session(fresh, "s") == session
                assert "output=1" in repr(await stored_session(fresh, "s"))
                for copied in (
                    copy.deepcopy(await stored_session(fresh, "s")),
                    (await stored_session(fresh, "s")).model_copy(),
                ):
                    await fresh.append_event(copied, Event(author="x", output=2))
                    assert [event.output for event in copied.events][:2] == [1, 2]

        self.run(steps())

    def test_one_run_at_a_time(self) -> None:
        """Where a service can hold a session for a run, runs of it take turns, and other sessions don't wait."""

        async def steps() -> None:
            async with self.make() as service:
                if not hasattr(service, "running"):
                    return
                session = await service.create_session(**APP, session_id="s")
                other = await service.create_session(**APP, session_id="other")
                inside: list[str] = []

                async def one_run(name: str) -> None:
                    async with service.running(session, name):
                        inside.append(f"+{name}")
                        async with service.running(other):
                            await asyncio.sleep(0)
                        inside.append(f"-{name}")

                await asyncio.gather(*(one_run(name) for name in "abc"))
                assert inside == ["+a", "-a", "+b", "-b", "+c", "-c"]

        self.run(steps())


def _refused(change: Callable[[], Any]) -> DataError:
    try:
        change()
    except DataError as error:
        return error
    raise AssertionError("a stored event could be changed")
