"""The cases on burr. It keeps a state but no event log, and its graph runs one action at a time."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from burr.core import ApplicationBuilder, GraphBuilder, State, action, expr

from benchmarks.case import Case, Outcome, Run

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


def chain_graph(size: int) -> tuple[Any, str]:
    """Build a graph of `size` different actions in a row; the name of the last one comes with it."""
    actions = {f"n{index}": add_one() for index in range(size)}
    names = list(actions)
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


CASES: dict[str, Case] = {"chain": chain, "loop": loop, "sqlite_chain": sqlite_chain}
