"""Handing a conversation over: to whom an agent may, the tool for it, and who goes on with the next turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adk_nb.agents.base_agent import BaseAgent
from adk_nb.agents.reading.request import Target
from adk_nb.errors import one_of
from adk_nb.events.event import Event
from adk_nb.events.rewinds import visible_events

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent


def converses(agent: BaseAgent) -> bool:
    """Say whether an agent takes part in the conversation of its tree, as against one that is called."""
    return getattr(agent, "mode", None) in (None, "chat")


def targets_of(agent: LlmAgent, *, has_parent: bool) -> list[Target]:
    """Return the agents that an agent may hand over to: those below, its parent, its parent's others.

    Args:
        agent: The agent.
        has_parent: Its parent has handed over to it, so that it can be reached.
    """
    if not converses(agent):
        return []
    targets = [Target(one.name, one.description) for one in agent.sub_agents if converses(one)]
    parent = agent.parent_agent
    if parent is None or not has_parent or not _hands_over(parent):
        return targets
    if not agent.disallow_transfer_to_parent:
        targets.append(Target(parent.name, parent.description, is_parent=True))
    if not agent.disallow_transfer_to_peers:
        others = [one for one in parent.sub_agents if one.name != agent.name and converses(one)]
        targets += [Target(one.name, one.description) for one in others]
    return targets


def refusal(name: str, agent: LlmAgent, targets: Sequence[Target]) -> str | None:
    """Return what to tell a model that hands over to somebody whom it can't, `None` when it can."""
    allowed = [one.name for one in targets]
    if name in allowed:
        return None
    parent = agent.parent_agent
    if name == agent.name:
        why = "an agent cannot transfer to itself"
    elif agent.root_agent.find_agent(name) is None:
        why = f"agent {name!r} not found"
    elif parent is not None and name == parent.name and agent.disallow_transfer_to_parent:
        why = f"{agent.name!r} has disallow_transfer_to_parent"
    elif parent is not None and agent.disallow_transfer_to_peers and any(one.name == name for one in parent.sub_agents):
        why = f"{agent.name!r} has disallow_transfer_to_peers"
    else:
        why = f"agent {name!r} is unrelated to {agent.name!r}: it is neither its parent, nor below it, nor beside it"
    return f"The conversation wasn't handed over: {why}. The agents to hand over to are {one_of(name, allowed)}."


def way_to(agent: BaseAgent, name: str) -> list[BaseAgent] | None:
    """Return the agents between one and another below it in the conversation, the other last; `[]` for itself."""
    if agent.name == name:
        return []
    for one in agent.sub_agents:
        if not converses(one):
            continue
        if one.name == name:
            return [one]
        below = way_to(one, name) if _hands_over(one) else None
        if below is not None:
            return [one, *below]
    return None


def who_goes_on(agent: LlmAgent, events: Sequence[Event], invocation_id: str) -> list[BaseAgent]:
    """Return the way to the agent that speaks first in a turn: the one that had the word before it.

    It keeps the word only if it and all agents above it may hand over to their parents.

    Args:
        agent: The root of the conversation.
        events: The session's events, oldest first.
        invocation_id: The turn.
    """
    before = list(visible_events(events))
    began = next((at for at, event in enumerate(before) if event.invocation_id == invocation_id), len(before))
    for event in reversed(before[:began]):
        if event.author == "user" or event.isolation_scope is not None or event.partial or event.content is None:
            continue
        target = event.actions.transfer_to_agent
        way = way_to(agent, target or event.author)
        if way is None or not all(_hands_over(one) for one in way):
            continue
        if all(not one.disallow_transfer_to_parent for one in way):  # type: ignore[attr-defined]  # of LlmAgent
            return way
    return []


def _hands_over(agent: BaseAgent) -> bool:
    """Say whether an agent can hand over and be handed back to: a model decides it."""
    return hasattr(agent, "disallow_transfer_to_parent") and converses(agent)
