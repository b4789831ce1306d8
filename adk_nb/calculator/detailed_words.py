"""The extended model's results as people read them. The notebook's calculator says the same words in the browser."""

from __future__ import annotations

import math

from adk_nb.calculator.detailed import Design, DetailedComparison
from adk_nb.calculator.words import Phrase, format_count, format_percent

_SLACK = 1e-9
_MOST_WRITTEN = 1e15


def format_amount(amount: float) -> str:
    """Write an amount that may be a mean: whole from 100 on, `never` for one that no run ever reaches.

    Example:
        >>> [format_amount(amount) for amount in (5152.0, 291416.14, 12.27, 1e80, float("inf"))]
        ['5,152', '291,416', '12.3', '> 10^15', 'never']
    """
    if amount == math.inf:
        return "never"
    if amount >= _MOST_WRITTEN:
        return "> 10^15"
    if amount >= 100:
        return format_count(math.floor(amount + 0.5 + _SLACK))
    return format_count(amount + _SLACK)


def format_runs(attempts: float) -> str:
    """Write a mean number of runs, with two decimals where they say something.

    Example:
        >>> [format_runs(attempts) for attempts in (1.0, 1.049, 2.158, 291.4, float("inf"))]
        ['1', '1.05', '2.16', '291', 'never']
    """
    if attempts >= 100:
        return format_amount(attempts)
    hundredths = math.floor(attempts * 100 + 0.5 + _SLACK)
    return f"{hundredths // 100}.{hundredths % 100:02d}".rstrip("0").rstrip(".")


def format_money(dollars: float | None) -> str:
    """Write US dollars: cents above a dollar, hundredths of cents below, `unknown` without a price.

    Example:
        >>> [format_money(dollars) for dollars in (0.0197055, 12.5, 0, 0.00001, None)]
        ['$0.0197', '$12.50', '$0', '< $0.0001', 'unknown']
    """
    if dollars is None:
        return "unknown"
    if dollars == math.inf:
        return "never"
    if dollars == 0:
        return "$0"
    if dollars < 0.00005:
        return "< $0.0001"
    if dollars >= 1e12:
        return f"${format_amount(dollars)}"
    digits = 4 if dollars < 1 else 2
    units = math.floor(dollars * 10**digits + 0.5 + _SLACK)
    return f"${units // 10**digits:,}.{units % 10**digits:0{digits}d}"


def format_saving(share: float) -> str:
    """Write a saving, or what it costs more where it is none.

    Example:
        >>> format_saving(0.560365), format_saving(-0.25), format_saving(0)
        ('56.0 %', '25.0 % more', '0 %')
    """
    if share >= 0:
        return format_percent(share)
    if share > -1:
        return f"{format_percent(-share)} more"
    return f"{format_amount(1 - share)} times as much"


def detailed_token_phrases(comparison: DetailedComparison) -> list[Phrase]:
    """Say what each design uses, in tokens and in money where the prices are known.

    Example:
        >>> from adk_nb.calculator import compare_in_detail
        >>> "".join(phrase.text for phrase in detailed_token_phrases(compare_in_detail()))
        'The loop uses 10,500 tokens in 6 calls, the graph 1,500 in 3: 7 times fewer, a saving of 85.7 %.'
    """
    loop, graph = comparison.loop, comparison.graph
    if comparison.process_length == 0:
        return [Phrase("A process without steps uses nothing either way.")]
    said = [
        Phrase("The loop uses "),
        Phrase(format_amount(loop.tokens), True),
        Phrase(f" tokens in {_calls(loop)}"),
    ]
    if graph.calls == 0:
        return [*said, Phrase(". The graph makes "), Phrase("no model calls", True), Phrase(" and uses none.")]
    said += [Phrase(", the graph "), Phrase(format_amount(graph.tokens), True), Phrase(f" in {_count(graph)}")]
    return [*said, *_verdict(comparison), *_money(comparison)]


def _verdict(comparison: DetailedComparison) -> list[Phrase]:
    if comparison.loop.tokens == comparison.graph.tokens:
        return [Phrase(": "), Phrase("no saving", True), Phrase(".")]
    if comparison.loop.tokens == 0:
        return [Phrase(".")]
    if comparison.saving < 0:
        return [Phrase(": "), Phrase(format_saving(comparison.saving), True), Phrase(".")]
    saved = Phrase(format_percent(comparison.saving), True)
    if comparison.ratio < 1.95:
        return [Phrase(": a saving of "), saved, Phrase(".")]
    times = Phrase(f"{format_amount(comparison.ratio)} times fewer", True)
    return [Phrase(": "), times, Phrase(", a saving of "), saved, Phrase(".")]


def _money(comparison: DetailedComparison) -> list[Phrase]:
    if comparison.money_saving is None:
        return []
    return [
        Phrase(" In money: "),
        Phrase(format_money(comparison.loop.money), True),
        Phrase(" and "),
        Phrase(format_money(comparison.graph.money), True),
        Phrase(f", {format_saving(comparison.money_saving)}{' saved' if comparison.money_saving >= 0 else ''}."),
    ]


def detailed_success_phrases(comparison: DetailedComparison) -> list[Phrase]:
    """Say how often each design is right, and how that changes when wrong runs are noticed.

    Example:
        >>> from adk_nb.calculator import compare_in_detail
        >>> "".join(phrase.text for phrase in detailed_success_phrases(compare_in_detail(route_share=0.5)))
        'The loop stays on the intended path 83.3 % of the time, the graph 94.1 %: 2 of its 3 judgments pick a route.'
    """
    if comparison.process_length == 0:
        return [Phrase("There is no turn to get wrong.")]
    loop, graph = comparison.loop, comparison.graph
    picks = f"{comparison.routing_nodes:,} of its {comparison.judgment_nodes:,} judgments " + (
        "picks a route" if comparison.routing_nodes == 1 else "pick a route"
    )
    said = [
        Phrase("The loop stays on the intended path "),
        Phrase(format_percent(loop.success), True),
        Phrase(" of the time, the graph "),
    ]
    if comparison.routing_nodes == 0:
        said += [Phrase("always", True), Phrase(": no judgment of it picks a route.")]
    else:
        said += [Phrase(format_percent(graph.success), True), Phrase(f": {picks}.")]
    if comparison.assumptions.detection == 0:
        return said
    return [*said, Phrase(" With the wrong runs that are noticed started again: "), *_ends(loop, graph)]


def _ends(loop: Design, graph: Design) -> list[Phrase]:
    return [
        Phrase(format_percent(loop.right), True),
        Phrase(f" after {_runs(loop.attempts)}, and "),
        Phrase(format_percent(graph.right), True),
        Phrase(f" after {_runs(graph.attempts)}."),
    ]


def mistake_phrases(comparison: DetailedComparison) -> list[Phrase]:
    """Say what mistakes cost the loop under each policy, in tokens until it is right.

    Example:
        >>> from adk_nb.calculator import compare_in_detail
        >>> text = "".join(phrase.text for phrase in mistake_phrases(compare_in_detail(15, 0.5, 0.9)))
        >>> text.partition(": ")[2]
        '291,416 when it starts again at the end, 117,847 at once, 66,667 when it goes on from there.'
    """
    loop = comparison.loop
    if loop.restart_at_end == math.inf:
        return [Phrase("Tokens until the loop is right: "), Phrase("never", True), Phrase(", it can’t be right.")]
    return [
        Phrase("Tokens until the loop is right, by when a mistake is noticed: "),
        Phrase(format_amount(loop.restart_at_end), True),
        Phrase(" when it starts again at the end, "),
        Phrase(format_amount(loop.restart_at_once), True),
        Phrase(" at once, "),
        Phrase(format_amount(loop.resume_there), True),
        Phrase(" when it goes on from there."),
    ]


def detailed_rows(comparison: DetailedComparison) -> list[tuple[str, str, str, str]]:
    """Give the results as rows of text: what, loop, graph, saved.

    Example:
        >>> from adk_nb.calculator import compare_in_detail
        >>> detailed_rows(compare_in_detail())[3]
        ('tokens', '10,500', '1,500', '85.7 %')
    """
    loop, graph = comparison.loop, comparison.graph
    amounts = (
        ("model calls", loop.calls, graph.calls, ""),
        ("prompt tokens", loop.prompt_tokens, graph.prompt_tokens, ""),
        ("output tokens", loop.output_tokens, graph.output_tokens, ""),
        ("tokens", loop.tokens, graph.tokens, _saved(loop.tokens, comparison.saving)),
        (
            "input as paid",
            loop.input_equivalent,
            graph.input_equivalent,
            _saved(loop.input_equivalent, comparison.input_saving),
        ),
    )
    rows = [(name, format_amount(one), format_amount(other), saved) for name, one, other, saved in amounts]
    earned = "" if comparison.money_saving is None else _saved(loop.money or 0, comparison.money_saving)
    rows.append(("money, a run", format_money(loop.money), format_money(graph.money), earned))
    shares = (
        ("right path", loop.success, graph.success),
        ("right in the end", loop.right, graph.right),
        ("wrong, unnoticed", loop.shipped_wrong, graph.shipped_wrong),
        ("given up", loop.given_up, graph.given_up),
    )
    rows += [(name, format_percent(one), format_percent(other), "") for name, one, other in shares]
    rows.append(("runs", format_runs(loop.attempts), format_runs(graph.attempts), ""))
    spent = (loop.tokens_with_attempts, graph.tokens_with_attempts)
    return [*rows, ("tokens, all runs", format_amount(spent[0]), format_amount(spent[1]), "")]


def policy_rows(comparison: DetailedComparison) -> list[tuple[str, str, str]]:
    """Give what mistakes cost under each policy as rows of text: policy, loop, graph; tokens.

    Example:
        >>> from adk_nb.calculator import compare_in_detail
        >>> policy_rows(compare_in_detail(15, 0.5, 0.9))[2]
        ('noticed at once, go on from there', '66,667', '4,444')
    """
    loop, graph = comparison.loop, comparison.graph
    rows = (
        ("noticed at the end, start again", loop.restart_at_end, graph.restart_at_end),
        ("noticed at once, start again", loop.restart_at_once, graph.restart_at_once),
        ("noticed at once, go on from there", loop.resume_there, graph.resume_there),
        ("noticed at once, give up", loop.abort_at_once, graph.abort_at_once),
    )
    return [(name, format_amount(one), format_amount(other)) for name, one, other in rows]


def detailed_summary(comparison: DetailedComparison) -> str:
    """Write the whole comparison as plain text.

    Example:
        >>> from adk_nb.calculator import compare_in_detail
        >>> print(detailed_summary(compare_in_detail()).splitlines()[1])
                                              agent loop        graph       saved
    """
    head = (
        f"Graph or agent loop, in detail? {comparison.process_length:,} steps, {comparison.judgment_nodes:,} of them "
        f"judgment, routing accuracy {format_percent(comparison.routing_accuracy)}"
    )
    rows = [("", "agent loop", "graph", "saved"), *detailed_rows(comparison)]
    rows += [(name, one, other, "") for name, one, other in policy_rows(comparison)]
    table = [f"  {name:<34}{one:>12} {other:>12}  {saved:>10}".rstrip() for name, one, other, saved in rows]
    sentences = [say(comparison) for say in (detailed_token_phrases, detailed_success_phrases)]
    return "\n".join([head, *table, *("".join(phrase.text for phrase in sentence) for sentence in sentences)])


def _saved(loop: float, share: float) -> str:
    return format_saving(share) if loop > 0 else ""


def _calls(design: Design) -> str:
    count = _count(design)
    return f"{count} {'call' if count == '1' else 'calls'}"


def _count(design: Design) -> str:
    return format_amount(design.calls)


def _runs(attempts: float) -> str:
    if attempts == math.inf:
        return "any number of runs"
    count = format_runs(attempts)
    return f"{count} {'run' if count == '1' else 'runs'}"
