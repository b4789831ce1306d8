"""`load_artifacts`: tells a model which artifacts there are, and shows it those that it asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext

_SCHEMA = {
    "type": "object",
    "properties": {"artifact_names": {"type": "array", "items": {"type": "string"}}},
    "required": ["artifact_names"],
}
_STATUS = "The contents follow this message, for this step only: call load_artifacts again to see them later."
_SEEN = ("image/", "audio/", "video/", "application/pdf")
"""Kinds of files that models take as they are."""
_TEXTS = ("text/", "application/json", "application/xml", "application/csv", "application/x-yaml")
"""Kinds of files that are shown as text."""


class LoadArtifactsTool(BaseTool):
    """Lists the names of the session's and user's artifacts for the model, and loads those that it calls for."""

    def __init__(self) -> None:
        """Take the name that models know."""
        super().__init__(name="load_artifacts", description="Show the contents of artifacts, by their names.")

    def _get_declaration(self) -> types.FunctionDeclaration:
        """Return what a model is told."""
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=dict(_SCHEMA)
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Say which of the artifacts there are; their contents go with the next request to the model."""
        wanted = args.get("artifact_names") or []
        if not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
            return {"error": "load_artifacts needs artifact_names: give a list of names."}
        known = set(await tool_context.list_artifacts())
        found = [name for name in dict.fromkeys(wanted) if name in known]
        missing = [name for name in dict.fromkeys(wanted) if name not in known]
        return {"artifact_names": found, "status": _STATUS, **({"not_found": missing} if missing else {})}

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: Any) -> None:
        """Tell the model of the tool and the names, and show it what it has just called for.

        Raises:
            ConfigurationError: the runner has no artifact service.
        """
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        names = await tool_context.list_artifacts()
        if names:
            listed = json.dumps(names, ensure_ascii=False)
            llm_request.append_instructions(
                [
                    f"There are artifacts with these names: {listed}. Before you answer anything about one of them, "
                    f"call load_artifacts with its name, also when you have seen it before."
                ]
            )
        for name in _called_for(llm_request.contents):
            part = await tool_context.load_artifact(name)
            if part is not None:
                heading = types.Part(text=f"Artifact {json.dumps(name, ensure_ascii=False)} is:")
                llm_request.contents.append(types.Content(role="user", parts=[heading, _shown(part)]))


def _called_for(contents: list[types.Content]) -> list[str]:
    """Return the names in the responses that stand last."""
    found: list[str] = []
    for part in (contents[-1].parts if contents else None) or ():
        response = part.function_response
        if response is not None and response.name == "load_artifacts":
            names = (response.response or {}).get("artifact_names")
            found += [name for name in names or () if isinstance(name, str)]
    return found


def _shown(part: types.Part) -> types.Part:
    """Return an artifact in a form that models take."""
    blob = part.inline_data
    if blob is None:
        return part
    kind, data = (blob.mime_type or "").partition(";")[0].strip().lower(), blob.data or b""
    if kind.startswith(_SEEN):
        return types.Part(inline_data=types.Blob(data=data, mime_type=kind))
    if kind.startswith(_TEXTS) or kind.endswith(("+json", "+xml")):
        return types.Part(text=data.decode("utf-8", errors="replace"))
    return types.Part(text=f"[a file of the kind {kind or 'unknown'} with {len(data)} bytes, which can't be shown]")


load_artifacts = LoadArtifactsTool()
load_artifacts_tool = load_artifacts
