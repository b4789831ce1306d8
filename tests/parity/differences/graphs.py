"""Differences in what may be written, and what is said of it."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

WRITTEN = [
    Difference(
        what="a chain of one element, an empty tuple, an unknown keyword",
        theirs="ignored",
        ours="refused",
        why="a typo costs a node",
        seen={
            "a_chain_of_one_is_refused": [
                "- one element: accepted",
                "- empty tuple: accepted",
                "- keyword: accepted",
                "+ one element: refused with WorkflowConfigurationError",
                "+ empty tuple: refused with WorkflowConfigurationError",
                "+ keyword: refused with WorkflowConfigurationError",
            ],
        },
    ),
    Difference(
        what="errors of a graph",
        theirs="wrapped in pydantic's `ValidationError`",
        ours="our own error, still a `ValueError`",
        why="one readable sentence",
        seen={
            "graph_errors_have_a_class_of_their_own": [
                "- class: 'ValidationError'",
                "+ class: 'GraphValidationError'",
            ],
        },
    ),
    Difference(
        what="a workflow given a ready graph",
        theirs="isn't checked, and hands on nothing",
        ours="is checked, and hands on its last node's output",
        why="a graph is a graph",
        seen={
            "a_graph_may_be_given": [
                "- wf@1/inner@1/b@1 by inner output 2",
                "+ wf@1/inner@1/b@1 by inner output 2 for wf@1/inner@1",
                "- wf@1/show@1 by wf output 'None' for wf@1",
                "+ wf@1/show@1 by wf output '2' for wf@1",
            ],
        },
    ),
    Difference(
        what="`FunctionNode(f)`",
        theirs="refused: the function must be given by keyword",
        ours="taken, like `FunctionNode(func=f)`",
        why="what people write",
        seen={
            "a_node_is_declared_with_a_decorator": [
                "- positional: refused with TypeError",
                "+ positional: accepted",
            ],
        },
    ),
    Difference(
        what="a positional-only parameter",
        theirs="can't be bound",
        ours="is bound",
        why="a function that can be called is a node",
        seen={
            "a_positional_only_parameter_fails": [
                "+ wf@1/a@1 by wf output 1 for wf@1",
                "- wf@1/a@1 by wf error TypeError",
                "- raised TypeError",
            ],
        },
    ),
    Difference(
        what="a tool name that no node can have",
        theirs="an error",
        ours="`_` for what doesn't fit",
        why="`web-search` is a usual name",
        seen={
            "a_tool_has_a_usual_name": [
                "- dash: refused with ValueError",
                "+ dash: accepted",
            ],
        },
    ),
    Difference(
        what="parameters that `state_schema` doesn't declare",
        theirs="refused",
        ours="take the input's keys, or the input, where it can have them",
        why="what people write",
        seen={
            "parameters_beyond_the_schema": [
                "- one: refused with StateSchemaError",
                "- two: refused with StateSchemaError",
                "+ one: accepted",
                "+ two: accepted",
            ],
        },
    ),
    Difference(
        what="options for START",
        theirs="taken",
        ours="refused",
        why="it never runs",
        seen={
            "start_has_no_options": [
                "- options: accepted",
                "+ options: refused with WorkflowConfigurationError",
            ],
        },
    ),
    Difference(
        what="one free parameter not found in the state",
        theirs="an error",
        ours="takes the input",
        why="what people write",
        seen={
            "one_free_parameter_takes_the_input": [
                "+ wf@1/b@1 by wf output 2 for wf@1",
                "- wf@1/b@1 by wf error WorkflowDataError",
                "- raised WorkflowDataError",
            ],
        },
    ),
]
