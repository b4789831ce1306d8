"""Credentials that nodes need: asked for once a run, checked before anything is stored, and never stored."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_nb.auth import (
    APIKey,
    APIKeyIn,
    AuthConfig,
    AuthCredential,
    HTTPBase,
    HTTPBearer,
    InMemoryCredentialService,
    OAuth2,
    OpenIdConnect,
)
from adk_nb.auth.auth_schemes import OAuthFlowClientCredentials, OAuthFlows
from adk_nb.errors import AnswerError, DataError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status, run_to_dict
from adk_nb.frames import events_frame, nodes_frame
from adk_nb.notebook.fold import RunFold
from adk_nb.plugins import BasePlugin
from adk_nb.sessions import SqliteSessionService
from adk_nb.tools import FunctionTool, ToolContext
from adk_nb.workflow import FunctionNode, JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.sessions.plain_store import PlainStore
from tests.workflow.driving import Conversation, lines, outputs, run

ROOT = Path(__file__).parents[2]
SECRET = "k-very-secret-4711"
CALL = "wf_auth:wf@1/call@1"
OAUTH_FLOWS = OAuthFlows(clientCredentials=OAuthFlowClientCredentials(tokenUrl="https://example.org/token"))


def config(key: str | None = "weather", scheme: Any = None, **more: Any) -> AuthConfig:
    """Return a config; an API key in a header unless said otherwise."""
    return AuthConfig(auth_scheme=scheme or APIKey(in_=APIKeyIn.header, name="X-Key"), credential_key=key, **more)


def caller(name: str, wanted: AuthConfig, **options: Any) -> FunctionNode:
    """Return a node that says how long its API key is, so that the test sees it arrive and the history doesn't."""

    def body(ctx: Context) -> Any:
        given = ctx.get_auth_response(wanted)
        assert given is not None
        return len(given.api_key or "")

    return FunctionNode(body, name=name, auth_config=wanted, rerun_on_resume=True, **options)


def calling(*, key: str | None = "weather") -> Workflow:
    """Return two nodes that need the same credential."""
    wanted = config(key)
    return Workflow(name="wf", edges=[("START", caller("call", wanted), caller("again", wanted))])


async def credential_for(wanted: AuthConfig, answer: Any) -> AuthCredential | None:
    """Return the credential that a node gets for an answer."""
    got: list[AuthCredential | None] = []

    def look(ctx: Context) -> None:
        got.append(ctx.get_auth_response(wanted))

    talk = Conversation(FunctionNode(look, auth_config=wanted, rerun_on_resume=True))
    await talk.say()
    await talk.answer({"wf_auth:look@1": answer})
    return got[0]


async def everything_kept(talk: Conversation) -> str:
    """Return all that is kept of a session as text: events, records, state, and what is shown of them."""
    events, records = await talk.stored(), list((await talk.records()).values())
    kept = [event.model_dump_json(by_alias=True) for event in events]
    kept += [json.dumps(run_to_dict(record), default=str) for record in records]
    kept += [json.dumps(await talk.state()), events_frame(events).to_string(), nodes_frame(records, events).to_string()]
    fold = RunFold(talk.runner.agent.describe())
    for event in events:
        fold.event(event)
    for record in records:
        fold.run(record)
    kept.append(json.dumps(fold.snapshot(1000), default=str))
    return "\n".join(kept)


def bytes_below(folder: Path) -> bytes:
    """Return what all files of a folder hold."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_the_question_is_that_of_google_adk() -> None:
    """A node without its credential asks with ADK's function call, under an id of its own path."""

    async def test() -> None:
        talk = Conversation(calling())
        [asked] = await talk.say()
        [call] = asked.get_function_calls()
        assert (call.name, call.id, asked.long_running_tool_ids) == ("adk_request_credential", CALL, {CALL})
        assert call.args is not None
        assert set(call.args) == {"functionCallId", "authConfig", "message"}
        assert call.args["authConfig"] == {
            "authScheme": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "credentialKey": "weather",
        }
        [(_, question)] = await talk.questions()
        assert question.response_schema == {
            "type": "string",
            "format": "password",
            "minLength": 1,
            "title": "API key",
        }

    run(test)


API_KEY = {"authType": "apiKey", "apiKey": SECRET}


@pytest.mark.parametrize(
    "answer",
    [
        SECRET,
        API_KEY,
        {"auth_type": "apiKey", "api_key": SECRET},
        json.dumps(API_KEY),
        {"response": SECRET},
        {"response": json.dumps(API_KEY)},
        {"authScheme": {"type": "apiKey", "in": "header", "name": "X-Key"}, "exchangedAuthCredential": API_KEY},
    ],
    ids=repr,
)
@pytest.mark.parametrize("key", ["weather", None])
def test_one_answer_serves_all_nodes_and_is_kept_nowhere(answer: Any, key: str | None) -> None:
    """Text, credential and config are taken; the next node with the same credential doesn't ask; nothing shows it."""

    async def test() -> None:
        talk = Conversation(calling(key=key))
        await talk.say()
        events = await talk.answer({CALL: answer})
        assert outputs(events) == {"wf@1/call@1": len(SECRET), "wf@1/again@1": len(SECRET)}
        kept = await everything_kept(talk)
        assert SECRET not in kept
        assert "not stored" in kept

    run(test)


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


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "  ",
        None,
        5,
        [SECRET],
        {},
        {"foo": SECRET},
        {"authType": SECRET},
        {"authType": "apiKey"},
        {"authType": "apiKey", "apiKey": 5},
        {"authType": "http", "http": {"scheme": "bearer", "credentials": {"token": SECRET}}},
        {"authScheme": {"type": "apiKey"}, "credentialKey": SECRET},
        {"exchangedAuthCredential": {"apiKey": SECRET}},
    ],
    ids=repr,
)
def test_a_malformed_answer_changes_nothing_and_is_not_repeated(answer: Any) -> None:
    """It is refused before it is stored, in words that don't show it, and the question stays open."""

    async def test() -> None:
        talk = Conversation(calling())
        await talk.say()
        before = len(await talk.stored())
        error = await talk.fail(AnswerError, talk.answer({CALL: answer}))
        assert "malformed" in str(error)
        assert SECRET not in str(error)
        assert len(await talk.stored()) == before
        assert [question.interrupt_id for _, question in await talk.questions()] == [CALL]
        assert outputs(await talk.answer({CALL: SECRET}))["wf@1/call@1"] == len(SECRET)

    run(test)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda t: st.lists(t) | st.dictionaries(st.sampled_from(["authType", "apiKey", "http", "oauth2", "x"]), t),
    )
)
@settings(max_examples=100, deadline=None)
def test_any_answer_is_taken_or_refused(answer: Any) -> None:
    """Whatever comes as an answer, it ends in a credential or in one kind of error."""

    async def test() -> None:
        try:
            found = await credential_for(config(), answer)
        except AnswerError:
            return
        assert found is not None
        assert found.api_key

    run(test)


BEARER = {"authType": "http", "http": {"scheme": "bearer", "credentials": {"token": SECRET}}}


@pytest.mark.parametrize(
    ("scheme", "answer", "expected"),
    [
        (HTTPBearer(), SECRET, BEARER),
        (HTTPBearer(), BEARER, BEARER),
        (
            HTTPBase(scheme="basic"),
            {"username": "ada", "password": SECRET},
            {"authType": "http", "http": {"scheme": "basic", "credentials": {"username": "ada", "password": SECRET}}},
        ),
        (OAuth2(flows=OAUTH_FLOWS), SECRET, {"authType": "oauth2", "oauth2": {"accessToken": SECRET}}),
        (OAuth2(flows=OAUTH_FLOWS), BEARER, BEARER),
        (
            OpenIdConnect(openIdConnectUrl="https://example.org"),
            {"authType": "openIdConnect", "oauth2": {"authCode": SECRET}},
            {"authType": "openIdConnect", "oauth2": {"authCode": SECRET}},
        ),
        ({"type": "custom", "x": 1}, API_KEY, API_KEY),
    ],
    ids=repr,
)
def test_each_scheme_has_its_answers(scheme: Any, answer: Any, expected: Any) -> None:
    """A text is the token that the scheme means; a credential of a kind that serves the scheme is taken as it is."""

    async def test() -> None:
        found = await credential_for(config(scheme=scheme), answer)
        assert found is not None
        shown = found.model_dump(mode="json", by_alias=True, exclude_none=True)
        if "oauth2" in shown:
            shown["oauth2"].pop("tokenEndpointAuthMethod")
        assert shown == expected

    run(test)


@pytest.mark.parametrize("scheme", [HTTPBase(scheme="basic"), {"type": "custom"}], ids=repr)
def test_a_text_that_a_scheme_does_not_take(scheme: Any) -> None:
    """Where a text can't be the credential, it is refused with what is wanted in its place."""

    async def test() -> None:
        with pytest.raises(AnswerError, match="malformed"):
            await credential_for(config(scheme=scheme), SECRET)

    run(test)


def test_what_the_config_holds_is_used_and_not_shown() -> None:
    """A config that holds its credential asks nobody; secrets of an OAuth2 client are left out of the question."""

    async def test() -> None:
        held = config(exchanged_auth_credential={"auth_type": "apiKey", "api_key": SECRET})
        talk = Conversation(caller("call", held))
        assert outputs(await talk.say()) == {"call@1": len(SECRET)}
        client = {"auth_type": "oauth2", "oauth2": {"client_id": "me", "client_secret": SECRET, "other": SECRET}}
        wanted = config(scheme=OAuth2(flows=OAUTH_FLOWS), raw_auth_credential=client)
        talk = Conversation(caller("call", wanted))
        [asked] = await talk.say()
        assert SECRET not in asked.model_dump_json()
        assert '"clientId":"me"' in asked.model_dump_json()
        assert SECRET not in repr(wanted) + str(wanted) + repr(held) + f"{held}"

    run(test)


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


def test_changing_a_credential_changes_only_ones_own() -> None:
    """Each caller gets a copy."""

    async def test() -> None:
        wanted = config()

        def spoil(ctx: Context) -> None:
            given = ctx.get_auth_response(wanted)
            assert given is not None
            given.api_key = "spoilt"

        first = FunctionNode(spoil, auth_config=wanted, rerun_on_resume=True)
        talk = Conversation(Workflow(name="wf", edges=[("START", first, caller("call", wanted))]))
        await talk.say()
        await talk.answer({"wf_auth:wf@1/spoil@1": SECRET})
        assert (await talk.root()).output == len(SECRET)

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


def test_different_credentials_are_asked_for_each() -> None:
    """Nodes that need different credentials ask each for its own, in parallel and nested; answers go by id."""

    async def test() -> None:
        nodes = [caller(name, config(name)) for name in ("a", "b")]
        inner = Workflow(name="inner", edges=[("START", tuple(nodes), JoinNode(name="j"))])
        talk = Conversation(Workflow(name="wf", edges=[("START", inner, caller("last", config("b")))]))
        await talk.say()
        ids = ["wf_auth:wf@1/inner@1/a@1", "wf_auth:wf@1/inner@1/b@1"]
        assert sorted(question.interrupt_id for _, question in await talk.questions()) == ids
        await talk.answer({ids[1]: "bb"})
        await talk.answer({ids[0]: "aaa"})
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, 2)
        assert (await talk.records())["wf@1/inner@1"].output == {"a": 3, "b": 2}

    run(test)


def test_in_a_loop_it_is_asked_for_once() -> None:
    """Later rounds of a loop have the credential already."""

    async def test() -> None:
        wanted = config()

        def count(ctx: Context, node_input: Any) -> Event:
            assert ctx.get_auth_response(wanted) is not None
            number = node_input + 1 if isinstance(node_input, int) else 1
            return Event(output=number, route="again" if number < 3 else "done")

        counter = FunctionNode(count, auth_config=wanted, rerun_on_resume=True)
        done = node(lambda node_input: node_input, name="done")
        talk = Conversation(Workflow(name="wf", edges=[("START", counter, {"again": counter, "done": done})]))
        await talk.say()
        await talk.answer({"wf_auth:wf@1/count@1": SECRET})
        assert (await talk.root()).output == 3

    run(test)


def test_approval_comes_before_the_credential() -> None:
    """A node that needs both asks for the approval first: who refuses need not give a credential."""

    async def test() -> None:
        both = caller("call", config(), require_confirmation=True)
        talk = Conversation(Workflow(name="wf", edges=[("START", both)]))
        await talk.say()
        assert lines(await talk.answer({"wf_tool_confirmation:wf@1/call@1": True})) == [("wf@1/call@1", f"?{CALL}")]
        await talk.answer({CALL: SECRET})
        assert (await talk.root()).output == len(SECRET)
        await talk.say()
        await talk.answer({"wf_tool_confirmation:wf@1/call@1": False})
        assert (await talk.root()).output == {"error": "This tool call is rejected."}

    run(test)


def test_a_tool_may_ask_for_a_credential_while_it_is_called() -> None:
    """What it returned then is dropped; it is called again with the credential, and the request is in no action."""

    async def test() -> None:
        wanted = config()

        def fetch(city: str, tool_context: ToolContext) -> Any:
            given = tool_context.get_auth_response(wanted)
            if given is None:
                tool_context.request_credential(wanted)
                return "dropped"
            assert tool_context.get_credential("weather") == given
            return f"{city} {len(given.api_key or '')}"

        talk = Conversation(Workflow(name="wf", edges=[("START", FunctionTool(fetch))]))
        [asked] = await talk.say("Oslo")
        assert (asked.output, asked.actions.requested_auth_configs) == (None, {})
        await talk.answer({"wf_auth:wf@1/fetch@1": SECRET})
        assert (await talk.root()).output == f"Oslo {len(SECRET)}"
        assert SECRET not in await everything_kept(talk)

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


def test_options_are_checked_where_they_are_written() -> None:
    """A credential needs a node that runs after the answer, and a config that is one."""

    def body() -> None: ...

    with pytest.raises(WorkflowConfigurationError, match="auth_config requires rerun_on_resume=True"):
        FunctionNode(body, auth_config=config())
    with pytest.raises(WorkflowConfigurationError, match="auth_config requires rerun_on_resume=True"):
        node(body, auth_config=config())
    with pytest.raises(WorkflowConfigurationError, match="AuthConfig"):
        FunctionNode(body, auth_config={"x": 1}, rerun_on_resume=True)  # type: ignore[arg-type]


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
