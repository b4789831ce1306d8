"""Credentials that nodes need: asked for once a run, in which forms they are answered, and who gets them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_nb.auth import (
    HTTPBase,
    HTTPBearer,
    OAuth2,
    OpenIdConnect,
)
from adk_nb.errors import AnswerError, WorkflowConfigurationError
from adk_nb.events import Event
from adk_nb.events.record import Status
from adk_nb.tools import FunctionTool, ToolContext
from adk_nb.workflow import FunctionNode, JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.auth.asking import CALL, OAUTH_FLOWS, SECRET, caller, calling, config, credential_for, everything_kept
from tests.workflow.driving import Conversation, lines, outputs, run


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


def test_options_are_checked_where_they_are_written() -> None:
    """A credential needs a node that runs after the answer, and a config that is one."""

    def body() -> None: ...

    with pytest.raises(WorkflowConfigurationError, match="auth_config requires rerun_on_resume=True"):
        FunctionNode(body, auth_config=config())
    with pytest.raises(WorkflowConfigurationError, match="auth_config requires rerun_on_resume=True"):
        node(body, auth_config=config())
    with pytest.raises(WorkflowConfigurationError, match="AuthConfig"):
        FunctionNode(body, auth_config={"x": 1}, rerun_on_resume=True)  # type: ignore[arg-type]
