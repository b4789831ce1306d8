"""The toolsets of a tree of agents and nodes, which a runner closes."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from typing import Any

from adk_nb.tools.base_toolset import BaseToolset

_BELOW = ("node", "agent", "tool", "func")
"""Fields in which nodes and tools hold another one."""


def toolsets_in(root: Any) -> Iterator[BaseToolset]:
    """Yield each toolset once: those of a root's own tools, of agents and nodes below it, and of agents in tools."""
    waiting, seen = [root], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, BaseToolset):
            yield one
            continue
        graph = getattr(one, "graph", None)
        for below in (getattr(one, "tools", ()), getattr(one, "sub_agents", ()), getattr(graph, "nodes", ())):
            if isinstance(below, (list, tuple)):
                waiting.extend(below)
        fields = vars(one) if hasattr(one, "__dict__") else {}
        waiting.extend(fields[name] for name in _BELOW if hasattr(fields.get(name), "__dict__"))


async def close_toolsets(root: Any, timeout_s: float = 10.0) -> None:
    """Close the toolsets of a root, side by side; one that fails or takes too long is told in a warning.

    Args:
        root: The agent, workflow or node.
        timeout_s: Seconds that each may take.
    """
    await asyncio.gather(*(_close(toolset, timeout_s) for toolset in toolsets_in(root)))


async def _close(toolset: BaseToolset, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await toolset.close()
    except Exception as error:  # noqa: BLE001  # a toolset's own failure must not keep the others open
        reason = f"it took longer than {timeout_s:g} s" if isinstance(error, TimeoutError) else str(error)
        warnings.warn(
            f"{type(toolset).__name__} failed to close ({type(error).__name__}: {reason}), and may hold things open.",
            RuntimeWarning,
            stacklevel=2,
        )
