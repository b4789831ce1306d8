"""Nodes that need credentials, for tests: what they ask with, and all that is kept of them."""

from __future__ import annotations

import json
from typing import Any

from adk_nb.auth import (
    APIKey,
    APIKeyIn,
    AuthConfig,
    AuthCredential,
)
from adk_nb.auth.auth_schemes import OAuthFlowClientCredentials, OAuthFlows
from adk_nb.events.record import run_to_dict
from adk_nb.frames import events_frame, nodes_frame
from adk_nb.notebook.view.fold import RunFold
from adk_nb.workflow import FunctionNode, Workflow
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation

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
