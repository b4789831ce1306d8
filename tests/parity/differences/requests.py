"""Differences in what models are asked."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

_CLOSED = "[The turn above failed (ValueError) and is closed: take it up again only when asked to.]"

REQUESTS = [
    Difference(
        what="a turn that failed, in later turns",
        theirs="reads like one that ended",
        ours="one line says that it failed and is closed",
        why="a model would go on with the old task",
        seen={
            "a_model_after_a_failed_turn": [
                "- bot asked 3, contents: ['user: a long job', \"model: calls look({'q': 'a'})\", "
                "\"user: look gave {'result': 'A'}\", 'user: capital of France?']",
                "+ bot asked 3, contents: ['user: a long job', \"model: calls look({'q': 'a'})\", "
                f"\"user: look gave {{'result': 'A'}}\", 'user: {_CLOSED}', 'user: capital of France?']",
            ],
            "a_model_after_a_failed_tool": [
                "- bot asked 2, contents: ['user: hi', 'model: I try', 'user: again']",
                f"+ bot asked 2, contents: ['user: hi', 'model: I try', 'user: {_CLOSED}', 'user: again']",
            ],
        },
    ),
    Difference(
        what="the changing instruction beside a static one, while tools are called",
        theirs="moves behind the results",
        ours="stays before the message that is answered",
        why="each request begins as the one before, which caches count on; nothing comes between results and answer",
        seen={
            "a_static_instruction": [
                "- bot asked 3, contents: ['user: hi', 'model: one', 'user: again', \"model: calls look({'q': 'a'})\", "
                "\"user: look gave {'result': 'A'}\", 'user: instruction: Now v']",
                "+ bot asked 3, contents: ['user: hi', 'model: one', 'user: instruction: Now v', 'user: again', "
                "\"model: calls look({'q': 'a'})\", \"user: look gave {'result': 'A'}\"]",
            ],
        },
    ),
    Difference(
        what="an agent in a workflow with `include_contents='default'`",
        theirs="doesn't read what other agents of the workflow did",
        ours="reads it, quoted",
        why="it was told to read the conversation; in a chat it reads them on both",
        seen={
            "an_agent_with_history_in_a_chain": [
                "- three asked 1, contents: ['user: rivers', 'user: better']",
                "+ three asked 1, contents: ['user: rivers', 'user: [one said draft]', 'user: better']",
            ],
            "another_agents_calls_are_quoted": [
                "- two asked 1, contents: ['user: go', 'user: found A']",
                "+ two asked 1, contents: ['user: go', \"user: [one said I look] | [one called look({'q': 'a'})]\", "
                "\"user: [one got from look {'result': 'A'}]\", 'user: found A']",
            ],
            "thoughts_of_others": [
                "- two asked 1, contents: ['user: go', 'user: note']",
                "+ two asked 1, contents: ['user: go', 'user: [one said A]', 'user: note']",
                "- two asked 1, contents: ['user: go', 'user: note']",
                "+ two asked 1, contents: ['user: go', 'user: [one thought hm] | [one said A]', 'user: note']",
            ],
            "an_agent_as_a_child_reads_its_input": [
                "- two asked 1, contents: ['user: go', 'user: second task']",
                "+ two asked 1, contents: ['user: go', 'user: [one said A]', 'user: second task']",
            ],
        },
    ),
    Difference(
        what="an agent with history right after START",
        theirs="reads the user's message twice",
        ours="once",
        why="it is one message",
        seen={
            "the_first_agent_with_history": [
                "- bot asked 1, contents: ['user: hi', 'user: hi']",
                "+ bot asked 1, contents: ['user: hi']",
            ],
            "agents_with_history_in_lanes": [
                "- one asked 1, contents: ['user: topic', 'user: topic']",
                "+ one asked 1, contents: ['user: topic']",
                "- two asked 1, contents: ['user: topic', 'user: topic']",
                "+ two asked 1, contents: ['user: topic']",
            ],
        },
    ),
]
