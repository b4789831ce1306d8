"""Wherever a credential is put in an event, no store keeps its secret."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, computed_field, field_serializer

from adk_nb.auth import AuthConfig, AuthCredential, AuthCredentialTypes, HttpAuth, HttpCredentials, OAuth2Auth
from adk_nb.errors import WorkflowDataError
from adk_nb.events import Event, EventActions
from adk_nb.events.stored import event_to_json
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.workflow import node
from tests.auth.asking import config
from tests.sessions.plain_store import PlainStore
from tests.workflow.driving import Conversation, run

SECRET = "s3cret"


class Box(BaseModel):
    """Holds it in a field of any type."""

    inner: Any


class Computing(BaseModel):
    """Holds it in no field, and gives it when it is dumped."""

    name: str = "c"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def found(self) -> Any:
        """What the last one was made around."""
        return _around[-1]


class Serializing(BaseModel):
    """Shows it in place of what a field holds."""

    name: str = "s"

    @field_serializer("name")
    def _give(self, name: str) -> Any:
        return _around[-1]


@dataclasses.dataclass
class Plain:
    """Holds it in a field of a dataclass."""

    inner: Any


class Special(Event):
    """An event with a field of its own."""

    extra_field: Any = None


_around: list[Any] = []


def around(kind: Callable[[], Any]) -> Callable[[Any], Any]:
    """Return what makes a model that gives a value only when it is dumped."""

    def wrap(value: Any) -> Any:
        _around.append(value)
        return kind()

    return wrap


WRAPS: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: [1, value],
    "dict": lambda value: {"k": value},
    "tuple": lambda value: (value,),
    "model": lambda value: Box(inner=value),
    "dataclass": Plain,
}
ODD_WRAPS: dict[str, Callable[[Any], Any]] = {"computed": around(Computing), "serializer": around(Serializing)}
SECRETS: dict[str, Callable[[], Any]] = {
    "credential": lambda: AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key=SECRET),
    "http": lambda: HttpAuth(scheme="basic", credentials=HttpCredentials(username="ada", password=SECRET)),
    "oauth2": lambda: OAuth2Auth(client_id="c", client_secret=SECRET, access_token=SECRET),
    "unknown field": lambda: OAuth2Auth.model_validate({"brandNew": SECRET}),
    "config": lambda: AuthConfig(
        auth_scheme=config().auth_scheme,
        raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key=SECRET),
    ),
}


def call(value: Any) -> Event:
    """Return an event with a call of a function."""
    part = types.Part(function_call=types.FunctionCall(name="f", args={"x": value}))
    return Event(content=types.Content(parts=[part]))


def response(value: Any) -> Event:
    """Return an event with what a function returned."""
    part = types.Part(function_response=types.FunctionResponse(name="f", response={"x": value}))
    return Event(content=types.Content(parts=[part]))


PLACES: dict[str, Callable[[Any], Event]] = {
    "output": lambda value: Event(output=value),
    "custom_metadata": lambda value: Event(custom_metadata={"x": value}),
    "state": lambda value: Event(state={"x": value}),
    "function call": call,
    "function response": response,
    "a subclass": lambda value: Special(extra_field=value),
    **{
        name: lambda value, name=name: Event(author="x", **{name: value})  # type: ignore[misc]
        for name in ("go_away", "cache_metadata", "turn_complete_reason", "interaction_status")
    },
    **{
        name: lambda value, name=name: Event(actions=EventActions.model_validate({name: {"x": value}}))  # type: ignore[misc]
        for name in ("requested_auth_configs", "requested_tool_confirmations", "agent_state")
    },
    "render_ui_widgets": lambda value: Event(actions=EventActions(render_ui_widgets=[value])),
    "set_model_response": lambda value: Event(actions=EventActions(set_model_response=value)),
}
HANDED_ON = ("output", "state", "custom_metadata", "function call", "function response", "agent_state")
"""Places of values: a credential among them is refused."""
STORES: dict[str, Callable[[], Any]] = {
    "memory": InMemorySessionService,
    "sqlite": lambda: SqliteSessionService(":memory:"),
    "plain": PlainStore,
}


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=40, deadline=None)
@given(
    secret=st.sampled_from(sorted(SECRETS)),
    wraps=st.lists(st.sampled_from(sorted(WRAPS)), max_size=2),
    odd=st.none() | st.sampled_from(sorted(ODD_WRAPS)),
    outer=st.lists(st.sampled_from(sorted(WRAPS)), max_size=2),
    store=st.sampled_from(sorted(STORES)),
)
def test_no_place_of_an_event_keeps_a_secret(
    place: str, secret: str, wraps: list[str], odd: str | None, outer: list[str], store: str
) -> None:
    """A credential anywhere in an event is stored without its secret, or refused in a sentence that doesn't show it."""
    value = SECRETS[secret]()
    for name in [*wraps, *([odd] if odd else []), *outer]:
        value = (ODD_WRAPS | WRAPS)[name](value)
    event = PLACES[place](value)

    async def test() -> None:
        talk = Conversation(node(lambda: event, name="a"), STORES[store]())
        if place in HANDED_ON:
            assert SECRET not in str(await talk.fail(WorkflowDataError, talk.say()))
        else:
            await talk.say()
        for kept in await talk.stored():
            assert SECRET not in kept.model_dump_json(fallback=repr)
            assert SECRET not in event_to_json(kept)
        for run_record in (await talk.records()).values():
            assert SECRET not in repr(run_record)
        if store == "plain":
            assert SECRET not in str(talk.service.texts)
        await talk.service.close()

    run(test)


def test_what_holds_no_secret_stays_what_it_is() -> None:
    """Objects without a credential in them aren't touched where an event may hold any."""
    box = Box(inner=[1])
    event = Event(actions=EventActions(set_model_response=box, requested_tool_confirmations={"x": box}), go_away=box)
    event.seal()
    assert event.actions.set_model_response is event.actions.requested_tool_confirmations["x"] is event.go_away is box


def test_people_can_still_dump_a_credential() -> None:
    """A credential dumps and loads in full for those who keep it themselves."""
    credential = SECRETS["config"]()
    assert AuthConfig.model_validate_json(credential.model_dump_json(by_alias=True)) == credential
    assert SECRET in str(credential.model_dump())
    assert SECRET not in str(credential)
