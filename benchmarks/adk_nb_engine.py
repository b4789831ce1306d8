"""The cases on this project's engine."""

from __future__ import annotations

from benchmarks.adk_cases import AdkCases

CASES = AdkCases("adk_nb").cases()
