"""Runners: a session and a root become a stream of events."""

from adk_nb.runners.in_memory_runner import InMemoryRunner
from adk_nb.runners.runner import Runner

__all__ = ["InMemoryRunner", "Runner"]
