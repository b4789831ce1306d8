"""What is worth a look in a tree of agents before it runs: each finding names an agent and says what to do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adk_nb.workflow.hints import Hint
from adk_nb.workflow.hints.hint import listed

if TYPE_CHECKING:
    from adk_nb.agents.base_agent import BaseAgent

_RESERVED = {
    "transfer_to_agent": "hands the conversation over to another agent",
    "finish_task": "ends a task",
    "set_model_response": "gives an answer its shape",
}
"""Tools that agents get by themselves."""


def findings(root: BaseAgent) -> tuple[Hint, ...]:
    """Return what is worth a look in an agent and all below it; `()` when all is plain."""
    return tuple(_of_tree(root))


def _of_tree(root: BaseAgent) -> Iterator[Hint]:
    paths = list(_with_paths(root, ""))
    yield from _same_names(paths)
    names = {agent.name for _, agent in paths}
    for path, agent in paths:
        for text in _of_agent(agent, names):
            yield Hint(path, text)


def _with_paths(agent: BaseAgent, prefix: str) -> Iterator[tuple[str, BaseAgent]]:
    path = prefix + agent.name
    yield path, agent
    for one in agent.sub_agents:
        yield from _with_paths(one, f"{path}/")


def _same_names(paths: list[tuple[str, BaseAgent]]) -> Iterator[Hint]:
    counts = Counter(agent.name for _, agent in paths)
    seen: set[str] = set()
    for path, agent in paths:
        if agent.name in seen:
            yield Hint(
                path,
                f"{counts[agent.name]} agents in this tree are called {agent.name!r}, and a transfer or find_agent "
                f"reaches only the first of them: give each a name of its own.",
            )
        seen.add(agent.name)


def _of_agent(agent: BaseAgent, names: set[str]) -> Iterator[str]:
    yield from _description(agent)
    yield from _tools(agent)
    yield from _targets(agent, names)
    yield from _endless(agent)
    yield from _same_keys(agent)


def _description(agent: BaseAgent) -> Iterator[str]:
    parent = agent.parent_agent
    if parent is not None and is_model_agent(parent) and not agent.description.strip():
        yield (
            f"It has no description, and {parent.name!r} decides by that when to use it: give description=, one "
            f"sentence on what {agent.name!r} is for."
        )


def _tools(agent: BaseAgent) -> Iterator[str]:
    own = [tool for tool in tools_of(agent) if hasattr(tool, "name")]
    counts = Counter(tool.name for tool in own)
    for name, count in counts.items():
        if count > 1:
            yield f"It has {count} tools called {name!r}, and only the last one is ever called: rename the others."
        if any(one.name == name for one in agent.sub_agents):
            yield f"Its tool {name!r} has the name of a sub-agent, so that one of them is never called: rename it."
        if name in _RESERVED:
            yield f"Its tool {name!r} has the name of the tool that {_RESERVED[name]}: rename it."
    for tool in own:
        yield from _told(tool)


def _told(tool: Any) -> Iterator[str]:
    if not (tool.description or "").strip():
        yield (
            f"Its tool {tool.name!r} has no docstring, and a model decides by that when to call it: say in one "
            f"sentence what it does."
        )
    signature = getattr(tool, "signature", None)
    untyped = [one.name for one in signature.all if one.name not in signature.hints] if signature is not None else []
    if untyped:
        yield (
            f"Its tool {tool.name!r} has no type hint for {listed(untyped)}, so that a model may give anything there: "
            f"write for instance {untyped[0]}: str."
        )


def _targets(agent: BaseAgent, names: set[str]) -> Iterator[str]:
    """Look for agents that the instruction wants a transfer to, and that this one can't reach."""
    instruction = getattr(agent, "instruction", None)
    if not isinstance(instruction, str) or not re.search(r"transfer|hand (it )?over", instruction, re.IGNORECASE):
        return
    reachable = {agent.name} | {one.name for one in agent.sub_agents}
    parent = agent.parent_agent
    if parent is not None and is_model_agent(parent):
        if not getattr(agent, "disallow_transfer_to_parent", False):
            reachable.add(parent.name)
        if not getattr(agent, "disallow_transfer_to_peers", False):
            reachable |= {one.name for one in parent.sub_agents}
    named = set(re.findall(r"\w+", instruction)) & names
    for name in sorted(named - reachable):
        yield (
            f"Its instruction speaks of a transfer to {name!r}, which it can't reach: an agent hands over to its "
            f"sub-agents, its parent and the other sub-agents of its parent, unless that is disallowed. Move {name!r} "
            f"there, or go by way of {listed(sorted(reachable - {agent.name})) if len(reachable) > 1 else 'a parent'}."
        )


def _endless(agent: BaseAgent) -> Iterator[str]:
    if not agent.ends_on_escalation or not agent.sub_agents or getattr(agent, "max_iterations", 0) is not None:
        return
    if not any(_may_escalate(one) for one in agent._below()):
        yield (
            "It has no max_iterations, and nothing in it can escalate, so that it never ends: give max_iterations=, or "
            "an agent in it the tool exit_loop."
        )


def _may_escalate(agent: BaseAgent) -> bool:
    is_own_code = not is_model_agent(agent) and not agent._runs_members
    callbacks = [name for name in type(agent).model_fields if name.endswith("_callback")]
    return is_own_code or bool(tools_of(agent)) or any(getattr(agent, name) is not None for name in callbacks)


def _same_keys(agent: BaseAgent) -> Iterator[str]:
    if not agent._runs_members or agent._runs_in_order:
        return
    writers: dict[str, list[str]] = {}
    for one in agent.sub_agents:
        key = getattr(one, "output_key", None)
        if key:
            writers.setdefault(key, []).append(one.name)
    for key, agents in writers.items():
        if len(agents) > 1:
            yield (
                f"{listed(agents)} run side by side and write the same output_key {key!r}, so that only the last one "
                f"is kept: give each a key of its own."
            )


def is_model_agent(agent: BaseAgent) -> bool:
    """Say whether an agent asks a model, which may hand over to others."""
    return hasattr(agent, "canonical_tools")


def tools_of(agent: BaseAgent) -> list[Any]:
    """Return the tools that an agent was given, without those that come from its sub-agents."""
    return [tool for tool in getattr(agent, "canonical_tools", ()) if not getattr(tool, "is_delegation", False)]
