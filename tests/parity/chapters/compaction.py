"""Summaries in place of older events."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from tests.parity.scripted import calls, scripted
from tests.parity.side import Side, Talk


def summarising(adk: Side, root: Any, *summaries: Any, **config: Any) -> Talk:
    """Open a talk with an app whose summaries are written by a model of their own, which gives these."""
    summarizer = adk.LlmEventSummarizer(llm=scripted(adk, *summaries, notes=False))
    settings = adk.EventsCompactionConfig(summarizer=summarizer, **config)
    return adk.talk(adk.App(name="x", root_agent=root, events_compaction_config=settings), is_app=True)


async def options_of_summaries(adk: Side) -> None:
    """Half a pair and no pair are refused, and so are numbers that make no sense."""
    config = adk.EventsCompactionConfig
    adk.refused("nothing", config, "At least one compaction trigger")
    adk.refused("interval", functools.partial(config, compaction_interval=2), "must be set together")
    adk.refused("threshold", functools.partial(config, token_threshold=2), "must be set together")
    adk.refused("zero", functools.partial(config, compaction_interval=0, overlap_size=0))
    adk.refused("negative", functools.partial(config, compaction_interval=2, overlap_size=-1))
    adk.refused("good", functools.partial(config, compaction_interval=2, overlap_size=0))
    adk.refused(
        "both",
        functools.partial(config, compaction_interval=2, overlap_size=0, token_threshold=9, event_retention_size=0),
    )


async def a_summary_every_two_turns(adk: Side) -> None:
    """Every second turn is followed by a summary, which stands in place of its turns from then on."""
    bot = adk.LlmAgent(name="bot", model=scripted(adk, "A", "B", "C", "D", "E"))
    talk = summarising(adk, bot, "S1", "S2", compaction_interval=2, overlap_size=0)
    for word in "abcde":
        await talk.turn(word)


async def summaries_that_overlap(adk: Side) -> None:
    """A turn that two summaries cover is shown by both, and no longer itself."""
    bot = adk.LlmAgent(name="bot", model=scripted(adk, "A", "B", "C", "D", "E"))
    talk = summarising(adk, bot, "S1", "S2", compaction_interval=2, overlap_size=1)
    for word in "abcde":
        await talk.turn(word)


async def a_summary_of_calls(adk: Side) -> None:
    """A turn with calls is covered as a whole."""

    def five() -> int:
        """Give five."""
        return 5

    bot = adk.LlmAgent(name="bot", model=scripted(adk, calls("five", "c1"), "A", "B"), tools=[five])
    talk = summarising(adk, bot, "S1", "S2", compaction_interval=1, overlap_size=0)
    await talk.turn("a")
    await talk.turn("b")


async def a_summary_that_fails(adk: Side) -> None:
    """A summarizer that fails leaves the history as it is, and the turn has its answer."""
    bot = adk.LlmAgent(name="bot", model=scripted(adk, "A", "B"))
    talk = summarising(adk, bot, ValueError("no"), "S1", compaction_interval=1, overlap_size=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await talk.turn("a")
    await talk.turn("b")


async def a_rewound_summary(adk: Side) -> None:
    """A summary of what was taken back is gone with it."""
    bot = adk.LlmAgent(name="bot", model=scripted(adk, "A", "B", "C", "D"))
    talk = summarising(adk, bot, "S1", "S2", compaction_interval=2, overlap_size=0)
    await talk.turn("a")
    await talk.turn("b")
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[1])
    await talk.turn("c")
    await talk.turn("d")
