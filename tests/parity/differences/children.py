"""Differences in nodes that other nodes run."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

CHILDREN = [
    Difference(
        what="`use_as_output` child and the parent's own value",
        theirs="differ live and resumed",
        ours="the child's output is the only one",
        why="one fact",
        seen={
            "a_childs_output_against_the_parents": [
                "- wf@1/show@1 by wf output '\"parent\\'s\"' for wf@1",
                "+ wf@1/show@1 by wf output '\"child\\'s\"' for wf@1",
            ],
            "a_childs_output_is_enough": [
                "- wf@1/show@1 by wf output 'None' for wf@1",
                "+ wf@1/show@1 by wf output '\"child\\'s\"' for wf@1",
            ],
        },
    ),
    Difference(
        what="finished children of a parent that failed itself and is retried",
        theirs="run again",
        ours="give what they gave",
        why="finished nodes never run again",
        seen={
            "a_parents_own_failure_and_its_children": [
                "- wf@1/parent@1/child@2 by wf output 2",
                "- wf@1/parent@1 by wf output 2 for wf@1",
                "+ wf@1/parent@1 by wf output 1 for wf@1",
                "- session s (1 by the user, 4 others): {}",
                "+ session s (1 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="gathered children that ask at different times",
        theirs="an error",
        ours="all their questions are open",
        why="each call was awaited",
        seen={
            "gathered_children_ask": [
                "- raised RuntimeError",
            ],
        },
    ),
    Difference(
        what="a child in a task that nobody awaits",
        theirs="may end after its parent, and an early failure is lost",
        ours="ends before its parent does, and its failure is the parent's",
        why="no work is lost in silence",
        seen={
            "a_task_left_alone_is_waited_for": [
                "+ wf@1/parent@1/late@1 by wf output 'late'",
                "- wf@1/parent@1/late@1 by wf output 'late'",
            ],
            "a_task_that_fails_early": [
                "+ raised Boom 'no'",
                "- wf@1/parent@1 by wf output 'ok'",
                "- wf@1/show@1 by wf output \"'ok'\" for wf@1",
                "- session s (1 by the user, 3 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what="`raise_on_wait` and a child that waits",
        theirs="the parent counts as done, with `None`",
        ours="the parent waits",
        why="it was stopped, not finished",
        seen={
            "a_waiting_child_may_stop_its_parent": [
                "+ > hi",
                "- > hi (run 1)",
                "- wf@1/show@1 by wf output 'None' for wf@1",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 0 others): {}",
            ],
        },
    ),
]
