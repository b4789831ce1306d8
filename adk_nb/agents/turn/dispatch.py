"""Who speaks in a conversation: the agent itself, or one below it that it, or an earlier turn, handed over to."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from adk_nb.agents.base_agent import BaseAgent
from adk_nb.agents.turn.standing import Standing, read_standings
from adk_nb.agents.turn.transfer import way_to, who_goes_on
from adk_nb.events.event import Event
from adk_nb.workflow.context import Context
from adk_nb.workflow.nodes import BaseNode

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent

Speak = Callable[[Standing], AsyncGenerator[Any, None]]
"""Lets the agent itself speak, from where it stands."""
_HANDED_OVER = "__transfer_to_agent__"
"""Key of what a run hands on when somebody that it can't reach itself is to speak."""


class Dispatch:
    """One run of an agent with others below it in the conversation."""

    def __init__(self, agent: LlmAgent, ctx: Context, events: Sequence[Event]) -> None:
        """Read who has spoken.

        Args:
            agent: The agent, as it runs.
            ctx: Its context.
            events: The session's events, oldest first.
        """
        self._agent = agent
        self._ctx = ctx
        self._events = events
        self._standings = read_standings(ctx, events)
        self._used = self._standings[0].used

    async def turns(self, speak: Speak) -> AsyncGenerator[Any, None]:
        """Let one agent after the other speak until one has answered, or a person is to.

        Args:
            speak: Lets the agent itself speak.
        """
        way = self._first()
        while True:
            if way:
                target = await self._hand_over(way)
            else:
                standing = self._standings.pop(0) if self._standings else self._new()
                async with contextlib.aclosing(speak(standing)) as items:
                    async for item in items:
                        yield item
                target = standing.transfer
            if target is None:
                return
            found = way_to(self._agent, target)
            if found is None:
                self._ends_with({_HANDED_OVER: target})
                return
            way = found

    def _new(self) -> Standing:
        return Standing(self._ctx.node_path, self._ctx.isolation_scope, self._used)

    def _first(self) -> list[BaseAgent]:
        """Return the way to whoever speaks first: `[]` is the agent itself."""
        if self._agent.was_handed_over:
            name = self._agent.first_speaker
            return [] if name is None else way_to(self._agent, name) or []
        if "/" in self._ctx.node_path and not self._agent.wait_for_output:
            return []  # a member of a sequence, say: each turn begins with itself
        return who_goes_on(self._agent, self._events, self._ctx.invocation_id)

    async def _hand_over(self, way: list[BaseAgent]) -> str | None:
        """Let an agent below speak, and those below it; return who is to speak then."""
        nearest, ctx = way[0], self._ctx
        node: BaseNode = nearest
        if hasattr(nearest, "as_speaker"):  # an LlmAgent, whose module imports this one
            node = nearest.as_speaker(way[-1].name if len(way) > 1 else None)
        output = await ctx.run_called(node, None)
        if isinstance(output, dict) and set(output) == {_HANDED_OVER}:
            return str(output[_HANDED_OVER])
        self._ends_with(output)
        return None

    def _ends_with(self, output: Any) -> None:
        """Take an output that needs no event of its own."""
        if output is not None:
            self._ctx.keep_output(output)
