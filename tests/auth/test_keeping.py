"""What is kept of a credential and how long: in the process for its run, in a service, and never in a history."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from adk_nb.auth import (
    AuthCredential,
    InMemoryCredentialService,
)
from adk_nb.errors import AnswerError, DataError, WorkflowDataError
from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.plugins import BasePlugin
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import FunctionNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.auth.asking import CALL, SECRET, caller, calling, config, everything_kept
from tests.sessions.plain_store import PlainStore
from tests.workflow.driving import Conversation, lines, outputs, run

ROOT = Path(__file__).parents[2]


def bytes_below(folder: Path) -> bytes:
    """Return what all files of a folder hold."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_answers_given_in_code_are_not_stored_either() -> None:
    """`answers=`, as the notebook gives them, takes objects as well, and stores as little of them."""

    async def test() -> None:
        for answer in (SECRET, AuthCredential(auth_type="apiKey", api_key=SECRET)):  # type: ignore[arg-type]
            talk = Conversation(calling())
            await talk.say()
            stream = talk.runner.follow(**talk.where, answers={CALL: answer}, yield_user_message=True)
            seen = [event async for event in stream]
            assert outputs(seen)["wf@1/again@1"] == len(SECRET)
            assert SECRET not in "".join(event.model_dump_json() for event in seen)
            assert SECRET not in await everything_kept(talk)

    run(test)


def test_no_byte_of_it_is_in_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the database nor its journal nor a log holds the credential, approved or malformed."""
    caplog.set_level(logging.DEBUG)

    async def test() -> None:
        async with SqliteSessionService(str(tmp_path / "s.db")) as service:
            talk = Conversation(calling(), service)
            await talk.say()
            await talk.fail(AnswerError, talk.answer({CALL: {"authType": SECRET}}))
            await talk.answer({CALL: SECRET})
            assert (await talk.root()).status is Status.COMPLETED
            assert SECRET.encode() not in bytes_below(tmp_path)

    run(test)
    written = bytes_below(tmp_path)
    assert b"wf_auth" in written
    assert SECRET.encode() not in written
    assert SECRET not in caplog.text


def test_a_credential_cannot_be_handed_on() -> None:
    """A node that hands on a credential, or writes it to the state, fails: both would be stored."""

    async def test() -> None:
        wanted = config()

        def leak(ctx: Context) -> Any:
            return {"deep": [ctx.get_auth_response(wanted)]}

        def write(ctx: Context) -> None:
            ctx.state["credential"] = ctx.get_auth_response(wanted)

        for body in (leak, write):
            talk = Conversation(FunctionNode(body, auth_config=wanted, rerun_on_resume=True))
            await talk.say()
            error = await talk.fail(WorkflowDataError, talk.answer({f"wf_auth:{body.__name__}@1": SECRET}))
            assert "get_auth_response" in str(error)
            assert SECRET not in str(error) + await everything_kept(talk)

    run(test)


def test_another_run_asks_again() -> None:
    """A credential is given for a run; when that is over, it is forgotten, and other users never see it."""

    async def test() -> None:
        talk = Conversation(calling())
        await talk.say()
        await talk.answer({CALL: SECRET})
        assert lines(await talk.say()) == [("wf@1/call@1", f"?{CALL}")]
        other = Conversation(calling(), talk.service, user_id="other")
        assert lines(await other.say()) == [("wf@1/call@1", f"?{CALL}")]

    run(test)


def test_a_credential_service_keeps_them_over_runs() -> None:
    """With a service, a credential is asked for once a user, and saved under its key."""

    async def test() -> None:
        service = InMemoryCredentialService()
        talk = Conversation(calling(), credential_service=service)
        await talk.say()
        await talk.answer({CALL: SECRET})
        assert outputs(await talk.say()) == {"wf@1/call@1": len(SECRET), "wf@1/again@1": len(SECRET)}
        elsewhere = Conversation(calling(), session_id="other", credential_service=service)
        assert outputs(await elsewhere.say())["wf@1/call@1"] == len(SECRET)
        stranger = Conversation(calling(), user_id="other", credential_service=service)
        assert lines(await stranger.say()) == [("wf@1/call@1", f"?{CALL}")]
        assert SECRET not in await everything_kept(talk)

    run(test)


def test_a_store_that_keeps_only_events() -> None:
    """Records that are worked out from events know an answered credential as answered, and as a secret."""

    async def test() -> None:
        store = PlainStore()
        talk = Conversation(calling(), store)
        await talk.say()
        await talk.answer({CALL: SECRET})
        assert (await talk.root()).output == len(SECRET)
        assert SECRET not in "".join(store.texts.values())

    run(test)


def test_plugins_see_the_answer_without_the_credential() -> None:
    """A plugin that gives the user's message back, changed or not, takes no credential away."""

    async def test() -> None:
        seen: list[str] = []

        class Looker(BasePlugin):
            async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
                seen.append(user_message.model_dump_json())
                return user_message.model_copy(deep=True)

        talk = Conversation(calling(), plugins=[Looker("looker")])
        await talk.say()
        await talk.answer({CALL: SECRET})
        assert (await talk.root()).output == len(SECRET)
        assert len(seen) == 2
        assert SECRET not in "".join(seen)

    run(test)


def test_a_credential_without_an_id_is_not_taken_for_a_message() -> None:
    """A function response for a credential that names no question is refused, as a message would be stored."""

    async def test() -> None:
        talk = Conversation(calling())
        await talk.say()
        lost = types.FunctionResponse(name="adk_request_credential", response={"result": SECRET})
        message = types.Content(role="user", parts=[types.Part(function_response=lost)])
        await talk.fail(DataError, talk._collect(new_message=message))
        assert SECRET not in await everything_kept(talk)

    run(test)


def stopping() -> Workflow:
    """Return a workflow that needs a credential before and after a pause."""
    wanted = config()
    ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
    return Workflow(name="wf", edges=[("START", caller("call", wanted), ask, caller("later", wanted))])


async def other_process(database: str, step: str) -> None:
    """Be another process: give the credential and stop at the pause, or die between the answer and what follows."""
    async with SqliteSessionService(database) as service:
        talk = Conversation(stopping(), service)
        await talk.say()
        if step == "pause":
            await talk.answer({CALL: SECRET})
        else:
            stream = talk.runner.follow(**talk.where, answers={CALL: SECRET}, on_run=lambda _: os._exit(0))
            _ = [event async for event in stream]
            raise AssertionError("a stored answer should have ended this process")


@pytest.mark.parametrize("step", ["pause", "die"])
def test_after_a_restart_it_is_asked_for_again(tmp_path: Path, step: str) -> None:
    """The credential was in the process that ended; whichever node needs it next in another process asks anew."""
    database = str(tmp_path / "s.db")
    program = (
        f"import asyncio; from {__name__} import other_process; asyncio.run(other_process({database!r}, {step!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    async def test() -> None:
        async with SqliteSessionService(database) as service:
            talk = Conversation(stopping(), service)
            if step == "die":
                assert lines(await talk.go_on()) == [("wf@1/call@1", f"?{CALL}")]
                await talk.answer({CALL: SECRET})
                await talk.answer(q=1)
            else:
                later = "wf_auth:wf@1/later@1"
                assert lines(await talk.answer(q=1)) == [("wf@1/later@1", f"?{later}")]
                await talk.answer({later: SECRET})
            root = await talk.root()
            assert (root.status, root.output) == (Status.COMPLETED, len(SECRET))

    run(test)
