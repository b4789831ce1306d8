"""Differences in what runs, and how a run ends."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

RUNNING = [
    Difference(
        what="what a join waits for",
        theirs="all that lead to it",
        ours="that, or all that were started, any, a number (`wait_for`)",
        why="a router before a join, a race",
        seen={
            "a_join_may_wait_for_less": [
                "+ wf@1/j@1 by wf output {'x': 'X'}",
                "+ wf@1/show@1 by wf output \"{'x': 'X'}\" for wf@1",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 4 others): {}",
            ],
        },
    ),
    Difference(
        what="a join that can't fire, a route without an edge, a node that waits for ever",
        theirs="the run looks successful",
        ours="status `incomplete`, with node, reason and known labels",
        why="no run ends short in silence",
        seen={
            "a_join_behind_routes_may_starve": [
                "- status: None",
                "+ status: 'incomplete'",
            ],
            "a_route_without_an_edge_ends_the_path": [
                "- status: None",
                "+ status: 'incomplete'",
            ],
            "a_waiting_node_may_never_give": [
                "- status: None",
                "+ status: 'incomplete'",
            ],
        },
    ),
    Difference(
        what="a loop left by a route without an edge",
        theirs="no output",
        ours="the last output is the workflow's",
        why="that is what the loop came to",
        seen={
            "a_loop_is_left_by_an_unknown_route": [
                "- wf@1/show@1 by wf output 'None' for wf@1",
                "+ wf@1/show@1 by wf output '3' for wf@1",
            ],
        },
    ),
    Difference(
        what="the branch of a fan-out in a loop",
        theirs="longer with every pass",
        ours="begins anew with every pass",
        why="a branch names a lane, not its history",
        seen={
            "a_loop_that_fans_out": [
                "- wf@1/count@3 by wf on 'count@2.count@3' output 3 route 'done'",
                "+ wf@1/count@3 by wf on 'count@3' output 3 route 'done'",
                "- wf@1/tee@3 by wf on 'count@2.count@3' output 't' for wf@1",
                "+ wf@1/tee@3 by wf on 'count@3' output 't' for wf@1",
                "- wf@1/tee@2 by wf on 'count@2.tee@2' output 't' for wf@1",
                "+ wf@1/tee@2 by wf on 'tee@2' output 't' for wf@1",
            ],
        },
    ),
    Difference(
        what="a route on an event with another author",
        theirs="stored, not followed",
        ours="followed",
        why="the author is overwritten anyway",
        seen={
            "a_route_of_somebody_else": [
                "+ wf@1/show@1 by wf output '1' for wf@1",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="keys of a join's output",
        theirs="random order",
        ours="the order of the edges",
        why="reproducible prompts",
        seen={
            "joins_keep_the_order_of_their_edges": [
                "- wf@1/in_order@1 by wf output False for wf@1",
                "+ wf@1/in_order@1 by wf output True for wf@1",
            ],
        },
    ),
    Difference(
        what="of several failures in one tick",
        theirs="the one that stands first in the graph is raised",
        ours="the one that happened first is raised",
        why="the first is the cause",
        seen={
            "the_first_of_two_failures_is_raised": [
                "- raised Boom 'one'",
                "+ raised Worse 'two'",
            ],
        },
    ),
    Difference(
        what="an item of a parallel worker that fails",
        theirs="its error, without its place",
        ours='the error says which; `on_error="collect"` finishes the others',
        why="a list of a thousand",
        seen={
            "a_failing_item_is_named": [
                "- says which: False",
                "+ says which: True",
                "- collect: refused with TypeError",
                "+ collect: accepted",
            ],
        },
    ),
    Difference(
        what="retries, timeout and schemas of a `Node` that is a worker",
        theirs="for each item, and once more for the list",
        ours="for each item",
        why="nine tries where three were meant",
        seen={
            "a_class_of_ones_own_retries_its_items": [
                "- wf@1/own@1/own@1 by wf on 'own@1' error Boom 'no'",
                "- wf@1/own@1/own@1 by wf on 'own@1' error Boom 'no'",
                "- tries: 4",
                "+ tries: 2",
                "- session s (1 by the user, 5 others): {}",
                "+ session s (1 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="an item of a `Node` that asks and doesn't run again",
        theirs="asks the same again",
        ours="the answer is its output",
        why="as for any node",
        seen={
            "a_class_of_ones_own_asks_for_items": [
                (
                    "- wf@1/own@1/own@1 by wf on 'own@1' model says calls adk_request_input({'interruptId': "
                    "'q1', 'message': None, 'payload': None, 'response_schema': None}) asks {'q1'}"
                ),
                "+ wf@1/own@1 by wf output ['x']",
                "+ wf@1/show@1 by wf output \"['x']\" for wf@1",
                "- session s (2 by the user, 3 others): {}",
                "+ session s (2 by the user, 4 others): {}",
            ],
        },
    ),
    Difference(
        what="sync functions in a fan-out",
        theirs="one after the other, on the event loop",
        ours="beside each other, in threads",
        why="one that blocks stops nobody",
        seen={
            "sync_lanes_and_time": [
                "- wf@1/j@1 by wf output {'a': 'alone', 'b': 'alone'} for wf@1",
                "+ wf@1/j@1 by wf output {'a': 'met', 'b': 'met'} for wf@1",
                "- wf@1/a@1 by wf on 'a@1' output 'alone'",
                "+ wf@1/a@1 by wf on 'a@1' output 'met'",
                "- wf@1/b@1 by wf on 'b@1' output 'alone'",
                "+ wf@1/b@1 by wf on 'b@1' output 'met'",
            ],
        },
    ),
    Difference(
        what="a sync function with a timeout",
        theirs="can't be stopped, and hands on its output late",
        ours="ends in time",
        why="that is what a timeout is for",
        seen={
            "a_sync_function_takes_too_long": [
                "- wf@1/slow@1 by wf output 'late'",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what="`sys.exit` in a node",
        theirs="ends the process",
        ours="the node's failure",
        why="a kernel isn't a node's to end",
        seen={
            "an_exit_is_the_nodes_failure": [
                "+ > hi (run 1)",
                "+ wf@1/leave@1 by wf error WorkflowDataError",
                "+ raised WorkflowDataError",
                "- the process: 'would end'",
                "+ the process: 'goes on'",
                "- session s (1 by the user, 0 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what="checkpoints of a resumable app",
        theirs="list every node each time",
        ours="name the node that changed",
        why="80 lanes made 420 kB of them",
        seen={
            "an_app_keeps_checkpoints": [
                (
                    "- - by wf checkpoint {'nodes': {'a': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by wf checkpoint {'nodes': {'a': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 3}}}",
            ],
            "lanes_of_a_resumable_app": [
                (
                    "- - by wf checkpoint {'nodes': {'b': {'interrupts': [], 'status': 2}, 'c': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'c': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by wf checkpoint {'nodes': {'b': {'interrupts': [], 'status': 3}, 'c': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'b': {'interrupts': [], 'status': 3}}}",
                (
                    "- - by wf checkpoint {'nodes': {'b': {'interrupts': [], 'status': 3}, 'c': "
                    "{'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'c': {'interrupts': [], 'status': 3}}}",
                (
                    "- - by wf checkpoint {'nodes': {'b': {'interrupts': [], 'status': 3}, 'c': "
                    "{'interrupts': [], 'status': 3}, 'j': {'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'j': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by wf checkpoint {'nodes': {'b': {'interrupts': [], 'status': 3}, 'c': "
                    "{'interrupts': [], 'status': 3}, 'j': {'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'j': {'interrupts': [], 'status': 3}}}",
            ],
            "a_loop_in_a_resumable_app": [
                (
                    "- - by wf checkpoint {'nodes': {'count': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by wf checkpoint {'nodes': {'count': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 3}}}",
            ],
            "a_workflow_in_a_resumable_app": [
                (
                    "- - by inner checkpoint {'nodes': {'b': {'interrupts': [], 'status': 3}, 'c': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by inner checkpoint {'nodes': {'c': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by inner checkpoint {'nodes': {'b': {'interrupts': [], 'status': 3}, 'c': "
                    "{'interrupts': [], 'status': 3}}}"
                ),
                "+ - by inner checkpoint {'nodes': {'c': {'interrupts': [], 'status': 3}}}",
                (
                    "- - by wf checkpoint {'nodes': {'inner': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by wf checkpoint {'nodes': {'inner': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 3}}}",
            ],
            "a_failure_in_a_resumable_app": [
                (
                    "- - by wf checkpoint {'nodes': {'flaky': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by wf checkpoint {'nodes': {'flaky': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 3}}}",
            ],
        },
    ),
    Difference(
        what="finished nodes of a resumable app, when it is resumed",
        theirs="give their output events again",
        ours="gave them once",
        why="the history says each thing once",
        seen={
            "an_answer_in_a_resumable_app": [
                "- wf@1/q@1 by wf output 'x'",
                (
                    "- - by wf checkpoint {'nodes': {'q': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'q': {'interrupts': [], 'status': 3}}}",
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 2}}}",
                (
                    "- - by wf checkpoint {'nodes': {'q': {'interrupts': [], 'status': 3}, 'show': "
                    "{'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 3}}}",
            ],
            "finished_nodes_of_a_resumable_app": [
                (
                    "- - by wf checkpoint {'nodes': {'a': {'interrupts': [], 'status': 3}, 'q': "
                    "{'interrupts': [], 'status': 2}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'q': {'interrupts': [], 'status': 2}}}",
                "+ - by wf checkpoint {'nodes': {'q': {'interrupts': [], 'status': 3}}}",
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 2}}}",
                "- wf@1/a@1 by wf output 1",
                "- wf@1/q@1 by wf output 'x'",
                (
                    "- - by wf checkpoint {'nodes': {'a': {'interrupts': [], 'status': 3}, 'q': "
                    "{'interrupts': [], 'status': 3}, 'show': {'interrupts': [], 'status': 2}}}"
                ),
                (
                    "- - by wf checkpoint {'nodes': {'a': {'interrupts': [], 'status': 3}, 'q': "
                    "{'interrupts': [], 'status': 3}, 'show': {'interrupts': [], 'status': 3}}}"
                ),
                "+ - by wf checkpoint {'nodes': {'show': {'interrupts': [], 'status': 3}}}",
                "- session s (2 by the user, 12 others): {}",
                "+ session s (2 by the user, 11 others): {}",
            ],
        },
    ),
    Difference(
        what="open questions of a run that was stopped",
        theirs="answered with an error in the history, yet they can be answered",
        ours="stay open, in the history as well",
        why="one fact",
        seen={
            "a_stopped_question_is_closed": [
                "+ - by wf error INVOCATION_ABORTED",
                (
                    "- - by wf on 'q@1' user says answers adk_request_input: {'error': 'Invocation was "
                    "aborted by client.'} error INVOCATION_ABORTED"
                ),
            ],
            "a_stopped_question_can_be_answered": [
                "+ - by wf error INVOCATION_ABORTED",
                (
                    "- - by wf on 'q@1' user says answers adk_request_input: {'error': 'Invocation was "
                    "aborted by client.'} error INVOCATION_ABORTED"
                ),
            ],
        },
    ),
    Difference(
        what="an output that a plugin replaced",
        theirs="the next node gets the first one now, the other after a resume",
        ours="the next node gets what the history says",
        why="one fact",
        seen={
            "a_plugin_replaces_an_output": [
                "- seen: ['secret', '***']",
                "+ seen: ['***', '***']",
            ],
        },
    ),
]
