"""The table of differences: what adk_nb does otherwise than google-adk, on purpose and with its reason.

The tests hold it both ways: a scenario that stands here must differ in exactly the lines that stand here, and one that
doesn't must agree. `docs/parity.md` shows it; `python -m tests.parity.page` writes that page anew.
"""

from __future__ import annotations

from tests.parity.differences.children import CHILDREN
from tests.parity.differences.delegation import DELEGATION
from tests.parity.differences.details import DETAILS
from tests.parity.differences.difference import Difference
from tests.parity.differences.graphs import WRITTEN
from tests.parity.differences.known_bugs import KNOWN_BUGS
from tests.parity.differences.models import MODELS
from tests.parity.differences.questions import QUESTIONS
from tests.parity.differences.requests import REQUESTS
from tests.parity.differences.runner import RUNNER
from tests.parity.differences.running import RUNNING
from tests.parity.differences.services import SERVICES
from tests.parity.differences.trees import TREES
from tests.parity.differences.values import VALUES

ON_PURPOSE: list[Difference] = [
    *WRITTEN,
    *VALUES,
    *RUNNING,
    *QUESTIONS,
    *CHILDREN,
    *RUNNER,
    *SERVICES,
    *TREES,
    *REQUESTS,
    *DELEGATION,
    *MODELS,
    *DETAILS,
]

__all__ = ["KNOWN_BUGS", "ON_PURPOSE", "Difference", "lines_by_scenario"]


def lines_by_scenario() -> dict[str, list[str]]:
    """Return the lines in which each scenario differs, known bugs included; no scenario stands in two differences."""
    found: dict[str, list[str]] = {}
    for difference in (*ON_PURPOSE, *KNOWN_BUGS):
        for name, lines in difference.seen.items():
            assert name not in found, f"{name} stands in two differences: split the scenario"
            found[name] = lines
    return found
