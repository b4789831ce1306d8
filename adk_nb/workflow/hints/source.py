"""What the bodies of nodes say in their source; a body whose source can't be had says nothing."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.signature import innermost

_BODIES = ("_run_impl", "run_node_impl", "call")


@dataclass(frozen=True, slots=True)
class Body:
    """The source of one function."""

    tree: ast.FunctionDef | ast.AsyncFunctionDef
    offset: int
    """Lines before the function in its file or cell."""
    parts: tuple[ast.AST, ...]
    """All its parts in the order of the source, without what stands in functions and classes inside it."""

    def line(self, part: ast.AST) -> int:
        """Return where a part stands in its file or cell."""
        return self.offset + int(getattr(part, "lineno", 1))


def inner_node(node: BaseNode) -> BaseNode:
    """Return the node inside one that only runs it, as a parallel worker does."""
    inside = getattr(node, "node", None)
    return inner_node(inside) if isinstance(inside, BaseNode) else node


def functions_of(node: BaseNode) -> Iterator[types.FunctionType]:
    """Yield the functions of a user that a node runs: the one it wraps, or the body that its class brings."""
    node = inner_node(node)
    if isinstance(node, FunctionNode):
        inner: Any = innermost(node.func)
        if not inspect.isroutine(inner):
            inner = vars(type(inner)).get("__call__")
        inner = inspect.unwrap(getattr(inner, "__func__", inner))
        if isinstance(inner, types.FunctionType):
            yield inner
        return
    for kind in user_classes(node):
        for name in _BODIES:
            func = vars(kind).get(name)
            if isinstance(func, types.FunctionType):
                yield func


def user_classes(node: BaseNode) -> tuple[type, ...]:
    """Return the classes of a node that aren't adk_nb's own."""
    kinds = type(node).__mro__
    ours = next(i for i, kind in enumerate(kinds) if kind.__module__.partition(".")[0] == "adk_nb")
    return kinds[:ours]


def body_of(func: types.FunctionType) -> Body | None:
    """Return the source of a function, `None` where there is none, as for lambdas and for code made by `exec`."""
    if func not in _known:
        _known[func] = _read(func)
    return _known[func]


_known: weakref.WeakKeyDictionary[types.FunctionType, Body | None] = weakref.WeakKeyDictionary()


def _read(func: types.FunctionType) -> Body | None:
    if func.__name__ == "<lambda>":
        return None
    try:
        lines, first = inspect.getsourcelines(func)
        module = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):  # not there, or not the text that was compiled
        return None
    tree = module.body[0] if module.body else None
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) or tree.name != func.__code__.co_name:
        return None
    return Body(tree, max(first, 1) - 1, tuple(own_parts(*tree.body)))


def own_parts(*roots: ast.AST) -> Iterator[ast.AST]:
    """Yield parts of a body in the order of the source, without what stands in functions and classes inside it."""
    for root in roots:
        yield root
        if not isinstance(root, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from own_parts(*ast.iter_child_nodes(root))


def last_name(func: ast.expr) -> str:
    """Return the name at the end of what is called, `""` where there is none."""
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def mentions(code: types.CodeType, *names: str) -> bool:
    """Say cheaply whether a function's own code uses one of these names at all."""
    return any(name in used for used in (code.co_names, code.co_freevars, code.co_varnames) for name in names)
