"""Several processes on one session file: nothing is lost, mixed or half-written."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adk_nb.errors import SessionBusyError, StaleSessionError
from adk_nb.events import Event, Status
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.sessions.processes import is_alive, start_of, this_process
from adk_nb.sessions.sqlite_knowledge import Append
from adk_nb.testing.samples import APP, record

ROOT = Path(__file__).parents[2]

START = """
import asyncio, sys
from adk_nb.errors import *
from adk_nb.events import Event, Status
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing.samples import APP, record
path, name = sys.argv[1:3]
service = SqliteSessionService(path, lock_timeout=60)
"""

COUNT = """
async def main():
    own = None
    for i in range(40):
        while True:
            session = await service.get_session(**APP, session_id="s")
            log = service.open_log(session)
            n = session.state.get(name, 0)
            total = len(session.events)
            event = Event(author=name, output=[name, i], state={name: n + 1, "total": total + 1, "user:" + name: n + 1})
            try:
                await log.append(event, [record(name, str(i), status=Status.COMPLETED, output=i)])
                break
            except StaleSessionError:
                continue
        own = own or await service.create_session(**APP, session_id="own " + name)
        await service.append_event(own, Event(author=name, output=i))
asyncio.run(main())
"""

CHAIN = """
async def main():
    session = await service.get_session(**APP, session_id="s")
    log = service.open_log(session)
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
async def main():
    session = await service.get_session(**APP, session_id="s")
    async with service.running(session, "e-77"):
        print("in", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""


@contextmanager
def process(steps: str, path: Path, name: str = "child") -> Iterator[subprocess.Popen[str]]:
    """Start a Python process on a session file, and end it."""
    with subprocess.Popen(
        [sys.executable, "-c", START + steps, str(path), name],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def new_file(folder: Path) -> Path:
    """Make a file with the session "s"."""
    path = folder / "sessions.db"

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            await service.create_session(**APP, session_id="s")

    asyncio.run(steps())
    return path


@pytest.mark.slow
def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    """Two processes that reload whenever they are refused end with every event, record and state change of both."""
    path = new_file(tmp_path)
    with process(COUNT, path, "left") as left, process(COUNT, path, "right") as right:
        assert (left.wait(timeout=120), right.wait(timeout=120)) == (0, 0)

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            session = await service.get_session(**APP, session_id="s")
            assert session is not None
            outputs = [event.output for event in session.events]
            assert sorted(outputs) == sorted([name, i] for name in ("left", "right") for i in range(40))
            for name in ("left", "right"):
                assert [output[1] for output in outputs if output[0] == name] == list(range(40))
                own = await service.get_session(**APP, session_id=f"own {name}")
                assert own is not None
                assert [event.output for event in own.events] == list(range(40))
            assert session.state == {"left": 40, "right": 40, "total": 80, "user:left": 40, "user:right": 40}
            runs = await service.open_log(session).child_runs("e-1", "wf@1")
            assert [[run.name, run.output] for run in runs] == outputs

    asyncio.run(steps())


def test_write_of_another_process_is_noticed(tmp_path: Path) -> None:
    """After another service's write, an older session is refused in a sentence; once loaded again it works."""
    path = new_file(tmp_path)

    async def steps() -> None:
        async with SqliteSessionService(path) as ours, SqliteSessionService(path) as theirs:
            at = 1_700_000_000.0  # a clock that stands still must not hide a write
            session = await ours.get_session(**APP, session_id="s")
            other = await theirs.get_session(**APP, session_id="s")
            assert session is not None
            assert other is not None
            await ours.append_event(session, Event(author="x", output="ours", timestamp=at))
            with pytest.raises(StaleSessionError, match=r"'s' was changed by another process.*get_session\(\)"):
                await theirs.append_event(other, Event(author="x", output="never", timestamp=at))
            for old in (other, other.model_copy()):
                with pytest.raises(StaleSessionError):
                    theirs.open_log(old)
            newer = await theirs.get_session(**APP, session_id="s")
            assert newer is not None
            await theirs.append_event(newer, Event(author="x", output="theirs", timestamp=at))
            with pytest.raises(StaleSessionError):
                await theirs.append_event(other, Event(author="x", output="never", timestamp=at))
            with pytest.raises(StaleSessionError):
                await ours.append_event(session, Event(author="x", output="never", timestamp=at))
            last = await ours.get_session(**APP, session_id="s")
            assert last is not None
            assert [event.output for event in last.events] == ["ours", "theirs"]

    asyncio.run(steps())


def test_record_alone_counts_as_a_write(tmp_path: Path) -> None:
    """A change of records without an event is noticed by others, too."""
    path = new_file(tmp_path)

    async def steps() -> None:
        async with SqliteSessionService(path) as ours, SqliteSessionService(path) as theirs:
            logs = [service.open_log(await service.get_session(**APP, session_id="s")) for service in (ours, theirs)]
            await logs[0].append(None, [record("a")])
            with pytest.raises(StaleSessionError):
                await logs[1].append(None, [record("a", status=Status.FAILED)])
            found = await logs[1].run_at("e-1", "wf@1/a@1")
            assert found is not None
            assert found.status is Status.RUNNING

    asyncio.run(steps())


@pytest.mark.slow
def test_killed_writer_leaves_whole_appends(tmp_path: Path) -> None:
    """A process killed at any moment leaves a sound file: whole appends, and none lost that was acknowledged."""
    path = new_file(tmp_path)
    moment = random.Random(7)
    for _ in range(5):
        with process(CHAIN, path) as writer:
            assert writer.stdout is not None
            acknowledged = -1
            for _ in range(moment.randint(1, 60)):
                acknowledged = int(writer.stdout.readline())
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
        asyncio.run(check_chain(path, acknowledged))


async def check_chain(path: Path, acknowledged: int) -> None:
    """Check that events, records and state of a chain agree."""
    async with SqliteSessionService(path) as service:
        session = await service.get_session(**APP, session_id="s")
        assert session is not None
        count = len(session.events)
        assert [event.output for event in session.events] == list(range(count))
        assert count > acknowledged
        assert session.state == {"i": count - 1}
        runs = await service.open_log(session).child_runs("e-1", "wf@1")
        assert [(run.run_id, run.status) for run in runs] == [
            *((str(i), Status.COMPLETED) for i in range(count)), (str(count), Status.RUNNING)
        ]  # fmt: skip


def test_running_session_is_refused_to_other_processes(tmp_path: Path) -> None:
    """A session that another process runs is refused at once with run and process; after its death it is taken over."""
    path = new_file(tmp_path)

    async def run_it() -> None:
        async with SqliteSessionService(path) as service:
            session = await service.get_session(**APP, session_id="s")
            async with service.running(session, "e-1"):
                pass

    with process(HOLD, path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "in\n"
        with pytest.raises(SessionBusyError, match=rf"'s' is busy \(run e-77 in process {holder.pid} on"):
            asyncio.run(run_it())
        assert holder.stdin is not None
        holder.stdin.close()
        holder.wait()
        asyncio.run(run_it())
    with process(HOLD, path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "in\n"
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        asyncio.run(run_it())


def test_lock_of_a_lost_machine_can_be_broken(tmp_path: Path) -> None:
    """A session held on another machine is refused with the way out, and can be run after `break_lock`."""
    path = new_file(tmp_path)

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            session = await service.get_session(**APP, session_id="s")
            async with service.running(session, "e-1"):
                pass
            connection = sqlite3.connect(path)
            connection.execute("INSERT INTO adk_nb_locks SELECT number, 'far', 7, '', 'e-9', 0 FROM adk_nb_sessions")
            connection.commit()
            connection.close()
            with pytest.raises(SessionBusyError, match=r"run e-9 in process 7 on far.*break_lock\(\)"):
                async with service.running(session, "e-2"):
                    pass
            await service.break_lock(**APP, session_id="s")
            await service.break_lock(**APP, session_id="never there")
            async with service.running(session, "e-2"):
                pass

    asyncio.run(steps())


def test_services_of_one_process_take_turns(tmp_path: Path) -> None:
    """Two services on one file, each on its own thread and event loop, run a session one after the other."""
    path = new_file(tmp_path)
    inside: list[str] = []

    def work(name: str) -> None:
        async def steps() -> None:
            async with SqliteSessionService(path) as service:
                session = await service.get_session(**APP, session_id="s")
                for _ in range(5):
                    async with service.running(session, name):
                        inside.append(name)
                        await asyncio.sleep(0)
                        assert inside.pop() == name

        asyncio.run(steps())

    failures = run_in_threads(work, "abc")
    assert (failures, inside) == ([], [])


def test_turns_survive_cancelled_and_closed_waiters() -> None:
    """A waiter that is cancelled, or whose event loop ends, gives its turn to the next."""
    service = InMemorySessionService()
    session = asyncio.run(service.create_session(**APP))

    async def wait_in_vain() -> None:
        async def waiter() -> None:
            async with service.running(session):
                raise AssertionError("it wasn't its turn")

        tasks = [asyncio.ensure_future(waiter()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.sleep(0)

    async def steps() -> None:
        async with service.running(session):
            thread = threading.Thread(target=asyncio.run, args=(wait_in_vain(),))
            thread.start()
            await asyncio.to_thread(thread.join)
            next_one = asyncio.ensure_future(one_turn())
            cancelled = asyncio.ensure_future(one_turn())
            await asyncio.sleep(0)
            cancelled.cancel()
            await asyncio.sleep(0)
        assert await next_one
        assert await one_turn()

    async def one_turn() -> bool:
        async with service.running(session):
            return True

    asyncio.run(steps())


def test_processes_are_known_by_id_and_start() -> None:
    """This process is alive under its own name; with another start time, or after its end, a process isn't."""
    host, pid, start = this_process()
    assert is_alive(host, pid, start)
    assert not is_alive(host, pid, start + "x")
    assert is_alive("another host", pid, "unknown")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_alive(host, child.pid, start_of(child.pid) or "")
    child.communicate(b"\n")
    assert start_of(child.pid) is None


def run_in_threads(work: Any, names: str) -> list[BaseException]:
    """Run `work(name)` in one thread a name at once, and return what they raised."""
    failures: list[BaseException] = []

    def guarded(name: str) -> None:
        try:
            work(name)
        except BaseException as failure:  # noqa: BLE001  a thread's failure belongs to the test
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_threads_share_a_service(tmp_path: Path) -> None:
    """Event loops of several threads append to sessions of one service, the same session included; nothing is lost."""
    service = SqliteSessionService(new_file(tmp_path))

    def work(name: str) -> None:
        async def steps() -> None:
            session = await service.get_session(**APP, session_id="s")
            assert session is not None
            for i in range(30):
                await service.append_event(session, Event(author=name, output=i, state={name: i, f"app:{name}": i}))

        asyncio.run(steps())

    assert run_in_threads(work, "abc") == []

    async def steps() -> None:
        async with service:
            session = await service.get_session(**APP, session_id="s")
            assert session is not None
            for name in "abc":
                assert [event.output for event in session.events if event.author == name] == list(range(30))
            assert session.state == {**dict.fromkeys("abc", 29), **dict.fromkeys(["app:a", "app:b", "app:c"], 29)}

    asyncio.run(steps())


def test_append_broken_off_after_its_commit_is_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt between a commit and its return isn't taken for another process's write: the session goes on."""
    path = new_file(tmp_path)
    finish = Append.commit

    def interrupted(self: Append) -> None:
        raise KeyboardInterrupt

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            session = await service.get_session(**APP, session_id="s")
            assert session is not None
            log = service.open_log(session)
            await log.append(Event(author="x", output=0, state={"a": 1}), [record("a")])
            monkeypatch.setattr(Append, "commit", interrupted)
            with pytest.raises(KeyboardInterrupt):
                await log.append(Event(author="x", output=1, state={"b": 1}), [record("b")])
            monkeypatch.setattr(Append, "commit", finish)
            await log.append(Event(author="x", output=2, state={"c": 1}), [record("b", status=Status.COMPLETED)])
            found = await SqliteSessionService(path).get_session(**APP, session_id="s")
            assert found is not None
            assert ([event.output for event in found.events], found.state) == ([0, 1, 2], {"a": 1, "b": 1, "c": 1})
            assert [run.name for run in await log.open_runs("e-1")] == ["a"]

    asyncio.run(steps())
