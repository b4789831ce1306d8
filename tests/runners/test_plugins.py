"""Plugins around a run: when each hook is called, what its answer does, what its failure does."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from google.genai import types

from adk_nb.apps import App
from adk_nb.errors import AnswerError, ConfigurationError, DataError, InvocationNotFoundError, PluginError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.plugins import BasePlugin, PluginManager
from adk_nb.runners import InMemoryRunner, Runner
from adk_nb.sessions import InMemorySessionService
from adk_nb.workflow import RetryConfig, Workflow, node
from adk_nb.workflow.invocation import InvocationContext
from tests.runners.talking import AppTalk, Editor, Recorder
from tests.workflow.driving import lines, outputs, run, user_text

echo = node(lambda node_input: node_input.parts[0].text if node_input.parts else None, name="echo")
ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
show = node(lambda node_input: repr(node_input), name="show")


def flow(*steps: Any) -> Workflow:
    """Return a chain."""
    return Workflow(name="wf", edges=[("START", *steps)])


def test_order_of_the_hooks() -> None:
    """Message, before, each event, after: one hook after the other, the plugins of each in their order."""

    async def test() -> None:
        log: list[str] = []
        talk = AppTalk(flow(echo, show), Recorder("a", log), Recorder("b", log))
        await talk.say("x")
        hooks = ["message", "before", "event", "event", "after"]
        assert log == [f"{name}.{hook}" for hook in hooks for name in ("a", "b")]
        await talk.runner.close()
        assert log[-2:] == ["a.close", "b.close"]

    run(test)


def test_hooks_of_a_pause_and_of_its_answer() -> None:
    """A pause is an end for plugins; the message with the answer is shown to them like any other."""

    async def test() -> None:
        plugin = Recorder()
        talk = AppTalk(flow(ask, show), plugin)
        await talk.say("x")
        assert plugin.log == ["rec.message", "rec.before", "rec.event", "rec.after"]
        plugin.log.clear()
        await talk.answer(q=1)
        assert plugin.log == ["rec.message", "rec.before", "rec.event", "rec.after"]
        plugin.log.clear()
        assert await talk.go_on() == []
        assert plugin.log == ["rec.before", "rec.after"]

    run(test)


def test_the_first_answer_is_taken() -> None:
    """A plugin that answers keeps the plugins after it from being asked."""

    async def test() -> None:
        log: list[str] = []
        talk = AppTalk(flow(echo), Recorder("a", log, message="other"), Recorder("b", log))
        assert outputs(await talk.say("x")) == {"wf@1/echo@1": "other"}
        assert "b.message" not in log
        assert (await talk.stored())[0].content == user_text("other")

    run(test)


def test_a_message_changed_in_place() -> None:
    """It is the run's message; the caller's own object is left as it is."""

    class Stars(BasePlugin):
        async def on_user_message_callback(
            self, *, invocation_context: InvocationContext, user_message: types.Content
        ) -> None:
            assert user_message.parts
            user_message.parts[0].text = "***"

    async def test() -> None:
        talk = AppTalk(flow(echo), Stars("stars"))
        mine = user_text("secret")
        assert outputs(await talk._collect(new_message=mine)) == {"wf@1/echo@1": "***"}
        assert mine == user_text("secret")
        assert (await talk.stored())[0].content == user_text("***")

    run(test)


def test_an_answer_that_a_plugin_replaces() -> None:
    """What the plugin gives in its place is checked and taken as the answer."""

    async def test() -> None:
        plugin = Recorder()
        talk = AppTalk(flow(ask, show), plugin)
        await talk.say("x")
        response = types.FunctionResponse(id="q", name="any", response={"result": 7})
        plugin.answers["message"] = types.Content(role="user", parts=[types.Part(function_response=response)])
        assert outputs(await talk.answer(q=1)) == {"wf@1/show@1": "7"}

    run(test)


def test_a_message_in_place_of_a_run() -> None:
    """It is the only event, shown to plugins and stored; no node runs, and the run is done."""

    async def test() -> None:
        plugin = Recorder(before="not now")
        talk = AppTalk(flow(echo), plugin)
        (event,) = await talk.say("x")
        assert (event.author, event.content, event.node_info.path) == ("model", user_text("not now"), "")
        assert plugin.log == ["rec.message", "rec.before", "rec.event", "rec.after"]
        assert [e.author for e in await talk.stored()] == ["user", "model"]
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, user_text("not now"))
        plugin.answers.clear()
        assert await talk.go_on() == []

    run(test)


def test_a_message_in_place_of_going_on() -> None:
    """A run that waits keeps what it has: the answer is stored, and the run goes on when plugins let it."""

    async def test() -> None:
        plugin = Recorder()
        talk = AppTalk(flow(ask, show), plugin)
        await talk.say("x")
        plugin.answers["before"] = "not now"
        assert [e.author for e in await talk.answer(q=1)] == ["model"]
        plugin.answers.clear()
        assert outputs(await talk.go_on()) == {"wf@1/show@1": "1"}

    run(test)


@pytest.mark.parametrize("hook", ["message", "before", "event", "after"])
def test_a_plugin_that_fails(hook: str) -> None:
    """The run ends with an error that names plugin and hook, and all plugins are told of it."""

    async def test() -> None:
        log: list[str] = []
        cause = ValueError("oh")
        talk = AppTalk(flow(echo, show), Recorder("a", log, **{hook: cause}), Recorder("b", log))
        error = await talk.fail(PluginError, talk.say("x"))
        assert isinstance(error, RuntimeError)
        assert isinstance(error, PluginError)
        assert error.plugin_name == "a"
        assert "'a'" in str(error)
        assert error.hook in str(error)
        assert error.__cause__ is cause
        assert log[-2:] == ["a.error", "b.error"]

    run(test)


def test_going_on_after_a_plugin_failed() -> None:
    """What it failed on isn't stored and isn't the node's failure: the run goes on from there."""

    async def test() -> None:
        runs: list[str] = []

        @node(retry_config=RetryConfig(max_attempts=3, initial_delay=0.0, jitter=0.0))
        def second(node_input: Any) -> str:
            runs.append("second")
            return f"{node_input}!"

        plugin = Recorder()
        talk = AppTalk(flow(echo, second, show), plugin)
        plugin.answers["event"] = lambda event: 1 / 0 if event.output == "x!" else None
        await talk.fail(PluginError, talk.say("x"))
        assert runs == ["second"]
        assert [e.output for e in await talk.stored()] == [None, "x"]
        plugin.answers.clear()
        assert outputs(await talk.go_on()) == {"wf@1/second@1": "x!", "wf@1/show@1": "'x!'"}

    run(test)


def test_a_plugin_that_fails_stops_all_lanes() -> None:
    """Nodes beside the one whose event it failed on are cancelled."""

    async def test() -> None:
        ended: list[str] = []

        async def slow() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("slow")

        talk = AppTalk(
            Workflow(name="wf", edges=[("START", (echo, node(slow, name="slow")))]), Recorder(event=ValueError("oh"))
        )
        await talk.fail(PluginError, talk.say("x"))
        assert ended == ["slow"]

    run(test)


def test_a_bare_root_and_a_plugin_that_fails() -> None:
    """A root without a workflow ends with the plugin's error as well."""

    async def test() -> None:
        talk = AppTalk(echo, Recorder(event=ValueError("oh")))
        await talk.fail(PluginError, talk.say("x"))
        assert (await talk.root()).status is Status.CANCELLED

    run(test)


def test_the_error_of_a_node() -> None:
    """Plugins are told of it, not of an end; one that fails meanwhile is noted on the error, which stays the same."""

    async def test() -> None:
        log: list[str] = []

        def boom() -> None:
            raise KeyError("k")

        talk = AppTalk(flow(boom), Recorder("a", log, error=ValueError("oh")), Recorder("b", log))
        error = await talk.fail(KeyError, talk.say("x"))
        assert log == ["a.message", "b.message", "a.before", "b.before", "a.event", "b.event", "a.error", "b.error"]
        (note,) = error.__notes__
        assert "plugin 'a'" in note

    run(test)


def test_a_call_that_is_refused() -> None:
    """Plugins hear nothing of a call that is refused before anything is stored."""

    async def test() -> None:
        plugin = Recorder()
        talk = AppTalk(flow(echo), plugin)
        await talk.fail(AnswerError, talk.answer(q=1))
        await talk.fail(InvocationNotFoundError, talk.go_on("e-none"))
        assert plugin.log == []

    run(test)


def test_a_caller_who_has_seen_enough() -> None:
    """Closing the stream ends the run for plugins, too; a cancelled task tells them nothing."""

    async def test() -> None:
        plugin = Recorder()
        talk = AppTalk(flow(echo, show), plugin)
        stream = talk.runner.run_async(**talk.where, new_message=user_text("x"))
        async with contextlib.aclosing(stream):
            await anext(stream)
        assert plugin.log[-1] == "rec.after"
        assert (await talk.root()).status is Status.CANCELLED

        started = asyncio.Event()

        async def slow() -> None:
            started.set()
            await asyncio.Event().wait()

        other = AppTalk(flow(slow), again := Recorder())
        task = asyncio.create_task(other.say("x"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert again.log == ["rec.message", "rec.before"]

    run(test)


def test_a_plugin_that_runs_the_same_session() -> None:
    """It would wait for itself for ever: it is refused, as a node is."""

    async def test() -> None:
        class Nested(BasePlugin):
            async def on_user_message_callback(
                self, *, invocation_context: InvocationContext, user_message: types.Content
            ) -> None:
                await talk.say("y")

        talk = AppTalk(flow(echo), Nested("nested"))
        error = await talk.fail(PluginError, talk.say("x"))
        assert isinstance(error.__cause__, DataError)
        assert "can't start another run in the same session" in str(error.__cause__)

    run(test)


def test_nodes_reach_the_plugins() -> None:
    """The manager is on the invocation context, also where there are no plugins."""

    async def test() -> None:
        def names(ctx: Any) -> list[str]:
            return [plugin.name for plugin in ctx.get_invocation_context().plugin_manager.plugins]

        assert outputs(await AppTalk(flow(names), Recorder("a")).say()) == {"wf@1/names@1": ["a"]}
        assert outputs(await AppTalk(flow(names)).say()) == {"wf@1/names@1": []}

    run(test)


def test_an_answer_of_another_kind() -> None:
    """A plugin that answers with something else than its hook asks for is told what to return."""

    async def test() -> None:
        talk = AppTalk(flow(echo), Editor(lambda event: "text"))  # type: ignore[arg-type,return-value]
        error = await talk.fail(PluginError, talk.say("x"))
        assert "return an object of the class Event, or None" in str(error)

    run(test)


def test_names_of_plugins() -> None:
    """Each has a name of its own, and everything in the list is a plugin; plugins of an app are given to the app."""
    with pytest.raises(ConfigurationError, match="'p' already registered"):
        PluginManager([Recorder("p"), Recorder("p")])
    with pytest.raises(ConfigurationError, match="already registered"):
        App(name="app", root_agent=echo, plugins=[Recorder("p"), Recorder("p")])
    with pytest.raises(ConfigurationError, match="no plugin"):
        InMemoryRunner(node=echo, plugins=[object()])  # type: ignore[list-item]
    with pytest.raises(ConfigurationError, match="plugins"):
        Runner(app=App(name="app", root_agent=echo), plugins=[Recorder()], session_service=InMemorySessionService())
    assert InMemoryRunner(node=echo, plugins=[Recorder("p")]).plugin_manager.get_plugin("p") is not None


def test_closing() -> None:
    """Each plugin has its time to close; those that fail or take too long are named, and the others are closed."""

    class Stuck(BasePlugin):
        async def close(self) -> None:
            await asyncio.Event().wait()

    async def test() -> None:
        last = Recorder("last")
        plugins = [Stuck("stuck"), Recorder("broken", close=ValueError("oh")), last]
        runner = InMemoryRunner(node=echo, plugins=plugins, plugin_close_timeout=0.01)
        with pytest.raises(PluginError, match=r"'stuck': TimeoutError.*'broken': ValueError: oh"):
            await runner.close()
        assert last.log == ["last.close"]

    run(test)


def test_the_users_event_is_not_reviewed() -> None:
    """`on_event` is for what the run says; the user's own event passes by, also when it is yielded."""

    async def test() -> None:
        plugin = Recorder()
        talk = AppTalk(flow(echo), plugin)
        events = await talk.say("x", yield_user_message=True, state_delta={"k": 1})
        assert lines(events) == [("", None), ("wf@1/echo@1", "x")]
        assert plugin.log == ["rec.message", "rec.before", "rec.event", "rec.after"]

    run(test)


def test_partial_events_are_shown() -> None:
    """Plugins see and change pieces of a message, too; they stay pieces, which aren't stored."""

    async def test() -> None:
        async def talks() -> Any:
            yield Event(message="pa", partial=True)
            yield Event(message="part")

        talk = AppTalk(
            flow(node(talks, name="talks")), Editor(lambda event: Event(message="*", partial=not event.partial))
        )
        events = await talk.say()
        assert [(e.partial, e.content and e.content.parts and e.content.parts[0].text) for e in events] == [
            (True, "*"),
            (None, "*"),
        ]
        assert len(await talk.stored()) == 2

    run(test)
