"""`state_schema`: which state keys a node may write, and what they must hold."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from adk_nb.errors import StateSchemaError, one_of

if TYPE_CHECKING:
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


@functools.lru_cache(maxsize=1024)
def _adapter(schema: type[BaseModel], key: str) -> TypeAdapter[Any]:
    field = schema.model_fields[key]
    hint: Any = field.annotation
    for rule in field.metadata:  # what Field(ge=0) and the like asked for
        hint = Annotated[hint, rule]
    return TypeAdapter(hint)
