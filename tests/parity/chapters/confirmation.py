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
    scheme = {"type": "apiKey", "in": "header", "name": "X-Key"}
    raw = adk.AuthCredential(auth_type="apiKey", api_key="as written")
    return adk.AuthConfig(auth_scheme=scheme, raw_auth_credential=raw, credential_key="shop")


async def a_node_gets_a_credential(adk: Side) -> None:
    """A node that needs a credential asks for it before it runs, and finds it on its context."""
    config = key_config(adk)

    def call(ctx: Any) -> Any:
        return ctx.get_auth_response(config).api_key

    node = adk.FunctionNode(func=call, auth_config=config, rerun_on_resume=True)
    for number, answer in enumerate(["secret", {"auth_type": "apiKey", "api_key": "secret"}]):
        await adk.play(flow(adk, node, shows(adk)), "hi", answers({WANTS: answer}), session_id=f"s{number}")


async def a_credential_that_is_none(adk: Side) -> None:
    """An answer that is no credential is refused."""
    config = key_config(adk)

    def call(ctx: Any) -> Any:
        return ctx.get_auth_response(config).api_key

    node = adk.FunctionNode(func=call, auth_config=config, rerun_on_resume=True)
    adk.listen("malformed")
    await adk.play(flow(adk, node, shows(adk)), "hi", answers({WANTS: {"nonsense": 1}}))


async def a_credential_is_asked_for_once(adk: Side) -> None:
    """A second node that needs the same credential doesn't ask."""
    config = key_config(adk)

    def call(ctx: Any) -> Any:
        return ctx.get_auth_response(config).api_key

    def again(ctx: Any) -> Any:
        return ctx.get_auth_response(config).api_key

    nodes = [adk.FunctionNode(func=one, auth_config=config, rerun_on_resume=True) for one in (call, again)]
    await adk.play(flow(adk, *nodes), "hi", answers({WANTS: "secret"}))


async def a_credential_needs_a_rerun(adk: Side) -> None:
    """A node that needs a credential must be rerun after the answer."""

    def call() -> int:
        return 1

    adk.refused(
        "no rerun",
        lambda: adk.FunctionNode(func=call, auth_config=key_config(adk)),
        "auth_config requires rerun_on_resume",
    )
