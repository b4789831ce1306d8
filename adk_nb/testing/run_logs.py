"""The contract of run logs as tests: what holds for the records of node runs that a service keeps beside its events.

`SessionServiceContract` contains it; a service without `open_log` passes it unseen.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from adk_nb.errors import AlreadyExistsError, DataError, SessionNotFoundError
from adk_nb.events import Attempt, Event, Question, Status
from adk_nb.sessions.base_session_service import BaseSessionService
from adk_nb.testing.samples import (
    APP,
    assert_same,
    assert_same_record,
    raised,
    record,
    stored_session,
    whole_record,
)
from adk_nb.workflow.ports import KeepsRuns, RunLog

T = TypeVar("T")
Steps = Callable[[RunLog, BaseSessionService], Awaitable[None]]


class RunLogContract:
    """What holds for every log of a session."""

    def make(self) -> BaseSessionService:
        """Return a new, empty service."""
        raise NotImplementedError("return a new, empty service")

    def reopen(self, service: BaseSessionService) -> BaseSessionService:
        """Return a service on the same data that knows nothing else; the same one when data lives in it alone."""
        return service

    def run(self, steps: Coroutine[Any, Any, T]) -> T:
        """Run a test's steps."""
        return asyncio.run(steps)

    def test_records_are_kept_as_they_were(self) -> None:
        """A record comes back with every field as it was at the append, whatever happens to either copy later."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            run = whole_record()
            before = copy.deepcopy(run)
            await log.append(None, [run])
            run.output = "changed"
            run.note("changed")
            run.end_attempt(9.0, "changed")
            run.ask(Question("changed"))
            run.input["nested"]["list"].append("changed")
            for _ in range(2):
                found = await log.run_at("e-1", before.path)
                assert found is not None
                assert_same_record(found, before)
                found.notes, found.questions = ("changed",), ()
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
            run = record("a", status=Status.FAILED, error_message=half, notes=(half,))
            run.attempts = (Attempt(1.0, 2.0, "OSError", half),)
            await log.append(Event(author="wf", error_code="OSError", error_message=half), [run])
            log = await self._log(self.reopen(service))
            found = await log.run_at("e-1", run.path)
            assert found is not None
            texts = {found.error_message, found.notes[0], found.attempts[0].error_message}
            assert texts == {"half ?, ünï"}

        self._with_log(steps)

    def test_open_records_are_found(self) -> None:
        """Records not completed are open, in the order of their first append."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            runs = [record(f"n{i}", status=status) for i, status in enumerate(Status)]
            await log.append(None, runs)
            names = [f"n{i}" for i, status in enumerate(Status) if status is not Status.COMPLETED]
            assert [run.name for run in await log.open_runs("e-1")] == names
            assert await log.open_runs("e-2") == []
            await log.append(None, [record("n0", status=Status.COMPLETED)])
            await log.append(None, [record("n0", status=Status.RUNNING)])
            log = await self._log(self.reopen(service))
            assert [run.name for run in await log.open_runs("e-1")] == names

        self._with_log(steps)

    def test_what_a_gathering_join_holds_is_open(self) -> None:
        """A completed record is open as long as a join that took its output gathers, and no longer."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            joins = [record(name, status=Status.GATHERING) for name in ("j", "k")]
            held = {
                name: record(name, status=Status.COMPLETED, held_for=tuple(f"wf@1/{join}@1" for join in taken))
                for name, taken in {"a": "j", "b": "jk", "c": "k", "d": ""}.items()
            }

            async def found() -> list[str]:
                names = [[run.name for run in await one.open_runs("e-1")] for one in (log, await self._log(service))]
                assert names[0] == names[1]
                return names[0]

            await log.append(None, [held["a"], joins[0], joins[1]])
            await log.append(None, [held["b"]])
            await log.append(None, [held["c"], held["d"]])
            assert await found() == ["a", "j", "k", "b", "c"]
            held["c"].held_for = ()
            await log.append(None, [held["c"]])
            assert await found() == ["a", "j", "k", "b"]
            joins[0].status = Status.PENDING
            await log.append(None, [joins[0]])
            await log.append(None, [record("late", status=Status.COMPLETED, held_for=("wf@1/j@1",))])
            assert await found() == ["j", "k", "b"]
            service = self.reopen(service)
            log = await self._log(service)
            joins[0].status = joins[1].status = Status.COMPLETED
            await log.append(None, joins)
            assert await found() == []
            held["a"].held_for = ("wf@1/j@2",)
            await log.append(None, [held["a"], record("j", "2", status=Status.GATHERING)])
            assert [run.path for run in await log.open_runs("e-1")] == ["wf@1/a@1", "wf@1/j@2"]

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
            a2.notes = ("written again",)
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
            second.questions = (Question("q", "Sure?"),)
            await log.append(None, [second])
            first.questions = (Question("q", "Old?"), Question("only"))
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

    def test_record_that_waits_is_found_behind_answered_ones(self) -> None:
        """Of several records that asked the same question, the newest that still waits is found; else the newest."""

        async def steps(log: RunLog, _: BaseSessionService) -> None:
            runs = [record("ask", invocation_id=f"e-{i}", status=Status.WAITING) for i in range(3)]
            for run in runs:
                run.questions = (Question("q"),)
                await log.append(None, [run])
            for run in (runs[2], runs[0], runs[1]):
                found = await log.asking_run("q")
                waiting = [one.invocation_id for one in runs if one.waits_for("q")]
                assert found is not None
                assert (found.invocation_id, found.waits_for("q")) == (waiting[-1], True)
                run.take_answer("q", 1, 1.0)
                run.status = Status.COMPLETED
                await log.append(None, [run])
            found = await log.asking_run("q")
            assert found is not None
            assert (found.invocation_id, found.waits_for("q")) == ("e-2", False)

        self._with_log(steps)

    def test_event_and_records_are_stored_together(self) -> None:
        """An append stores event, state and records, a refused one nothing; the live state is the engine's."""

        async def steps(log: RunLog, service: BaseSessionService) -> None:
            session = await stored_session(service, "logged")
            log = service.open_log(session)  # type: ignore[attr-defined]
            event = Event(author="wf", output=(1,), state={"k": (2,), "temp:t": 1, "user:u": 3})
            await log.append(event, [record("a", status=Status.COMPLETED)])
            assert session.events == [event]
            assert session.state == {}
            await raised(DataError, log.append(Event(author="wf", output=object()), [record("b")]))
            await raised(AlreadyExistsError, log.append(Event(author="wf", id=event.id, output=9), [record("b")]))
            fresh = self.reopen(service)
            found = await stored_session(fresh, "logged")
            assert_same(found.state, {"k": (2,), "user:u": 3})
            assert found.events == [event]
            log = await self._log(fresh)
            assert [run.name for run in await log.child_runs("e-1", "wf@1")] == ["a"]
            await fresh.delete_session(**APP, session_id="logged")
            await raised(SessionNotFoundError, log.append(None, [record("c")]))
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

    def test_what_was_taken_back_is_not_found(self) -> None:
        """A rewind takes the records of an invocation and all later ones out of sight; earlier and new ones stay."""
        self._with_log(self._rewind(are_known=False))

    def test_what_was_looked_up_and_taken_back_is_not_found(self) -> None:
        """A rewind does so too with records that a store has entered where it finds them."""
        self._with_log(self._rewind(are_known=True))

    def _rewind(self, *, are_known: bool) -> Steps:
        async def steps(log: RunLog, service: BaseSessionService) -> None:
            for number in ("1", "2", "3"):
                root = record("wf", parent="", invocation_id=f"e-{number}")
                asking = record("ask", invocation_id=f"e-{number}", questions=(Question("q"), Question(f"q{number}")))
                await log.append(Event(invocation_id=f"e-{number}", author="wf", output=number), [root, asking])
            if are_known:
                assert await log.root_run("e-3") is not None
            back = Event(invocation_id="e-4", author="user", actions={"rewind_before_invocation_id": "e-2"})
            await log.append(back, [])
            for one in (log, await self._log(self.reopen(service))):
                newest, asked = await one.root_run(), await one.asking_run("q")
                assert newest is not None
                assert asked is not None
                assert (newest.invocation_id, asked.invocation_id) == ("e-1", "e-1")
                for number in ("2", "3"):
                    assert await one.root_run(f"e-{number}") is None
                    assert await one.asking_run(f"q{number}") is None
                    assert await one.run_at(f"e-{number}", "wf@1/ask@1") is None
                    assert await one.open_runs(f"e-{number}") == []
                    assert await one.child_runs(f"e-{number}", "wf@1") == []
                assert len(await one.open_runs("e-1")) == 2
            log = await self._log(self.reopen(service))
            again = record("wf", parent="", invocation_id="e-5")
            await log.append(Event(invocation_id="e-5", author="wf", output="5"), [again])
            log = await self._log(self.reopen(service))
            newest = await log.root_run()
            assert newest is not None
            assert newest.invocation_id == "e-5"
            session = await stored_session(service, "logged")
            assert_same([event.invocation_id for event in session.events], [f"e-{number}" for number in range(1, 6)])

        return steps

    def _with_log(self, steps: Steps) -> None:
        async def outer() -> None:
            async with self.make() as service:
                if isinstance(service, KeepsRuns):
                    session = await service.create_session(**APP, session_id="logged")
                    await steps(service.open_log(session), service)

        self.run(outer())

    async def _log(self, service: BaseSessionService) -> RunLog:
        assert isinstance(service, KeepsRuns)
        return service.open_log(await stored_session(service, "logged"))
