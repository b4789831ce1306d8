"""Values with a source: presets that the calculator can be set to, and findings of others to hold against it.

Each says where it comes from and what it doesn't say. Titles carry the year, since task sets and models age.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Preset:
    """Inputs of `compare_in_detail` with their source; what it doesn't name stands at its default.

    Example:
        >>> from adk_nb.calculator import compare_in_detail
        >>> compare_in_detail(**PRESETS["refund"].values).graph.tokens
        2265.0
    """

    title: str
    values: Mapping[str, Any]
    source: str
    caveat: str
    """What these values don't show."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What somebody measured or published that doesn't map onto the calculator's inputs."""

    title: str
    result: str
    source: str


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "refund": Preset(
            title="ADK refund case (2026)",
            values=MappingProxyType(
                {
                    "process_length": 6,
                    "judgment_share": 1 / 3,
                    "loop_base": 400.0,
                    "loop_visible": 28.0,
                    "loop_result": 49.0,
                    "node_calls": 2.0,
                    "graph_base": 146.0,
                    "graph_visible": 24.0,
                    "graph_result": 54.0,
                    "shared_reasoning": 1429.0,
                    "route_share": 0.5,
                    "price_input": 1.50,
                    "price_output": 9.00,
                }
            ),
            source="Google Developers Blog, “Why we built ADK 2.0”, 1 July 2026: 5,152 against 2,265 tokens, 7.2 s "
            "against 5.7 s, gemini-3.5-flash, mocked API responses, called illustrative there.",
            caveat="Only the two totals are published. The split into calls is a reconstruction with integers that "
            "give back both; the reasoning, 1,429 tokens on both sides, is what the totals leave over. Without it the "
            "saving would be 77.5 %. The accuracy is a default, not a measurement.",
        ),
        "tau_bench_airline": Preset(
            title="τ-bench airline, GPT-4o (2024)",
            values=MappingProxyType(
                {
                    "process_length": 6,
                    "routing_accuracy": 0.86,
                    "calls_per_step": 2.045,
                    "length_variance": 40.2,
                    "loop_base": 1274.0,
                    "loop_result": 203.0,
                    "graph_base": 1274.0,
                    "graph_result": 203.0,
                }
            ),
            source="200 published trajectories in the τ-bench repository (MIT), own count with cl100k: 12.27 calls on "
            "average, variance 40.2, first prompt 1,274, growth 203 a call; success 0.42 over 5.8 tool choices.",
            caveat="Only the loop is measured: 33,496 prompt tokens, tool schemas left out. What it writes is in the "
            "growth and not counted as output. The accuracy assumes independent mistakes. The graph is a guess: no "
            "node sees more than the loop’s first prompt. τ-bench itself calls this task set outdated.",
        ),
        "falling_hazard": Preset(
            title="Later steps are safer (2025)",
            values=MappingProxyType({"process_length": 15, "dependence": 0.6}),
            source="A re-analysis of METR-type data finds a falling hazard for agents, Weibull shape about 0.6 (Ord’s "
            "comment on G. Hamilton’s analysis); Ord 2025, arXiv 2505.05115, had fitted a constant one.",
            caveat="It is a fact about collections of tasks: those that went well so far are likely the easy ones. "
            "Within a run, mistakes in the context breed mistakes (Sinha et al., arXiv 2509.09677), mostly in models "
            "that don’t think: that is the other side of the slider.",
        ),
    }
)
"""Presets by key, in the order of the menu."""

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "ReWOO against ReAct (2023)",
        "about 5 times the token efficiency and 4 % more accuracy on HotpotQA; about 64 % fewer tokens over six "
        "benchmarks",
        "arXiv 2305.18323",
    ),
    Finding(
        "LLMCompiler against ReAct (2023)",
        "up to 3.7 times faster, 6.7 times cheaper, about 9 % more accurate",
        "arXiv 2312.04511",
    ),
    Finding(
        "Programmatic tool calling",
        "43,588 → 27,297 tokens, 37 % fewer",
        "Anthropic, “Advanced tool use”",
    ),
    Finding(
        "Agentless, a fixed pipeline (2024)",
        "32.0 % of SWE-bench Lite at $0.70 an issue, then the best of the open systems",
        "arXiv 2407.01489",
    ),
    Finding(
        "Agents against chat",
        "about 4 times the tokens, with several agents about 15 times; tokens explain 80 % of the variance",
        "Anthropic, on its multi-agent research system",
    ),
    Finding(
        "τ-bench, the same task repeated (2024)",
        "all of 1, 2, 3, 4 trials right: retail 0.604, 0.491, 0.430, 0.383 (GPT-4o) and 0.692, 0.576, 0.509, 0.462 "
        "(Sonnet 3.5, new); airline, 1 and 4: 0.420, 0.200 and 0.460, 0.225. Independent trials would give GPT-4o "
        "0.133 at retail; a Beta(0.583, 0.382) over tasks fits, so trials of one task are far from independent",
        "repository README",
    ),
    Finding(
        "BFCL V4, April 2026",
        "77.5 (Claude Opus 4.5), 72.5 (Gemini 3 Pro, prompt), 56.2 (Gemini 2.5 Flash), 55.9 (GPT-5.2): scores of "
        "tasks, not the accuracy of one choice",
        "copies of the leaderboard",
    ),
    Finding(
        "Half-life of success (2025)",
        "tasks done 80, 90, 99 % of the time are about a third, a seventh, a seventieth as long as those done half the "
        "time",
        "Ord, arXiv 2505.05115",
    ),
    Finding(
        "Against it (2025)",
        "with strong models a light agent used fewer tokens than workflows",
        "Lita, arXiv 2509.25873",
    ),
    Finding(
        "Token snowball (2025)",
        "contexts that only grow, and failures that cost more than successes",
        "SWE-Effi, arXiv 2509.09853",
    ),
)
"""What others found, for and against."""
