"""Numbers and results as people read them. The notebook's calculator says the same words in the browser."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from adk_nb.calculator.comparison import Comparison

# A power computed through logarithms can lie a last digit below the half it stands for (0.95² is 90.25 %).
_ROUNDING_SLACK = 1e-9
_LONGEST_SAID = 1_000_000


class Phrase(NamedTuple):
    """A piece of a sentence; the numbers that matter are strong."""

    text: str
    is_strong: bool = False


def format_percent(share: float) -> str:
    """Write a share of 0 to 1 in percent, with one decimal.

    Whole only when it is: as long as something remains it says `> 99.9 %`, as long as there is something `< 0.1 %`.

    Example:
        >>> [format_percent(share) for share in (0, 0.00001, 0.857143, 0.99999, 1)]
        ['0 %', '< 0.1 %', '85.7 %', '> 99.9 %', '100 %']
    """
    if share <= 0:
        return "0 %"
    if share >= 1:
        return "100 %"
    tenths = math.floor(share * 1000 + 0.5 + _ROUNDING_SLACK)
    if tenths == 0:
        return "< 0.1 %"
    if tenths == 1000:
        return "> 99.9 %"
    return f"{tenths // 10}.{tenths % 10} %"


def format_share(share: float) -> str:
    """Write a share in percent, without the decimal when that is 0.

    Example:
        >>> format_share(0.5), format_share(0.125)
        ('50 %', '12.5 %')
    """
    return format_percent(share).replace(".0 %", " %")


def format_count(count: float) -> str:
    """Write an amount with thousands separators, and one decimal where it isn't whole.

    Example:
        >>> format_count(60000), format_count(1234.56)
        ('60,000', '1,234.6')
    """
    if isinstance(count, int):
        return f"{count:,}"
    tenths = math.floor(count * 10 + 0.5) if count < 1e15 else 10 * math.floor(count)
    return f"{tenths // 10:,}" + (f".{tenths % 10}" if tenths % 10 else "")


def format_ratio(ratio: float) -> str:
    """Write how many times more the loop sends.

    Example:
        >>> format_ratio(3.5), format_ratio(15), format_ratio(float("inf"))
        ('3.5 times', '15 times', 'no model calls')
    """
    return "no model calls" if ratio == math.inf else f"{format_count(ratio)} times"


def token_phrases(comparison: Comparison) -> list[Phrase]:
    """Say in a sentence or two what each design sends.

    Example:
        >>> from adk_nb.calculator import compare_designs
        >>> "".join(phrase.text for phrase in token_phrases(compare_designs()))
        'The loop sends 10,500 tokens in 6 calls, the graph 1,500 in 3: 7 times fewer, a saving of 85.7 %.'
    """
    n, m = comparison.process_length, comparison.judgment_nodes
    if n == 0:
        return [Phrase("A process without steps sends nothing either way.")]
    if comparison.loop_tokens == 0:
        return [Phrase("When a step adds no tokens, neither design sends any.")]
    loop = Phrase(format_count(comparison.loop_tokens), True)
    calls = _number(n, "call")
    if m == 0:
        return [
            Phrase("The loop sends "),
            loop,
            Phrase(f" tokens in {calls}. The graph makes "),
            Phrase("no model calls", True),
            Phrase(" and sends none."),
        ]
    if comparison.graph_tokens == comparison.loop_tokens:
        return [
            Phrase("Both make one call of "),
            loop,
            Phrase(" tokens: "),
            Phrase("no saving", True),
            Phrase(" in a process of one step."),
        ]
    return [
        Phrase("The loop sends "),
        loop,
        Phrase(f" tokens in {calls}, the graph "),
        Phrase(format_count(comparison.graph_tokens), True),
        Phrase(f" in {m:,}: "),
        Phrase(f"{format_ratio(comparison.ratio)} fewer", True),
        Phrase(", a saving of "),
        Phrase(format_percent(comparison.saving), True),
        Phrase("."),
    ]


def success_phrases(comparison: Comparison) -> list[Phrase]:
    """Say in a sentence or two how often each design stays on the intended path.

    Example:
        >>> from adk_nb.calculator import compare_designs
        >>> "".join(phrase.text for phrase in success_phrases(compare_designs(judgment_share=0)))
        'The loop stays on the intended path 83.3 % of the time, the graph always: it is all code.'
    """
    n, m = comparison.process_length, comparison.judgment_nodes
    if n == 0:
        return [Phrase("There is no turn to get wrong.")]
    if comparison.routing_accuracy == 1:
        return [Phrase("When every choice is right, neither takes a wrong turn.")]
    loop = [
        Phrase("The loop stays on the intended path "),
        Phrase(format_percent(comparison.loop_success), True),
        Phrase(" of the time, the graph "),
    ]
    if m == 0:
        return [*loop, Phrase("always", True), Phrase(": it is all code.")]
    judged = "its one judgment picks a route" if m == 1 else f"its {m:,} judgments all pick a route"
    unjudged = "if it doesn’t" if m == 1 else "if none does"
    return [
        *loop,
        Phrase(format_percent(comparison.graph_success), True),
        Phrase(f" if {judged}, "),
        Phrase("always", True),
        Phrase(f" {unjudged}: edges are exact."),
    ]


class HasHorizon(Protocol):
    """A comparison of either model."""

    @property
    def horizon(self) -> float:
        """Steps up to which the loop is right at least half the time."""
        ...


def horizon_phrases(comparison: HasHorizon) -> list[Phrase]:
    """Say how long a process may be before the loop is more often wrong than right.

    Example:
        >>> from adk_nb.calculator import compare_designs
        >>> "".join(phrase.text for phrase in horizon_phrases(compare_designs()))
        'At this accuracy a loop is right at least half the time up to 22 steps.'
    """
    if comparison.horizon == math.inf:
        return [Phrase("At this accuracy a loop is right at any length.")]
    steps = math.floor(comparison.horizon + _ROUNDING_SLACK)
    if steps == 0:
        return [Phrase("At this accuracy a loop is wrong more than half the time after a single step.")]
    if steps > _LONGEST_SAID:
        return [
            Phrase("At this accuracy a loop is right at least half the time even over "),
            Phrase(_number(_LONGEST_SAID, "step"), True),
            Phrase("."),
        ]
    return [
        Phrase("At this accuracy a loop is right at least half the time up to "),
        Phrase(_number(steps, "step"), True),
        Phrase("."),
    ]


def summary(comparison: Comparison) -> str:
    """Write the whole comparison as plain text: the inputs, both designs, the two sentences.

    Example:
        >>> from adk_nb.calculator import compare_designs
        >>> print(summary(compare_designs()).splitlines()[0])
        Graph or agent loop? 6 steps, 3 of them judgment (50 %), routing accuracy 97.0 %, 500 tokens per step
    """
    head = (
        f"Graph or agent loop? {_number(comparison.process_length, 'step')}, "
        f"{comparison.judgment_nodes:,} of them judgment ({format_share(comparison.judgment_share)}), "
        f"routing accuracy {format_percent(comparison.routing_accuracy)}, "
        f"{format_count(comparison.tokens_per_step)} tokens per step"
    )
    rows = [
        ("", "agent loop", "graph"),
        ("model calls", f"{comparison.process_length:,}", f"{comparison.judgment_nodes:,}"),
        ("tokens", format_count(comparison.loop_tokens), format_count(comparison.graph_tokens)),
        ("right path", format_percent(comparison.loop_success), format_percent(comparison.graph_success)),
    ]
    wide = max(len(cell) for row in rows for cell in row[1:])
    table = [f"  {name:<12}{loop:>{wide}}   {graph:>{wide}}".rstrip() for name, loop, graph in rows]
    sentences = (token_phrases(comparison), success_phrases(comparison))
    return "\n".join([head, *table, *("".join(phrase.text for phrase in sentence) for sentence in sentences)])


def _number(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
