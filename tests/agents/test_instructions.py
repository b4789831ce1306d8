"""Instructions: a template filled from the state, or a function."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.agents import Agent, ReadonlyContext, inject_session_state
from adk_nb.agents.reading.instructions import fill
from adk_nb.artifacts import InMemoryArtifactService
from adk_nb.errors import ConfigurationError, DataError, MissingVariableError
from adk_nb.runners import Runner
from adk_nb.sessions import InMemorySessionService
from adk_nb.testing import ScriptedModel
from tests.agents.asking import run

STATE = {"k": "v", "n": 3, "none": None, "user:k": "u", "app:k": "a", "temp:k": "t", "nested": "{k}"}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{k} { k } {{k}} {{{k}}}", "v v v v"),
        ("{n}|{none}|", "3||"),
        ("{missing?}|{user:missing?}|{temp:k?}", "||t"),
        ("{user:k}{app:k}{temp:k}", "uat"),
        ("{foo:bar} {d.k} {d[k]} {Node.field} {a b} {} {k!} {k ?}", None),
        ('{"a": 1} {"a": {"b": 2}}', None),
        (r"${k} \{k} ${{k}}", None),
        ("{k", None),
        ("k} {", None),
        ("{!k} {!k?} {!!k} {{!user:k}} {!a b}", "{k} {k?} {!k} {{user:k}} {!a b}"),
        ("{nested}", "{k}"),
    ],
)
def test_places_of_a_template(template: str, text: str | None) -> None:
    """State keys are replaced whatever the depth of the braces; everything else stays as it is."""
    assert fill(template, STATE, "a") == (template if text is None else text)


@given(st.text(alphabet=st.characters(exclude_characters="{}")), st.text())
def test_values_are_never_filled_again(around: str, value: str) -> None:
    """Text without braces stays, and a value goes in verbatim, whatever is in it."""
    assert fill(around, {}, "a") == around
    assert fill("<{k}>", {"k": value}, "a") == f"<{value}>"


def test_missing_key_is_named_before_the_model_is_asked() -> None:
    """A missing key is a KeyError and a DataError that names key, agent and the known keys, nearest first."""
    model = ScriptedModel([])
    turns = run(Agent(name="greeter", model=model, instruction="Greet {custmer}."), state={"x": 1, "customer": "Ada"})
    assert isinstance(turns.error, MissingVariableError)
    assert isinstance(turns.error, KeyError)
    assert isinstance(turns.error, DataError)
    assert turns.error.key == "custmer"
    for words in ("'greeter' asks for {custmer}", "'customer' (did you mean this?), 'x'", "{custmer?}"):
        assert words in str(turns.error)
    assert model.requests == []


def with_artifacts(agent: Agent, service: Any, **artifacts: types.Part) -> Exception | None:
    """Ask an agent in a session that has artifacts; return what the run failed with."""

    async def test() -> Exception | None:
        sessions = InMemorySessionService()
        runner = Runner(app_name="x", node=agent, session_service=sessions, artifact_service=service)
        session = await sessions.create_session(app_name="x", user_id="u")
        where = {"app_name": "x", "user_id": "u", "session_id": session.id}
        for name, part in artifacts.items():
            await service.save_artifact(**where, filename=f"{name}.txt", artifact=part)
        hello = types.Content(role="user", parts=[types.Part(text="hello")])
        try:
            async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=hello):
                pass
        except Exception as error:  # noqa: BLE001  # any error of the run under test is part of its outcome
            return error
        return None

    return asyncio.run(test())


def test_artifacts_are_filled_in() -> None:
    """A place for an artifact gets the text of its newest version, or of its bytes; braces in it stay."""
    model = ScriptedModel(["ok"])
    agent = Agent(name="a", model=model, instruction="{artifact.a.txt}|{artifact.b.txt}|{artifact.none.txt?}|")
    data = types.Part(inline_data=types.Blob(data="zwölf".encode(), mime_type="text/plain"))
    assert with_artifacts(agent, InMemoryArtifactService(), a=types.Part(text="say {k}"), b=data) is None
    assert model.requests[0].system.startswith("say {k}|zwölf||")


@pytest.mark.parametrize(
    ("template", "service", "kind", "words"),
    [
        ("{artifact.none.txt}", InMemoryArtifactService(), MissingVariableError, "{artifact.none.txt?}"),
        ("{artifact.none.txt?}", None, ConfigurationError, "artifact_service="),
        ("{artifact.png.txt}", InMemoryArtifactService(), ConfigurationError, "image/png"),
    ],
    ids=["missing", "no service", "no text"],
)
def test_artifacts_that_cant_be_filled_in(template: str, service: Any, kind: type[Exception], words: str) -> None:
    """A missing artifact, a missing service and a picture are refused before the model is asked."""
    model = ScriptedModel([])
    png = types.Part(inline_data=types.Blob(data=b"\xff\xd8", mime_type="image/png"))
    artifacts = {} if service is None else {"png": png}
    error = with_artifacts(Agent(name="a", model=model, instruction=f"Read {template}."), service, **artifacts)
    assert isinstance(error, kind)
    assert words in str(error)
    assert model.requests == []


def plain(context: ReadonlyContext) -> str:
    """Return a text with braces, made from the state."""
    return f"{context.agent_name}: {context.state['k']} {{k}}"


async def later(context: ReadonlyContext) -> str:
    """Return the same, some time later."""
    return plain(context)


@pytest.mark.parametrize("instruction", [plain, later])
def test_functions_are_used_as_they_are(instruction: Callable[[ReadonlyContext], str | Awaitable[str]]) -> None:
    """A function, async or not, gets a read-only context and its text isn't filled."""
    model = ScriptedModel(["ok"])
    assert run(Agent(name="a", model=model, instruction=instruction), state={"k": "v"}).output == "ok"
    assert model.requests[0].system.startswith("a: v {k}")


def test_functions_can_fill_templates_themselves() -> None:
    """`inject_session_state` gives a function the filling of templates."""

    async def filled(context: ReadonlyContext) -> str:
        return await inject_session_state("Be {k}.", context)

    model = ScriptedModel(["ok"])
    run(Agent(name="a", model=model, instruction=filled), state={"k": "kind"})
    assert model.requests[0].system.startswith("Be kind.")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Be {{ k }}, {{ state['user:k'] }}, {k}.", "Be v, u, {k}."),
        ("{% for one in items %}{{ one }};{% endfor %}{{ nope | default('-') }}", "1;2;-"),
        ("{{ nested }}", "{{ k.__class__ }}"),
    ],
)
def test_functions_can_render_jinja(template: str, text: str) -> None:
    """`use_jinja2=True` renders a template of Jinja's; what values hold is data, whatever it looks like."""

    async def filled(context: ReadonlyContext) -> str:
        return await inject_session_state(template, context, use_jinja2=True)

    model = ScriptedModel(["ok"])
    state = {"k": "v", "user:k": "u", "items": [1, 2], "nested": "{{ k.__class__ }}"}
    run(Agent(name="a", model=model, instruction=filled), state=state)
    assert model.requests[0].system.startswith(text)


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("{{ missing }}", MissingVariableError),
        ("{{ k.__class__.__mro__ }}", ConfigurationError),
        ("{{ items.append(3) }}", ConfigurationError),
        ("{% if %}", ConfigurationError),
    ],
)
def test_jinja_templates_that_cant_be_rendered(template: str, error: type[Exception]) -> None:
    """What isn't there is named, and neither code nor changes of the state get through: the model isn't asked."""

    async def filled(context: ReadonlyContext) -> str:
        return await inject_session_state(template, context, use_jinja2=True)

    model = ScriptedModel([])
    turns = run(Agent(name="a", model=model, instruction=filled), state={"k": "v", "items": [1]})
    assert isinstance(turns.error, error)
    assert model.requests == []


def test_jinja_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without jinja2 one sentence says what to install."""
    monkeypatch.setitem(sys.modules, "jinja2", None)

    async def filled(context: ReadonlyContext) -> str:
        return await inject_session_state("{{ k }}", context, use_jinja2=True)

    turns = run(Agent(name="a", model=ScriptedModel([]), instruction=filled), state={"k": "v"})
    assert isinstance(turns.error, ConfigurationError)
    assert "pip install 'adk-nb[jinja]'" in str(turns.error)


def test_a_function_must_return_text() -> None:
    """What isn't text is refused before the model is asked."""

    def nothing(context: ReadonlyContext) -> Any:
        return None

    model = ScriptedModel([])
    turns = run(Agent(name="a", model=model, instruction=nothing))
    assert isinstance(turns.error, ConfigurationError)
    assert model.requests == []


def test_state_is_read_only_for_functions() -> None:
    """An instruction can't write state."""

    def writes(context: ReadonlyContext) -> str:
        context.state["k"] = "changed"
        return ""

    assert isinstance(run(Agent(name="a", model=ScriptedModel([]), instruction=writes)).error, TypeError)
