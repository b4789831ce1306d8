"""What is worth a look before a workflow runs: shapes and bodies that can run and may not do what was meant."""

from __future__ import annotations

from adk_nb.workflow.hints.hint import Hint
from adk_nb.workflow.hints.kinds import hints

__all__ = ["Hint", "hints"]
