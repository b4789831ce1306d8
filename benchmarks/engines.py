"""The columns of the table: which file measures which engine, and which installed packages it stands on."""

from __future__ import annotations

from typing import NamedTuple


class Engine(NamedTuple):
    """One column of the table."""

    name: str
    module: str
    packages: tuple[str, ...]
    """Distributions whose versions are recorded with the results; the first one names the engine."""


OURS = "adk_nb"

ENGINES = (
    Engine("floor", "benchmarks.floor", ("pydantic",)),
    Engine(OURS, "benchmarks.adk_nb_engine", ("adk-nb",)),
    Engine("google-adk", "benchmarks.google_adk_engine", ("google-adk", "a2a-sdk", "google-genai")),
    Engine(
        "langgraph", "benchmarks.langgraph_engine", ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite")
    ),
    Engine("pydantic-graph", "benchmarks.pydantic_graph_engine", ("pydantic-graph",)),
    Engine("burr", "benchmarks.burr_engine", ("apache-burr",)),
)

PEERS = tuple(engine.name for engine in ENGINES if engine.name not in ("floor", OURS))
ENGINES_BY_NAME = {engine.name: engine for engine in ENGINES}
