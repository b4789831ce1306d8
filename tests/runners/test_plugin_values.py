"""What a plugin does wrong is told as its own failure, and a failed node stays failed whatever a plugin says."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb.errors import PluginError
from adk_nb.events import Event
from adk_nb.events.record import Status
from adk_nb.plugins import BasePlugin
from adk_nb.workflow import Workflow, node
from tests.workflow.driving import Conversation, run


class Typed(BaseModel):
    """An output with a schema."""

    a: int


def typed() -> Typed:
    """Give a typed output."""
    return Typed(a=1)


def flow() -> Workflow:
    """Return a chain of one node with a typed output and one that shows it."""
    return Workflow(name="wf", edges=[("START", typed, node(lambda node_input: repr(node_input), name="show"))])


class Changing(BasePlugin):
    """Changes the events of the typed node."""

    def __init__(self, change: Callable[[Event], Any], is_on: bool = True) -> None:
        super().__init__("changing")
        self.change = change
        self.is_on = is_on

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Any:
        """Change it."""
        return self.change(event) if self.is_on and event.node_info.path == "wf@1/typed@1" else None


def put(name: str, value: Any) -> Callable[[Event], Any]:
    """Return what sets a field in place."""
    return lambda event: setattr(event, name, value)


BAD: dict[str, Callable[[Event], Any]] = {
    "unstorable output": lambda event: Event(output=object()),
    "unstorable output in place": put("output", object()),
    "output against the schema": lambda event: Event(output={"a": "x"}),
    "text as content": put("content", "text"),
    "no actions": put("actions", None),
    "unstorable state": lambda event: event.actions.state_delta.update(k=object()),
    "no state": lambda event: setattr(event.actions, "state_delta", None),
    "unstorable metadata": put("custom_metadata", {"k": object()}),
    "wrong usage": put("usage_metadata", "x"),
    "wrong author": put("author", None),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_bad_values_are_the_plugins_failure(change: Callable[[Event], Any]) -> None:
    """What a plugin sets and can't be is told with its name and hook; the node isn't blamed, and the run can go on."""

    async def test() -> None:
        first, plugin = BasePlugin("first"), Changing(change)
        talk = Conversation(flow(), plugins=[first, plugin])
        error = await talk.fail(PluginError, talk.say())
        assert isinstance(error, PluginError)
        assert (error.plugin_name, error.hook) == ("changing", "on_event_callback")
        assert "'changing'" in str(error)
        assert (await talk.root()).status is not Status.FAILED
        plugin.is_on = False
        await talk.go_on()
        assert (await talk.root()).output == "{'a': 1}"

    run(test)


def stop(*_: Any) -> None:
    """Say that it was cancelled, though it wasn't."""
    raise asyncio.CancelledError


@pytest.mark.parametrize("leave", [stop, lambda *_: sys.exit(3)], ids=["cancelled", "exit"])
@pytest.mark.parametrize("hook", ["on_user_message_callback", "before_run_callback", "on_event_callback"])
def test_a_hook_that_leaves_in_an_odd_way(hook: str, leave: Any) -> None:
    """`CancelledError` and `SystemExit` out of a hook are the plugin's failure, not the end of the program."""

    class Leaving(BasePlugin):
        pass

    async def call(self: Any, **_: Any) -> None:
        leave()

    setattr(Leaving, hook, call)

    async def test() -> None:
        talk = Conversation(flow(), plugins=[Leaving("leaving")])
        error = await talk.fail(PluginError, talk.say())
        assert isinstance(error, PluginError)
        assert (error.plugin_name, error.hook) == ("leaving", hook)

    run(test)


def test_a_hook_that_is_really_cancelled() -> None:
    """Who cancels the call while a hook waits gets the cancellation."""

    async def test() -> None:
        waits = asyncio.Event()

        class Waiting(BasePlugin):
            async def on_event_callback(self, **_: Any) -> None:
                waits.set()
                await asyncio.Event().wait()

        talk = Conversation(flow(), plugins=[Waiting("waiting")])
        turn = asyncio.create_task(talk.say())
        await waits.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    run(test)


def test_an_error_stays_an_error() -> None:
    """A plugin may word the event of an error anew, and can't make an output of it."""

    def bad() -> None:
        raise ValueError("x")

    class Healing(BasePlugin):
        async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Any:
            return Event(error_code=None, error_message="sorry", output="healed") if event.error_code else None

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", bad)]), plugins=[Healing("healing")])
        await talk.fail(ValueError, talk.say())
        told = [event for event in await talk.stored() if event.error_code]
        assert {(event.error_code, event.error_message, event.output) for event in told} == {
            ("ValueError", "sorry", None)
        }
        assert [event.output for event in await talk.stored() if event.output is not None] == []
        assert (await talk.root()).status is Status.FAILED

    run(test)
