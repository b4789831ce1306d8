"""Differences in questions, answers and what runs again after them."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

QUESTIONS = [
    Difference(
        what="a completed node that returned nothing",
        theirs="runs again on every resume",
        ours="never runs again",
        why="its side effects happened",
        seen={
            "a_finished_node_never_runs_again": [
                "- charged: 2",
                "+ charged: 1",
            ],
            "a_child_without_output_gives_none": [
                "- times: 2",
                "+ times: 1",
            ],
        },
    ),
    Difference(
        what="a bad answer",
        theirs="stored, and the question can't be answered any more",
        ours="refused before anything is stored",
        why="the question stays open",
        seen={
            "an_answer_that_doesnt_fit_is_refused": [
                "- by the user: 2",
                "+ by the user: 1",
                "- session s (2 by the user, 1 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
            "a_bad_answer_can_be_mended": [
                "- > answers q {'result': '5'}",
                "+ > answers q {'result': '5'} (run 1)",
                "- raised WorkflowDataError",
                "+ wf@1/show@1 by wf output '5' for wf@1",
                "- session s (3 by the user, 1 others): {}",
                "+ session s (2 by the user, 2 others): {}",
            ],
            "a_credential_that_is_none": [
                "- > answers wf_auth:wf@1/call@1 {'nonsense': 1} (run 1)",
                "+ > answers wf_auth:wf@1/call@1 {'nonsense': 1}",
                "- wf@1/call@1 by wf error WorkflowDataError saying 'malformed'",
                "- session s (2 by the user, 2 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what="an answer with wrong items or left-out defaults",
        theirs="items aren't checked, defaults become `None`",
        ours="checked in depth, defaults filled in",
        why="a schema is a promise",
        seen={
            "an_answer_is_checked_in_depth": [
                "- > answers q {'tags': ['zz']} (run 1)",
                "+ > answers q {'tags': ['zz']}",
                "- wf@1/show@1 by wf output \"{'tags': ['zz'], 'unit': None}\" for wf@1",
                "+ raised AnswerError",
                "- wf@1/show@1 by wf output \"{'tags': [1], 'unit': None}\" for wf@1",
                "+ wf@1/show@1 by wf output \"{'tags': [1], 'unit': 'kg'}\" for wf@1",
                "- session s (2 by the user, 2 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what='the answer "5" where text is asked for',
        theirs="read as a number and refused",
        ours="text",
        why="people type numbers",
        seen={
            "a_text_answer_may_look_like_a_number": [
                "- > answers q {'result': '5'}",
                "+ > answers q {'result': '5'} (run 1)",
                "- raised WorkflowDataError",
                "+ wf@1/show@1 by wf output \"'5'\" for wf@1",
                "- session s (2 by the user, 1 others): {}",
                "+ session s (2 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="a whole number where any number is asked for",
        theirs="becomes 1.0",
        ours="stays 1",
        why="what was typed; a hint converts it where it matters",
        seen={
            "answers_are_converted_by_the_schema": [
                "- wf@1/show@1 by wf output '1.0' for wf@1",
                "+ wf@1/show@1 by wf output '1' for wf@1",
            ],
        },
    ),
    Difference(
        what="an answer to an answered question",
        theirs="accepted",
        ours="refused",
        why="an answer isn't changed afterwards",
        seen={
            "an_answer_is_given_once": [
                "+ raised AnswerError",
                "- session s (3 by the user, 2 others): {}",
                "+ session s (2 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="an answer with fields",
        theirs="a dictionary",
        ours="a dictionary whose keys are attributes as well",
        why="`decision.approved`",
        seen={
            "an_answers_fields_are_attributes": [
                "- wf@1/after@1 by wf output [True, 'no attribute'] for wf@1",
                "+ wf@1/after@1 by wf output [True, True] for wf@1",
            ],
        },
    ),
    Difference(
        what="a second ask of an open question by a rerun node",
        theirs="published again",
        ours="published once",
        why="one form a question",
        seen={
            "an_open_question_is_asked_once": [
                "- > answers m1 {'result': 1} (run 1)",
                "+ > answers m1 {'result': 1}",
                (
                    "- wf@1/ask@1 by wf model says calls adk_request_input({'interruptId': 'm2', 'message': "
                    "None, 'payload': None, 'response_schema': None}) asks {'m2'}"
                ),
                "- session s (3 by the user, 5 others): {}",
                "+ session s (3 by the user, 4 others): {}",
            ],
        },
    ),
    Difference(
        what="a partly answered node, when another node's question is answered",
        theirs="runs again",
        ours="runs when a question of its own is answered",
        why="it learnt nothing new",
        seen={
            "another_lanes_answer_leaves_it_alone": [
                "- > answers m1 {'result': 1} (run 1)",
                "+ > answers m1 {'result': 1}",
                (
                    "- wf@1/two@1 by wf on 'two@1' model says calls adk_request_input({'interruptId': 'm2', "
                    "'message': None, 'payload': None, 'response_schema': None}) asks {'m2'}"
                ),
                "- > answers o {'result': 1} (run 1)",
                "+ > answers o {'result': 1}",
                (
                    "- wf@1/two@1 by wf on 'two@1' model says calls adk_request_input({'interruptId': 'm2', "
                    "'message': None, 'payload': None, 'response_schema': None}) asks {'m2'}"
                ),
                "- runs: [[], ['m1'], ['m1']]",
                "+ runs: [[], ['m1']]",
                "- session s (3 by the user, 5 others): {}",
                "+ session s (3 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="an answer to a node that gave a route before it asked",
        theirs="dropped",
        ours="the node's output",
        why="the route doesn't undo the answer",
        seen={
            "a_route_before_a_question_is_kept": [
                "- wf@1/show@1 by wf output 'None' for wf@1",
                "+ wf@1/show@1 by wf output \"'answer'\" for wf@1",
            ],
        },
    ),
    Difference(
        what="a confirmation that doesn't say `confirmed`",
        theirs="a rejection",
        ours="refused as an answer; a web client's wrapping is understood",
        why="a refusal must be meant",
        seen={
            "an_empty_confirmation": [
                "- > answers wf_tool_confirmation:wf@1/refund@1 {} (run 1)",
                "+ > answers wf_tool_confirmation:wf@1/refund@1 {}",
                "+ raised AnswerError",
                "- wf@1/refund@1 by wf output {'error': 'This tool call is rejected.'}",
                "- wf@1/show@1 by wf output \"{'error': 'This tool call is rejected.'}\" for wf@1",
                "- session s (2 by the user, 4 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
            "a_wrapped_confirmation": [
                "- wf@1/refund@1 by wf output {'error': 'This tool call is rejected.'}",
                "- wf@1/show@1 by wf output \"{'error': 'This tool call is rejected.'}\" for wf@1",
                "+ wf@1/refund@1 by wf output 'refunded 5'",
                "+ wf@1/show@1 by wf output \"'refunded 5'\" for wf@1",
            ],
        },
    ),
]
