"""The cases on google-adk."""

from __future__ import annotations

from benchmarks.adk_cases import AdkCases

CASES = AdkCases("google.adk").cases()
