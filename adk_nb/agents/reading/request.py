"""What an agent asks its model: settings, system text and contents, put together from the agent and its run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.agents.reading.contents import Reader, contents_for, input_content
from adk_nb.agents.reading.instructions import instruction_text
from adk_nb.agents.reading.quoting import state_note
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.llm_request import AGENT_LABEL, LlmRequest, copy_settings
from adk_nb.models.llm_response import LlmResponse
from adk_nb.planners.built_in_planner import BuiltInPlanner
from adk_nb.workflow.context import Context, ReadonlyContext
from adk_nb.workflow.run_config import RunConfig

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent


@dataclass(frozen=True, slots=True)
class Target:
    """An agent that the conversation may be handed to."""

    name: str
    description: str = ""
    is_parent: bool = False


async def request_of(
    agent: LlmAgent, ctx: Context, node_input: Any, model: BaseLlm, *, blocks: Sequence[str] = (), since: int = 0
) -> LlmRequest:
    """Return what an agent asks its model, without tools and without a shape for the answer.

    Args:
        agent: The agent, as it runs.
        ctx: Its context.
        node_input: Its input; in a chat, what the person said.
        model: Whom it asks.
        blocks: Further system text, after the agent's own: see `schema_hint` and `transfer_text`.
        since: How many events of the session lie before the agent's run; an agent that reads only its own run isn't
            slowed down by them, nor is one that reads only the present turn.
    Raises:
        MissingVariableError: an instruction names a key that the state lacks.
    """
    look = ReadonlyContext(ctx.get_invocation_context(), node=agent)
    reader = reader_of(agent, ctx, keeps_ids=getattr(model, "keeps_call_ids", False))
    reads_own_run = reader.is_task or (agent.mode == "single_turn" and agent.include_contents == "none")
    if not reads_own_run:
        since = _turn_begins(ctx, since) if agent.include_contents == "none" and "/" not in ctx.node_path else 0
    events = ctx.session.events[since:] if since else ctx.session.events
    contents = contents_for(reader, events, input_content(node_input), agent.include_contents)
    request = LlmRequest(model=model.model, config=settings_of(agent, ctx.run_config), contents=contents)
    return await with_instructions(agent, look, request, blocks)


def _turn_begins(ctx: Context, since: int) -> int:
    """Return where the message stands that a root answers now; 0 when it isn't right before the root's run."""
    events = ctx.session.events
    for at in range(since - 1, -1, -1):
        event = events[at]
        if event.invocation_id != ctx.invocation_id:
            break
        if event.author == "user" and event.content is not None and not event.get_function_responses():
            return at
    return 0


async def with_instructions(
    agent: LlmAgent,
    look: ReadonlyContext,
    request: LlmRequest,
    blocks: Sequence[str] = (),
    missing: list[str] | None = None,
) -> LlmRequest:
    """Put an agent's instructions, and what its call adds, into a request that holds the conversation; return it.

    Args:
        agent: The agent.
        look: What its instructions look at.
        request: The request.
        blocks: Further system text, after the agent's own.
        missing: Takes the keys that the state lacks, in place of an error.
    """
    beside: list[types.Content] = [one.model_copy(deep=True) for one in look.run_config.model_input_context or ()]
    front: list[types.Content] = []
    system = [await instruction_text(_global_instruction(agent), look, missing)]
    text = await instruction_text(agent.instruction, look, missing)
    if agent.static_instruction is None:
        system.append(text)
    else:
        words, front = static_blocks(agent.static_instruction)
        system += words
        if text:
            beside.insert(0, state_note(text))
    if agent.mode != "single_turn":
        system.append(identity(agent))
    request.append_instructions([*system, *_plan(agent, look, request), *blocks])
    at = _newest_said(request.contents)
    request.contents = [*front, *request.contents[:at], *beside, *request.contents[at:]]
    return request


def _plan(agent: LlmAgent, look: ReadonlyContext, request: LlmRequest) -> list[str]:
    """Return what the agent's planner adds to the system text, and let it set up the request."""
    planner = agent.planner
    if planner is None:
        return []
    if isinstance(planner, BuiltInPlanner):
        planner.apply_thinking_config(request)
    else:
        _show_thoughts(request.contents)
    text = planner.build_planning_instruction(look, request)
    return [text] if text else []


def _show_thoughts(contents: list[types.Content]) -> None:
    """Let the model read as text what a planner had made a thought: of thoughts, models read what they signed."""
    for content in contents:
        for part in content.parts or ():
            if part.thought and not part.thought_signature:
                part.thought = None


def as_planned(agent: LlmAgent, ctx: Context, response: LlmResponse) -> LlmResponse:
    """Return a response as the agent's planner reads it, the response itself where there is no planner."""
    parts = response.content.parts if response.content is not None else None
    if agent.planner is None or not parts or response.content is None:
        return response
    said = agent.planner.process_planning_response(ctx, [part.model_copy() for part in parts])
    if said is None:
        return response
    return response.model_copy(update={"content": types.Content(role=response.content.role, parts=said)})


def settings_of(agent: LlmAgent, run_config: RunConfig) -> types.GenerateContentConfig:
    """Return the settings of one request, for changing: the agent's own, signed with its name and the call's labels."""
    config = copy_settings(agent.generate_content_config or types.GenerateContentConfig())
    if run_config.http_options is not None:
        config.http_options = _with_options(run_config.http_options, config.http_options)
    config.labels = {**(config.labels or {}), **(run_config.labels or {}), AGENT_LABEL: agent.name}
    return config


def _with_options(given: types.HttpOptions, own: types.HttpOptions | None) -> types.HttpOptions:
    """Return an agent's options, and where it says nothing, those of the call; headers of both go together."""
    ours, theirs = (own.model_dump(exclude_none=True) if own else {}), given.model_dump(exclude_none=True)
    headers = {**theirs.get("headers", {}), **ours.get("headers", {})}
    return types.HttpOptions.model_validate({**theirs, **ours, **({"headers": headers} if headers else {})})


def reader_of(agent: LlmAgent, ctx: Context, *, keeps_ids: bool = False) -> Reader:
    """Return who reads the history when an agent runs in a context."""
    return Reader(
        agent=agent.name,
        branch=ctx.branch,
        scope=ctx.isolation_scope,
        path=ctx.node_path,
        invocation_id=ctx.invocation_id,
        began=ctx.began,
        is_beside=ctx.is_beside,
        is_task=str(agent.mode) == "task",
        hears_thoughts=ctx.run_config.include_thoughts_from_other_agents,
        keeps_ids=keeps_ids,
    )


def identity(agent: LlmAgent) -> str:
    """Return the sentence that tells a model who it is."""
    purpose = f" What you are here for: {agent.description}" if agent.description else ""
    return f'You are an agent named "{agent.name}".{purpose}'


def transfer_text(targets: Iterable[Target]) -> str:
    """Return what tells a model of the agents that it can hand the conversation to, `""` when there are none.

    Example:
        >>> print(transfer_text([Target("billing", "Answers questions about bills.")]))
        Other agents can take over this conversation:
        - billing: Answers questions about bills.
        If one of them is better suited to answer, call transfer_to_agent with its name and say nothing else.
        Otherwise answer yourself. The only names allowed are: billing.
    """
    listed = list(targets)
    if not listed:
        return ""
    lines = [f"- {one.name}: {one.description}" if one.description else f"- {one.name}" for one in listed]
    rule = (
        "If one of them is better suited to answer, call transfer_to_agent with its name and say nothing else.\n"
        f"Otherwise answer yourself. The only names allowed are: {', '.join(sorted(one.name for one in listed))}."
    )
    parent = next((one.name for one in listed if one.is_parent), None)
    back = [f"When neither you nor any of them fits, hand back to {parent}."] if parent else []
    return "\n".join(["Other agents can take over this conversation:", *lines, rule, *back])


def schema_hint(tool: str = "set_model_response") -> str:
    """Return what tells a model to give its final answer by calling a tool, where it can't be asked for JSON."""
    return (
        f"Give your final answer only by calling {tool} with all required fields, once the other tools have given "
        f"what you need; don't write it as text."
    )


def static_blocks(static: Any) -> tuple[list[str], list[types.Content]]:
    """Return a static instruction as system text, and what of it isn't text as user messages for the front.

    Each part that isn't text is named in the system text, so that the instruction can speak of it.
    """
    parts = _parts(static)
    words: list[str] = []
    front: list[types.Content] = []
    for part in parts:
        if part.text is not None:
            words.append(part.text)
            continue
        name = f"attachment {len(front) + 1}"
        words.append(f"[See {name} at the beginning of the conversation.]")
        front.append(types.Content(role="user", parts=[types.Part(text=f"[{name}]"), part.model_copy(deep=True)]))
    return words, front


def _parts(static: Any) -> list[types.Part]:
    if isinstance(static, types.Content):
        return list(static.parts or ())
    items = static if isinstance(static, (list, tuple)) else [static]
    return [_part(item) for item in items]


def _part(item: Any) -> types.Part:
    if isinstance(item, types.Part):
        return item
    if isinstance(item, str):
        return types.Part(text=item)
    if isinstance(item, types.File):
        return types.Part(file_data=types.FileData(file_uri=item.uri, mime_type=item.mime_type))
    return types.Part.model_validate(item)


def _global_instruction(agent: LlmAgent) -> Any:
    """Return the instruction that the root of the agent's tree gives to all."""
    root: Any = agent
    while getattr(root, "parent_agent", None) is not None:
        root = root.parent_agent
    return getattr(root, "global_instruction", "")


def _newest_said(contents: list[types.Content]) -> int:
    """Return where the messages begin that are to be answered now; what the agent has done since stands behind them."""
    last = next((at for at in reversed(range(len(contents))) if _is_message(contents[at])), len(contents))
    while last and last < len(contents) and _is_message(contents[last - 1]):
        last -= 1
    return last


def _is_message(content: types.Content) -> bool:
    return content.role == "user" and not any(part.function_response for part in content.parts or ())
