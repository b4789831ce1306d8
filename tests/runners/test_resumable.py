"""Resumable apps: events that say where workflows stand, told once, for people's tools and google-adk's readers."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from google.adk.agents import InvocationContext as TheirInvocation
from google.adk.apps import ResumabilityConfig as TheirResumability
from google.adk.events import Event as TheirEvent
from google.adk.sessions import InMemorySessionService as TheirService

from adk_nb.errors import DataError
from adk_nb.events import Event, RequestInput
from adk_nb.events.stored import event_to_json
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.runners.talking import AppTalk, Recorder
from tests.workflow.driving import lines, run

a = node(lambda: "a", name="a")
b = node(lambda: "b", name="b")
ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
show = node(lambda node_input: repr(node_input), name="show")


def told(events: list[Event]) -> list[Any]:
    """Return each event in short: `wf a2 b3` for a checkpoint, `wf.` for an end, its last path segment otherwise."""
    return [_told(event) for event in events if event.author != "user"]


def _told(event: Event) -> str:
    if event.actions.end_of_agent:
        return f"{event.author}."
    if event.actions.agent_state is None:
        return event.node_info.path.rpartition("/")[2]
    nodes = event.actions.agent_state["nodes"]
    parts = [f"{name}{entry['status']}{''.join(entry['interrupts'])}" for name, entry in nodes.items()]
    return " ".join([event.author, *parts])


def their_view(events: list[Event]) -> tuple[dict[str, Any], dict[str, bool]]:
    """Return what google-adk reads out of a run's events: states and ends of agents."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # google-adk calls it experimental
        resumability = TheirResumability(is_resumable=True)

    async def read() -> tuple[dict[str, Any], dict[str, bool]]:
        service = TheirService()
        session = await service.create_session(app_name="app", user_id="u")
        session.events = [TheirEvent.model_validate_json(event_to_json(event)) for event in events]
        context = TheirInvocation(
            session_service=service,
            session=session,
            invocation_id=events[0].invocation_id,
            agent=None,
            resumability_config=resumability,
        )
        context.populate_invocation_agent_states()
        return context.agent_states, context.end_of_agents

    return asyncio.run(read())


def test_a_chain() -> None:
    """Each node is told when it starts and when it is done, the workflow when it has ended."""

    async def test() -> None:
        talk = AppTalk(Workflow(name="wf", edges=[("START", a, b)]), is_resumable=True)
        events = await talk.say()
        assert told(events) == ["wf a2", "a@1", "wf a3", "wf b2", "b@1", "wf b3", "wf."]
        assert told(await talk.stored()) == told(events)
        checkpoints = [event for event in events if not event.node_info.path]
        assert {event.invocation_id for event in checkpoints} == {events[1].invocation_id}
        assert all(event.content is None and event.output is None for event in checkpoints)

    run(test)


def test_without_the_option() -> None:
    """An app that isn't resumable writes none of it."""

    async def test() -> None:
        talk = AppTalk(Workflow(name="wf", edges=[("START", a, b)]))
        assert told(await talk.say()) == ["a@1", "b@1"]
        bare = AppTalk(a, is_resumable=True)
        assert told(await bare.say()) == ["a@1"]

    run(test)


def test_a_pause_tells_everything_and_a_resume_only_what_changes() -> None:
    """A pause ends with a checkpoint of all nodes; a resume repeats nothing, one with nothing to do is silent."""

    async def test() -> None:
        flow = Workflow(name="wf", edges=[("START", a, (ask, show), JoinNode(name="j"))])
        talk = AppTalk(flow, is_resumable=True)
        first = await talk.say()
        assert told(first)[:3] == ["wf a2", "a@1", "wf a3"]
        assert told(first)[-1] == "wf a3 ask4q show3"
        assert await talk.go_on() == []
        assert told(await talk.answer(q=1)) == ["wf ask3", "wf j2", "j@1", "wf j3", "wf."]
        assert await talk.go_on() == []

    run(test)


def test_two_questions_answered_one_by_one() -> None:
    """After the first answer the pause is told again, in whole."""

    async def test() -> None:
        other = node(lambda: RequestInput(interrupt_id="o"), name="other")
        flow = Workflow(name="wf", edges=[("START", (ask, other), JoinNode(name="j"))])
        talk = AppTalk(flow, is_resumable=True)
        assert told(await talk.say())[-1] == "wf ask4q other4o"
        assert told(await talk.answer(q=1)) == ["wf ask3 other4o"]
        assert told(await talk.answer(o=2)) == ["wf other3", "wf j2", "j@1", "wf j3", "wf."]

    run(test)


def test_loops() -> None:
    """A node that runs again is told again; a pause in a loop tells how far it is."""

    async def test() -> None:
        counted: list[int] = []

        def count() -> Event:
            counted.append(1)
            return Event(output=len(counted), route="again" if len(counted) < 2 else "on")

        inc = node(count, name="inc")
        flow = Workflow(name="wf", edges=[("START", inc, {"again": inc, "on": ask})])
        talk = AppTalk(flow, is_resumable=True)
        assert told(await talk.say()) == [
            "wf inc2", "inc@1", "wf inc3", "wf inc2", "inc@2", "wf inc3", "wf ask2", "ask@1", "wf inc3 ask4q"
        ]  # fmt: skip

    run(test)


def test_nested_workflows() -> None:
    """Each workflow tells of its own nodes, under its own name; the one above sees the inner one wait and go on."""

    async def test() -> None:
        inner = Workflow(name="inner", edges=[("START", a, ask)])
        talk = AppTalk(Workflow(name="wf", edges=[("START", inner, show)]), is_resumable=True)
        assert told(await talk.say()) == [
            "wf inner2", "inner a2", "a@1", "inner a3", "inner ask2", "ask@1", "inner a3 ask4q", "wf inner4q"
        ]  # fmt: skip
        assert told(await talk.answer(q=1)) == [
            "wf inner2", "inner ask3", "inner.", "wf inner3", "wf show2", "show@1", "wf show3", "wf."
        ]  # fmt: skip

    run(test)


def test_dynamic_children() -> None:
    """Children of a node aren't told of; a workflow among them tells of its nodes."""

    async def test() -> None:
        inner = Workflow(name="inner", edges=[("START", b)])

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            return [await ctx.run_node(a), await ctx.run_node(inner)]

        talk = AppTalk(Workflow(name="wf", edges=[("START", parent)]), is_resumable=True)
        assert told(await talk.say()) == [
            "wf parent2", "a@1", "inner b2", "b@1", "inner b3", "inner.", "parent@1", "wf parent3", "wf."
        ]  # fmt: skip

    run(test)


def test_a_failure() -> None:
    """A node that fails is told by its error, and the workflow hasn't ended."""

    async def test() -> None:
        def boom() -> None:
            raise DataError("oh")

        talk = AppTalk(Workflow(name="wf", edges=[("START", a, boom)]), is_resumable=True)
        await talk.fail(DataError, talk.say())
        assert told(talk.last) == ["wf a2", "a@1", "wf a3", "wf boom2", "boom@1"]

    run(test)


def test_google_adk_reads_it() -> None:
    """google-adk finds the state of every workflow at a pause, and its end."""
    inner = Workflow(name="inner", edges=[("START", a, ask)])
    talk = AppTalk(Workflow(name="wf", edges=[("START", b, inner, show)]), is_resumable=True)
    asyncio.run(talk.say())
    states, ends = their_view(asyncio.run(talk.stored()))
    assert not any(ends.values())
    assert states["inner"]["nodes"] == {
        "a": {"status": 3, "interrupts": []},
        "ask": {"status": 4, "interrupts": ["q"]},
    }
    assert states["wf"]["nodes"] == {
        "b": {"status": 3, "interrupts": []},
        "inner": {"status": 4, "interrupts": ["q"]},
    }
    asyncio.run(talk.answer(q=1))
    states, ends = their_view(asyncio.run(talk.stored()))
    assert {name for name, ended in ends.items() if ended} == {"wf", "inner"}
    assert "wf" not in states


def test_cut_anywhere() -> None:
    """A run that is cut at any event, checkpoints included, goes on in a new process and comes to the same end."""

    async def test() -> None:
        def flow() -> Workflow:
            inner = Workflow(name="inner", edges=[("START", a, show)])
            return Workflow(name="wf", edges=[("START", b, (inner, ask), JoinNode(name="j"))])

        whole = AppTalk(flow(), is_resumable=True)
        count = len(await whole.say())
        for cut in range(1, count + 1):
            service = SqliteSessionService(":memory:")
            await AppTalk(flow(), service=service, is_resumable=True).cut_after(cut)
            talk = AppTalk(flow(), service=service, is_resumable=True)
            await talk.go_on()
            await talk.answer(q=1)
            assert (await talk.root()).output == {"inner": "'a'", "ask": 1}
            spoken = [line for line in lines(await talk.stored()) if line[0]]
            assert len(spoken) == len(set(map(str, spoken)))
            await service.close()

    run(test)


def test_plugins_and_metadata() -> None:
    """Checkpoints pass through plugins and carry the metadata of the call, as all events do."""

    async def test() -> None:
        plugin = Recorder()
        talk = AppTalk(Workflow(name="wf", edges=[("START", a)]), plugin, is_resumable=True)
        events = await talk.say(run_config=RunConfig(custom_metadata={"m": 1}))
        assert plugin.log.count("rec.event") == len(events) == 4
        assert [event.custom_metadata for event in events] == [{"m": 1}] * 4

    run(test)
