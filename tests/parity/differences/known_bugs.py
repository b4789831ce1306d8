"""Where adk_nb differs and is wrong: what is still to be mended. It is empty when the work is done."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

KNOWN_BUGS: list[Difference] = [
    Difference(
        what="a nested workflow's own error event",
        theirs="has the workflow as author",
        ours="has the outer workflow",
        why="wrong author",
        seen={
            "two_outputs_are_too_many": [
                (
                    "- wf@1/inner@1 by inner error WorkflowConfigurationError saying 'multiple terminal "
                    "nodes produced output', '2'"
                ),
                (
                    "+ wf@1/inner@1 by wf error WorkflowConfigurationError saying 'multiple terminal nodes "
                    "produced output', '2'"
                ),
            ],
            "a_workflow_times_out": [
                "- wf@1/inner@1 by inner error NodeTimeoutError",
                "+ wf@1/inner@1 by wf error NodeTimeoutError",
            ],
        },
    ),
    Difference(
        what="metadata of a call",
        theirs="on the user's event, too",
        ours="on the others only",
        why="left out",
        seen={
            "a_call_brings_metadata": [
                "- - by user user says 'hi' metadata {'trace': 't'}",
                "+ - by user user says 'hi'",
            ],
        },
    ),
    Difference(
        what="members of the context",
        theirs="are all there",
        ours="custom_metadata, parent_ctx, error and error_node_path are missing",
        why="not built yet",
        seen={
            "a_context_has_its_members": [
                "- wf@1/a@1 by wf output [] for wf@1",
                "+ wf@1/a@1 by wf output ['custom_metadata', 'parent_ctx', 'error', 'error_node_path'] for wf@1",
            ],
        },
    ),
    Difference(
        what="`ctx.agent_name` in a node that is no agent",
        theirs="is `unknown`",
        ours="is the node's name",
        why="code that asks for it wants an agent",
        seen={
            "the_users_message_is_known": [
                "- wf@1/a@1 by wf output \"[Content(user, 'hi'), 'u', 's', 'unknown']\" for wf@1",
                "+ wf@1/a@1 by wf output \"[Content(user, 'hi'), 'u', 's', 'a']\" for wf@1",
            ],
        },
    ),
]
