"""Which routes a function takes: the constants in its source, and what `Literal` and `Enum` types allow."""

from __future__ import annotations

import ast
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.workflow.hints.source import Body, body_of, last_name
from adk_nb.workflow.signature import Signature, options_of, signature_of

Values = tuple[Any, ...] | None
"""All values that an expression may have; `None` where that isn't known."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The routes that a function takes."""

    routes: tuple[Any, ...]
    """Those that are known, in the order of the source."""
    is_complete: bool
    """There are no others."""
    sets_any: bool
    """It sets a route at all."""


def routes_taken(func: types.FunctionType, signature: Signature) -> Taken | None:
    """Return the routes that a function takes, `None` where its source can't be had."""
    body = body_of(func)
    if body is None:
        return None
    look = _Look(func, body, signature)
    routes: list[Any] = []
    is_complete = sets_any = True
    found = list(_route_expressions(body, signature.context_name))
    sets_any = bool(found)
    for expression in found:
        values = look.values_of(expression) if expression is not None else None
        if values is None:
            is_complete = False
        else:
            routes += [value for value in values if value is not None and value not in routes]
    return Taken(tuple(routes), is_complete, sets_any)


def plain_type(hint: Any) -> str | None:
    """Return how a return type reads that can't be an event or hold one; `None` for any other."""
    members = options_of(hint)
    if all(_allowed(one) is not None or one in _PLAIN or _is_data(one) for one in members):
        names = [
            "None" if one is type(None) else one.__name__ if inspect.isclass(one) else str(one).replace("typing.", "")
            for one in members
        ]
        return " | ".join(names)
    return None


_PLAIN = (str, int, float, bool)


def _is_data(hint: Any) -> bool:
    return inspect.isclass(hint) and issubclass(hint, BaseModel) and not hint.__module__.startswith("adk_nb.")


def _route_expressions(body: Body, context_name: str | None) -> Iterable[ast.expr | None]:
    """Yield what a function sets as its route; `None` stands for what can't be read."""
    for part in body.parts:
        if isinstance(part, ast.Call):
            names = [keyword.arg for keyword in part.keywords]
            if "route" in names:
                yield part.keywords[names.index("route")].value
            elif None in names or last_name(part.func) in ("setattr", "EventActions"):
                yield None
            elif any(isinstance(one, ast.Name) and one.id == context_name for one in part.args):
                yield None  # another function that gets the context may set the route
        elif isinstance(part, (ast.Assign, ast.AnnAssign)):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            if any(isinstance(one, ast.Attribute) and one.attr == "route" for one in targets):
                yield part.value


def _allowed(hint: Any) -> Values:
    """Return the values that a type allows, `None` when they can't be listed."""
    values: list[Any] = []
    for option in options_of(hint):
        if option is type(None):
            values.append(None)
        elif typing.get_origin(option) is Literal:
            values += typing.get_args(option)
        elif inspect.isclass(option) and issubclass(option, enum.Enum):
            values += [member.value for member in option]
        else:
            return None
    return tuple(values)


class _Look:
    """Works out what the expressions of one function can be."""

    def __init__(self, func: types.FunctionType, body: Body, signature: Signature) -> None:
        self._func = func
        self._hints = signature.hints
        self._assigned: dict[str, list[ast.expr | None]] = {}
        for part in body.parts:
            self._note(part)
        self._open: set[str] = set()

    def _note(self, part: ast.AST) -> None:
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
            self._assigned.setdefault(part.targets[0].id, []).append(part.value)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            self._assigned.setdefault(part.id, [])

    def values_of(self, expression: ast.expr) -> Values:
        """Return all values that an expression may have, `None` where that isn't known."""
        if isinstance(expression, ast.Constant):
            return (expression.value,)
        if isinstance(expression, ast.IfExp):
            return _joined([self.values_of(expression.body), self.values_of(expression.orelse)])
        if isinstance(expression, (ast.List, ast.Tuple)):
            return _joined([self.values_of(one) for one in expression.elts])
        if isinstance(expression, ast.Name):
            return self._values_of_name(expression.id)
        if isinstance(expression, ast.Await):
            return self.values_of(expression.value)
        hint = self._type_of(expression)
        return None if hint is None else _allowed(hint)

    def _values_of_name(self, name: str) -> Values:
        if name in self._open:
            return ()
        assigned = self._assigned.get(name)
        if assigned is None:
            hint = self._hints.get(name)
            return None if hint is None else _allowed(hint)
        if not assigned or name in self._hints:
            return None
        self._open.add(name)
        try:
            return _joined([None if one is None else self.values_of(one) for one in assigned])
        finally:
            self._open.discard(name)

    def _type_of(self, expression: ast.expr) -> Any:
        """Return the type of an argument, of a field of one, or of what a function returns; `None` if unknown."""
        if isinstance(expression, ast.Name):
            return None if expression.id in self._assigned else self._hints.get(expression.id)
        if isinstance(expression, ast.Attribute):
            above = self._type_of(expression.value)
            if inspect.isclass(above) and issubclass(above, enum.Enum) and expression.attr == "value":
                return above
            if inspect.isclass(above) and issubclass(above, BaseModel):
                field = above.model_fields.get(expression.attr)
                return field.annotation if field is not None else None
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
            return self._return_type(expression.func.id)
        return None

    def _return_type(self, name: str) -> Any:
        called: Any = None if name in self._assigned or name in self._hints else self._names().get(name)
        if not isinstance(called, types.FunctionType):
            return None
        return _returns(called)

    def _names(self) -> dict[str, Any]:
        closure = inspect.getclosurevars(self._func)
        return {**closure.globals, **closure.nonlocals}


def _returns(func: Callable[..., Any]) -> Any:
    try:
        return signature_of(func).returns
    except WorkflowConfigurationError:  # it can't be a node, so its types aren't read
        return None


def _joined(values: Iterable[Values]) -> Values:
    found: list[Any] = []
    for one in values:
        if one is None:
            return None
        found += one
    return tuple(found)
