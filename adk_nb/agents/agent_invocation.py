"""What an agent of one's own is handed: the invocation as that agent sees it, and how it runs its sub-agents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from adk_nb.errors import ConfigurationError, DataError, DynamicNodeFailError, one_of
from adk_nb.events.event import Event, content_text
from adk_nb.workflow.channel import Channel
from adk_nb.workflow.context import Context
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.threads import Threads

if TYPE_CHECKING:
    from adk_nb.agents.base_agent import BaseAgent


class Membership:
    """Offers an agent as a part of the conversation around it, where a node of a workflow would take one input."""

    __slots__ = ("_agent",)

    def __init__(self, agent: BaseAgent) -> None:
        self._agent = agent

    def as_node(self) -> BaseNode:
        """Return the agent as it runs there."""
        return self._agent._as_member()


class AgentInvocation(InvocationContext):
    """An invocation as one agent sees it: also which agent it is, on which lane, and what it may run.

    Everything else is the invocation's own: session, services, message, settings.
    """

    def __init__(self, agent: BaseAgent, context: Context, branch: str | None = None) -> None:
        """Look at the invocation from an agent; only agents make one."""
        self.agent = agent
        self.context = context
        """The agent's context: its state, actions and artifacts."""
        self.branch = context.branch if branch is None else branch
        self.end_invocation = False
        self._shared = context.get_invocation_context()
        self._told: dict[str, Event] = {}
        self._said: list[Event] = []
        self._failures: dict[int, DynamicNodeFailError] = {}
        self.last_text: str | None = None
        """What was said last, by the agent or one below it."""

    def __getattr__(self, name: str) -> Any:
        if name == "_shared":  # not there yet, as when it is copied
            raise AttributeError(name)
        return getattr(self._shared, name)

    @property
    def threads(self) -> Threads:
        """Where sync functions work."""
        return self._shared.threads

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> AgentInvocation:
        """Return this look at the invocation from another agent or lane; sub-agents run with it stand there.

        Raises:
            ConfigurationError: something else is to be changed.
        """
        changes = {"agent": self.agent, "branch": self.branch, **(update or {})}
        unknown = set(changes) - {"agent", "branch"}
        if unknown:
            raise ConfigurationError(
                f"A copy of the invocation can't change {sorted(unknown)[0]!r}: "
                f"{one_of(sorted(unknown)[0], ['agent', 'branch'])} can be set."
            )
        other = AgentInvocation(changes["agent"], self.context, changes["branch"])
        other._told, other._failures = self._told, self._failures
        return other

    async def stream(self, agent: BaseAgent) -> AsyncGenerator[Event, None]:
        """Run an agent below this one and give its events, which are stored by then."""
        if self.end_invocation:
            return
        channel = Channel()
        task = self.context.in_task(self._run(agent, channel))
        task.add_done_callback(channel.close)
        try:
            while (event := await channel.get()) is not None:
                self._told[event.id] = event
                yield event
        finally:
            channel.abandon()
            if not task.done():
                await self.context.stop_tasks([task])
            elif not task.cancelled():
                task.exception()  # seen: where nobody listens any more, it is nobody's failure
        try:
            await task
        except DynamicNodeFailError as failure:
            if not isinstance(failure.error, Exception):
                raise
            self._failures[id(failure.error)] = failure
            raise failure.error from None

    async def _run(self, agent: BaseAgent, channel: Channel) -> None:
        await self.context.run_member(Membership(agent), branch=self.branch, on_event=channel.put)

    async def recall(self) -> None:
        """Find what the agent said in this run before it was cut off or waited: it runs from its start again."""
        ctx = self.context
        if ctx.is_first_try or ctx.attempt_count > 1:
            return
        own = (ctx.invocation_id, ctx.node_path)
        self._said = [
            event
            for event in await self._shared.all_events()
            if (event.invocation_id, event.node_info.path) == own and event.content is not None
        ]

    def is_told(self, event: Any) -> bool:
        """Say whether an event that the agent yields is stored already: it is a sub-agent's, or was said before a cut.

        Raises:
            DataError: it is a changed copy of one.
        """
        if not isinstance(event, Event):
            return False
        if not event.partial and (text := content_text(event.content)):
            self.last_text = text
        known = self._told.get(event.id)
        if known is None:
            return self._is_said_again(event)
        if known is event or known == event:
            return True
        raise DataError(
            f"Agent {self.agent.name!r} yielded a changed copy of an event of {known.author!r}, which is stored "
            f"already and can't change: yield the event itself, and what you have to say as an Event(...) of your own."
        )

    def _is_said_again(self, event: Event) -> bool:
        """Say whether an event says what the run said next before it was cut off; whatever differs is said anew."""
        if not self._said or event.partial:
            return False
        said = self._said.pop(0)
        deeds, done = event.actions, said.actions
        is_same = (
            event.content == said.content
            and event.output is None
            and deeds.route is None
            and not event.long_running_tool_ids
            and (deeds.escalate, deeds.transfer_to_agent) == (done.escalate, done.transfer_to_agent)
            and deeds.state_delta.items() <= done.state_delta.items()
        )
        if not is_same:
            self._said = []
        return is_same

    def cause(self, error: Exception) -> Exception:
        """Return a failure of a sub-agent with where it happened, any other error as it is."""
        return self._failures.get(id(error), error)
