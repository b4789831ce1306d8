"""Differences in trees of agents and in callbacks around agents."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

TREES = [
    Difference(
        what="paths of members of sequential, parallel, loop and own agents",
        theirs="none, or that of the outermost such agent",
        ours="one of their own",
        why="a finished member never runs again, and a drawing shows which one runs",
        seen={
            "members_have_paths": [
                "- - by c model says 'c 1'",
                "+ seq@1/c@1 by c model says 'c 1'",
                "- - by a on 'par.a' model says 'a 1'",
                "+ seq@1/par@1/a@1 by a on 'par.a' model says 'a 1'",
                "- - by b on 'par.b' model says 'b 1'",
                "+ seq@1/par@1/b@1 by b on 'par.b' model says 'b 1'",
            ],
        },
    ),
    Difference(
        what="`escalate` inside a sequential agent",
        theirs="the members behind it run all the same",
        ours="ends it, and what is around it up to the nearest loop",
        why="who gives up wants no more of it",
        seen={
            "an_escalation_in_a_sequence": [
                "- by b model says 'b 1'",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
            "an_escalation_deep_in_a_loop": [
                "- by b model says 'b 1'",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what="`escalate` in a loop inside a loop",
        theirs="ends both",
        ours="ends the inner one",
        why="`exit_loop` leaves the loop that it is called in",
        seen={
            "a_loop_in_a_loop": [
                "+ by b model says 'b 1'",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="error of a root that is no model agent, or of a member of it",
        theirs="raised, and nowhere in the history",
        ours="also an event, as for any other root",
        why="the history says how a run ended",
        seen={
            "a_member_fails": [
                "+ by bad error Boom 'bad fails'",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
            "a_member_fails_beside_others": [
                "- > hi",
                "+ > hi (run 1)",
                "+ by bad on 'par.bad' error Boom 'bad fails'",
                "- session s (1 by the user, 0 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
            "an_agent_without_a_body": [
                "- > hi",
                "+ > hi (run 1)",
                "+ by bare error NotImplementedError",
                "- session s (1 by the user, 0 others): {}",
                "+ session s (1 by the user, 1 others): {}",
            ],
        },
    ),
    Difference(
        what="what a sequential, parallel, loop or own agent hands on in a workflow",
        theirs="nothing",
        ours="what was said last; of a parallel agent, what each member handed on, by name",
        why="a node behind it needs it",
        seen={
            "a_sequence_as_a_node": [
                "- by wf output 'None' for wf@1",
                "+ by wf output \"'b'\" for wf@1",
            ],
            "a_parallel_agent_as_a_node": [
                "+ by wf output \"{'a': 'a', 'b': 'b'}\" for wf@1",
                "- by wf on 'par.b' output 'None' for wf@1",
            ],
        },
    ),
    Difference(
        what="events of sub-agents that an agent of one's own doesn't hand on, or changes",
        theirs="aren't stored, or as they are changed",
        ours="are stored when they occur; a changed copy is refused",
        why="what a finished agent said stays after a crash",
        seen={
            "an_agent_of_ones_own_drops_events": [
                "+ by a model says 'a 1'",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
            "an_agent_of_ones_own_changes_events": [
                "- by a model says 'changed'",
                "+ by a model says 'a 1'",
                "- by own model says 'the end'",
                "+ by own error DataError",
                "+ raised DataError",
            ],
        },
    ),
    Difference(
        what="sub-agent whose parent is built again under its name",
        theirs="refused",
        ours="moves to the new parent",
        why="a cell that builds a tree can run again",
        seen={
            "a_tree_is_built_again": [
                "- again: refused with ValueError",
                "+ again: accepted",
            ],
        },
    ),
    Difference(
        what="`after_agent_callback` when `before_agent_callback` answered",
        theirs="isn't called",
        ours="is called, as after tools",
        why="what the one begins, the other ends",
        seen={
            "an_answer_before_and_the_callback_after": [
                "+ called: ['late', 'a']",
                "+ by a model says 'late'",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="message of `after_agent_callback` in a workflow",
        theirs="fails as a second output",
        ours="is a message; the agent's output stays",
        why="callbacks work wherever an agent stands",
        seen={
            "a_message_after_a_node": [
                "- by a error ValueError",
                "- raised ValueError",
                "+ by a model says 'late'",
                "+ by wf output \"'a'\" for wf@1",
                "- session s (1 by the user, 3 others): {}",
                "+ session s (1 by the user, 4 others): {}",
            ],
        },
    ),
]
