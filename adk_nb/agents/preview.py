"""`Preview`: what an agent would ask its model, rendered without asking it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar

from google.genai import types

from adk_nb.agents.calls.model_response import SET_MODEL_RESPONSE
from adk_nb.agents.calls.own_tools import OwnTools
from adk_nb.agents.reading.contents import Reader, contents_for, input_content
from adk_nb.agents.reading.request import schema_hint, settings_of, transfer_text, with_instructions
from adk_nb.agents.turn.transfer import targets_of
from adk_nb.errors import one_of
from adk_nb.events.event import Event
from adk_nb.models.llm_request import LlmRequest
from adk_nb.workflow.context import ReadonlyContext
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.run_config import RunConfig

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent

_T = TypeVar("_T")
_TURN = "preview"


@dataclass(frozen=True)
class Preview:
    """What an agent would ask its model; printing it shows it as text."""

    agent: str
    request: LlmRequest
    missing: tuple[str, ...]
    """State keys and artifacts that the instructions need and that aren't there; their places stay as they are."""
    known: tuple[str, ...]
    """The keys that are there."""

    @property
    def system(self) -> str:
        """The system text."""
        return self.request.system

    @property
    def contents(self) -> list[types.Content]:
        """The conversation."""
        return self.request.contents

    @property
    def tools(self) -> list[types.FunctionDeclaration]:
        """What the model may call: the agent's tools, and those that come with the agents around it."""
        listed = self.request.config.tools or ()
        return [one for tool in listed for one in getattr(tool, "function_declarations", None) or ()]

    @property
    def is_complete(self) -> bool:
        """Nothing is missing: a run with this state would ask its model."""
        return not self.missing

    def __str__(self) -> str:
        lines = [
            f"What agent {self.agent!r} would ask its model",
            "",
            "system:",
            indent(self.system or "(nothing)", "    "),
        ]
        for content in self.contents:
            lines += [f"{content.role}:", indent("\n".join(_shown(part) for part in content.parts or ()), "    ")]
        if self.tools:
            lines += ["tools:", *(indent(_declared(one), "    ") for one in self.tools)]
        for key in self.missing:
            is_artifact = key.startswith("artifact.")
            lines.append(f"missing: {{{key}}}" + ("" if is_artifact else f"; the state has {one_of(key, self.known)}"))
        return "\n".join(lines)

    __repr__ = __str__


@dataclass
class _Session:
    """A session that is nowhere kept."""

    state: dict[str, Any]
    events: list[Event] = field(default_factory=list)
    id: str = _TURN
    app_name: str = _TURN
    user_id: str = "user"


async def preview_of(
    agent: LlmAgent,
    state: Mapping[str, Any],
    message: Any,
    events: Sequence[Event],
    artifacts: Mapping[str, types.Part | str],
    run_config: RunConfig | None,
) -> Preview:
    """Return what an agent would ask its model; `LlmAgent.preview` says what the arguments are."""
    newest = input_content(message)
    invocation = InvocationContext(
        invocation_id=_TURN,
        session=_Session(dict(state), list(events)),
        root=agent,
        user_content=newest,
        run_config=run_config,
        artifact_service=_Artifacts(artifacts),
    )
    is_alone = agent.mode == "single_turn" and "include_contents" not in agent.model_fields_set
    reader = Reader(agent.name, path=f"{agent.name}@1", invocation_id=_TURN)
    contents = contents_for(reader, events, newest, "none" if is_alone else agent.include_contents)
    config = settings_of(agent, invocation.run_config)
    missing: list[str] = []
    look = ReadonlyContext(invocation, node=agent)
    targets = targets_of(agent, has_parent=True)
    tools = OwnTools(agent, None, targets)
    blocks = [schema_hint(SET_MODEL_RESPONSE)] if tools.answers_by_tool else []
    blocks.append(transfer_text(targets))
    request = await with_instructions(agent, look, LlmRequest(config=config, contents=contents), blocks, missing)
    if agent.output_schema is not None and agent.mode != "task" and not tools.answers_by_tool:
        request.set_output_schema(agent.output_schema)
    await tools.show(look, request)
    return Preview(agent.name, request, tuple(dict.fromkeys(missing)), tuple(state))


class _Artifacts:
    """An artifact service that holds what was given for a preview."""

    def __init__(self, given: Mapping[str, types.Part | str]) -> None:
        self._parts = {name: types.Part(text=one) if isinstance(one, str) else one for name, one in given.items()}

    async def load_artifact(self, *, filename: str, **where: Any) -> types.Part | None:
        """Return what was given under a name."""
        return self._parts.get(filename)


def done_at_once(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what a coroutine gives, also where an event loop runs already, as in a notebook's cell."""
    found: list[_T] = []
    failed: list[BaseException] = []

    def body() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is raised again where the caller stands
            failed.append(error)

    thread = threading.Thread(target=body, name="adk_nb preview")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def _declared(tool: types.FunctionDeclaration) -> str:
    schema: Any = tool.parameters_json_schema
    named = (
        schema.get("properties", {}) if isinstance(schema, dict) else (tool.parameters and tool.parameters.properties)
    )
    told = (tool.description or "").strip().partition("\n")[0]
    return f"{tool.name}({', '.join(named or ())})" + (f": {told}" if told else "")


def _shown(part: types.Part) -> str:
    if part.text is not None:
        return part.text
    if part.function_call:
        return f"calls {part.function_call.name}({part.function_call.args})"
    if part.function_response:
        return f"{part.function_response.name} gave {part.function_response.response}"
    kind = part.inline_data or part.file_data
    return f"<{kind.mime_type if kind else 'other'}>"
