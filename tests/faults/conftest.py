"""What the tests of this folder share: a workflow staged in each of the ways in which it can be run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adk_nb.workflow import BaseNode
from tests.faults.ways import WAYS, Staged, Way


@pytest.fixture(params=WAYS, ids=str)
def way(request: pytest.FixtureRequest) -> Way:
    """One of the ways to run a workflow."""
    found: Way = request.param
    return found


@pytest.fixture
def stage(way: Way, tmp_path: Path) -> Callable[[Callable[[], BaseNode]], Staged]:
    """Stages the workflow that a function builds, in each way."""
    return lambda build: Staged(way, tmp_path, build)
