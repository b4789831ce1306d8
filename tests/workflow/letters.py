"""Nodes that wrap what they get, so that an output tells the way it came: `C(B(A(x)))`."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.workflow import BaseNode, node


def letter(name: str) -> BaseNode:
    """Return a node `a` that turns `x` into `A(x)`."""
    return node(lambda node_input: f"{name.upper()}({said(node_input)})", name=name)


def said(value: Any) -> Any:
    """Return the text of a message, other values as they are."""
    return value.parts[0].text if isinstance(value, types.Content) and value.parts else value
