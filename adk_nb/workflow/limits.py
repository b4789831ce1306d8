"""Limits on what one call of the runner may use up; reaching one ends the run in order, so that it can be continued."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from adk_nb.events.event import Event
from adk_nb.events.prices import Price, cost_of_event

DEFAULT_MAX_NODE_RUNS = 100_000
"""Enough for any real workflow, and an end for a loop that has none."""


class Limits(BaseModel):
    """How much one call of the runner may use up before it stops; `None` means no limit.

    A run that reaches a limit ends with the status `stopped`: node runs that execute then come to their end (those of
    `max_seconds` are cancelled), nothing new starts, and all results are kept. Continuing the run goes on from there
    with a fresh allowance.

    Example:
        >>> Limits(max_node_runs=20, max_seconds=2).max_tokens is None
        True
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_node_runs: int | None = Field(default=DEFAULT_MAX_NODE_RUNS, ge=0)
    """Node runs that may start; workflows themselves aren't counted, nor are further tries of a run."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Tokens of all model calls together: prompt, output, thinking and tool use."""
    max_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Time by the clock."""
    max_cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Money in US dollars; a call whose price is unknown stops the run, too."""


class Allowance:
    """What is left of the limits of one call of the runner."""

    __slots__ = ("cost", "limits", "max_node_runs", "node_runs", "prices", "reached", "tokens", "unpriced")

    def __init__(self, limits: Limits | None = None, prices: Mapping[str, Price] | None = None) -> None:
        """Begin with nothing used.

        Args:
            limits: The limits; those of `Limits()` by default.
            prices: A person's own prices by model name.
        """
        self.limits = limits if limits is not None else Limits()
        self.max_node_runs = self.limits.max_node_runs
        self.prices = prices
        self.node_runs = 0
        self.tokens = 0
        self.cost = 0.0
        self.unpriced: str | None = None
        """A model whose price isn't known, though there is a limit on money."""
        nothing = (name for name in ("max_tokens", "max_cost") if getattr(self.limits, name) == 0)
        self.reached: str | None = next(nothing, None)
        """Name of the limit that was reached; one of no tokens or no money is reached before anything starts."""

    def take(self, kind: str) -> bool:
        """Count one node run of this kind that is about to start; `False` when it must not."""
        if self.reached is not None:
            return False
        if kind == "workflow":
            return True
        if self.max_node_runs is not None and self.node_runs >= self.max_node_runs:
            self.reached = "max_node_runs"
            return False
        self.node_runs += 1
        return True

    def note(self, event: Event) -> None:
        """Count the tokens and the money of a finished event with `usage_metadata`."""
        usage = event.usage_metadata
        if usage is None:
            return
        self.tokens += usage.total_token_count or (
            (usage.prompt_token_count or 0)
            + (usage.candidates_token_count or 0)
            + (usage.thoughts_token_count or 0)
            + (usage.tool_use_prompt_token_count or 0)
        )
        limits = self.limits
        if limits.max_tokens is not None and self.tokens >= limits.max_tokens:
            self.reached = self.reached or "max_tokens"
        if limits.max_cost is not None:
            cost = cost_of_event(event, self.prices)
            self.cost += cost or 0.0
            if cost is None:
                self.unpriced = event.model_version or "a model without a name"
            if cost is None or self.cost >= limits.max_cost:
                self.reached = self.reached or "max_cost"

    def sentence(self) -> str:
        """Return why the run stopped and how to go on."""
        name = self.reached or ""
        if name == "max_cost" and self.unpriced is not None:
            return (
                f"the run stopped, as it has the limit max_cost={self.limits.max_cost:,} and the price of "
                f"{self.unpriced!r} isn't known: give it, for instance "
                f"RunConfig(prices={{{self.unpriced!r}: Price(input=0.3, output=2.5)}}), or leave max_cost out"
            )
        limit = getattr(self.limits, name, None)
        used = {"max_node_runs": self.node_runs, "max_tokens": self.tokens, "max_cost": round(self.cost, 6)}.get(name)
        found = "" if used is None else f" after {used:,}"
        return (
            f"the run stopped at its limit {name}={limit:,}{found}; all results are kept: continue it with more, or "
            f"look for a loop that doesn't end"
        )
