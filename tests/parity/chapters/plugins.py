"""Plugins: what they are told, and what they may change."""

from __future__ import annotations

from typing import Any

from google.genai import types

from tests.parity.pieces import answers, asks, fails, flow, gives, shows
from tests.parity.side import Side, Talk


def watcher(adk: Side, calls: list[str], name: str = "watch", **replies: Any) -> Any:
    """Return a plugin that writes down what it is told, and gives the replies."""
    BasePlugin: Any = adk.BasePlugin

    class Watcher(BasePlugin):
        async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
            calls.append(f"{name} message")
            return replies.get("message")

        async def before_run_callback(self, *, invocation_context: Any) -> Any:
            calls.append(f"{name} before run")
            return replies.get("before")

        async def on_event_callback(self, *, invocation_context: Any, event: Any) -> Any:
            calls.append(f"{name} event {event.node_info.path}")
            return replies["event"](event) if "event" in replies else None

        async def after_run_callback(self, *, invocation_context: Any) -> None:
            calls.append(f"{name} after run")

        async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
            calls.append(f"{name} error {error}")

    return Watcher(name=name)


def app_talk(adk: Side, root: Any, *plugins: Any, **options: Any) -> Talk:
    """Open a talk with an app that has plugins."""
    return adk.talk(adk.App(name="x", root_agent=root, plugins=list(plugins)), is_app=True, **options)


async def a_plugin_is_told(adk: Side) -> None:
    """A plugin hears of the message, the run's start, each event and the run's end, in this order."""
    calls: list[str] = []
    talk = app_talk(adk, flow(adk, gives(adk, "a", 1), shows(adk)), watcher(adk, calls))
    await talk.turn("hi")
    adk.note("calls", calls)


async def plugins_come_in_order(adk: Side) -> None:
    """Several plugins hear of each thing in the order of the list."""
    calls: list[str] = []
    talk = app_talk(adk, flow(adk, gives(adk, "a", 1)), watcher(adk, calls, "one"), watcher(adk, calls, "two"))
    await talk.turn("hi")
    adk.note("calls", calls)


async def a_plugin_hears_of_a_failure(adk: Side) -> None:
    """A failed run is told as an error, and not as ended."""
    calls: list[str] = []
    talk = app_talk(adk, flow(adk, gives(adk, "a", 1), fails(adk)), watcher(adk, calls))
    await talk.turn("hi")
    adk.note("calls", calls)


async def a_pause_is_an_end(adk: Side) -> None:
    """A run that pauses is told as ended, and its answer as another run."""
    calls: list[str] = []
    talk = app_talk(adk, flow(adk, asks(adk, "q"), shows(adk)), watcher(adk, calls))
    await talk.turn("hi")
    await talk.turn(answers(q=1))
    adk.note("calls", calls)


async def leaving_early_is_an_end(adk: Side) -> None:
    """A run whose caller walks away is told as ended."""
    calls: list[str] = []
    talk = app_talk(adk, flow(adk, gives(adk, "a", 1), shows(adk)), watcher(adk, calls))
    await talk.turn("hi", leave_after=1)
    adk.note("calls", calls)


async def a_plugin_replaces_the_message(adk: Side) -> None:
    """A plugin may give another message than the user's."""
    message = types.Content(role="user", parts=[types.Part(text="replaced")])
    talk = app_talk(adk, flow(adk, shows(adk)), watcher(adk, [], message=message))
    await talk.turn("hi", yield_user_message=True)


async def a_plugin_stops_a_run(adk: Side) -> None:
    """A plugin may answer in place of the run."""
    calls: list[str] = []
    content = types.Content(role="model", parts=[types.Part(text="not today")])
    talk = app_talk(adk, flow(adk, gives(adk, "a", 1)), watcher(adk, calls, before=content))
    await talk.turn("hi")
    adk.note("calls", calls)


async def a_plugin_adds_to_an_event(adk: Side) -> None:
    """A plugin may give another event, whose fields stand in place of the first's."""

    def marked(event: Any) -> Any:
        return adk.Event(custom_metadata={"seen": True})

    talk = app_talk(adk, flow(adk, gives(adk, "a", 1), shows(adk)), watcher(adk, [], event=marked))
    await talk.turn("hi")


async def a_plugin_replaces_an_output(adk: Side) -> None:
    """A plugin that gives another output: what the next node gets, now and after a pause."""

    def hidden(event: Any) -> Any:
        return adk.Event(output="***") if event.output == "secret" else None

    seen = []

    def after(node_input: Any, ctx: Any) -> Any:
        seen.append(node_input)
        return "ok" if ctx.resume_inputs else adk.RequestInput(interrupt_id="q")

    root = flow(adk, gives(adk, "a", "secret"), adk.node(after, rerun_on_resume=True))
    talk = app_talk(adk, root, watcher(adk, [], event=hidden))
    await talk.turn("hi")
    await talk.turn(answers(q=1))
    adk.note("seen", seen)


async def going_on_is_told_without_a_message(adk: Side) -> None:
    """A run that goes on without a message isn't told of one."""
    calls: list[str] = []
    talk = app_talk(adk, flow(adk, gives(adk, "a", 1), asks(adk, "q")), watcher(adk, calls))
    await talk.turn("hi")
    calls.clear()
    await talk.go_on()
    adk.note("calls", calls)


async def plugins_may_go_with_a_runner(adk: Side) -> None:
    """A runner without an app takes plugins itself; with an app it refuses them."""
    calls: list[str] = []
    root = flow(adk, gives(adk, "a", 1))
    await adk.play(root, plugins=[watcher(adk, calls)])
    adk.note("calls", calls)
    app = adk.App(name="x", root_agent=root)
    sessions = adk.InMemorySessionService()
    adk.refused("with an app", lambda: adk.Runner(app=app, plugins=[watcher(adk, [])], session_service=sessions))


async def a_plugin_adds_a_route(adk: Side) -> None:
    """What a plugin's event leaves unsaid stays: here the state, beside a route that it changes."""
    pick = adk.node(lambda: adk.Event(output=1, route="x", state={"k": 1}), name="pick")
    edges = [("START", pick, {"x": gives(adk, "x", "x"), "y": gives(adk, "y", "y")})]
    plugin = watcher(adk, [], event=lambda event: adk.Event(route="y") if event.actions.route else None)
    await app_talk(adk, adk.Workflow(name="wf", edges=edges), plugin).turn("hi")


async def a_plugin_claims_another_path(adk: Side) -> None:
    """A plugin can't say that an event is a piece, or comes from elsewhere."""
    other = adk.Event(output="z", node_path="other@1", partial=True)
    plugin = watcher(adk, [], event=lambda event: other if event.output == 1 else None)
    await app_talk(adk, flow(adk, gives(adk, "a", 1), shows(adk)), plugin).turn("hi")
