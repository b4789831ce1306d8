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
        what="an approval in the wrapper of a web client",
        theirs="read as a rejection",
        ours="read as the approval",
        why="it is one",
        seen={
            "a_wrapped_confirmation": [
                "- wf@1/refund@1 by wf output {'error': 'This tool call is rejected.'}",
                "- wf@1/show@1 by wf output \"{'error': 'This tool call is rejected.'}\" for wf@1",
                "+ wf@1/refund@1 by wf output 'refunded 5'",
                "+ wf@1/show@1 by wf output \"'refunded 5'\" for wf@1",
            ],
        },
    ),
    Difference(
        what="an answer to an approval without `confirmed`, or with unknown keys",
        theirs="a rejection; dropped",
        ours="refused, the question stays open",
        why="silence isn't an answer",
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
            "a_confirmation_with_more": [
                "- > answers wf_tool_confirmation:wf@1/refund@1 {'confirmed': True, 'nonsense': 1} (run 1)",
                "+ > answers wf_tool_confirmation:wf@1/refund@1 {'confirmed': True, 'nonsense': 1}",
                "+ raised AnswerError",
                "- wf@1/refund@1 by wf output 'refunded 5'",
                "- wf@1/show@1 by wf output \"'refunded 5'\" for wf@1",
                "- session s (2 by the user, 4 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="`True` or `False` as the answer to an approval",
        theirs="an error",
        ours="taken",
        why="it can't mean anything else",
        seen={
            "a_plain_confirmation": [
                "- > answers wf_tool_confirmation:wf@1/refund@1 {'result': True}",
                "+ > answers wf_tool_confirmation:wf@1/refund@1 {'result': True} (run 1)",
                "- raised WorkflowDataError",
                "+ wf@1/refund@1 by wf output 'refunded 5'",
                "+ wf@1/show@1 by wf output \"'refunded 5'\" for wf@1",
                "- session s (2 by the user, 2 others): {}",
                "+ session s (2 by the user, 4 others): {}",
            ],
        },
    ),
    Difference(
        what="a refused tool call whose predicate says later that no approval is needed",
        theirs="the call is made",
        ours="stays refused",
        why="a person said no",
        seen={
            "a_tools_refusal_stays": [
                "- wf@1/price@1 by wf output {'article': 'x', 'price': 2}",
                "- wf@1/show@1 by wf output \"{'article': 'x', 'price': 2}\" for wf@1",
                "+ wf@1/price@1 by wf output {'error': 'This tool call is rejected.'}",
                "+ wf@1/show@1 by wf output \"{'error': 'This tool call is rejected.'}\" for wf@1",
            ],
        },
    ),
    Difference(
        what="a credential in the history",
        theirs="in clear text",
        ours="never; asked for again after a restart",
        why="a session is shown, copied and shared",
        seen={
            "a_credential_in_the_history": [
                "- can be read: True",
                "+ can be read: False",
            ],
        },
    ),
    Difference(
        what="a text as the answer to a request for a credential",
        theirs="malformed, unless the config holds a raw API key",
        ours="the key or token that the scheme means",
        why="what people paste",
        seen={
            "a_credential_as_text": [
                "- wf@1/call@1 by wf error WorkflowDataError",
                "- raised WorkflowDataError",
                "+ wf@1/call@1 by wf output 'secret'",
                "+ wf@1/show@1 by wf output \"'secret'\" for wf@1",
                "- session s (2 by the user, 2 others): {}",
                "+ session s (2 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="a config that holds its credential",
        theirs="asks, and takes no text",
        ours="asks nobody",
        why="it is there",
        seen={
            "a_credential_that_is_there": [
                (
                    "- wf@1/call@1 by wf model says calls adk_request_credential({'authConfig': "
                    "{'authScheme': {'in': 'header', 'name': 'X-Key', 'type': 'apiKey'}, 'credentialKey': "
                    "'shop', 'exchangedAuthCredential': {'authType': 'apiKey'}}, 'functionCallId': "
                    "'wf_auth:wf@1/call@1', 'message': '...'}) asks {'wf_auth:wf@1/call@1'}"
                ),
                "+ wf@1/call@1 by wf output 'held'",
                "+ wf@1/show@1 by wf output \"'held'\" for wf@1",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="a credential service and `auth_config` of a node",
        theirs="not asked",
        ours="asked first, and given what a person gave",
        why="that is what it is for",
        seen={
            "a_credential_service_is_asked": [
                (
                    "- wf@1/call@1 by wf model says calls adk_request_credential({'authConfig': "
                    "{'authScheme': {'in': 'header', 'name': 'X-Key', 'type': 'apiKey'}, 'credentialKey': "
                    "'shop'}, 'functionCallId': 'wf_auth:wf@1/call@1', 'message': '...'}) asks "
                    "{'wf_auth:wf@1/call@1'}"
                ),
                "+ wf@1/call@1 by wf output 'secret'",
                "+ wf@1/show@1 by wf output \"'secret'\" for wf@1",
                "- session other (1 by the user, 1 others): {}",
                "+ session other (1 by the user, 2 others): {}",
            ],
        },
    ),
]
