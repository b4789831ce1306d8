"""Runners: a session and a root become a stream of events."""

from adk_nb.runners.runner import InMemoryRunner, Runner

__all__ = ["InMemoryRunner", "Runner"]
