"""Apps, and runs that keep checkpoints."""

from __future__ import annotations

import functools
from typing import Any

from tests.parity.pieces import Boom, answers, asks, counts_to, flow, gives, shows
from tests.parity.side import Side, Talk


def resumable(adk: Side, root: Any, **options: Any) -> Talk:
    """Open a talk with a resumable app."""
    app = adk.App(name="x", root_agent=root, resumability_config=adk.ResumabilityConfig(is_resumable=True))
    return adk.talk(app, is_app=True, **options)


async def an_app_has_a_name_and_a_root(adk: Side) -> None:
    """An app's name is checked, and it needs a root that is a node."""
    root = flow(adk, gives(adk, "a", 1))
    for name in ("9x", "", "a b", "user"):
        adk.refused(name or "empty", functools.partial(adk.App, name=name, root_agent=root))
    adk.refused("name", lambda: adk.App(name="9x", root_agent=root), "Invalid app name")
    adk.refused("user", lambda: adk.App(name="user", root_agent=root), "reserved")
    adk.refused("no root", lambda: adk.App(name="x"), "root_agent must be provided")
    adk.refused("no node", lambda: adk.App(name="x", root_agent=5))
    adk.refused("unknown", lambda: adk.App(name="x", root_agent=root, nonsense=1))
    adk.refused("good", lambda: adk.App(name="my-app_1", root_agent=root))
    adk.note("resumable", adk.ResumabilityConfig().is_resumable)


async def an_app_runs_its_root(adk: Side) -> None:
    """An app's root runs under the app's name, without checkpoints."""
    talk = adk.talk(adk.App(name="my_app", root_agent=flow(adk, gives(adk, "a", 1), shows(adk))), is_app=True)
    adk.note("app", talk.runner.app_name)
    await talk.turn("hi")


async def an_app_keeps_checkpoints(adk: Side) -> None:
    """A resumable app says with events which nodes run and are done, and when the workflow has ended."""
    await resumable(adk, flow(adk, gives(adk, "a", 1), shows(adk))).turn("hi")


async def a_paused_app_isnt_ended(adk: Side) -> None:
    """A question's node is waiting in the checkpoint, with its ids; the workflow hasn't ended."""
    talk = resumable(adk, flow(adk, asks(adk, "q"), shows(adk)))
    await talk.turn("hi")


async def an_answer_in_a_resumable_app(adk: Side) -> None:
    """After an answer, a resumable app goes on."""
    talk = resumable(adk, flow(adk, asks(adk, "q"), shows(adk)))
    await talk.turn("hi")
    outputs = [event.output for event in await talk.turn(answers(q="x")) if event.output is not None]
    adk.note("last", outputs[-1:])


async def finished_nodes_of_a_resumable_app(adk: Side) -> None:
    """A node that finished before the question: what is said of it after the answer."""
    talk = resumable(adk, flow(adk, gives(adk, "a", 1), asks(adk, "q"), shows(adk)))
    await talk.turn("hi")
    await talk.turn(answers(q="x"))


async def lanes_of_a_resumable_app(adk: Side) -> None:
    """Lanes and a join in a resumable app have their places in the checkpoints."""
    lanes = (gives(adk, "b", 2), gives(adk, "c", 3))
    await resumable(adk, flow(adk, lanes, adk.JoinNode(name="j"))).turn("hi")


async def a_loop_in_a_resumable_app(adk: Side) -> None:
    """A node in a loop is running again in the checkpoints."""
    count = counts_to(adk, 2)
    await resumable(adk, flow(adk, count, {"again": count, "done": shows(adk)})).turn("hi")


async def a_workflow_in_a_resumable_app(adk: Side) -> None:
    """A nested workflow has checkpoints of its own."""
    inner = adk.Workflow(name="inner", edges=[("START", gives(adk, "b", 1), gives(adk, "c", 2))])
    await resumable(adk, flow(adk, inner, shows(adk))).turn("hi")


async def a_failure_in_a_resumable_app(adk: Side) -> None:
    """A failed node has no checkpoint; the run goes on under its id."""
    times = 0

    def flaky() -> int:
        nonlocal times
        times += 1
        if times < 2:
            raise Boom("no")
        return times

    talk = resumable(adk, flow(adk, flaky, shows(adk)))
    await talk.turn("hi")
    outputs = [event.output for event in await talk.go_on() if event.output is not None]
    adk.note("outputs", outputs)
