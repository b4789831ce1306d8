"""Differences in the runner."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

RUNNER = [
    Difference(
        what="a call without a message or with an unknown invocation id",
        theirs="starts a run",
        ours="refused",
        why="a typo isn't a run",
        seen={
            "nothing_to_run": [
                "- > nothing (run 1)",
                "- wf@1/show@1 by wf output 'None' for wf@1",
                "+ > nothing",
                "+ raised DataError",
                "- session s (0 by the user, 1 others): {}",
                "+ session s (0 by the user, 0 others): {}",
            ],
            "an_unknown_invocation": [
                "- > unknown (run 1)",
                "- wf@1/show@1 by wf output 'None' for wf@1",
                "+ > unknown",
                "+ raised InvocationNotFoundError",
                "- session s (0 by the user, 1 others): {}",
                "+ session s (0 by the user, 0 others): {}",
            ],
        },
    ),
    Difference(
        what="a text for a run that has its message",
        theirs="ignored",
        ours="refused",
        why="words aren't dropped in silence",
        seen={
            "text_for_an_old_run": [
                "+ raised DataError",
            ],
        },
    ),
]
