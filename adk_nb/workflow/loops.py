"""The loops of a graph: which nodes can come back to themselves, and what lies behind a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def loops_of(following: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return, for each node that can come back to itself, the number of its loop.

    Nodes have the same number when each can be reached from the other.

    Args:
        following: The names that edges lead to, by the name that they leave.

    Example:
        >>> loops_of({"a": ["b"], "b": ["a", "c"], "c": []})
        {'b': 1, 'a': 1}
    """
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    trail: list[str] = []
    found: dict[str, int] = {}
    closed: set[str] = set()
    for start in following:
        work: list[tuple[str, Iterator[str]]] = []
        if start not in order:
            work.append(_entered(start, following, order, lowest, trail))
        while work:
            name, targets = work[-1]
            target = next((one for one in targets if one not in closed), None)
            if target is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == order[name]:
                    _close(name, following, trail, found, closed)
            elif target in order:
                lowest[name] = min(lowest[name], order[target])
            else:
                work.append(_entered(target, following, order, lowest, trail))
    return found


def behind(start: Iterable[str], following: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the names that can be reached from some nodes by at least one edge.

    Example:
        >>> sorted(behind(["a"], {"a": ["b"], "b": ["a", "c"]}))
        ['a', 'b', 'c']
    """
    seen: set[str] = set()
    todo = list(start)
    while todo:
        for target in following.get(todo.pop(), ()):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def _entered(
    name: str, following: Mapping[str, Iterable[str]], order: dict[str, int], lowest: dict[str, int], trail: list[str]
) -> tuple[str, Iterator[str]]:
    order[name] = lowest[name] = len(order)
    trail.append(name)
    return name, iter(following.get(name, ()))


def _close(
    name: str, following: Mapping[str, Iterable[str]], trail: list[str], found: dict[str, int], closed: set[str]
) -> None:
    number = len(closed)
    members = [trail.pop()]
    while members[-1] != name:
        members.append(trail.pop())
    closed.update(members)
    if len(members) > 1 or name in following.get(name, ()):
        found.update((member, number) for member in members)
