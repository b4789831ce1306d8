"""The tool by which a task agent ends its task and hands on what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from adk_nb.agents.output_schema import as_data
from adk_nb.agents.turn.standing import FINISH_TASK
from adk_nb.errors import InvalidAnswerError, ToolArgumentsError
from adk_nb.tools.base_tool import BaseTool
from adk_nb.workflow.json_schema.faults import faults_of
from adk_nb.workflow.json_schema.validator import validator_of
from adk_nb.workflow.nodes import adapter_for

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent
    from adk_nb.tools.tool_context import ToolContext

DONE = {"result": "Task completed."}
MAX_TRIES = 5
"""How often a model may try to finish with values that don't fit."""
_TEXT = {
    "type": "object",
    "properties": {"result": {"type": "string", "description": "What came of the task."}},
    "required": ["result"],
    "additionalProperties": False,
}
_WORDS = (
    "You work on one task. Don't end it before it is done; when something is unclear or missing, ask the user in plain "
    "words and wait for the answer. When the task is done, call finish_task, alone and without any text beside it."
)


class FinishTaskTool(BaseTool):
    """Ends a task; its arguments are the result."""

    def __init__(self, agent: LlmAgent) -> None:
        """Stand for the end of an agent's task."""
        shape = "" if agent.output_schema is None else " The arguments are the result, in the declared shape."
        super().__init__(name=FINISH_TASK, description=f"End the task and hand on its result.{shape}")
        self._schema = agent.output_schema
        self._agent = agent.name

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return what a model is told."""
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._parameters()
        )

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: Any) -> None:
        """Tell a model of the tool, and when to call it."""
        llm_request.append_tools([self])
        llm_request.append_instructions([_WORDS])

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Say that the task is done; the agent takes the result itself."""
        return DONE

    def result_of(self, args: dict[str, Any]) -> Any:
        """Return the result that a call hands on, models as dictionaries without `None` fields.

        Raises:
            ToolArgumentsError: it doesn't fit.
        """
        if self._schema is None:
            if set(args) != {"result"} or not isinstance(args["result"], str):
                raise self._refusal("it takes exactly one argument, the text 'result'")
            return {"result": args["result"]}
        value = args["result"] if self._is_wrapped and set(args) == {"result"} else args
        if isinstance(self._schema, types.Schema):
            return value
        if isinstance(self._schema, dict):
            faults = [fault.said for fault in faults_of(value, validator_of(self._schema))]
            if faults:
                raise self._refusal("; ".join(faults[:5]))
            return value
        adapter = self._adapter
        try:
            return as_data(adapter, adapter.validate_python(value))
        except ValidationError as error:
            lines = error.errors(include_url=False)[:5]
            raise self._refusal(
                "; ".join(f"{'.'.join(map(str, line['loc']))}: {line['msg']}" for line in lines)
            ) from None

    def given_up(self, error: ToolArgumentsError) -> InvalidAnswerError:
        """Return the error for a model that doesn't get it right."""
        return InvalidAnswerError(
            f"Agent {self._agent!r} tried {MAX_TRIES} times to finish its task with values that don't fit. {error} "
            f"Describe the fields in the instruction, or loosen the output_schema.",
            "INVALID_ANSWER",
        )

    def _refusal(self, what: str) -> ToolArgumentsError:
        return ToolArgumentsError(
            f"{FINISH_TASK} of agent {self._agent!r} wasn't accepted: {what}. Call {FINISH_TASK} again with all "
            f"fields as declared."
        )

    @property
    def _adapter(self) -> TypeAdapter[Any]:
        try:
            return adapter_for(self._schema)
        except TypeError:  # an unhashable type can't be cached
            return TypeAdapter(self._schema)

    def _own_schema(self) -> dict[str, Any]:
        if isinstance(self._schema, types.Schema):
            return self._schema.model_dump(mode="json", exclude_none=True)
        return dict(self._schema) if isinstance(self._schema, dict) else self._adapter.json_schema()

    @property
    def _is_wrapped(self) -> bool:
        return self._schema is not None and str(self._own_schema().get("type", "")).lower() != "object"

    def _parameters(self) -> dict[str, Any]:
        if self._schema is None:
            return _TEXT
        schema = self._own_schema()
        if not self._is_wrapped or "$ref" in schema:
            return schema
        definitions = schema.pop("$defs", None)
        wrapped = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        return {**wrapped, "$defs": definitions} if definitions else wrapped
