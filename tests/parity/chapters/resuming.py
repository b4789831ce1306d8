"""After an answer: who goes on, and who runs again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from tests.parity.pieces import answers, asks, flow, gives, shows
from tests.parity.side import Side


def asks_again(adk: Side, interrupt_id: str = "q", **fields: Any) -> Any:
    """Return a node that runs again after an answer: it asks until it is told, and then says what it was told."""

    def ask(ctx: Any, node_input: Any) -> Any:
        if ctx.resume_inputs:
            return [node_input, ctx.resume_inputs, ctx.run_id, ctx.attempt_count]
        return adk.RequestInput(interrupt_id=interrupt_id, **fields)

    return adk.node(ask, rerun_on_resume=True)


async def lanes_ask_at_once(adk: Side) -> None:
    """Two lanes ask; each goes on with its own answer, in any order, and the join waits for both."""
    await adk.play(
        flow(adk, (asks(adk, "k1"), asks(adk, "k2")), adk.JoinNode(name="j")), "hi", answers(k2=1), answers(k1=2)
    )


async def one_message_answers_several(adk: Side) -> None:
    """One message may answer several questions."""
    await adk.play(flow(adk, (asks(adk, "k1"), asks(adk, "k2")), adk.JoinNode(name="j")), "hi", answers(k2=1, k1=2))


async def other_lanes_go_on(adk: Side) -> None:
    """While one lane waits the others run to their end; finished ones aren't run again."""
    await adk.play(
        flow(adk, ((asks(adk, "q")), gives(adk, "b", 1)), adk.JoinNode(name="j"), shows(adk)), "hi", answers(q="x")
    )


async def a_lane_goes_on_alone(adk: Side) -> None:
    """A lane that was answered goes on past its question while the other still waits."""
    k1, k2, j = asks(adk, "k1"), asks(adk, "k2"), adk.JoinNode(name="j")
    s1 = shows(adk, "s1")
    await adk.play(
        adk.Workflow(name="wf", edges=[("START", (k1, k2)), (k1, s1), ((s1, k2), j)]),
        "hi",
        answers(k1=1),
        answers(k2=2),
    )


async def a_node_runs_again_with_its_answer(adk: Side) -> None:
    """A node with `rerun_on_resume` runs again from its start with its first input, and finds the answer by its id."""
    await adk.play(flow(adk, gives(adk, "a", 7), asks_again(adk), shows(adk)), "hi", answers(q={"k": 1}))


async def a_node_asks_two_questions(adk: Side) -> None:
    """A node that isn't run again and asks twice has both answers, by id, as its output."""

    def ask() -> Iterator[Any]:
        yield adk.RequestInput(interrupt_id="m1")
        yield adk.RequestInput(interrupt_id="m2")

    await adk.play(flow(adk, adk.node(ask), shows(adk)), "hi", answers(m1=1), answers(m2=2))
    await adk.play(flow(adk, adk.node(ask), shows(adk)), "hi", answers(m2=2, m1=1), session_id="s2")


async def a_node_asks_one_after_the_other(adk: Side) -> None:
    """A node that runs again may ask a second question once the first is answered, and has both answers then."""

    def ask(ctx: Any) -> Any:
        for key in ("m1", "m2"):
            if key not in ctx.resume_inputs:
                return adk.RequestInput(interrupt_id=key)
        return dict(ctx.resume_inputs)

    await adk.play(flow(adk, adk.node(ask, rerun_on_resume=True), shows(adk)), "hi", answers(m1=1), answers(m2=2))


async def an_open_question_is_asked_once(adk: Side) -> None:
    """A node that runs again with one of two answers asks again for the other."""

    def ask(ctx: Any) -> Iterator[Any]:
        for key in ("m1", "m2"):
            if key not in ctx.resume_inputs:
                yield adk.RequestInput(interrupt_id=key)
        if len(ctx.resume_inputs) == 2:
            yield dict(ctx.resume_inputs)

    await adk.play(flow(adk, adk.node(ask, rerun_on_resume=True), shows(adk)), "hi", answers(m1=1), answers(m2=2))


async def a_finished_node_never_runs_again(adk: Side) -> None:
    """A node before a question that returned nothing, and whether it runs again on each answer."""
    charged = 0

    def charge() -> None:
        nonlocal charged
        charged += 1

    await adk.play(flow(adk, charge, asks(adk, "q"), shows(adk)), "hi", answers(q=1))
    adk.note("charged", charged)


async def a_finished_node_with_output_isnt_run_again(adk: Side) -> None:
    """A node before a question that returned something isn't run again."""
    times = 0

    def work() -> int:
        nonlocal times
        times += 1
        return times

    await adk.play(flow(adk, work, asks(adk, "q1"), asks(adk, "q2"), shows(adk)), "hi", answers(q1=1), answers(q2=1))
    adk.note("times", times)


async def another_lanes_answer_leaves_it_alone(adk: Side) -> None:
    """A partly answered node, when an answer for another lane comes."""
    runs = []

    def two(ctx: Any) -> Iterator[Any]:
        runs.append(sorted(ctx.resume_inputs))
        for key in ("m1", "m2"):
            if key not in ctx.resume_inputs:
                yield adk.RequestInput(interrupt_id=key)

    await adk.play(
        flow(adk, (adk.node(two, rerun_on_resume=True), asks(adk, "o")), adk.JoinNode(name="j")),
        "hi",
        answers(m1=1),
        answers(o=1),
    )
    adk.note("runs", runs)


async def output_before_a_question_is_dropped(adk: Side) -> None:
    """An output that came with a question isn't handed on: the answer is."""

    def ask() -> Iterator[Any]:
        yield 5
        yield adk.RequestInput(interrupt_id="q")

    await adk.play(flow(adk, adk.node(ask), shows(adk)), "hi", answers(q="x"))


async def a_route_before_a_question_is_kept(adk: Side) -> None:
    """A route that came before a question is taken once it is answered, with the answer as output."""

    def ask() -> Iterator[Any]:
        yield adk.Event(route="x")
        yield adk.RequestInput(interrupt_id="q")

    await adk.play(flow(adk, adk.node(ask), {"x": shows(adk)}), "hi", answers(q="answer"))


async def a_nested_question_pauses_all(adk: Side) -> None:
    """A question in a nested workflow pauses all around it; the answer finds its way in, and finished nodes stay."""
    inner = adk.Workflow(name="inner", edges=[("START", gives(adk, "b", 1), asks(adk, "q"), shows(adk, "c"))])
    await adk.play(flow(adk, inner, shows(adk, "d")), "hi", answers(q="x"))


async def a_question_in_a_nested_lane(adk: Side) -> None:
    """A question in a lane of a workflow in a lane: everything else finishes, then the joins fire."""
    inner = adk.Workflow(name="inner", edges=[("START", (asks(adk, "q"), gives(adk, "b", 1)), adk.JoinNode(name="ij"))])
    await adk.play(flow(adk, (inner, gives(adk, "x", 2)), adk.JoinNode(name="oj"), shows(adk)), "hi", answers(q="x"))


async def text_starts_a_new_run(adk: Side) -> None:
    """Text while a question is open starts a new run; the newest run's question is the one that is answered."""
    root = flow(adk, asks_with_run(adk), shows(adk))
    await adk.play(root, "hi", "again", answers(q2="second"), answers(q1="first"))


def asks_with_run(adk: Side) -> Any:
    """Return a node that asks under a new id each time it runs."""
    times = 0

    def ask() -> Any:
        nonlocal times
        times += 1
        return adk.RequestInput(interrupt_id=f"q{times}")

    return adk.node(ask)


async def questions_of_two_runs_dont_mix(adk: Side) -> None:
    """One message can't answer questions of two runs."""
    adk.listen("resolve to multiple invocations")
    await adk.play(flow(adk, asks_with_run(adk), shows(adk)), "hi", "again", answers(q1=1, q2=2))


async def one_id_in_two_runs(adk: Side) -> None:
    """A question id that two open runs use: the answer goes to the newest."""
    await adk.play(flow(adk, asks(adk, "q"), shows(adk)), "hi", "again", answers(q="x"))


async def a_bare_node_asks(adk: Side) -> None:
    """A root without a workflow that asks is done with the answer."""
    await adk.play(asks(adk, "q"), "hi", answers(q="x"))


async def a_bare_node_runs_again(adk: Side) -> None:
    """A root without a workflow that runs again after an answer."""
    await adk.play(asks_again(adk), "hi", answers(q="x"))


async def the_first_message_is_remembered(adk: Side) -> None:
    """After an answer, nodes still see the message that started the run."""

    def b(ctx: Any) -> str:
        return str(ctx.user_content.parts[0].text)

    await adk.play(flow(adk, asks(adk, "q"), b), "the first", answers(q="x"))


async def later_triggers_wait_for_the_answer(adk: Side) -> None:
    """A node that waits for an answer keeps its later arrivals until it is answered."""
    times = 0

    def ask(node_input: Any) -> Any:
        nonlocal times
        times += 1
        return adk.RequestInput(interrupt_id="q") if times == 1 else f"second {node_input}"

    await adk.play(flow(adk, (gives(adk, "b", 2), gives(adk, "c", 3)), adk.node(ask), shows(adk)), "hi", answers(q="x"))


async def a_question_may_follow_a_question(adk: Side) -> None:
    """Two asking nodes in a row, each answered in a message of its own."""
    await adk.play(
        flow(adk, asks(adk, "q1"), shows(adk, "s1"), asks(adk, "q2"), shows(adk, "s2")),
        "hi",
        answers(q1=1),
        answers(q2=2),
    )


async def an_answer_names_its_run(adk: Side) -> None:
    """An answer may name its invocation; one that names another goes to the run that asked."""
    talk = await adk.play(flow(adk, asks_with_run(adk), shows(adk)), "hi", "again")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # both packages warn; the run that is named isn't the one that asked
        await talk.turn(answers(q1=1), invocation_id=talk.invocation_ids[1])
    await talk.turn(answers(q2=1), invocation_id=talk.invocation_ids[1])


async def going_on_without_an_answer(adk: Side) -> None:
    """Continuing a run whose question is open gives no events and leaves it open."""
    talk = await adk.play(flow(adk, gives(adk, "a", 1), asks(adk, "q"), shows(adk)))
    await talk.go_on()
    await talk.turn(answers(q="x"))
