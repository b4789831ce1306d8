"""Instructions as Jinja templates, for those who want conditions and loops in them; needs the package jinja2."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.errors import ConfigurationError, MissingVariableError, one_of
from adk_nb.events.values import snapshot
from adk_nb.workflow.context import ReadonlyContext


async def rendered(template: str, look: ReadonlyContext) -> str:
    """Return a Jinja template, rendered in a sandbox: what values hold is data, and never rendered or run.

    Keys of the state are its names, also as `state["user:name"]`; `artifact("notes.txt")` is an artifact's text.

    Args:
        template: The template.
        look: Where state and artifacts come from.
    Raises:
        MissingVariableError: a key or an artifact isn't there.
        ConfigurationError: jinja2 isn't installed, or the template can't be rendered.
    """
    try:
        import jinja2  # here, as it is an extra and slow to load
        import jinja2.sandbox  # likewise
    except ImportError:
        raise ConfigurationError(
            "inject_session_state(use_jinja2=True) needs the package jinja2, which isn't installed: pip install "
            "'adk-nb[jinja]', or write the template with {key}."
        ) from None
    values: dict[str, Any] = snapshot(dict(look.state), "state")

    async def artifact(filename: str) -> str:
        part = await look.read_artifact(filename)
        if part is None:
            raise MissingVariableError(
                f"Artifact {filename!r} not found: the template of agent {look.agent_name!r} asks for it, and the "
                f"session has no such artifact. Save it before.",
                f"artifact.{filename}",
            )
        return _text_of(part, filename)

    room = jinja2.sandbox.ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, enable_async=True, keep_trailing_newline=True
    )
    try:
        return await room.from_string(template).render_async({**values, "state": values, "artifact": artifact})
    except jinja2.UndefinedError as error:
        raise MissingVariableError(
            f"Context variable not found: the template of agent {look.agent_name!r} asks for what isn't there "
            f"({error}); the session state has {one_of('', values)}. Set it before, or write | default('').",
            "",
        ) from error
    except jinja2.TemplateError as error:
        raise ConfigurationError(
            f"The template of agent {look.agent_name!r} can't be rendered: {type(error).__name__}: {error}"
        ) from error


def _text_of(part: types.Part, filename: str) -> str:
    if part.text is not None:
        return part.text
    blob = part.inline_data
    try:
        if blob is not None and blob.data is not None:
            return blob.data.decode()
    except UnicodeDecodeError:
        pass
    raise ConfigurationError(
        f"The template asks for the text of artifact {filename!r}, which is {blob.mime_type if blob else 'no text'}: "
        f"only text can stand in an instruction."
    )
