"""`run` with an `App`: its plugins take part, and its name is where sessions are kept."""

from __future__ import annotations

import asyncio
from typing import Any

from adk_nb.apps import App, ResumabilityConfig
from adk_nb.errors import PluginError
from adk_nb.events import Event, RequestInput
from adk_nb.notebook.running.starts import run, run_sync
from adk_nb.sessions import InMemorySessionService
from adk_nb.workflow import Workflow, node
from tests.runners.talking import Editor, Recorder

ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
secret = node(lambda: "secret", name="secret")
show = node(lambda node_input: repr(node_input), name="show")


def app_of(*plugins: Any, is_resumable: bool = False) -> App:
    """Return an app that hands a secret on, asks, and shows the answer."""
    flow = Workflow(name="flow", edges=[("START", secret, ask, show)])
    resumability = ResumabilityConfig(is_resumable=is_resumable)
    return App(name="desk", root_agent=flow, plugins=list(plugins), resumability_config=resumability)


def test_plugins_and_name_of_an_app() -> None:
    """What plugins make of events is what the run shows; its session is kept under the app's name."""

    async def test() -> None:
        service = InMemorySessionService()
        edit = Editor(lambda event: Event(output="***") if event.output == "secret" else None)
        made = await run(app_of(edit, is_resumable=True), "hi", sessions=service)
        assert (made.name, made.status, made.outputs("secret")) == ("flow", "waiting", ["***"])
        await made.respond(1)
        await made
        assert (made.status, made.output) == ("completed", "1")
        assert await service.get_session(app_name="desk", user_id="user", session_id=made.session_id) is not None
        frame = made.nodes_frame()
        assert set(frame["node"]) == {"flow", "secret", "ask", "show"}
        assert "flow" in repr(made)

    asyncio.run(test())


def test_a_message_in_place_of_the_run() -> None:
    """It is what the run came to."""
    made = run_sync(app_of(Recorder(before="not now")), "hi", sessions="memory")
    assert (made.status, made.output) == ("completed", "not now")


def test_a_plugin_that_fails() -> None:
    """The run has failed, and says which plugin and hook it was; it can go on once the plugin is mended."""
    plugin = Recorder(event=ValueError("oh"))
    made = run_sync(app_of(plugin), "hi", sessions="memory")
    assert made.status == "failed"
    assert isinstance(made.history.exception, PluginError)
    assert made.error is not None
    assert "'rec'" in made.error.message
    plugin.answers.clear()
    made = run_sync(made.resume())
    assert made.status == "waiting"
