"""The plugins that come with adk_nb: telling a model of a tool's errors, and printing what happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_nb.agents import Agent
from adk_nb.errors import ConfigurationError
from adk_nb.events.event import content_text
from adk_nb.plugins import DebugLoggingPlugin, LoggingPlugin, ReflectAndRetryToolPlugin
from adk_nb.testing import ScriptedModel, call
from tests.workflow.driving import Conversation, run


def failing(times: int) -> Any:
    """A tool that fails so many times, then gives a result."""
    calls = []

    def flaky(x: int) -> str:
        """Try."""
        calls.append(x)
        if len(calls) <= times:
            raise ValueError(f"boom {len(calls)}")
        return "fine"

    return flaky


def talking(tool: Any, plugin: Any, count: int) -> Conversation:
    """A conversation with an agent that calls a tool so many times."""
    model = ScriptedModel([*(call("flaky", x=n) for n in range(count)), "done"])
    return Conversation(Agent(name="bot", model=model, tools=[tool]), plugins=[plugin])


def responses(events: Any) -> list[Any]:
    """What the calls gave."""
    return [one.response for event in events for one in event.get_function_responses()]


def test_errors_are_told_to_the_model() -> None:
    """Each failure is told with its number and the error, until the tool gives a result."""

    async def test() -> None:
        events = await talking(failing(2), ReflectAndRetryToolPlugin(), 3).say()
        first, second, last = responses(events)
        assert (first["error_type"], first["error_details"], first["retry_count"]) == ("ValueError", "boom 1", 1)
        assert "try 2 of 3" in second["reflection_guidance"]
        assert last == {"result": "fine"}
        assert content_text(events[-1].content) == "done"

    run(test)


def test_too_many_failures() -> None:
    """One failure more than allowed fails the run with the tool's own error, or tells the model to stop trying."""

    async def test() -> None:
        talk = talking(failing(9), ReflectAndRetryToolPlugin(max_retries=1), 2)
        error = await talk.fail(ValueError, talk.say())
        assert str(error) == "boom 2"
        gentle = ReflectAndRetryToolPlugin(max_retries=1, throw_exception_if_retry_exceeded=False)
        _, second = responses(await talking(failing(9), gentle, 2).say())
        assert "Don't call it again" in second["reflection_guidance"]

    run(test)


def test_a_result_starts_the_count_again() -> None:
    """Failures count in a row, and those of the next call of the runner from the beginning."""

    async def test() -> None:
        outcomes = iter([True, False, True, True])

        def flaky(x: int) -> str:
            """Try."""
            if next(outcomes):
                raise ValueError("boom")
            return "fine"

        model = ScriptedModel([*(call("flaky", x=n) for n in range(3)), "done", call("flaky", x=4), "done"])
        plugin = ReflectAndRetryToolPlugin(max_retries=1)
        talk = Conversation(Agent(name="bot", model=model, tools=[flaky]), plugins=[plugin])
        counts = [one.get("retry_count") for one in responses([*await talk.say(), *await talk.say()])]
        assert counts == [1, None, 1, 1]

    run(test)


def test_results_that_are_errors() -> None:
    """A class of your own may say which results are errors, which count like raised ones."""

    class Mine(ReflectAndRetryToolPlugin):
        async def extract_error_from_result(self, **what: Any) -> Any:
            return what["result"].get("status") if isinstance(what["result"], dict) else None

    def flaky(x: int) -> dict[str, Any]:
        """Try."""
        return {"status": "broken"} if x == 0 else {"ok": x}

    async def test() -> None:
        first, second = responses(await talking(flaky, Mine(), 2).say())
        assert (first["error_details"], first["retry_count"]) == ("broken", 1)
        assert second == {"ok": 1}

    run(test)


def test_a_negative_number_is_refused() -> None:
    """A negative number of tries is refused."""
    with pytest.raises(ConfigurationError, match="max_retries=-1"):
        ReflectAndRetryToolPlugin(max_retries=-1)


def test_logging(capsys: pytest.CaptureFixture[str]) -> None:
    """Each step is one line, long and many-lined texts included."""

    async def test() -> None:
        talk = talking(failing(0), LoggingPlugin(), 1)
        await talk.say("line one\nline two " + "x" * 500)
        lines = capsys.readouterr().out.splitlines()
        assert all(line.startswith("[logging_plugin] ") and len(line) < 240 for line in lines)
        steps = [line.removeprefix("[logging_plugin] ").partition(":")[0] for line in lines]
        step = ["model scripted is asked", "model says", "event of bot"]
        assert steps == [
            "user says",
            "run begins",
            "agent begins",
            *step,
            "tool is called",
            "tool gave",
            "event of bot",
            *step,
            "agent ended",
            "run ended",
        ]

    run(test)


def test_logging_of_failures(capsys: pytest.CaptureFixture[str]) -> None:
    """What fails is printed: the tool's error and that of the run."""

    async def test() -> None:
        talk = talking(failing(1), LoggingPlugin(), 1)
        await talk.fail(ValueError, talk.say())
        out = capsys.readouterr().out
        assert "tool failed: flaky: ValueError: boom 1" in out
        assert "run failed: ValueError: boom 1" in out

    run(test)


def test_debug_file(tmp_path: Path) -> None:
    """Each call of the runner is one document with all that happened, also one that failed."""
    path = tmp_path / "debug.yaml"

    async def test() -> None:
        await talking(failing(0), DebugLoggingPlugin(output_path=str(path)), 1).say("hello")
        talk = talking(failing(1), DebugLoggingPlugin(output_path=str(path), include_session_state=False), 1)
        await talk.fail(ValueError, talk.say("again"))
        first, second = (json.loads(text) for text in path.read_text(encoding="utf-8").split("---\n")[1:])
        request = ["model_request", "model_response", "event"]
        assert [one["kind"] for one in first["entries"]] == [
            "user_message",
            *request,
            "tool_call",
            "tool_result",
            "event",
            *request,
        ]
        assert first["state"] == {}
        assert first["entries"][1]["tools"] == ["flaky"]
        assert second["entries"][-1] == {**second["entries"][-1], "kind": "run_error", "error_message": "boom 1"}
        assert "state" not in second

    run(test)
