"""Differences of agents that are seen when one looks closely."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

DETAILS = [
    Difference(
        what="`after_agent_callback` while the agent waits",
        theirs="is called whenever the agent pauses, and again when it has ended",
        ours="is called once, when the agent has ended",
        why="a callback that tidies up or says a last word would do so before the work is done, and twice",
        seen={
            "the_callback_after_an_agent_that_waits": [
                "- called: ['late', 'bot']",
                "- bot@1 by bot model says 'late'",
                "- session s (2 by the user, 4 others): {}",
                "+ session s (2 by the user, 3 others): {}",
            ],
            "the_callback_after_a_task_that_asks": [
                "- called: ['after', 'booker']",
                "+ called: ['after', 'booker']",
            ],
        },
    ),
    Difference(
        what="a task agent that is a member of a sequential agent and asks",
        theirs="the next member runs at once; the answer begins a new run, in which the members run from the start",
        ours="the sequence pauses; the answer goes to the task, and the next member runs once it has finished",
        why="the next member needs what the task gives, and nobody else should get the answer",
        seen={
            "a_task_in_a_sequence": [
                "+ seq@1/task@1 by task in scope seq@1/task@1 model says 'Where to?'",
                "- - by task model says 'Where to?'",
                "- - by then model says 'then says'",
                "- > Rome (run 2)",
                "+ > Rome (run 1)",
                "- - by task model says calls finish_task({'result': 'Rome'})",
                "- - by task user says answers finish_task: {'result': 'Task completed.'}",
                "- raised IndexError",
                "+ seq@1/task@1 by task in scope seq@1/task@1 model says calls finish_task({'result': 'Rome'})",
                "+ seq@1/task@1 by task in scope seq@1/task@1 output {'result': 'Rome'} user says answers finish_task: "
                "{'result': 'Task completed.'}",
                "+ seq@1/then@1 by then model says 'then says'",
            ],
        },
    ),
    Difference(
        what="an agent that is called as a tool and waits for a person",
        theirs="its call gives an empty result",
        ours="its call gives an error that says what it waits for",
        why="the caller's model would take the empty result for an answer",
        seen={"an_agent_as_a_tool_that_must_ask": ["- told: ['result']", "+ told: ['error']"]},
    ),
    Difference(
        what="arguments that don't fit the `input_schema` of an agent that is called as a tool",
        theirs="end the run",
        ours="the model is told what doesn't fit, and can put it right",
        why="models get arguments wrong, and every other tool tells them",
        seen={
            "an_agent_as_a_tool_that_is_given_the_wrong_kind": [
                "- raised: 'ValueError'",
                "+ told: ['error']",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="the words that introduce quotations of other agents",
        theirs="stand before each message of another agent",
        ours="stand once in a request, before the first one",
        why="they say the same each time and cost tokens",
        seen={"the_introduction_of_quotations": ["- introductions: [2]", "+ introductions: [1]"]},
    ),
    Difference(
        what="`{!key}` in an instruction",
        theirs="stays as it is",
        ours="gives `{key}`",
        why="there is no other way to write a key in braces that isn't filled: `{{key}}` is filled, too",
        seen={"braces_that_stay": ["- filled: ['<{!k}>', 'v']", "+ filled: ['<{k}>', 'v']"]},
    ),
    Difference(
        what="times of memories",
        theirs="are local times without an offset",
        ours="are UTC, and say so",
        why="a text without an offset means another moment on another machine",
        seen={"times_of_memories": ["- offset: [False]", "+ offset: [True]"]},
    ),
    Difference(
        what="`RunConfig(save_input_blobs_as_artifacts=True)` where an agent with a model is the root",
        theirs="saves nothing",
        ours="saves the files of the message as artifacts, and the message keeps them",
        why="that is what the option says",
        seen={"files_of_a_message": ["- saved: 0", "+ saved: 1"]},
    ),
]
