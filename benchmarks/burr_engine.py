"""The cases on burr. It keeps a state but no event log, and its graph runs one action at a time."""

from __future__ import annotations

import asyncio
import importlib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from burr.core import ApplicationBuilder, GraphBuilder, State, action, expr

from benchmarks.case import CONCURRENT_NODES, Case, Meeting, Outcome, Resumable, Run

# burr leaves these two constructors without types; `Any` keeps that out of the rest of the file.
new_application: Any = ApplicationBuilder
new_graph: Any = GraphBuilder


def add_one() -> Any:
    """Make an action that counts one node."""

    @action(reads=["value"], writes=["value"])
    async def add_one(state: State) -> State:  # type: ignore[type-arg]
        return state.update(value=state["value"] + 1)

    return add_one


def application_run(graph: Any, last: str, persister: Any = None) -> Run:
    """Make the function that runs the graph once, in a new application."""

    async def run() -> Outcome:
        builder: Any = new_application().with_graph(graph).with_identifiers(app_id=str(uuid.uuid4()))
        builder = builder.with_entrypoint("n0").with_state(value=0)
        if persister is None:
            application = builder.build()
        else:
            application = await builder.with_state_persister(persister).abuild()
        _, _, state = await application.arun(halt_after=[last])
        return Outcome(state["value"], application)

    return run


def chain_graph(size: int, last: Any = None) -> tuple[Any, str]:
    """Build a graph of `size` different actions in a row; the name of the last one comes with it."""
    actions = {f"n{index}": add_one() for index in range(size)}
    names = list(actions)
    if last is not None:
        actions[names[-1]] = last
    transitions = pairwise(names)
    return new_graph().with_actions(**actions).with_transitions(*transitions).build(), names[-1]


@asynccontextmanager
async def chain(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run `size` actions one after the other."""
    yield application_run(*chain_graph(size))


@asynccontextmanager
async def sqlite_chain(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run `size` actions one after the other, the state after each kept in SQLite."""
    # Imported by the one case that needs it, so that the import row of the others doesn't pay for SQLite.
    persisters = importlib.import_module("burr.integrations.persisters.b_aiosqlite")
    async with persisters.AsyncSQLitePersister.from_values(db_path=str(directory / "burr.db")) as persister:
        await persister.initialize()
        yield application_run(*chain_graph(size), persister)


@asynccontextmanager
async def loop(size: int, directory: Path) -> AsyncIterator[Run]:
    """Send one action back to itself until it has run `size` times."""

    @action(reads=["value"], writes=["value"])
    async def finish(state: State) -> State:  # type: ignore[type-arg]
        return state.update(value=state["value"])

    again = expr(f"value < {size}")
    graph = (
        new_graph()
        .with_actions(n0=add_one(), finish=finish)
        .with_transitions(("n0", "n0", again), ("n0", "finish", ~again))
        .build()
    )
    yield application_run(graph, "finish")


@asynccontextmanager
async def concurrent(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run one chain of a few actions so often that `size` run; all runs are under way before the first ends."""
    meeting = Meeting(size // CONCURRENT_NODES)

    @action(reads=["value"], writes=["value"])
    async def add_one_together(state: State) -> State:  # type: ignore[type-arg]
        await meeting.all_here()
        return state.update(value=state["value"] + 1)

    chain = application_run(*chain_graph(CONCURRENT_NODES, add_one_together))

    async def run() -> Outcome:
        outcomes = await asyncio.gather(*[chain() for _ in range(meeting.size)])
        return Outcome(sum(outcome.output for outcome in outcomes), outcomes)

    yield run


@asynccontextmanager
async def sqlite_resume(size: int, directory: Path) -> AsyncIterator[Resumable]:
    """Answer an application of which `size` actions have finished, its state kept in SQLite."""
    # Imported by the one case that needs it, so that the import row of the others doesn't pay for SQLite.
    persisters = importlib.import_module("burr.integrations.persisters.b_aiosqlite")

    @action(reads=["value"], writes=["value"])
    async def ask(state: State, answer: str) -> State:  # type: ignore[type-arg]
        return state.update(value=state["value"])

    again = expr(f"value < {size}")
    graph = (
        new_graph()
        .with_actions(n0=add_one(), ask=ask)
        .with_transitions(("n0", "n0", again), ("n0", "ask", ~again))
        .build()
    )
    async with persisters.AsyncSQLitePersister.from_values(db_path=str(directory / "burr.db")) as persister:
        await persister.initialize()

        async def application(app_id: str) -> Any:
            builder: Any = new_application().with_graph(graph).with_identifiers(app_id=app_id)
            builder = builder.initialize_from(
                persister, resume_at_next_action=True, default_state={"value": 0}, default_entrypoint="n0"
            )
            return await builder.with_state_persister(persister).abuild()

        async def begin() -> str:
            app_id = str(uuid.uuid4())
            _, _, state = await (await application(app_id)).arun(halt_before=["ask"])
            if state["value"] != size:
                raise RuntimeError(f"{size} actions were expected before the question, {state['value']} came")
            return app_id

        async def go_on(app_id: str) -> Outcome:
            waiting = await application(app_id)
            _, _, state = await waiting.arun(halt_after=["ask"], inputs={"answer": "yes"})
            return Outcome(state["value"], waiting)

        yield Resumable(begin, go_on)


CASES: dict[str, Case] = {
    "chain": chain,
    "loop": loop,
    "concurrent": concurrent,
    "sqlite_chain": sqlite_chain,
    "sqlite_resume": sqlite_resume,
}
