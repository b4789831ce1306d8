"""Differences in artifacts, memory and tools."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

SERVICES = [
    Difference(
        what="an artifact's name that leads elsewhere, in memory",
        theirs="taken in memory, refused in a folder",
        ours="refused in both",
        why="what runs on one service runs on the other",
        seen={
            "file_names_that_lead_elsewhere": [
                "- '../a': 'accepted'",
                "- 'a/../b': 'accepted'",
                "- '/etc/a': 'accepted'",
                "- '.': 'accepted'",
                "- '': 'accepted'",
                "+ '../a': 'refused with InputValidationError'",
                "+ 'a/../b': 'refused with InputValidationError'",
                "+ '/etc/a': 'refused with InputValidationError'",
                "+ '.': 'refused with InputValidationError'",
                "+ '': 'refused with InputValidationError'",
            ],
        },
    ),
    Difference(
        what="`add_memory` of the service in memory",
        theirs="not there",
        ours="keeps the entries as they are",
        why="a node that works with a real memory service can be tried in memory",
        seen={
            "memories_are_written": [
                "- written: 'refused with NotImplementedError'",
                "+ written: 'accepted'",
            ],
        },
    ),
    Difference(
        what="a call of an agent as a tool without the request",
        theirs="the agent is asked nothing",
        ours="the model is told what is missing, as with every tool",
        why="an empty question costs a model call and answers nothing",
        seen={
            "an_agent_as_a_tool_is_given_too_little": [
                "- by bot user says answers inner: {'result': '42'}",
                "+ by bot user says answers inner: {'error': \"The call of tool 'inner' lacks the mandatory parameter "
                "'request': it has none. Give every mandatory parameter.\"}",
            ],
        },
    ),
    Difference(
        what="the same event appended twice, in a file",
        theirs="an error of the database",
        ours="is there once, as in memory",
        why="a caller that isn't sure may try again",
        seen={
            "an_event_is_appended_twice": [
                "- refused: True",
            ],
        },
    ),
    Difference(
        what="the order of events in a file",
        theirs="by their times",
        ours="as they were appended, as in memory",
        why="a clock that was set back doesn't turn history round",
        seen={
            "an_event_of_yesterday": [
                "- order: ['old', 'new']",
                "+ order: ['new', 'old']",
            ],
        },
    ),
    Difference(
        what="an object in the state that JSON has no form for, in a file",
        theirs="becomes the text of its `repr`",
        ours="refused at the node that wrote it, with its key, in every store",
        why="a text in place of a value is found too late",
        seen={
            "a_value_that_json_lacks": [
                "- wf@1/write@1 by wf output 1 for wf@1 state {'held': Held()}",
                "+ wf@1/write@1 by wf error WorkflowDataError",
                "+ raised WorkflowDataError",
                "- session s (1 by the user, 1 others): {'held': 'Held()'}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
]
