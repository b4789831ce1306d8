"""What a node is: `BaseNode` and the two nodes every graph has words for, `START` and `JoinNode`.

The engine drives nodes through `run`, or through `call` when a node's body returns once; `as_event` turns whatever a
body yields or returns into an event. Subclasses override `_run_impl`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from pydantic_core import PydanticCustomError, PydanticKnownError

from adk_nb.errors import WorkflowConfigurationError, WorkflowDataError
from adk_nb.events.event import Event, content_text, event_of, new_id, own_copy
from adk_nb.events.request_input import REQUEST_INPUT, RequestInput
from adk_nb.events.values import Unchecked, freeze, snapshot
from adk_nb.workflow.answers import asked_schema
from adk_nb.workflow.description import GraphDescription, Kind, NodeDescription
from adk_nb.workflow.retry import RetryConfig
from adk_nb.workflow.written import Written

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context

START_NAME = "__START__"
DEFAULT_ROUTE = "__DEFAULT__"
"""The route of an edge that is followed when no other label matched."""


class BaseNode(Written):
    """One step of a workflow; override `_run_impl`, an async generator, to write your own.

    What `_run_impl` yields becomes events: an `Event` as it is, a `RequestInput` as a question that pauses the run,
    `None` nothing, a `Content` a message, any other value the node's output. A node hands on at most one output a run.

    Example:
        >>> class Shout(BaseNode):
        ...     async def _run_impl(self, *, ctx, node_input):
        ...         yield str(node_input).upper()
        >>> Shout(name="shout").name
        'shout'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    kind: ClassVar[Kind] = "node"
    returns_once: ClassVar[bool] = False
    """The engine asks `call` for one value instead of iterating `run`."""
    tells_silence: ClassVar[bool] = False
    """A body that returns an empty event tells with it that it is done, instead of saying nothing."""
    keeps_checkpoints: ClassVar[bool] = False
    """A resumable app says with an event that a run of it has ended."""
    ends_on_escalation: ClassVar[bool] = False
    """It ends when something below it escalates, and what is above it goes on."""
    speaks_as_itself: ClassVar[bool] = False
    """Events carry the node's own name as author, not the name of its workflow."""
    is_silent: ClassVar[bool] = False
    """It publishes nothing, not even an error: whoever runs it tells what came of it."""

    name: str
    """A Python identifier, unique among the nodes of one workflow."""
    description: str = ""
    rerun_on_resume: bool = False
    """After an answer: `True` runs the node again from its start, `False` takes the answer as its output."""
    wait_for_output: bool = False
    """A run without output and route triggers nothing; the next trigger runs the node again."""
    retry_config: RetryConfig | None = None
    """When to try again after an error; `None` means never."""
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Seconds that one try may take; `None` means no limit."""
    input_schema: Any = None
    """Type that the input must fit; `None` takes anything."""
    output_schema: Any = None
    """Type that the output must fit; `None` takes anything."""
    state_schema: type[BaseModel] | None = None
    """Model whose fields are the state keys that this node and the nodes below may write; `None` allows all."""

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name.isidentifier():
            raise WorkflowConfigurationError(
                f"The node name {name!r:.60} must be a valid Python identifier: use letters, digits and '_', for "
                f"instance {_identifier_like(name)!r}."
            )
        if name == START_NAME and cls is not StartNode:
            raise WorkflowConfigurationError(f"The node name {name!r} is kept for START: choose another one.")
        return name

    @final
    async def run(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Event, None]:
        """Run the body once and yield its events; the input is checked first."""
        node_input = self.checked_input(node_input)
        if self.returns_once:
            event = self.as_event(await self.call(ctx=ctx, node_input=node_input))
            if event is not None:
                yield event
            return
        async with contextlib.aclosing(self._whole_run(ctx=ctx, node_input=node_input)) as items:
            async for item in items:
                event = self.as_event(item)
                if event is not None:
                    yield event

    def _whole_run(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Return what a run iterates: `_run_impl`, with whatever a class puts around it."""
        return self._run_impl(ctx=ctx, node_input=node_input)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        raise NotImplementedError(f"{type(self).__name__} has no _run_impl: override it with an async generator.")
        yield  # makes this an async generator, as overrides are

    async def call(self, *, ctx: Context, node_input: Any) -> Any:
        """Run a body that returns one value; only for nodes with `returns_once`."""
        raise NotImplementedError(f"{type(self).__name__} has no call: override it, or leave returns_once False.")

    def as_node(self) -> BaseNode:
        """Return what stands for this object in a graph: itself, or a changed copy."""
        return self

    def _checkpoint(self, child: str, run_id: str) -> dict[str, Any] | None:
        """Return what a resumable app says when a child of this node begins, or, with `""`, the node itself."""
        return None

    def check_options(self) -> None:
        """Refuse options that don't go together; asked again when a copy gets other options."""

    def checked_input(self, value: Any) -> Any:
        """Return the input as `input_schema` wants it, models as dictionaries."""
        return fit(value, self.input_schema, f"input of node {self.name!r}")

    def checked_output(self, value: Any) -> Any:
        """Return the output as `output_schema` wants it and as history keeps it; of models without `None` fields."""
        if self.output_schema is not None and value is not None and not isinstance(value, Unchecked):
            value = fit(value, self.output_schema, f"output of node {self.name!r}")
        return freeze(value, f"output of node {self.name!r}")

    def as_event(self, item: Any) -> Event | None:
        """Return the event for one thing that the body yielded or returned, `None` for nothing."""
        if item is None:
            return None
        if isinstance(item, Event):
            return self._own_event(item)
        if isinstance(item, RequestInput):
            return question_event(item, self.name)
        if isinstance(item, types.Content):
            return event_of(content=item)
        return event_of(output=self.checked_output(item))

    def _own_event(self, event: Event) -> Event:
        """Return a copy with a checked output; the engine writes into it, and a body may return one event twice."""
        event = own_copy(event)
        own = event.__dict__
        if "id" not in event.model_fields_set:
            own["id"] = new_id()
        if event.output is not None:
            own["output"] = self.checked_output(event.output)
        return event

    @property
    def detail(self) -> str:
        """One line about the node for drawings; may be empty."""
        return self.description

    def describe(self) -> GraphDescription:
        """Return what a drawing of this node alone shows: a graph with one node."""
        return GraphDescription(name=self.name, kind=self.kind, nodes=(self.describe_node(),))

    def describe_node(self) -> NodeDescription:
        """Return this node as a part of a drawing."""
        return NodeDescription(name=self.name, kind=self.kind, detail=self.detail)

    def __repr_args__(self) -> Any:
        """Name the node; its fields can hold whole graphs."""
        yield "name", self.name

    def __str__(self) -> str:
        return repr(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        # The one look upwards: a notebook draws any node, and only a notebook needs the drawing code.
        from adk_nb.notebook.display import node_bundle

        return node_bundle(self, include=include, exclude=exclude)


class StartNode(BaseNode):
    """Where a graph begins; it is never executed."""

    kind: ClassVar[Kind] = "start"


START = StartNode(name=START_NAME)
"""The start of every graph; the string `"START"` in an edge means the same."""


class JoinNode(BaseNode):
    """Wait for the predecessors, then pass on what each of them handed on.

    The output is `{predecessor name: output}` in the order of the edges; `None` stands for a predecessor without
    output, and one that wasn't waited for has no key. With `input_schema`, each predecessor's output must fit it.

    A join takes one output of each predecessor a round. Where it fires before all have come, those of the same round
    that come later are left out. What follows from its own output, as in a loop, begins the next round, and so does the
    next output of a predecessor whose last one was in this round.

    Example:
        >>> JoinNode(name="both").name
        'both'
        >>> JoinNode(name="first", wait_for="any").detail
        'fires with the first'
    """

    kind: ClassVar[Kind] = "join"
    returns_once: ClassVar[bool] = True

    wait_for: Literal["all", "started", "any"] | int = "all"
    """What it waits for: `"all"` predecessors; all that were `"started"`, so that it fires with what has come once the
    workflow is at rest and no open question leads to it; `"any"`, the first one; or a number of them."""
    require_output: bool = False
    """A predecessor without output is the join's error, where it otherwise counts as `None`."""

    @field_validator("wait_for", mode="before")
    @classmethod
    def _check_wait_for(cls, value: Any) -> Any:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if (is_number and value < 1) or not (is_number or value in ("all", "started", "any")):
            raise WorkflowConfigurationError(
                f"A JoinNode can't have wait_for={value!r:.60}: it waits for 'all' that lead to it, for all that were "
                f"'started', for 'any' of them, or for a number of them from 1 on."
            )
        return value

    def needed(self, predecessors: int) -> int:
        """Return how many of so many predecessors have to arrive for it to fire at once."""
        if isinstance(self.wait_for, int):
            return self.wait_for
        return 1 if self.wait_for == "any" else predecessors

    @property
    def detail(self) -> str:
        """What it waits for, unless that is everything and goes without saying."""
        if self.description or self.wait_for == "all":
            return self.description
        if self.wait_for == "started":
            return "fires with those that were started"
        return "fires with the first" if self.wait_for in ("any", 1) else f"fires with {self.wait_for}"

    async def call(self, *, ctx: Context, node_input: Any) -> Any:
        """Return the collected outputs."""
        return node_input

    def checked_input(self, value: Any) -> Any:
        """Return the collected outputs, each checked against `input_schema`.

        Raises:
            WorkflowDataError: one is missing, and `require_output` is set.
        """
        if not isinstance(value, dict):
            return super().checked_input(value)
        silent = [name for name, one in value.items() if one is None and name != START_NAME]
        if silent and self.require_output:
            raise WorkflowDataError(
                f"The join {self.name!r} requires an output of every node that leads to it, and "
                f"{', '.join(map(repr, silent))} gave no output: return a value there, or leave require_output out to "
                f"get None for it."
            )
        if self.input_schema is None:
            return value
        return {
            name: None if one is None else fit(one, self.input_schema, f"output of {name!r} at join {self.name!r}")
            for name, one in value.items()
        }


@functools.lru_cache(maxsize=1024)
def adapter_for(hint: Any) -> TypeAdapter[Any]:
    """Return the cached validator of a type."""
    return TypeAdapter(hint)


def fit(value: Any, schema: Any, what: str) -> Any:
    """Return `value` as a schema wants it, models as dictionaries without `None` fields.

    A schema given as JSON-schema dictionary describes and isn't enforced.

    Raises:
        ValidationError: it doesn't fit; its title says which value of which node.
    """
    if schema is None or isinstance(schema, dict):
        return value
    if isinstance(value, types.Content):
        value = content_value(value)
    adapter = adapter_for(schema)
    try:
        valid = adapter.validate_python(value)
    except ValidationError as error:
        raise titled(error, what) from None
    return adapter.dump_python(valid, exclude_none=True)


def content_value(content: types.Content) -> Any:
    """Return a message's text as JSON value where it is JSON, else the text."""
    text = content_text(content)
    try:
        return adapter_for(Any).validate_json(text)
    except ValidationError:
        return text


def titled(error: ValidationError, title: str) -> ValidationError:
    """Return a pydantic error with a title that says where the value was."""
    lines: list[Any] = [
        {"type": _error_type(line), "loc": line["loc"], "input": line["input"], "ctx": line.get("ctx", {})}
        for line in error.errors(include_url=False)
    ]
    return ValidationError.from_exception_data(title, lines)


def _error_type(line: Any) -> Any:
    try:
        PydanticKnownError(line["type"], line.get("ctx"))
    except (KeyError, TypeError):  # a type's own error, which pydantic builds again only from its text
        return PydanticCustomError(line["type"], line["msg"])
    return line["type"]


def question_event(request: RequestInput, name: str) -> Event:
    """Return the event that publishes a node's question: a function call that waits for an answer from outside.

    Raises:
        WorkflowConfigurationError: the response schema can't be asked for.
        WorkflowDataError: the payload can't be stored.
    """
    call = types.FunctionCall(
        id=request.interrupt_id,
        name=REQUEST_INPUT,
        args={
            "interruptId": request.interrupt_id,
            "payload": snapshot(request.payload, f"payload of the question of node {name!r}"),
            "message": request.message,
            "response_schema": asked_schema(request.response_schema, name),
        },
    )
    return Event(
        content=types.Content(role="model", parts=[types.Part(function_call=call)]),
        long_running_tool_ids={request.interrupt_id},
    )


def _identifier_like(name: str) -> str:
    text = "".join(c if c.isalnum() or c == "_" else "_" for c in name[:40]).strip("_") or "node"
    return text if text.isidentifier() else f"node_{text}"


def node_like_error(item: object) -> WorkflowConfigurationError:
    """Return the error for something that can't be a node."""
    if isinstance(item, str):
        hint = "the only string in an edge is 'START'; name a node by the function or node itself, without quotes"
    elif isinstance(item, type):
        hint = f"this is the class and not a node of it: write {item.__name__}(name=...)"
    elif isinstance(item, (tuple, list)):
        hint = "tuples can't be nested deeper: put all nodes of the fan-out into one tuple, (a, b, c)"
    elif isinstance(item, Iterable) and not isinstance(item, dict):
        hint = "write the nodes of a fan-out as a tuple, (a, b)"
    else:
        hint = "a node is a function, an Agent, a Workflow, a JoinNode or another BaseNode, a tool, or 'START'"
    return WorkflowConfigurationError(f"Invalid node type {type(item).__name__} ({item!r:.80}): {hint}.")
