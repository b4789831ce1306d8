"""Cuts a run of a drawn graph at every event and at every write, and compares what comes of it with the uncut run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import assume

from tests.workflow.lives import Lives
from tests.workflow.mortal_stores import Store
from tests.workflow.promises import Ending, check_promises
from tests.workflow.random_graphs import Maker

MOST_EVENTS = 30
"""Runs with more are too long to be cut everywhere."""


@dataclass
class Tally:
    """How much was tried."""

    graphs: int = 0
    soft_cuts: int = 0
    hard_cuts: int = 0
    processes: int = 0

    def __str__(self) -> str:
        return (
            f"{self.graphs} graphs, {self.soft_cuts} soft cuts, {self.hard_cuts} hard cuts, {self.processes} processes"
        )


@dataclass
class Uncut:
    """A run that nothing cut, in a store of its own."""

    make: Maker
    compared: dict[str, Any]
    events: int
    writes: int

    @classmethod
    async def of(cls, make: Maker, store: Store | None = None) -> Uncut:
        """Run once, to the end, within no limits."""
        store = store or Store()
        lives = Lives(make, store, is_limited=False)
        await lives.begin()
        assert await lives.live()
        ending = await Ending.of(lives.talk)
        check_promises(ending, lives.talk.runner.agent)
        assert lives.story.ran_twice == []
        assume(len(ending.events) <= MOST_EVENTS)
        events = sum(event.author != "user" for event in ending.events)
        return cls(make, ending.compared(), events, store.life.writes)

    async def check(self, lives: Lives) -> None:
        """Check that a run that was cut, and has ended, came to what this one came to."""
        ending = await Ending.of(lives.talk)
        check_promises(ending, lives.talk.runner.agent)
        assert lives.story.ran_twice == []
        for path, run in lives.before.items():
            kept = ending.records[path]
            assert (kept.status, kept.output, kept.route) == (run.status, run.output, run.route), f"lost: {path}"
        if not self.make.is_racy:
            now, then = ending.compared(), self.compared
            assert now == then, _difference(now, then)


def _difference(now: dict[str, Any], then: dict[str, Any]) -> str:
    """Return where two endings differ, a line each."""
    return "\n".join(
        f"{part} {key}: {then[part].get(key)} uncut, {now[part].get(key)} cut"
        for part in now
        for key in {**then[part], **now[part]}
        if then[part].get(key) != now[part].get(key)
    )


async def cut_at_events(uncut: Uncut, store: Store, tally: Tally) -> None:
    """Walk away after the k-th event, for every k, and go on in a new process."""
    for cut in range(1, uncut.events):
        lives = Lives(uncut.make, store)
        await lives.begin()
        if await lives.live(events=cut):
            continue  # what races, or fails only once, may take fewer
        await lives.begin()
        assert await lives.live()
        await uncut.check(lives)
        tally.soft_cuts += 1
        tally.processes += lives.story.processes


async def cut_at_writes(uncut: Uncut, store: Store, tally: Tally) -> None:
    """Lose the process at the k-th write, for every k, and go on in a new one."""
    for cut in range(1, uncut.writes):
        lives = Lives(uncut.make, store)
        await lives.begin()
        if await lives.live_until_killed(cut):
            continue
        await lives.begin()
        assert await lives.live()
        await uncut.check(lives)
        tally.hard_cuts += 1
        tally.processes += lives.story.processes


async def cut_again_and_again(uncut: Uncut, store: Store, tally: Tally) -> None:
    """Give each process one event only."""
    lives = Lives(uncut.make, store)
    await lives.begin()
    while not await lives.live(events=1):
        tally.soft_cuts += 1
        await lives.begin()
    await uncut.check(lives)
    tally.processes += lives.story.processes
