"""Where in the tree a node ran: `wf@1/a@2` is the second run of `a` in the first run of `wf`."""

from __future__ import annotations

import functools
from collections.abc import Iterable


def child_path(parent: str, name: str, run_id: str) -> str:
    """Return the path of a run below `parent` (`""` is the root).

    Example:
        >>> child_path("wf@1", "a", "2")
        'wf@1/a@2'
    """
    segment = f"{name}@{run_id}"
    return f"{parent}/{segment}" if parent else segment


def parent_path(path: str) -> str:
    """Return the path one level up, `""` for a root.

    Example:
        >>> parent_path("wf@1/a@2")
        'wf@1'
    """
    return path.rpartition("/")[0]


@functools.lru_cache(4_096)
def last_segment(path: str) -> tuple[str, str]:
    """Return the node name and run id at the end of a path, empty strings where it has none.

    Example:
        >>> last_segment("wf@1/a@2")
        ('a', '2')
    """
    name, _, run_id = path.rpartition("/")[2].partition("@")
    return name, run_id


def node_names(path: str) -> tuple[str, ...]:
    """Return the node names along a path, without run ids.

    Example:
        >>> node_names("wf@1/inner@3/a@2")
        ('wf', 'inner', 'a')
    """
    return tuple(segment.partition("@")[0] for segment in path.split("/")) if path else ()


def child_branch(branch: str | None, name: str, run_id: str) -> str:
    """Return the sub-branch of a run that starts beside others.

    Example:
        >>> child_branch("a@1", "b", "2")
        'a@1.b@2'
    """
    segment = f"{name}@{run_id}"
    return f"{branch}.{segment}" if branch else segment


def common_branch(branches: list[str | None]) -> str | None:
    """Return the longest branch that all of these lie on, `None` for the trunk.

    Example:
        >>> common_branch(["inner@1.b@1", "inner@1.c@1"])
        'inner@1'
    """
    if not branches or any(branch is None for branch in branches):
        return None
    split = [branch.split(".") for branch in branches if branch is not None]
    shared: list[str] = []
    for segments in zip(*split, strict=False):
        if len(set(segments)) > 1:
            break
        shared.append(segments[0])
    return ".".join(shared) or None


def outside(branch: str | None, names: Iterable[str], trunk: str | None) -> str | None:
    """Return the part of a branch that lies before the first of some nodes, so that loops don't lengthen it.

    Args:
        branch: Where a run stands that starts these nodes side by side.
        names: The nodes.
        trunk: The branch of the whole graph, which stays.

    Example:
        >>> outside("w@1.a@1.b@1", ["b", "c"], "w@1")
        'w@1.a@1'
    """
    if branch is None or (trunk is not None and not branch.startswith(f"{trunk}.")):
        return branch
    kept = trunk.split(".") if trunk is not None else []
    again = set(names)
    for segment in branch.split(".")[len(kept) :]:
        if segment.partition("@")[0] in again:
            break
        kept.append(segment)
    return ".".join(kept) or None
