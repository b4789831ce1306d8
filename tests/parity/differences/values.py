"""Differences in values: what they become, and when they are checked."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

VALUES = [
    Difference(
        what="an output on a partial event",
        theirs="handed on, but not stored: the node runs again after a resume",
        ours="shown, and not handed on",
        why="a partial event is a piece, not a result",
        seen={
            "a_partial_output": [
                "- wf@1/show@1 by wf output '1' for wf@1",
                "+ wf@1/show@1 by wf output 'None' for wf@1",
            ],
        },
    ),
    Difference(
        what="output of a model or dataclass instance",
        theirs="handed on as the instance, as a dictionary after a resume",
        ours="always a dictionary",
        why="the same before and after a resume",
        seen={
            "a_model_in_an_event_is_handed_on": [
                "- wf@1/a@1 by wf output Ticket(count=1, note=None, title='x')",
                "+ wf@1/a@1 by wf output {'count': 1, 'note': None, 'title': 'x'}",
                "- wf@1/show@1 by wf output \"Ticket(count=1, note=None, title='x')\" for wf@1",
                "+ wf@1/show@1 by wf output \"{'count': 1, 'note': None, 'title': 'x'}\" for wf@1",
            ],
            "dataclasses_are_outputs": [
                "- wf@1/a@1 by wf output dataclasses_are_outputs.locals.Point(x=1)",
                "+ wf@1/a@1 by wf output {'x': 1}",
                "- wf@1/b@1 by wf output \"['Point', {'x': 1}]\" for wf@1",
                "+ wf@1/b@1 by wf output \"['dict', {'x': 1}]\" for wf@1",
            ],
        },
    ),
    Difference(
        what="tuples, dates, `Decimal`, integer keys, bytes",
        theirs="change type after a resume with a database",
        ours="keep it",
        why="the same before and after a resume",
        seen={
            "values_from_a_file_keep_their_type": [
                "- wf@1/b@1 by wf output '[1, 2]' for wf@1",
                "+ wf@1/b@1 by wf output '(1, 2)' for wf@1",
                "- wf@1/b@1 by wf output \"{'1': 'x'}\" for wf@1",
                "+ wf@1/b@1 by wf output \"{1: 'x'}\" for wf@1",
                "- wf@1/b@1 by wf output \"'_w=='\" for wf@1",
                "+ wf@1/b@1 by wf output \"b'\\\\xff'\" for wf@1",
            ],
        },
    ),
    Difference(
        what="a list in the state that its writer changes after it was stored",
        theirs="seen by later nodes, gone after a resume",
        ours="seen by nobody",
        why="the same before and after a resume",
        seen={
            "a_change_after_writing_is_not_seen": [
                "- wf@1/b@1 by wf output [1, 2] for wf@1",
                "+ wf@1/b@1 by wf output [1] for wf@1",
                "- session s (1 by the user, 2 others): {'list': [1, 2]}",
                "+ session s (1 by the user, 2 others): {'list': [1]}",
            ],
        },
    ),
    Difference(
        what="`ctx.agent_name` in a node, where the root is no agent",
        theirs="`unknown`",
        ours="the node's name",
        why="a name says more",
        seen={
            "the_users_message_is_known": [
                "- wf@1/a@1 by wf output \"[Content(user, 'hi'), 'u', 's', 'unknown']\" for wf@1",
                "+ wf@1/a@1 by wf output \"[Content(user, 'hi'), 'u', 's', 'a']\" for wf@1",
            ],
        },
    ),
    Difference(
        what="a parent that reads what its children wrote to the state",
        theirs="reads its own earlier value",
        ours="reads theirs",
        why="the newest value is the value",
        seen={
            "children_and_state": [
                "- wf@1/parent@1 by wf output [2, 3, 1] for wf@1 state {'n': 1}",
                "+ wf@1/parent@1 by wf output [2, 3, 3] for wf@1",
                "- session s (1 by the user, 3 others): {'n': 1}",
                "+ session s (1 by the user, 3 others): {'n': 3}",
            ],
        },
    ),
    Difference(
        what="input that doesn't fit",
        theirs="the workflow's error, not retried",
        ours="the node's, retried like any other",
        why="it is the node's",
        seen={
            "a_declared_input_is_checked_before_the_node": [
                "- wf@1 by wf error ValueError",
                "+ wf@1/b@1 by wf error ValueError",
                "+ wf@1/b@1 by wf error ValueError",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 3 others): {}",
            ],
            "a_missing_key_fails_the_node": [
                (
                    "- wf@1 by wf error WorkflowDataError saying 'Missing value for parameter', 'city', 'not "
                    "found in node_input'"
                ),
                (
                    "+ wf@1/b@1 by wf error WorkflowDataError saying 'Missing value for parameter', 'city', "
                    "'not found in node_input'"
                ),
            ],
            "a_workflow_checks_its_input": [
                "- wf@1 by wf error ValueError",
                "+ wf@1/inner@1 by wf error ValueError",
            ],
            "a_childs_input_is_checked": [
                "+ wf@1/parent@1/child@1 by wf error ValueError",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="output checked against the workflow's schema",
        theirs="after the event",
        ours="before the event",
        why="history and successor agree",
        seen={
            "a_workflow_checks_its_output": [
                "- wf@1/inner@1/a@1 by inner output {'count': '3', 'title': 'x'} for wf@1/inner@1",
                "+ wf@1/inner@1/a@1 by inner output {'count': 3, 'title': 'x'} for wf@1/inner@1",
            ],
            "a_workflow_refuses_its_output": [
                "- wf@1/inner@1/a@1 by inner output {'count': '3'} for wf@1/inner@1",
                "- wf@1/inner@1 by inner error ValueError",
                "+ wf@1/inner@1/a@1 by inner error ValueError",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what="a tool's arguments of other types than its hints",
        theirs="passed as they are",
        ours="turned into them, or refused",
        why="`a: int` gets an int",
        seen={
            "arguments_are_converted": [
                "- wf@1/double@1 by wf output ['5', 'str']",
                "+ wf@1/double@1 by wf output [5, 'int']",
                "- wf@1/show@1 by wf output \"['5', 'str']\" for wf@1",
                "+ wf@1/show@1 by wf output \"[5, 'int']\" for wf@1",
            ],
            "arguments_are_checked": [
                "- wf@1/price@1 by wf output {'article': 5, 'price': 2}",
                "- wf@1/show@1 by wf output \"{'article': 5, 'price': 2}\" for wf@1",
                "+ wf@1/price@1 by wf error ToolArgumentsError",
                "+ raised ToolArgumentsError",
                "- session s (1 by the user, 3 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="arguments that a tool can't be called with, in a graph",
        theirs='`{"error": ...}` is handed on, or the tool fails inside',
        ours="the node's error, with node, tool, parameter and value",
        why="no model is there to put them right",
        seen={
            "arguments_are_missing": [
                (
                    "- wf@1/price@1 by wf output {'error': 'Invoking `price()` failed as the following "
                    "mandatory input parameters are not present:\\narticle\\nYou could retry calling this "
                    "tool, but it is IMPORTANT for you to provide all the mandatory parameters.'}"
                ),
                (
                    "- wf@1/show@1 by wf output \"{'error': 'Invoking `price()` failed as the following "
                    "mandatory input parameters are not present:\\\\narticle\\\\nYou could retry calling this "
                    "tool, but it is IMPORTANT for you to provide all the mandatory parameters.'}\" for wf@1"
                ),
                "+ wf@1/price@1 by wf error ToolArgumentsError",
                "+ raised ToolArgumentsError",
                "- session s (1 by the user, 3 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="an event that a tool returns in a graph",
        theirs="a value, which can't be stored",
        ours="goes out",
        why="as from a function",
        seen={
            "a_tool_returns_an_event": [
                "- handed on: 'Event'",
                "+ handed on: 'int'",
            ],
        },
    ),
    Difference(
        what="a function bound to the keys of its input, behind one that returns a model",
        theirs="refused",
        ours="runs",
        why="a model has keys",
        seen={
            "a_models_fields_become_parameters": [
                "- model: refused with ValueError",
                "+ model: accepted",
            ],
        },
    ),
    Difference(
        what="a tuple before a parallel worker",
        theirs="one item",
        ours="its items",
        why="a tuple holds items as a list does",
        seen={
            "a_tuple_and_a_worker": [
                "- wf@1/tell@1 by wf output ['(1, 2)']",
                "+ wf@1/tell@1 by wf output ['1', '2']",
                "- wf@1/show@1 by wf output \"['(1, 2)']\" for wf@1",
                "+ wf@1/show@1 by wf output \"['1', '2']\" for wf@1",
                "- wf@1/tell@1/tell@1 by wf on 'tell@1' output '(1, 2)'",
                "+ wf@1/tell@1/tell@1 by wf on 'tell@1' output '1'",
                "+ wf@1/tell@1/tell@2 by wf on 'tell@2' output '2'",
                "- session s (1 by the user, 4 others): {}",
                "+ session s (1 by the user, 5 others): {}",
            ],
        },
    ),
]
