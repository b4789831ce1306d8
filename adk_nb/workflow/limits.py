"""Limits on what one call of the runner may use up; reaching one ends the run in order, so that it can be continued."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from adk_nb.events.event import Event

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

    __slots__ = ("cost", "limits", "max_node_runs", "node_runs", "price_of", "reached", "tokens")

    def __init__(self, limits: Limits | None = None, price_of: Callable[[Event], float | None] | None = None) -> None:
        """Begin with nothing used.

        Args:
            limits: The limits; those of `Limits()` by default.
            price_of: Returns what the model call behind an event cost in US dollars, `None` when that is unknown.
        """
        self.limits = limits if limits is not None else Limits()
        self.max_node_runs = self.limits.max_node_runs
        self.price_of = price_of
        self.node_runs = 0
        self.tokens = 0
        self.cost = 0.0
        self.reached: str | None = None
        """Name of the limit that was reached."""

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
            price = None if self.price_of is None else self.price_of(event)
            self.cost += price or 0.0
            if price is None or self.cost >= limits.max_cost:
                self.reached = self.reached or "max_cost"

    def sentence(self) -> str:
        """Return why the run stopped and how to go on."""
        name = self.reached or ""
        limit = getattr(self.limits, name, None)
        used = {"max_node_runs": self.node_runs, "max_tokens": self.tokens, "max_cost": round(self.cost, 6)}.get(name)
        found = "" if used is None else f" after {used:,}"
        return (
            f"the run stopped at its limit {name}={limit:,}{found}; all results are kept: continue it with more, or "
            f"look for a loop that doesn't end"
        )
