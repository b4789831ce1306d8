"""Names: where things are imported from, and what they have."""

from __future__ import annotations

import importlib
from typing import Any

from tests.parity.pieces import Boom, flow, runs
from tests.parity.side import HOMES, Side


async def every_name_has_its_home(adk: Side) -> None:
    """A name is imported from the same place, under the package's own name."""
    for home, names in HOMES.items():
        module = importlib.import_module(f"{adk.package}.{home}" if home else adk.package)
        adk.note(home or "the package", [name for name in names if hasattr(module, name)])


async def the_workflow_room_exports_as_much(adk: Side) -> None:
    """`from adk.workflow import *` brings all those names."""
    exported = importlib.import_module(f"{adk.package}.workflow").__all__
    adk.note("missing", [name for name in [*HOMES["workflow"], "Workflow"] if name not in exported])


async def the_package_lists_its_names(adk: Side) -> None:
    """The package lists its own names, and has a version."""
    module = importlib.import_module(adk.package)
    listed = dir(module)
    adk.note("listed", [name for name in ("Agent", "Context", "Event", "Runner", "Workflow") if name in listed])
    adk.note("version", isinstance(module.__version__, str))


async def errors_are_found_where_they_were(adk: Side) -> None:
    """Errors that code catches are imported from the same places, and derive from the same builtins."""
    for home, name in {
        "errors.session_not_found_error": "SessionNotFoundError",
        "errors.already_exists_error": "AlreadyExistsError",
        "sessions": "StateSchemaError",
        "workflow": "NodeTimeoutError",
    }.items():
        error: Any = getattr(importlib.import_module(f"{adk.package}.{home}"), name)
        adk.note(name, error.__name__)
    adk.note("of a session", issubclass(adk.SessionNotFoundError, ValueError))
    adk.note("of a state", issubclass(adk.StateSchemaError, TypeError))


async def a_context_has_its_members(adk: Side) -> None:
    """A node's context has everything that code written for it uses."""
    names = [
        "user_content",
        "invocation_id",
        "agent_name",
        "session",
        "user_id",
        "run_config",
        "is_aborted",
        "custom_metadata",
        "branch",
        "parent_ctx",
        "node",
        "node_path",
        "run_id",
        "attempt_count",
        "resume_inputs",
        "error",
        "error_node_path",
        "interrupt_ids",
        "actions",
        "output",
        "route",
        "event_author",
        "function_call_id",
        "tool_confirmation",
        "isolation_scope",
        "state",
        "run_node",
        "get_invocation_context",
        "load_artifact",
        "save_artifact",
        "list_artifacts",
        "save_credential",
        "load_credential",
        "get_auth_response",
        "request_credential",
        "request_confirmation",
        "add_session_to_memory",
        "search_memory",
    ]

    def a(ctx: Any) -> list[str]:
        return [name for name in names if not hasattr(ctx, name)]

    await adk.play(flow(adk, a))


async def a_context_knows_what_is_around_it(adk: Side) -> None:
    """A context knows the context above it, what the call brought, and what its run failed with."""
    seen: list[Any] = []

    def bad(ctx: Any) -> None:
        seen.append(ctx)
        raise Boom("no")

    async def parent(ctx: Any) -> list[Any]:
        seen.append(ctx)
        try:
            await ctx.run_node(adk.node(bad))
        except Exception:  # noqa: BLE001  # what the package raises is looked at elsewhere
            failed = seen[-1]
        return [
            ctx.parent_ctx.node_path,
            ctx.error,
            failed.parent_ctx is ctx,
            str(failed.error),
            failed.error_node_path,
        ]

    talk = adk.talk(flow(adk, runs(adk, parent)))
    await talk.turn("hi", run_config=adk.RunConfig(custom_metadata={"k": 1}))
    adk.note("metadata", seen[0].custom_metadata)


async def events_have_their_fields(adk: Side) -> None:
    """An event, its actions and its place have the same fields, and the same values when nothing is said."""
    for name, kind in {"event": adk.Event, "actions": adk.EventActions, "place": adk.NodeInfo}.items():
        made = kind()
        fields = {field: getattr(made, field) for field in kind.model_fields if field not in ("id", "timestamp")}
        adk.note(name, {field: value for field, value in fields.items() if field not in ("actions", "node_info")})
    adk.note("computed", [adk.NodeInfo(path="wf@1/a@2").run_id, adk.NodeInfo(path="wf@1/a@2").parent_run_id])


async def nodes_have_their_fields(adk: Side) -> None:
    """Nodes of each kind have the same settings."""
    adk.note("node", sorted(adk.BaseNode.model_fields))
    adk.note("workflow", sorted(set(adk.Workflow.model_fields) - set(adk.BaseNode.model_fields)))
    adk.note("retry", sorted(adk.RetryConfig.model_fields))
    adk.note("question", sorted(adk.RequestInput.model_fields))
    adk.note("default route", adk.DEFAULT_ROUTE)
