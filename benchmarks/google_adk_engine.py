"""The cases on google-adk."""

from __future__ import annotations

from benchmarks.adk_cases import AdkCases
from benchmarks.adk_names import names_of
from benchmarks.adk_resume_cases import AdkResumeCases

NAMES = names_of("google.adk")
CASES = AdkCases(NAMES).cases() | AdkResumeCases(NAMES).cases()
