"""Differences in agents that call tools, and agents that agents call or hand over to."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

DELEGATION = [
    Difference(
        what="`output_key` of an agent that speaks beside its calls, as a node",
        theirs="what it says beside a call is written to the state as well, and overwritten by the answer",
        ours="only the answer is written",
        why="what is half said isn't the agent's output, and who reads the state meanwhile would take it for that",
        seen={
            "a_tool_is_called_in_a_workflow": [
                "- wf@1/bot@1 by bot model says 'let me see ', calls five({}) state {'o': 'let me see '}",
                "+ wf@1/bot@1 by bot model says 'let me see ', calls five({})",
            ],
        },
    ),
    Difference(
        what="the path of an agent that is called like a tool",
        theirs="ends in `@1` for every call",
        ours="ends in the id of the call",
        why="two calls of one agent are two runs, and each is recorded and shown at a path of its own",
        seen={
            "agents_are_called_side_by_side": [
                "- coord@1/aa@1 by aa on 'aa@c1' message is output model says 'A says hi'",
                "+ coord@1/aa@c1 by aa on 'aa@c1' message is output model says 'A says hi'",
                "- coord@1/bb@1 by bb on 'bb@c2' message is output model says 'B says yo'",
                "+ coord@1/bb@c2 by bb on 'bb@c2' message is output model says 'B says yo'",
            ],
            "an_agent_with_agents_in_a_workflow": [
                "- wf@1/coord@1/aa@1 by aa on 'aa@c1' message is output model says 'A'",
                "+ wf@1/coord@1/aa@c1 by aa on 'aa@c1' message is output model says 'A'",
            ],
        },
    ),
    Difference(
        what="the path of an agent that gets the conversation back in the same turn",
        theirs="a second run, `root@2`",
        ours="its run goes on, `root@1`",
        why="the agents below it run inside of its run, which hasn't ended",
        seen={
            "a_conversation_is_handed_back": [
                "- root@2 by root model says 'back again'",
                "+ root@1 by root model says 'back again'",
            ],
        },
    ),
]
