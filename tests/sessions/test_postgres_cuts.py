"""Runs in a PostgreSQL database that are cut anywhere come to the same end, as on every other store."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, seed, settings

from tests.workflow.cuts import Tally, Uncut, cut_at_events, cut_at_writes
from tests.workflow.driving import run
from tests.workflow.mortal_stores import DatabaseStore
from tests.workflow.random_graphs import Features, Maker, makers

EXAMPLES = int(os.environ.get("ADK_NB_TEST_EXAMPLES", "8"))


@pytest.mark.postgres
@pytest.mark.parametrize("cut", [cut_at_events, cut_at_writes])
def test_a_run_cut_anywhere_comes_to_the_same_end(postgres_url: str, cut: Callable[..., Awaitable[None]]) -> None:
    """Walk away after each event, or lose the process at each write, and go on in a new one with new connections."""

    @seed(2051)
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(make=makers(Features(most_nodes=3), depth=0))
    def tried(make: Maker) -> None:
        async def whole() -> None:
            uncut = await Uncut.of(make)
            store = DatabaseStore(postgres_url)
            await cut(uncut, store, Tally())
            await store.close()

        run(whole)

    tried()
