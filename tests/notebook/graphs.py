"""Graphs that the drawing tests share, as a person would write them down by hand."""

from __future__ import annotations

from adk_nb.workflow.description import EdgeDescription, GraphDescription, Kind, NodeDescription

START = "__START__"


def graph(name: str, nodes: dict[str, Kind | NodeDescription], edges: list[tuple[str, ...]]) -> GraphDescription:
    """Build a description from node kinds and (source, target, *routes) rows; `default` marks the default one."""
    described = [NodeDescription(START, "start")] if any(row[0] == START for row in edges) else []
    described += [n if isinstance(n, NodeDescription) else NodeDescription(name, n) for name, n in nodes.items()]
    return GraphDescription(
        name,
        nodes=tuple(described),
        edges=tuple(
            EdgeDescription(source, target, tuple(r for r in routes if r != "default"), "default" in routes)
            for source, target, *routes in edges
        ),
    )


SUPPORT_INBOX = graph(
    "ticket_workflow",
    {
        "classifier": NodeDescription("classifier", "agent", "gemini-2.5-flash"),
        "router": NodeDescription("router", "function", "Send the ticket where its category says"),
        "approve_refund": NodeDescription("approve_refund", "human", "Ask a person before money moves"),
        "issue_refund": "function",
        "bug_triage": NodeDescription("bug_triage", "agent", "gemini-2.5-flash"),
        "answer": NodeDescription("answer", "agent", "gemini-2.5-flash"),
    },
    [
        (START, "classifier"),
        ("classifier", "router"),
        ("router", "approve_refund", "BILLING"),
        ("router", "bug_triage", "BUG"),
        ("router", "answer", "default"),
        ("approve_refund", "issue_refund"),
    ],
)

LOOP = graph(
    "review_loop",
    {
        "drafter": NodeDescription("drafter", "agent", "gemini-2.5-flash"),
        "reviewer": NodeDescription("reviewer", "agent", "gemini-2.5-pro"),
        "send": "tool",
    },
    [
        (START, "drafter"),
        ("drafter", "reviewer"),
        ("reviewer", "drafter", "revise"),
        ("reviewer", "reviewer", "again"),
        ("reviewer", "send", "approve"),
    ],
)

FAN_OUT = graph(
    "analysis",
    {
        "sentiment": NodeDescription("sentiment", "agent", "gemini-2.5-flash"),
        "entities": NodeDescription("entities", "agent", "gemini-2.5-flash"),
        "summary": NodeDescription("summary", "agent", "gemini-2.5-flash"),
        "join_analyses": "join",
        "write_report": NodeDescription("write_report", "function", "Put the three findings on one page"),
    },
    [
        (START, "sentiment"),
        (START, "entities"),
        (START, "summary"),
        ("sentiment", "join_analyses"),
        ("entities", "join_analyses"),
        ("summary", "join_analyses"),
        ("join_analyses", "write_report"),
    ],
)

_CHECK = graph(
    "check", {"lint": "tool", "fix": "agent"}, [(START, "lint"), ("lint", "fix", "findings"), ("fix", "lint", "again")]
)

NESTED = graph(
    "release",
    {
        "collect": NodeDescription("collect", "parallel", "8 at a time"),
        "build": NodeDescription(
            "build",
            "workflow",
            "write, check, repair",
            inner=graph(
                "build",
                {"code": "agent", "check": NodeDescription("check", "workflow", inner=_CHECK)},
                [(START, "code"), ("code", "check")],
            ),
        ),
        "analyse": NodeDescription("analyse", "workflow", inner=FAN_OUT),
        "sign_off": NodeDescription("sign_off", "human", hints=("Runs once per arrival: a JoinNode may be meant.",)),
        "publish": "node",
    },
    [
        (START, "collect"),
        ("collect", "build"),
        ("collect", "analyse"),
        ("build", "sign_off"),
        ("analyse", "sign_off"),
        ("sign_off", "build", "rejected"),
        ("sign_off", "publish", "approved"),
    ],
)

ROUTING = graph(
    "routing_workflow",
    {
        "process_message": "function",
        "route": NodeDescription("route", "function", hints=("Route 'SPAM' of 'route' has no edge.",)),
        "handle_bug": "function",
        "handle_support": "agent",
        "handle_logistics": "tool",
        "handle_anything_else": "function",
    },
    [
        (START, "process_message"),
        ("process_message", "route"),
        ("route", "handle_bug", "BUG", "CRASH"),
        ("route", "handle_support", "CUSTOMER_SUPPORT"),
        ("route", "handle_logistics", "LOGISTICS"),
        ("route", "handle_anything_else", "default"),
    ],
)

TYPICAL = {"support_inbox": SUPPORT_INBOX, "loop": LOOP, "fan_out": FAN_OUT, "nested": NESTED, "routing": ROUTING}
