"""What a failing node's error says, and which of several errors is the one to report."""

from __future__ import annotations

import asyncio

from adk_nb.errors import DynamicNodeFailError, WorkflowDataError
from adk_nb.events.record import NodeRun


class ChildFailure(Exception):
    """Carries a failure out of a graph to the run that holds it."""

    def __init__(self, error: BaseException, path: str) -> None:
        super().__init__(path)
        self.error = error
        self.path = path


def origin(error: BaseException) -> tuple[BaseException, str | None]:
    """Return what failed first, and the path of the run below that it failed in, `None` for the node's own failure."""
    if isinstance(error, ChildFailure):
        return error.error, error.path
    if isinstance(error, DynamicNodeFailError):
        return error.error, error.error_node_path
    return error, None


def said(error: BaseException) -> str:
    """Return an error's text; an error whose own `__str__` fails is still told by its class."""
    try:
        return str(error)
    except Exception as failure:  # noqa: BLE001  # user code: the first error is the one to report
        return f"(its text can't be had: {type(failure).__name__})"


def own_failure(run: NodeRun, error: BaseException) -> BaseException:
    """Return what to report for an error that a node raised: a cancellation that nobody asked for is an error, too."""
    if isinstance(error, SystemExit):
        failure = WorkflowDataError(
            f"Node {run.name!r} called sys.exit({error.code!r}), which would end the whole process: return, or raise "
            f"an error that says what went wrong."
        )
        failure.__cause__ = error
        return failure
    if not isinstance(error, asyncio.CancelledError):
        return error
    failure = WorkflowDataError(
        f"Node {run.name!r} raised asyncio.CancelledError, though nobody stopped it: something that it awaited was "
        f"cancelled. Await only tasks that aren't cancelled, or catch the error where it comes from."
    )
    failure.__cause__ = error
    return failure


def first_child_failure(group: BaseExceptionGroup) -> DynamicNodeFailError | None:
    """Return the first failure in a group that holds nothing but failures of children, `None` for any other group."""
    leaves: list[BaseException] = []
    groups: list[BaseException] = [group]
    while groups:
        one = groups.pop(0)
        if isinstance(one, BaseExceptionGroup):
            groups[:0] = one.exceptions
        else:
            leaves.append(one)
    failures = [leaf for leaf in leaves if isinstance(leaf, DynamicNodeFailError)]
    return failures[0] if len(failures) == len(leaves) else None
