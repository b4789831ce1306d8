"""Differences in what models answer, and in what becomes of it."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

MODELS = [
    Difference(
        what="a streamed answer that reached the output limit",
        theirs="has an error code beside its text",
        ours="is the text; its finish reason says that it was cut",
        why="streamed or not, it is the same answer",
        seen={
            "an_answer_that_is_cut": [
                "- streamed: ['whole', 'half a sen', 'MAX_TOKENS']",
                "+ streamed: ['whole', 'half a sen', None]",
            ],
        },
    ),
    Difference(
        what="an answer that a filter stopped half-way",
        theirs="an error code where it is streamed, none where it comes whole",
        ours="an error code, streamed or not",
        why="half an answer must not pass for one",
        seen={
            "an_answer_that_is_stopped": [
                "- whole: ['whole', 'half a sen', None]",
                "+ whole: ['whole', 'half a sen', 'SAFETY']",
            ],
        },
    ),
    Difference(
        what="a stream without a word, and a streamed block",
        theirs="nothing at all; the block as a piece",
        ours="one response with an error code",
        why="silence isn't an answer, and each error is told once",
        seen={
            "a_stream_of_nothing": [
                "+ streamed: ['whole', 'MODEL_RETURNED_NO_CONTENT']",
            ],
            "an_answer_that_is_blocked": [
                "- streamed: ['piece', 'SAFETY']",
            ],
        },
    ),
    Difference(
        what="texts with thought signatures in a stream",
        theirs="joined with their neighbours",
        ours="kept apart, byte for byte",
        why="a signature belongs to exactly its text",
        seen={
            "texts_with_signatures": [
                "- streamed: ['whole', 'abc', None]",
                "+ streamed: ['whole', 'a', 'bc', None]",
            ],
        },
    ),
    Difference(
        what="`Gemini(use_interactions_api=True)`",
        theirs="lets the server keep the conversation",
        ours="refused",
        why="the session's store keeps it, and each request is whole",
        seen={
            "conversations_on_the_server": [
                "- interactions: accepted",
                "+ interactions: refused with ValueError",
            ],
        },
    ),
    Difference(
        what="an agent's answer that is blocked, stopped or empty",
        theirs="an event; the run ends, and the graph goes on, as after a good answer",
        ours="fails the run with an error of its own class",
        why="no run ends short in silence, and a callback can still answer in its place",
        seen={
            "an_agents_answer_is_an_error": [
                "- by bot error SAFETY ''",
                "- by wf output 'None' for wf@1",
                "+ by wf error SAFETY \"Agent 'bot' was blocked with SAFETY. Asking the same again won't "
                'help: change the input or instruction, or route around this node."',
                "+ raised BlockedAnswerError",
                "- session s (1 by the user, 3 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
            "an_agents_answer_is_stopped": [
                "- by bot for wf@1 message is output model says 'half a sen' error SAFETY ''",
                "+ by bot model says 'half a sen' error SAFETY ''",
                "+ by wf error SAFETY \"Agent 'bot' was blocked with SAFETY. Asking the same again won't "
                'help: change the input or instruction, or route around this node."',
                "+ raised BlockedAnswerError",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 3 others): {}",
            ],
            "an_agents_answer_is_empty": [
                "- by bot model says nothing",
                "+ by bot error MODEL_RETURNED_NO_CONTENT \"Agent 'bot' got an empty answer with "
                "MODEL_RETURNED_NO_CONTENT: the model returned no content. Ask again (retry_config=), or "
                'make the instruction say what to answer."',
                "+ raised EmptyAnswerError",
            ],
        },
    ),
    Difference(
        what="a call of a tool that the model wrote wrong",
        theirs="ends the turn with an error event",
        ours="is told to the model, which may write it again (`max_model_repairs`)",
        why="the model meant to go on",
        seen={
            "an_agents_call_is_broken": [
                "+ asked: ['hi']",
                "+ by bot model says '3'",
                "- session s (1 by the user, 1 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="a missing key, a blocked answer or a tape's miss, under a retry rule that names no errors",
        theirs="tried again",
        ours="not tried again",
        why="it would come again",
        seen={
            "a_key_that_is_missing": [
                "- tried: True",
                "- session s (1 by the user, 3 others): {}",
                "+ session s (1 by the user, 2 others): {}",
            ],
        },
    ),
    Difference(
        what="fields of a declared answer that must be said and are None",
        theirs="dropped, which fails the node",
        ours="kept",
        why="the data fits its shape",
        seen={
            "fields_that_are_none": [
                "- by bot state {'o': {}} error ValueError",
                "- raised ValueError",
                "+ by bot output {'text': None, 'title': None} model says '{\"title\": null}' state {'o': "
                "{'text': None, 'title': None}}",
                "+ by wf output \"{'text': None, 'title': None}\" for wf@1",
                "- session s (1 by the user, 2 others): {'o': {}}",
                "+ session s (1 by the user, 3 others): {'o': {'text': None, 'title': None}}",
            ],
        },
    ),
    Difference(
        what="two tools of one name",
        theirs="both are told to the model",
        ours="only the one that is called",
        why="a model can't choose between them",
        seen={
            "two_tools_of_one_name": [
                "- told: ['look', 'look']",
                "+ told: ['look']",
                "- told: ['look', 'look']",
                "+ told: ['look']",
            ],
        },
    ),
    Difference(
        what="a result that is posted for a call which waits for its approval",
        theirs="the model reads it, and the approval is passed by",
        ours="refused",
        why="an approval is given by answering it",
        seen={
            "a_call_that_waits_is_answered_from_outside": [
                "- bot is asked: [\"user 'hi'\", 'model calls pay {}', \"user pay gave {'result': 'paid elsewhere'}\"]",
                "+ refused: True",
                "- session s (2 by the user, 4 others): {}",
                "+ session s (1 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="building sequential, parallel and loop agents",
        theirs="warns that they are out of date",
        ours="says nothing",
        why="they work, and a good run warns of nothing",
        seen={
            "template_agents_warn": [
                "- warned: ['DeprecationWarning']",
                "+ warned: []",
            ],
        },
    ),
    Difference(
        what="a credential anywhere in an event",
        theirs="in clear text in the store",
        ours="left out, or refused where it can't be",
        why="a session is shown, copied and shared",
        seen={
            "secrets_in_an_event": [
                "- kept: True",
                "+ refused: True",
                "+ kept: False",
            ],
        },
    ),
]
