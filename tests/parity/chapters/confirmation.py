"""Confirmation and credentials: questions that the engine asks for a node."""

from __future__ import annotations

from typing import Any

from tests.parity.pieces import answers, flow, gives, shows
from tests.parity.side import Side

ASKS = "wf_tool_confirmation:wf@1/refund@1"
WANTS = "wf_auth:wf@1/call@1"


def refund(node_input: int) -> str:
    """Give money back."""
    return f"refunded {node_input}"


async def a_node_is_confirmed(adk: Side) -> None:
    """A node that needs a confirmation asks before it runs, and runs once it is confirmed."""
    root = flow(adk, gives(adk, "a", 5), adk.node(refund, require_confirmation=True), shows(adk))
    await adk.play(root, "hi", answers({ASKS: {"confirmed": True}}))


async def a_node_is_refused(adk: Side) -> None:
    """A node whose confirmation is refused doesn't run; what it hands on says so, and the flow goes on."""
    root = flow(adk, gives(adk, "a", 5), adk.node(refund, require_confirmation=True), shows(adk))
    await adk.play(root, "hi", answers({ASKS: {"confirmed": False}}))


async def a_predicate_decides(adk: Side) -> None:
    """Whether a confirmation is needed may be decided by a function of the arguments."""

    def is_large(node_input: int) -> bool:
        return node_input > 10

    for amount in (5, 50):
        node = adk.node(refund, require_confirmation=is_large)
        await adk.play(flow(adk, gives(adk, "a", amount), node), session_id=f"amount {amount}")


async def an_empty_confirmation(adk: Side) -> None:
    """A confirmation that doesn't say whether it is confirmed."""
    root = flow(adk, gives(adk, "a", 5), adk.node(refund, require_confirmation=True), shows(adk))
    await adk.play(root, "hi", answers({ASKS: {}}))


async def a_wrapped_confirmation(adk: Side) -> None:
    """A confirmation as web clients send it, as JSON text in a field."""
    root = flow(adk, gives(adk, "a", 5), adk.node(refund, require_confirmation=True), shows(adk))
    await adk.play(root, "hi", answers({ASKS: {"response": '{"confirmed": true}'}}))


async def a_plain_confirmation(adk: Side) -> None:
    """True or false as the answer to a confirmation."""
    root = flow(adk, gives(adk, "a", 5), adk.node(refund, require_confirmation=True), shows(adk))
    await adk.play(root, "hi", answers({ASKS: True}))


async def a_confirmation_with_more(adk: Side) -> None:
    """A confirmation with a key that nobody asked for."""
    root = flow(adk, gives(adk, "a", 5), adk.node(refund, require_confirmation=True), shows(adk))
    await adk.play(root, "hi", answers({ASKS: {"confirmed": True, "nonsense": 1}}))


async def a_refusal_stays(adk: Side) -> None:
    """A refused call whose predicate says, after the answer, that no confirmation is needed."""
    asked = 0

    def only_once() -> bool:
        nonlocal asked
        asked += 1
        return asked == 1

    root = flow(adk, gives(adk, "a", 5), adk.node(refund, require_confirmation=only_once), shows(adk))
    await adk.play(root, "hi", answers({ASKS: {"confirmed": False}}))


async def a_confirmed_node_runs_again(adk: Side) -> None:
    """A node that needs a confirmation is rerun after it, so it can't be told not to be."""
    adk.note("rerun", adk.node(refund, require_confirmation=True).rerun_on_resume)
    adk.refused("no rerun", lambda: adk.node(refund, require_confirmation=True, rerun_on_resume=False))


async def a_confirmation_in_a_workflow_inside(adk: Side) -> None:
    """A confirmation in a nested workflow is answered under the node's full path."""
    inner = adk.Workflow(name="inner", edges=[("START", adk.node(refund, require_confirmation=True))])
    root = flow(adk, gives(adk, "a", 5), inner, shows(adk))
    await adk.play(root, "hi", answers({"wf_tool_confirmation:wf@1/inner@1/refund@1": {"confirmed": True}}))


def key_config(adk: Side) -> Any:
    """Return what a node that calls with an API key asks for."""
    return adk.AuthConfig(auth_scheme={"type": "apiKey", "in": "header", "name": "X-Key"}, credential_key="shop")


def calls(adk: Side, config: Any, name: str = "call") -> Any:
    """Return a node that needs a credential, and says which key it got."""

    def call(ctx: Any) -> Any:
        return ctx.get_auth_response(config).api_key

    return adk.FunctionNode(func=call, name=name, auth_config=config, rerun_on_resume=True)


GIVEN = {"auth_type": "apiKey", "api_key": "secret"}


async def a_node_gets_a_credential(adk: Side) -> None:
    """A node that needs a credential asks for it before it runs, and finds it on its context."""
    await adk.play(flow(adk, calls(adk, key_config(adk)), shows(adk)), "hi", answers({WANTS: GIVEN}))


async def a_credential_that_is_none(adk: Side) -> None:
    """An answer that is no credential is refused."""
    adk.listen("malformed")
    await adk.play(flow(adk, calls(adk, key_config(adk)), shows(adk)), "hi", answers({WANTS: {"nonsense": 1}}))


async def a_credential_as_text(adk: Side) -> None:
    """A text as the answer to a request for a credential."""
    await adk.play(flow(adk, calls(adk, key_config(adk)), shows(adk)), "hi", answers({WANTS: "secret"}))


async def a_credential_that_is_there(adk: Side) -> None:
    """A config that holds its credential."""
    config = key_config(adk)
    config.exchanged_auth_credential = adk.AuthCredential(auth_type="apiKey", api_key="held")
    await adk.play(flow(adk, calls(adk, config), shows(adk)))


async def a_credential_is_asked_for_once(adk: Side) -> None:
    """A second node that needs the same credential doesn't ask."""
    config = key_config(adk)
    await adk.play(flow(adk, calls(adk, config), calls(adk, config, "again")), "hi", answers({WANTS: GIVEN}))


async def a_credential_in_the_history(adk: Side) -> None:
    """Whether what a person gave can be read in the stored session."""
    talk = await adk.play(flow(adk, calls(adk, key_config(adk)), gives(adk, "b", 1)), "hi", answers({WANTS: GIVEN}))
    answered = [event for event in (await talk.session()).events if event.author == "user"]
    adk.note("can be read", "secret" in str([event.model_dump() for event in answered]))


async def a_credential_service_is_asked(adk: Side) -> None:
    """A runner with a credential service that holds the credential."""
    config = key_config(adk)
    service = adk.InMemoryCredentialService()
    talk = adk.talk(flow(adk, calls(adk, config), shows(adk)), credential_service=service)
    await talk.turn("hi")
    await talk.turn(answers({WANTS: GIVEN}))
    other = adk.talk(flow(adk, calls(adk, config), shows(adk)), credential_service=service, session_id="other")
    await other.turn("hi")


async def a_credential_needs_a_rerun(adk: Side) -> None:
    """A node that needs a credential must be rerun after the answer."""

    def call() -> int:
        return 1

    adk.refused(
        "no rerun",
        lambda: adk.FunctionNode(func=call, auth_config=key_config(adk)),
        "auth_config requires rerun_on_resume",
    )
