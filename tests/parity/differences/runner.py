"""Differences in the runner."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

RUNNER = [
    Difference(
        what="a resume of a call that loads few events",
        theirs="runs finished nodes again whose events it didn't load",
        ours="goes on from the records, whatever is loaded",
        why="finished nodes never run again",
        seen={
            "an_answer_with_few_events_loaded": [
                "- wf@1/a@1 by wf output 1",
                "- session s (2 by the user, 4 others): {}",
                "+ session s (2 by the user, 3 others): {}",
            ],
        },
    ),
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
    Difference(
        what="an event that a plugin gives in place of another: what it leaves unsaid of the actions",
        theirs="lost, and the graph goes on with the first event",
        ours="kept, and the graph goes on with what the history says",
        why="a plugin changes what it names, and nothing else",
        seen={
            "a_plugin_adds_a_route": [
                "- wf@1/pick@1 by wf output 1 route 'y'",
                "+ wf@1/pick@1 by wf output 1 route 'y' state {'k': 1}",
                "- wf@1/x@1 by wf output 'x' for wf@1",
                "+ wf@1/y@1 by wf output 'y' for wf@1",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 2 others): {'k': 1}",
            ],
        },
    ),
    Difference(
        what="a plugin's event with another path, or that says that it is a piece",
        theirs="taken over: the event isn't stored",
        ours="path and completeness stay the engine's",
        why="history says where an event comes from, and holds all of them",
        seen={
            "a_plugin_claims_another_path": [
                "- other@1 by wf partial output 'z'",
                "+ wf@1/a@1 by wf output 'z'",
                "- wf@1/show@1 by wf output '1' for wf@1",
                "+ wf@1/show@1 by wf output \"'z'\" for wf@1",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="state that a session was made with, after a rewind",
        theirs="all of it is None",
        ours="what the runs taken back didn't write to stays",
        why="it wasn't theirs",
        seen={
            "a_seeded_state_is_rewound": [
                "- state: {'n': None, 'seed': None, 'user:n': 1}",
                "+ state: {'n': None, 'seed': 1, 'user:n': 1}",
                "- session s (2 by the user, 1 others): {'n': None, 'seed': None, 'user:n': 1}",
                "+ session s (2 by the user, 1 others): {'n': None, 'seed': 1, 'user:n': 1}",
            ],
        },
    ),
    Difference(
        what="going on with a run that was taken back, or rewinding to it",
        theirs="a new run under its id; a second rewind",
        ours="refused",
        why="it isn't there any more",
        seen={
            "a_rewound_run_goes_on": [
                "- > go on (run 1)",
                (
                    "- wf@1/q@1 by wf model says calls adk_request_input({'interruptId': 'q', 'message': None, "
                    "'payload': None, 'response_schema': None}) asks {'q'}"
                ),
                "+ > go on",
                "+ raised InvocationNotFoundError",
                "- session s (2 by the user, 2 others): {}",
                "+ session s (2 by the user, 1 others): {}",
            ],
            "a_rewound_run_is_rewound_again": [
                "- second: 'accepted'",
                "+ second: 'refused with InvocationNotFoundError'",
                "- session s (3 by the user, 1 others): {'n': None, 'user:n': 1}",
                "+ session s (2 by the user, 1 others): {'n': None, 'user:n': 1}",
            ],
        },
    ),
    Difference(
        what="a rewind to between two halves of an earlier run",
        theirs="takes back the second half",
        ours="refused, and names the earlier run",
        why="what a run has finished stays finished, or all of it goes",
        seen={
            "half_a_run_is_rewound": [
                "- rewind: 'accepted'",
                "+ rewind: 'refused with DataError'",
                "- session s (4 by the user, 3 others): {}",
                "+ session s (3 by the user, 3 others): {}",
                "- session s (4 by the user, 3 others): {}",
                "+ session s (3 by the user, 3 others): {}",
            ],
        },
    ),
]
