"""Effects outside that a node has before its question, so that it has them again when it runs again with the answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.workflow.hints.hint import Hint
from adk_nb.workflow.hints.source import body_of, functions_of, inner_node, last_name, mentions

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph

_EFFECT = re.compile(
    r"_*(send|post|charge|pay|refund|transfer|withdraw|delete|upload|publish|submit|notify|email|reserve|deploy)(_|$)"
)
"""Names of functions that change something outside, whatever is done with what they return."""
_HARMLESS = re.compile(r"_*(check|validate|verify|assert|ensure|require|load|log|show|display|print|set)(_|$)")
"""Names of functions that may be called for nothing but their errors or what they tell."""
_CHANGE = re.compile(
    r"_*(put|patch|drop|create|write|save|store|book|order|cancel|commit|execute|insert|append|add)_?[a-z_]*$"
)
"""Names of methods that change something outside when nobody looks at what they return."""
_IN_MEMORY = frozenset(
    (
        *("append", "add", "extend", "insert", "update", "remove", "discard", "clear", "pop", "popleft", "setdefault"),
        *("sort", "reverse", "debug", "info", "warning", "error", "exception", "critical", "log", "print", "sleep"),
    )
)
"""Calls that may be made twice: of lists and dictionaries, and those that only tell or wait."""
_CONTEXT = ("ctx", "context", "tool_context")


def repeated_effects(graph: Graph) -> Iterator[Hint]:
    """Tell calls with an effect outside that stand before the question of a node that runs again after the answer."""
    for node in graph.nodes:
        if not inner_node(node).rerun_on_resume:
            continue
        for func in functions_of(node):
            if not mentions(func.__code__, "RequestInput"):
                continue
            body = body_of(func)
            effect = _first_effect(body.tree.body) if body else None
            if body is not None and isinstance(effect, ast.Call):
                call = f"{ast.unparse(effect.func):.60}(...)"
                yield Hint(
                    node.name,
                    f"It runs again from its start after the answer, and {call} in line {body.line(effect)} stands "
                    f"before its question, so that it is called twice: call it after the answer, in a node of its own, "
                    f"or hand it ctx.idempotency_key.",
                )
                break


class _Asks(Exception):
    """The question is reached."""


def _first_effect(statements: list[ast.stmt]) -> ast.Call | None:
    try:
        for statement in statements:
            found = _effect_in(statement)
            if found is not None:
                return found
    except _Asks:
        pass
    return None


def _effect_in(statement: ast.stmt) -> ast.Call | None:
    """Return the first effect in a statement and the ones inside it; `_Asks` is raised where a question comes first."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return None
    blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    blocks += [handler.body for handler in getattr(statement, "handlers", [])]
    blocks += [case.body for case in getattr(statement, "cases", [])]
    inner = {id(one) for block in blocks for one in block}
    head = [part for part in ast.iter_child_nodes(statement) if id(part) not in inner and isinstance(part, ast.expr)]
    head += [item.context_expr for item in getattr(statement, "items", [])]
    found = _effect_in_expressions(head, is_dropped=isinstance(statement, ast.Expr))
    if found is not None:
        return found
    if isinstance(statement, (ast.If, ast.While)) and _looks_at_context(statement.test):
        _ask_within(blocks)
        return None
    for block in blocks:
        for one in block:
            found = _effect_in(one)
            if found is not None:
                return found
    return None


def _ask_within(blocks: list[list[ast.stmt]]) -> None:
    """Raise `_Asks` when the question stands in these blocks; effects there were thought about."""
    for block in blocks:
        for one in block:
            if any(_is_question(part) for part in ast.walk(one)):
                raise _Asks


def _effect_in_expressions(parts: list[ast.expr], *, is_dropped: bool) -> ast.Call | None:
    found: ast.Call | None = None
    for part in parts:
        for one in ast.walk(part):
            if _is_question(one):
                raise _Asks
            if found is None and isinstance(one, ast.Call) and _has_effect(one, is_dropped and _is_whole(part, one)):
                found = one
    return found


def _is_question(part: ast.AST) -> bool:
    if isinstance(part, ast.Call):
        return last_name(part.func) == "RequestInput"
    return isinstance(part, ast.Attribute) and part.attr == "resume_inputs"


def _is_whole(part: ast.expr, call: ast.Call) -> bool:
    return call is (part.value if isinstance(part, ast.Await) else part)


def _has_effect(call: ast.Call, is_dropped: bool) -> bool:
    name = last_name(call.func)
    if name in _IN_MEMORY or name == "" or _starts_at(call.func) in _CONTEXT:
        return False
    if any(isinstance(part, ast.Attribute) and part.attr == "idempotency_key" for part in ast.walk(call)):
        return False
    if _EFFECT.match(name):
        return True
    if not is_dropped or _HARMLESS.match(name):
        return False
    return isinstance(call.func, ast.Name) or _CHANGE.match(name) is not None


def _starts_at(func: ast.expr) -> str:
    while isinstance(func, (ast.Attribute, ast.Subscript, ast.Call)):
        func = func.func if isinstance(func, ast.Call) else func.value
    return func.id if isinstance(func, ast.Name) else ""


def _looks_at_context(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id in _CONTEXT for part in ast.walk(test))
