"""`state_schema`: which state keys a node may write, and what they must hold."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from adk_nb.errors import StateSchemaError, one_of
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.parallel import what_runs
from adk_nb.workflow.signature import ABSENT

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph
    from adk_nb.workflow.nodes import BaseNode

Check = Callable[[str, Any], None]


def state_check(schemas: tuple[type[BaseModel], ...], node: BaseNode) -> Check | None:
    """Return the check of a node's state writes: its own schema, else the nearest one above; `None` without any."""
    schema = node.state_schema or (schemas[-1] if schemas else None)
    if schema is None:
        return None

    def check(key: str, value: Any) -> None:
        if ":" in key:
            return
        field = schema.model_fields.get(key)
        if field is None:
            raise StateSchemaError(
                f"Node {node.name!r} wrote state[{key!r}], which is not declared in state schema {schema.__name__}: "
                f"declared are {one_of(key, schema.model_fields)}; add the field, or use a prefix such as temp:."
            )
        try:
            _adapter(schema, key).validate_python(value)
        except ValidationError as error:
            raise StateSchemaError(
                f"Node {node.name!r} wrote state[{key!r}] = {value!r:.80}, which does not satisfy field {key!r} of "
                f"{schema.__name__}: {error.errors()[0]['msg']}."
            ) from None

    return check


def check_parameters(graph: Graph, schema: type[BaseModel]) -> None:
    """Check that functions take from state only what the `state_schema` of their workflow declares.

    An argument without a default may come from the function's input instead, as long as that can have it.

    Raises:
        StateSchemaError: the message names node and argument.
    """
    for drawn in graph.nodes:
        node = what_runs(drawn)
        if not isinstance(node, FunctionNode) or node.parameter_binding != "state":
            continue
        signature = node.signature
        unknown = [one for one in signature.named if one.name not in schema.model_fields]
        free = [one for one in unknown if one.default is ABSENT]
        scalar = scalar_source(graph, node) if len(free) > 1 and node is drawn else None
        if signature.whole is None and scalar is None:
            unknown = [one for one in unknown if one.default is not ABSENT]
        if unknown:
            name = unknown[0].name
            also = f", and {scalar}, which has no keys" if scalar else ""
            raise StateSchemaError(
                f"Parameter {name!r} of function {node.name!r} is not declared in state_schema {schema.__name__}"
                f"{also}: declared are {one_of(name, schema.model_fields)}; add the field, rename the parameter, "
                f"or take the whole input as node_input."
            )


def scalar_source(graph: Graph, node: BaseNode) -> str | None:
    """Say what a node gets when every node before it hands on a value without keys, `None` otherwise."""
    said = None
    for name in graph.predecessors(node.name):
        before = graph.node(name)
        hint = before.signature.returns if isinstance(before, FunctionNode) else None
        if hint not in _SCALARS:
            return None
        said = f"{name!r} hands on a {hint.__name__}"
    return said


_SCALARS = (str, int, float, bool, bytes)


@functools.lru_cache(maxsize=1024)
def _adapter(schema: type[BaseModel], key: str) -> TypeAdapter[Any]:
    field = schema.model_fields[key]
    hint: Any = field.annotation
    for rule in field.metadata:  # what Field(ge=0) and the like asked for
        hint = Annotated[hint, rule]
    return TypeAdapter(hint)
