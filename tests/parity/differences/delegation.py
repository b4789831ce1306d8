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
    Difference(
        what="a tool that asks for a confirmation while it is called",
        theirs="the model is asked at once with what the tool returned, unless the app is resumable",
        ours="the model is asked when the answer is in",
        why="until then it has nothing to say, and its words would stand between question and answer",
        seen={
            "a_tool_asks_in_the_middle": [
                "- says: [Content(model, 'ordered')]",
                "+ says: []",
                "- bot@1 by bot model says 'ordered again'",
                "+ bot@1 by bot model says 'ordered'",
                "- session s (2 by the user, 6 others): {}",
                "+ session s (2 by the user, 5 others): {}",
            ],
        },
    ),
    Difference(
        what="the path of what runs inside of a tool",
        theirs="one for the generator and the call together; a node that a tool runs stands below the agent",
        ours="below the call",
        why="the call is a recorded run, and what it ran is found below it when it goes on after a pause",
        seen={
            "a_generator_is_called": [
                "- bot@1/works@c1 by works on 'works@c1' user says 'working'",
                "+ bot@1/works@c1/works@1 by works on 'works@c1' user says 'working'",
                "- bot@1/works@c1 by works on 'works@c1' output 5",
                "+ bot@1/works@c1/works@1 by works on 'works@c1' output 5",
            ],
            "a_tool_runs_a_node": [
                "- bot@1/inner@1 by inner output 'hey!'",
                "+ bot@1/runs@c1/inner@1 by inner on 'runs@c1' output 'hey!'",
            ],
        },
    ),
    Difference(
        what="arguments of a task that don't fit its `input_schema`",
        theirs="raise, in this turn and in every later one of the session",
        ours="are told to the model, which may call again",
        why="a model's mistake is the model's to mend, and must not spoil the session",
        seen={
            "a_task_that_began_wrongly": [
                "- coord@1 by coord error ValueError",
                "- raised ValueError",
                "+ coord@1 by user user says answers booker: {'error': \"The call of agent 'booker' has arguments that "
                "don't fit: goal: Field required. Call it again with all fields as declared.\"}",
                "+ coord@1 by coord model says 'sorry'",
                "+ coord@1 by coord model says 'hello'",
                "- coord@1 by coord error ValueError",
                "- raised ValueError",
                "- session s (2 by the user, 3 others): {}",
                "+ session s (3 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="handing over to an agent that isn't there, or that isn't near",
        theirs="raises, after a response that looks like success was stored",
        ours="the model is told why not, and to whom it can",
        why="a model's mistake is the model's to mend",
        seen={
            "a_conversation_goes_to_nobody": [
                "- root@1 by root user says answers transfer_to_agent: {'result': None} transfer to nobody",
                "- raised ValueError",
                "+ root@1 by root user says answers transfer_to_agent: {'error': \"The conversation wasn't handed "
                "over: agent 'nobody' not found. The agents to hand over to are 'helper'.\"}",
                "+ root@1 by root model says 'sorry'",
                "- session s (1 by the user, 2 others): {}",
                "+ session s (1 by the user, 3 others): {}",
            ],
        },
    ),
    Difference(
        what="when an agent of a resumable app that handed over has ended",
        theirs="before the other begins",
        ours="when the other has ended",
        why="the other one runs inside of its run",
        seen={
            "a_resumable_app_hands_over": [
                "- by root end of agent",
                "+ by root end of agent",
            ],
        },
    ),
    Difference(
        what="the mode of an agent that is given to another one",
        theirs="becomes `chat`",
        ours="stays as it was written",
        why="an object never changes; an agent that says nothing is a chat agent all the same",
        seen={
            "a_parent_is_built": [
                "- mode: 'chat'",
                "+ mode: None",
            ],
        },
    ),
    Difference(
        what="a task agent with agents below it",
        theirs="taken",
        ours="refused: it is a leaf",
        why="who has the word must be plain when the user answers",
        seen={
            "a_task_agent_with_agents": [
                "- tasks in tasks: accepted",
                "+ tasks in tasks: refused with ConfigurationError",
            ],
        },
    ),
    Difference(
        what="a task whose result is wrong again and again",
        theirs="goes on until `max_llm_calls`",
        ours="five tries, then an error",
        why="a model that can't do it shouldn't cost five hundred calls",
        seen={
            "a_task_that_never_ends_well": [
                "- ended: 'with a result'",
                "+ ended: 'with an error'",
                "- session s (2 by the user, 14 others): {}",
                "+ session s (1 by the user, 11 others): {}",
            ],
        },
    ),
    Difference(
        what="the message after a task that failed",
        theirs="goes to the task",
        ours="begins a new turn",
        why="a failed turn is closed",
        seen={
            "a_task_that_fails": [
                "- coord@1/booker@c by coord on 'booker@c' in scope c error Boom 'no'",
                "+ coord@1/booker@c by booker on 'booker@c' in scope c error Boom 'no'",
                "- > and now? (run 1)",
                "+ > and now? (run 2)",
                "- coord@1/booker@c by booker on 'booker@c' in scope c model says 'the task'",
                "+ coord@1 by coord model says 'me'",
            ],
        },
    ),
    Difference(
        what="a model that waits for the results of several calls of one message",
        theirs="is asked after each result, with calls that have none yet",
        ours="is asked once all of its newest calls have a result, or when the person says something else",
        why="what it would say in between is said without what it asked for",
        seen={
            "two_results_come_later": [
                "- bot is asked: [\"user 'hungry'\", \"model calls order {'what': 'tea'} calls order "
                "{'what': 'cake'}\", \"user order gave {'done': 'tea'}\"]",
                "- > answers c1 {'done': 'tea'} (run 1)",
                "+ > answers c1 {'done': 'tea'}",
                "- bot@1 by bot model says 'one'",
                "- bot@1 by bot model says 'two'",
                "+ bot@1 by bot model says 'one'",
                "- session s (3 by the user, 3 others): {}",
                "+ session s (3 by the user, 2 others): {}",
            ],
        },
    ),
]
