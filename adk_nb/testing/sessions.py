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
import datetime as dt
import decimal
import uuid
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from google.genai import types
from pydantic import ValidationError

from adk_nb.errors import AlreadyExistsError, DataError, SessionNotFoundError
from adk_nb.events import Attempt, Event, EventActions, NodeRun, Question, Status
from adk_nb.sessions.base_session_service import BaseSessionService, GetSessionConfig
from adk_nb.sessions.session import Session
from adk_nb.workflow.ports import KeepsRuns, RunLog

T = TypeVar("T")

APP: dict[str, Any] = {"app_name": "app", "user_id": "ada"}
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


class SessionServiceContract:
    """What holds for every session service."""

    def make(self) -> BaseSessionService:
        """Return a new, empty service."""
        raise NotImplementedError("return a new, empty service")

    def reopen(self, service: BaseSessionService) -> BaseSessionService:
        """Return a service on the same data that knows nothing else; the same one when data lives in it alone."""
        return service

    def run(self, steps: Coroutine[Any, Any, T]) -> T:
        """Run a test's steps."""
        return asyncio.run(steps)

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
                error = await _raised(
                    AlreadyExistsError, service.create_session(**APP, session_id="s", state={"user:b": 2})
                )
                assert "'s'" in str(error)
                await service.create_session(app_name="app", user_id="bob", session_id="s")
                found = await _get(service, "s")
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
                assert (await _get(service, "2")).state == {"app:b": 5, "user:c": 6, "user:n": None}
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
                found = await _get(self.reopen(service), "s")
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
                found = await _get(self.reopen(service), "s")
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
                found = await _get(self.reopen(service), "s")
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
                assert [event.id for event in (await _get(self.reopen(service), "s")).events] == [e.id for e in events]

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
                await _raised(AlreadyExistsError, service.append_event(session, Event(author="x", output=2, id="e")))
                assert (await _get(self.reopen(service), "s")).events == [event]

        self.run(steps())

    def test_unknown_and_deleted_sessions_are_refused(self) -> None:
        """Appending to a session that isn't stored, or no longer, is refused and creates nothing."""

        async def steps() -> None:
            async with self.make() as service:
                stranger = Session(id="nowhere", **APP)
                await _raised(SessionNotFoundError, service.append_event(stranger, Event(author="x")))
                session = await service.create_session(**APP, session_id="s")
                await service.append_event(session, Event(author="x"))
                await service.delete_session(**APP, session_id="s")
                await service.delete_session(**APP, session_id="s")
                await _raised(SessionNotFoundError, service.append_event(session, Event(author="x")))
                assert await service.get_session(**APP, session_id="s") is None
                again = await service.create_session(**APP, session_id="s")
                assert (again.events, again.state) == ([], {})
                await _raised(SessionNotFoundError, service.append_event(session, Event(author="x")))

        self.run(steps())

    def test_session_built_by_hand_can_append(self) -> None:
        """A `Session` that only names a stored one can append to it."""

        async def steps() -> None:
            async with self.make() as service:
                await service.create_session(**APP, session_id="s")
                by_hand = Session(id="s", **APP)
                await service.append_event(by_hand, Event(author="x", output=1))
                assert [event.output for event in (await _get(service, "s")).events] == [1]

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
                found = await _get(self.reopen(service), "s")
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
                    error = await _raised(DataError, service.append_event(session, event))
                    assert place in str(error), error
                odd = Event(author="x")
                odd.actions.state_delta = bad_keys
                for refused in (
                    service.append_event(session, odd),
                    service.create_session(**APP, session_id="t", state=bad_keys),
                    service.create_session(**APP, session_id="t", state={"f": print}),
                ):
                    await _raised(DataError, refused)
                assert (session.events, session.state) == ([], {})
                assert await service.get_session(**APP, session_id="t") is None
                assert (await _get(self.reopen(service), "s")).events == []
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
                found = await _get(service, "s")
                found.state["d"]["k"].append(4)
                for change in (
                    lambda: setattr(found.events[0], "author", "other"),
                    lambda: setattr(found.events[0].actions, "escalate", True),
                    lambda: setattr(found.events[0].content, "role", "other"),
                    lambda: found.events[0].output["rows"].append(5),
                    lambda: found.events[0].actions.state_delta.update(x=1),
                ):
                    assert "history" in str(_refused(change))
                again = await _get(self.reopen(service), "s")
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
                found = await _get(self.reopen(service), "s")
                assert [e.output for e in found.events] == [{"a": [1]}, {"a": [1, 2]}, 3]

        self.run(steps())

    def test_two_objects_of_one_session_both_append(self) -> None:
        """Two session objects of one process, even with a clock that stands still, both append; nothing is lost."""

        async def steps() -> None:
            async with self.make() as service:
                one = await service.create_session(**APP, session_id="s")
                two = await _get(service, "s")
                for i in range(20):
                    at = 1_700_000_000.0
                    await service.append_event(one if i % 2 else two, Event(author="x", output=i, timestamp=at))
                await asyncio.gather(
                    *(
                        service.append_event(one if i % 2 else two, Event(author="x", output=i, state={f"k{i}": i}))
                        for i in range(20, 60)
                    )
                )
                found = await _get(self.reopen(service), "s")
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
                dumped = (await _get(fresh, "s")).model_dump()
                assert [event["output"] for event in dumped["events"]] == [1]
                assert Session.model_validate_json((await _get(fresh, "s")).model_dump_json()).events == session.events
                assert await _get(fresh, "s") == session
                assert "output=1" in repr(await _get(fresh, "s"))
                for copied in (copy.deepcopy(await _get(fresh, "s")), (await _get(fresh, "s")).model_copy()):
                    await fresh.append_event(copied, Event(author="x", output=2))
                    assert [event.output for event in copied.events][:2] == [1, 2]

        self.run(steps())

    def test_records_are_kept_as_they_were(self) -> None:
        """A record comes back with every field as it was at the append, whatever happens to either copy later."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            run = whole_record()
            before = copy.deepcopy(run)
            await log.append(None, [run])
            run.output = "changed"
            run.notes.append("changed")
            run.attempts[0].error_type = "changed"
            run.questions[0].answer = "changed"
            run.input["nested"]["list"].append("changed")
            for _ in range(2):
                found = await log.run_at("e-1", before.path)
                assert found is not None
                assert_same_record(found, before)
                found.notes.append("changed")
                found.questions.clear()
                found.input["pair"] = "changed"
            log = await self._log(self.reopen(service))
            found = await log.run_at("e-1", before.path)
            assert found is not None
            assert_same_record(found, before)
            assert await log.run_at("e-1", "wf@1/other@1") is None
            assert await log.run_at("e-2", before.path) is None

        self._with_log(steps)

    def test_error_texts_are_kept_whatever_is_in_them(self) -> None:
        """Half characters in the texts of errors and notes become `?`, so that a failure is always recorded."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            half = "half \ud83d, ünï"
            run = record("a", status=Status.FAILED, error_message=half, notes=[half])
            run.attempts = [Attempt(1.0, 2.0, "OSError", half)]
            await log.append(Event(author="wf", error_code="OSError", error_message=half), [run])
            log = await self._log(self.reopen(service))
            found = await log.run_at("e-1", run.path)
            assert found is not None
            texts = {found.error_message, found.notes[0], found.attempts[0].error_message}
            assert texts == {"half ?, ünï"}

        self._with_log(steps)

    def test_open_records_are_found(self) -> None:
        """Records not completed, or that a join waits for, are open, in the order of their first append."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            runs = [record(f"n{i}", status=status) for i, status in enumerate(Status)]
            await log.append(None, runs)
            await log.append(None, [record("held", status=Status.COMPLETED, held_for=("wf@1/join@1",))])
            names = [f"n{i}" for i, status in enumerate(Status) if status is not Status.COMPLETED] + ["held"]
            assert [run.name for run in await log.open_runs("e-1")] == names
            assert await log.open_runs("e-2") == []
            await log.append(None, [record("held", status=Status.COMPLETED), record("n0", status=Status.COMPLETED)])
            await log.append(None, [record("n0", status=Status.RUNNING)])
            log = await self._log(self.reopen(service))
            assert [run.name for run in await log.open_runs("e-1")] == names[:-1]

        self._with_log(steps)

    def test_latest_record_of_each_node_is_found(self) -> None:
        """Of each node below a parent the record completed last is found, in the order of completion, held ones too."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            a1, a2, b1, b2 = record("a", "1"), record("a", "2"), record("b", "1"), record("b", "2")
            for run in (a1, b1, a2, b2):
                await log.append(None, [run])
            inner = record("c", "1", parent="wf@1/a@1", status=Status.COMPLETED)
            for run in (a2, b2, a1):
                run.status = Status.COMPLETED
            b2.held_for = ("wf@1/join@1",)
            await log.append(None, [a2, b2])
            await log.append(None, [inner, a1])
            a2.notes = ["written again"]
            await log.append(None, [a2, record("d", status=Status.FAILED)])
            log = await self._log(self.reopen(service))
            assert [run.path for run in await log.latest_runs("e-1", "wf@1")] == ["wf@1/b@2", "wf@1/a@1"]
            assert [run.path for run in await log.latest_runs("e-1", "wf@1/a@1")] == ["wf@1/a@1/c@1"]
            assert await log.latest_runs("e-1", "") == []

        self._with_log(steps)

    def test_children_are_found(self) -> None:
        """All records directly below a parent are found, in the order of their first append."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            await log.append(None, [record("z"), record("a")])
            await log.append(None, [record("m"), record("c", parent="wf@1/a@1")])
            await log.append(None, [record("z", status=Status.COMPLETED)])
            log = await self._log(self.reopen(service))
            children = await log.child_runs("e-1", "wf@1")
            assert [(run.name, run.status) for run in children] == [
                ("z", "completed"),
                ("a", "running"),
                ("m", "running"),
            ]
            assert [run.name for run in await log.child_runs("e-1", "wf@1/a@1")] == ["c"]
            assert await log.child_runs("e-1", "nowhere@1") == []

        self._with_log(steps)

    def test_root_and_asking_records_are_found(self) -> None:
        """The root of an invocation or of the newest one is found, and the newest record that asked a question."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            assert await log.root_run() is None
            assert await log.asking_run("q") is None
            await log.append(None, [record("wf", parent="", invocation_id="e-1")])
            await log.append(None, [record("wf", parent="", invocation_id="e-2"), record("x", invocation_id="e-2")])
            first, second = record("ask", "1"), record("ask", "2", invocation_id="e-2")
            await log.append(None, [first, second])
            second.questions = [Question("q", "Sure?")]
            await log.append(None, [second])
            first.questions = [Question("q", "Old?"), Question("only")]
            await log.append(None, [first])
            log = await self._log(self.reopen(service))
            for given, expected in ((None, "e-2"), ("e-1", "e-1"), ("e-2", "e-2")):
                root = await log.root_run(given)
                assert root is not None
                assert (root.path, root.invocation_id) == ("wf@1", expected)
            assert await log.root_run("e-3") is None
            asked, only = await log.asking_run("q"), await log.asking_run("only")
            assert asked is not None
            assert only is not None
            assert (asked.invocation_id, asked.path, asked.questions[0].message) == ("e-2", "wf@1/ask@2", "Sure?")
            assert only.path == "wf@1/ask@1"

        self._with_log(steps)

    def test_event_and_records_are_stored_together(self) -> None:
        """An append stores event, state and records, a refused one nothing; the live state is the engine's."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            session = await _get(service, "logged")
            log = service.open_log(session)  # type: ignore[attr-defined]
            event = Event(author="wf", output=(1,), state={"k": (2,), "temp:t": 1, "user:u": 3})
            await log.append(event, [record("a", status=Status.COMPLETED)])
            assert session.events == [event]
            assert session.state == {}
            await _raised(DataError, log.append(Event(author="wf", output=object()), [record("b")]))
            await _raised(AlreadyExistsError, log.append(Event(author="wf", id=event.id, output=9), [record("b")]))
            fresh = self.reopen(service)
            found = await _get(fresh, "logged")
            assert_same(found.state, {"k": (2,), "user:u": 3})
            assert found.events == [event]
            log = await self._log(fresh)
            assert [run.name for run in await log.child_runs("e-1", "wf@1")] == ["a"]
            await fresh.delete_session(**APP, session_id="logged")
            await _raised(SessionNotFoundError, log.append(None, [record("c")]))
            await fresh.create_session(**APP, session_id="logged")
            assert await (await self._log(fresh)).child_runs("e-1", "wf@1") == []

        self._with_log(steps)

    def test_invocations_and_sessions_are_apart(self) -> None:
        """Records with the same path in other invocations or sessions are other records."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            other = service.open_log(await service.create_session(**APP, session_id="other"))  # type: ignore[attr-defined]
            await log.append(None, [record("a", output=1), record("a", output=2, invocation_id="e-2")])
            await other.append(None, [record("a", output=3)])
            found = [await log.run_at("e-1", "wf@1/a@1"), await log.run_at("e-2", "wf@1/a@1")]
            found.append(await other.run_at("e-1", "wf@1/a@1"))
            assert [run.output if run else None for run in found] == [1, 2, 3]

        self._with_log(steps)

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

    def _with_log(self, steps: Any) -> None:
        async def outer() -> None:
            async with self.make() as service:
                if isinstance(service, KeepsRuns):
                    session = await service.create_session(**APP, session_id="logged")
                    await steps(service.open_log(session), service)

        self.run(outer())

    async def _log(self, service: BaseSessionService) -> RunLog:
        assert isinstance(service, KeepsRuns)
        return service.open_log(await _get(service, "logged"))


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
        attempts=[Attempt(1.0, 2.0, "ValueError", "bad", 3.0), Attempt(3.0)],
        questions=[
            Question("q1", "Sure?", {"at": dt.date(2026, 1, 1)}, {"type": "boolean"}, 4.0, False, True, (True,), 5.0),
            Question("q2"),
        ],
        open_below=("q3",),
        error_type="ValueError",
        error_message="bad ünï",
        error_path="wf@1/all@7",
        notes=["first", "second"],
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


async def _get(service: BaseSessionService, session_id: str) -> Session:
    found = await service.get_session(**APP, session_id=session_id)
    assert found is not None, f"session {session_id} is gone"
    return found


def _refused(change: Callable[[], Any]) -> DataError:
    try:
        change()
    except DataError as error:
        return error
    raise AssertionError("a stored event could be changed")


async def _raised(kind: type[Exception], steps: Coroutine[Any, Any, Any]) -> Exception:
    try:
        await steps
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")
