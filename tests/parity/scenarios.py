"""The scenarios, chapter by chapter, and how one is played on both packages."""

from __future__ import annotations

import asyncio
import difflib
import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.parity.side import Side, silence
from tests.parity.written import names_as_in, nearest_names

CHAPTERS = (
    "names",
    "graphs",
    "functions",
    "returns",
    "coercion",
    "routing",
    "fan_out",
    "loops",
    "nested",
    "state",
    "failure",
    "questions",
    "resuming",
    "children",
    "children_resumed",
    "runner",
    "sessions",
    "agents",
    "calls",
    "delegation",
    "models",
    "trees",
    "callbacks",
    "workers",
    "tools",
    "confirmation",
    "agent_tools",
    "artifacts",
    "plugins",
    "apps",
    "stopping",
    "rewind",
    "compaction",
    "details",
    "requests",
)

HANGS_AFTER_S = 40


@dataclass(frozen=True)
class Scenario:
    """One scenario: code that runs on either package, and the rule that its docstring states."""

    chapter: str
    name: str
    rule: str
    code: Callable[[Side], Awaitable[None]]


def title_of(chapter: str) -> str:
    """Return a chapter's title: the first line of its module's docstring."""
    text = importlib.import_module(f"tests.parity.chapters.{chapter}").__doc__ or chapter
    return text.splitlines()[0].rstrip(".")


def all_scenarios() -> list[Scenario]:
    """Return every scenario in order: each public coroutine function of a chapter is one."""
    found: dict[str, Scenario] = {}
    for chapter in CHAPTERS:
        module = importlib.import_module(f"tests.parity.chapters.{chapter}")
        for name, code in vars(module).items():
            if not inspect.iscoroutinefunction(code) or name.startswith("_") or code.__module__ != module.__name__:
                continue
            assert name not in found, f"two scenarios are called {name}"
            found[name] = Scenario(chapter, name, " ".join((inspect.getdoc(code) or "").split()), code)
    return list(found.values())


def difference(scenario: Scenario) -> list[str]:
    """Play a scenario on both packages; return the lines that only google-adk gave (`- `) or only adk_nb (`+ `)."""
    with silence():
        theirs = nearest_names(play(scenario, "google.adk"))
    unheard = [line for line in theirs if line.startswith("no error said")]
    assert not unheard, f"the scenario waits for words that google-adk never says: {unheard}"
    try:
        ours = names_as_in(play(scenario, "adk_nb"), theirs)
    except Exception as error:  # code that runs on google-adk must run: a break is no difference that a table may list
        raise AssertionError(f"{scenario.name} runs on google-adk, and breaks on adk_nb") from error
    return [line for line in difflib.ndiff(theirs, ours) if line[0] in "-+"]


def play(scenario: Scenario, package: str) -> list[str]:
    """Play a scenario on one package; return what happened."""
    side = Side(package)
    asyncio.run(_played(scenario, side))
    return side.lines


async def _played(scenario: Scenario, side: Side) -> None:
    async def whole() -> None:
        try:
            await scenario.code(side)
            await side.finish()
        finally:
            await side.close()

    await asyncio.wait_for(whole(), HANGS_AFTER_S)
