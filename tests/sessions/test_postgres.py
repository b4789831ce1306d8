"""PostgreSQL: the contract, and several processes on one database."""

from __future__ import annotations

import asyncio
import contextlib
import decimal
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from adk_nb import Runner, Workflow
from adk_nb.errors import SessionBusyError, SessionStoreError, StaleSessionError
from adk_nb.events import Event, RequestInput, Status
from adk_nb.events.event import to_content
from adk_nb.events.request_input import answer_content
from adk_nb.sessions import BaseSessionService, DatabaseSessionService, SqliteSessionService
from adk_nb.testing.samples import APP, record, stored_session
from adk_nb.testing.sessions import SessionServiceContract
from adk_nb.workflow import node
from tests.sessions.conftest import program

T = TypeVar("T")

pytestmark = pytest.mark.postgres


ROOT = Path(__file__).parents[2]
START = """
import asyncio, sys
from adk_nb.errors import *
from adk_nb.events import Event, Status
from adk_nb.sessions import DatabaseSessionService
from adk_nb.testing.samples import APP, record
url, name = sys.argv[1:3]

async def stored():
    try:
        return await service.get_session(**APP, session_id="s") or await service.create_session(**APP, session_id="s")
    except AlreadyExistsError:
        return await stored()

async def main():
    global service
    async with DatabaseSessionService(url) as service:
        await steps()
"""
COUNT = """
async def steps():
    for i in range(20):
        while True:
            session = await stored()
            n, total = session.state.get(name, 0), len(session.events)
            event = Event(author=name, output=[name, i], state={name: n + 1, "total": total + 1, "app:" + name: n + 1})
            try:
                log = service.open_log(session)
                await log.append(event, [record(name, str(i), status=Status.COMPLETED, output=[name, i])])
                break
            except StaleSessionError:
                continue
asyncio.run(main())
"""
CHAIN = """
async def steps():
    log = service.open_log(await stored())
    run = (await log.open_runs("e-1") or [record("n", "0")])[0]
    while True:
        i = int(run.run_id)
        run.status, run.output = Status.COMPLETED, "x" * (i % 3000)
        following = record("n", str(i + 1), input=i)
        await log.append(Event(author="n", output=i, state={"i": i}), [run, following])
        run = following
        print(i, flush=True)
asyncio.run(main())
"""
HOLD = """
async def steps():
    async with service.running(await stored(), "e-77"):
        print("in", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""


@contextmanager
def process(steps: str, url: str, name: str = "child") -> Iterator[subprocess.Popen[str]]:
    """Start a Python process on a database, and end it."""
    with subprocess.Popen(
        [sys.executable, "-c", START + steps, url, name],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


class TestPostgres(SessionServiceContract):
    """In a database, read back by a second service that has never seen the sessions."""

    @pytest.fixture(autouse=True)
    def _database(self, postgres_url: str) -> None:
        self.url = postgres_url
        self.made: list[BaseSessionService] = []

    def make(self) -> BaseSessionService:
        """Return a service on a new database."""
        self.made.append(DatabaseSessionService(self.url))
        return self.made[-1]

    def run(self, steps: Coroutine[Any, Any, T]) -> T:
        """Run a test's steps, and close the services that it made."""

        async def run_and_close() -> T:
            try:
                return await steps
            finally:
                for service in self.made:
                    await service.close()

        return asyncio.run(run_and_close())

    def reopen(self, service: BaseSessionService) -> BaseSessionService:
        """Return another service on the database."""
        return self.make()


def test_other_addresses_are_refused_or_served(tmp_path: Path) -> None:
    """The address of a file keeps sessions there, that of another server gets one sentence without its password."""
    path = tmp_path / "sessions.db"

    async def append(service: BaseSessionService) -> list[Any]:
        async with service:
            session = await service.get_session(**APP, session_id="s")
            session = session or await service.create_session(**APP, session_id="s")
            await service.append_event(session, Event(author="x", output=len(session.events)))
            return [event.output for event in session.events]

    assert asyncio.run(append(DatabaseSessionService(f"sqlite:///{path}"))) == [0]
    assert asyncio.run(append(DatabaseSessionService(f"sqlite+aiosqlite:///{path}"))) == [0, 1]
    assert asyncio.run(append(SqliteSessionService(path))) == [0, 1, 2]
    for address in ("mysql://ada:secret@host/db", "not an address"):
        with pytest.raises(SessionStoreError, match="postgresql://user:password@host/database") as caught:
            DatabaseSessionService(address)
        assert "secret" not in str(caught.value)


def test_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Without a server the first use says so in one sentence, and doesn't show the password."""

    async def steps() -> None:
        async with DatabaseSessionService(f"postgresql://ada:secret@/db?host={tmp_path}") as service:
            with pytest.raises(SessionStoreError, match=r"ada:\*\*\*@/db.*Check that the server runs") as caught:
                await service.list_sessions(app_name="app")
            assert "secret" not in str(caught.value)
            assert "\n" not in str(caught.value)

    asyncio.run(steps())


def test_writes_of_another_process_are_noticed(postgres_url: str) -> None:
    """After another service's write, an older session is refused; loaded again it goes on, whatever the clock says."""
    url = postgres_url

    async def steps() -> None:
        async with DatabaseSessionService(url) as ours, DatabaseSessionService(url) as theirs:
            at = 1_700_000_000.0
            session = await ours.create_session(**APP, session_id="s")
            other = await stored_session(theirs, "s")
            await ours.append_event(session, Event(author="x", output="ours", timestamp=at))
            with pytest.raises(StaleSessionError, match=r"'s' was changed by another process.*get_session\(\)"):
                await theirs.append_event(other, Event(author="x", output="never", timestamp=at))
            newer = await stored_session(theirs, "s")
            await theirs.open_log(newer).append(None, [record("a")])
            with pytest.raises(StaleSessionError):
                await ours.append_event(session, Event(author="x", output="never", timestamp=at))
            last = await stored_session(ours, "s")
            assert [event.output for event in last.events] == ["ours"]
            await ours.append_event(last, Event(author="x", output="again", timestamp=at))
            assert [event.output for event in (await stored_session(theirs, "s")).events] == ["ours", "again"]

    asyncio.run(steps())


def test_cancelled_append_is_whole(postgres_url: str) -> None:
    """A caller that is cancelled in the middle of an append leaves it stored in full, and the session goes on."""

    async def steps() -> None:
        async with DatabaseSessionService(postgres_url) as service:
            session = await service.create_session(**APP, session_id="s")
            log = service.open_log(session)
            for i in range(20):
                task = asyncio.ensure_future(
                    log.append(Event(author="x", output=i, state={"app:n": i}), [record("n", str(i))])
                )
                for _ in range(i % 4):
                    await asyncio.sleep(0)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            outputs = [event.output for event in session.events]
            found = await stored_session(service, "s")
            assert [event.output for event in found.events] == outputs
            assert [int(run.run_id) for run in await log.child_runs("e-1", "wf@1")] == outputs
            await log.append(Event(author="x", output="last"), [])

    asyncio.run(steps())


def test_a_server_that_was_restarted_is_found_again(postgres_server: Path, postgres_url: str) -> None:
    """After the server has closed all connections, as in a restart, the first call works, that of a run too."""
    user = postgres_url.partition("://")[2].partition("@")[0]
    psql: list[str | Path] = [program("psql"), "-h", postgres_server, "-U", "tester", "-q", "-d", "postgres", "-c"]

    def end_connections() -> None:
        ended = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '{user}'"
        subprocess.run([*psql, ended], check=True, stdout=subprocess.DEVNULL)

    async def restarted() -> None:
        end_connections()
        for _ in range(20):
            await asyncio.sleep(0)  # the loop looks at its sockets

    async def steps() -> None:
        async with DatabaseSessionService(postgres_url) as service:
            session = await service.create_session(**APP, session_id="s")
            await restarted()
            await service.append_event(session, Event(author="x", output=1))
            runner = Runner(node=node(lambda: 2, name="two"), app_name=APP["app_name"], session_service=service)
            for text in ("first", "second"):
                await restarted()
                where = {"user_id": APP["user_id"], "session_id": "s"}
                assert [event.output async for event in runner.run_async(**where, new_message=to_content(text))] == [2]
            await restarted()
            found = await service.get_session(**APP, session_id="s")
            assert found is not None
            assert [event.output for event in found.events if event.author != "user"] == [1, 2, 2]

    asyncio.run(steps())


def test_several_event_loops_use_one_service(postgres_url: str) -> None:
    """Each event loop that uses a service has connections of its own."""
    service = DatabaseSessionService(postgres_url)

    def in_a_loop_of_its_own(name: str) -> list[Any]:
        async def steps() -> list[Any]:
            try:
                session = await service.get_session(**APP, session_id="s")
                session = session or await service.create_session(**APP, session_id="s")
                async with service.running(session, name):
                    await service.append_event(session, Event(author=name, output=name))
                return [event.output for event in session.events]
            finally:
                await service.close()

        return asyncio.run(steps())

    assert [in_a_loop_of_its_own(name) for name in "ab"] == [["a"], ["a", "b"]]


@pytest.mark.slow
def test_two_processes_lose_nothing(postgres_url: str) -> None:
    """Two processes that reload whenever they are refused end with every event, record and state change of both."""
    url = postgres_url
    with process(COUNT, url, "left") as left, process(COUNT, url, "right") as right:
        assert (left.wait(timeout=120), right.wait(timeout=120)) == (0, 0)

    async def steps() -> None:
        async with DatabaseSessionService(url) as service:
            session = await stored_session(service, "s")
            outputs = [event.output for event in session.events]
            assert sorted(outputs) == sorted([name, i] for name in ("left", "right") for i in range(20))
            assert session.state == {"left": 20, "right": 20, "total": 40, "app:left": 20, "app:right": 20}
            runs = await service.open_log(session).child_runs("e-1", "wf@1")
            assert [run.output for run in runs] == outputs

    asyncio.run(steps())


@pytest.mark.slow
def test_killed_writer_leaves_whole_appends(postgres_url: str) -> None:
    """A process killed at any moment leaves whole appends, and none is lost that was acknowledged."""
    url = postgres_url
    moment = random.Random(7)
    for _ in range(3):
        with process(CHAIN, url) as writer:
            assert writer.stdout is not None
            acknowledged = -1
            for _ in range(moment.randint(1, 40)):
                acknowledged = int(writer.stdout.readline())
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
        asyncio.run(check_chain(url, acknowledged))


async def check_chain(url: str, acknowledged: int) -> None:
    """Check that events, records and state of a chain agree."""
    async with DatabaseSessionService(url) as service:
        session = await stored_session(service, "s")
        count = len(session.events)
        assert [event.output for event in session.events] == list(range(count))
        assert count > acknowledged
        assert session.state == {"i": count - 1}
        runs = await service.open_log(session).child_runs("e-1", "wf@1")
        assert [(run.run_id, run.status) for run in runs] == [
            *((str(i), Status.COMPLETED) for i in range(count)), (str(count), Status.RUNNING)
        ]  # fmt: skip


def test_running_session_is_refused_to_other_processes(postgres_url: str) -> None:
    """A session that another process runs is refused at once with run and process; its death frees the session."""
    url = postgres_url

    async def run_it() -> None:
        async with DatabaseSessionService(url) as service:
            session = await stored_session(service, "s")
            async with service.running(session, "e-1"):
                pass

    with process(HOLD, url) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "in\n"
        with pytest.raises(SessionBusyError, match=rf"'s' is busy \(run e-77 in process {holder.pid} on"):
            asyncio.run(run_it())
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        until_free(run_it)


def until_free(run_it: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run until the server has noticed that the holder is gone."""
    while True:
        try:
            return asyncio.run(run_it())
        except SessionBusyError:
            continue


def test_workflow_is_answered_by_another_process(postgres_url: str) -> None:
    """A run that waits for a person is finished by a service that has never seen it; no finished node runs again."""
    url = postgres_url
    ran: list[str] = []

    def first(node_input: Any) -> dict[str, Any]:
        ran.append("first")
        return {"price": decimal.Decimal("9.90"), "days": (1, 2)}

    def ask(node_input: Any) -> Any:
        return RequestInput(interrupt_id="sure", message="Sure?")

    def last(node_input: Any) -> Any:
        ran.append("last")
        return node_input

    def workflow() -> Workflow:
        return Workflow(name="wf", edges=[("START", first, ask, last)])

    async def call(message: Any) -> list[Any]:
        async with DatabaseSessionService(url) as service:
            runner = Runner(node=workflow(), app_name="app", session_service=service, auto_create_session=True)
            stream = runner.run_async(user_id="ada", session_id="s", new_message=message)
            return [event.output async for event in stream]

    asyncio.run(call(to_content("go")))
    assert asyncio.run(call(answer_content({"sure": "yes"})))[-1] == "yes"
    assert ran == ["first", "last"]
