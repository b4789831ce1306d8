"""One run of a node for each item of a list: the parallel worker, and `Node`, which can be made one.

A worker's items are its children, numbered from 1 in the order of the list: `sq@1/sq@3` is the third item of
the first run of `sq`. So what is finished stays finished over pauses and crashes like any other child.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from google.genai import types
from pydantic import BaseModel, Field

from adk_nb.errors import DynamicNodeFailError, NodeInterruptedError, WorkflowConfigurationError
from adk_nb.workflow.description import Kind, NodeDescription
from adk_nb.workflow.nodes import START_NAME, BaseNode, content_value
from adk_nb.workflow.retry import RetryConfig

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context

OnError = Literal["stop", "collect"]
"""What a failing item does: `stop` ends the worker with its error, `collect` leaves an `ItemError` in its place."""


class ItemError(BaseModel):
    """What stands in a worker's output for an item that failed, with `on_error="collect"`.

    It is handed on as a dictionary with these three keys; a receiver that wants `list[ItemError | ...]` gets objects.

    Example:
        >>> ItemError(item_index=1, error_type="ZeroDivisionError", error_message="division by zero").item_index
        1
    """

    item_index: int
    """Place of the item in the list, from 0."""
    error_type: str
    """Class name of the exception."""
    error_message: str


class ParallelWorker(BaseNode):
    """Run a node once for each item of a list, several at a time; `node(..., parallel_worker=True)` makes one.

    The output is one list in the order of the items. What isn't a list or a tuple counts as one item, and a message
    whose text is a JSON list as that list. The first item that fails stops the others; finished ones stay finished.
    When an item asks a person, no further items begin until the answer is in.
    """

    kind: ClassVar[Kind] = "parallel"
    returns_once: ClassVar[bool] = True

    rerun_on_resume: bool = True
    node: BaseNode
    """What runs for each item."""
    max_parallel_workers: int | None = None
    """How many items run at a time; `None` means all."""
    on_error: OnError = "stop"

    def __init__(
        self,
        *,
        node: BaseNode,
        max_parallel_workers: int | None = None,
        on_error: OnError = "stop",
        retry_config: RetryConfig | None = None,
        timeout: float | None = None,
    ) -> None:
        """Wrap `node`, whose name the worker takes; `retry_config` and `timeout` are for the list as a whole."""
        if node.name == START_NAME:
            raise WorkflowConfigurationError("A parallel worker cannot wrap a START: give it the node that runs.")
        check_options(True, max_parallel_workers, on_error)
        super().__init__(  # type: ignore[call-arg]  # the fields below are this class's own
            name=node.name,
            description=node.description,
            node=node,
            max_parallel_workers=max_parallel_workers,
            on_error=on_error,
            retry_config=retry_config,
            timeout=timeout,
        )

    async def call(self, *, ctx: Context, node_input: Any) -> Any:
        """Run all items and return what they handed on, in order."""
        return await _Items(self, ctx, items_of(node_input)).results()

    def around(self, node: BaseNode) -> ParallelWorker:
        """Return a worker with the same options for another node."""
        return ParallelWorker(
            node=node,
            max_parallel_workers=self.max_parallel_workers,
            on_error=self.on_error,
            retry_config=self.retry_config,
            timeout=self.timeout,
        )

    def describe_node(self) -> NodeDescription:
        """Return this node for a drawing: what it runs, as a pile."""
        return dataclasses.replace(self.node.describe_node(), kind=self.kind)


class Node(BaseNode):
    """A node of your own that can be spread over a list: override `run_node_impl`, an async generator.

    What it yields becomes events as with `BaseNode`. With `parallel_worker=True` it runs once for each item of its
    input; all other options are then those of one item.

    Example:
        >>> class Square(Node):
        ...     async def run_node_impl(self, *, ctx, node_input):
        ...         yield node_input**2
        >>> Square(name="sq", parallel_worker=True, max_parallel_workers=4).kind
        'node'
    """

    parallel_worker: bool = Field(default=False, frozen=True)
    """Run once for each item of the input."""
    max_parallel_workers: int | None = Field(default=None, frozen=True)
    """How many items run at a time; `None` means all."""
    on_error: OnError = Field(default="stop", frozen=True)
    """What a failing item does."""

    def model_post_init(self, context: Any, /) -> None:
        """Check the options."""
        check_options(self.parallel_worker, self.max_parallel_workers, self.on_error)

    def as_node(self) -> BaseNode:
        """Return the node itself, or the worker that runs it for each item."""
        if not self.parallel_worker:
            return self
        one = self.model_copy(update={"parallel_worker": False, "max_parallel_workers": None, "on_error": "stop"})
        return ParallelWorker(node=one, max_parallel_workers=self.max_parallel_workers, on_error=self.on_error)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(self.run_node_impl(ctx=ctx, node_input=node_input)) as items:
            async for item in items:
                yield item

    async def run_node_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Yield what the node says and hands on; override this."""
        raise NotImplementedError(
            f"run_node_impl must be implemented: {type(self).__name__} has none; write it as an async generator."
        )
        yield  # makes this an async generator, as overrides are


def check_options(parallel_worker: bool, max_parallel_workers: int | None, on_error: OnError | None) -> None:
    """Check the options of a worker against each other.

    Raises:
        WorkflowConfigurationError: a limit below 1, or an option that does nothing without `parallel_worker=True`.
    """
    if not parallel_worker:
        for name, value, default in (
            ("max_parallel_workers", max_parallel_workers, None),
            ("on_error", on_error, "stop"),
        ):
            if value != default:
                raise WorkflowConfigurationError(
                    f"{name}={value!r:.40} can only be set when parallel_worker is True: add parallel_worker=True, or "
                    f"leave it out."
                )
    elif isinstance(max_parallel_workers, int) and max_parallel_workers < 1:
        raise WorkflowConfigurationError(
            f"max_parallel_workers={max_parallel_workers} must be greater than or equal to 1; leave it out for no "
            f"limit."
        )


def what_runs(node: BaseNode) -> BaseNode:
    """Return the node itself, or what a worker runs for each item."""
    while isinstance(node, ParallelWorker):
        node = node.node
    return node


def items_of(value: Any) -> list[Any]:
    """Return the items that a worker runs for an input.

    Example:
        >>> items_of((1, 2)), items_of(3), items_of(None)
        ([1, 2], [3], [None])
    """
    if isinstance(value, types.Content) and all(part.text is not None for part in value.parts or ()):
        value = content_value(value)
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _Items:
    """The items of one run of a worker: which comes next, and what came of those before."""

    def __init__(self, worker: ParallelWorker, ctx: Context, items: list[Any]) -> None:
        self._worker = worker
        self._ctx = ctx
        self._items = items
        self._results: list[Any] = [None] * len(items)
        self._next = 0
        self._failed: dict[int, DynamicNodeFailError] = {}
        self._asked: list[str] | None = None
        """Ids of the questions that items wait with, `None` while none does."""

    async def results(self) -> list[Any]:
        """Return what each item handed on.

        Raises:
            DynamicNodeFailError: an item failed; of several at a time the one that stands first in the list.
            NodeInterruptedError: an item waits for a person.
        """
        count = len(self._items)
        lanes = min(self._worker.max_parallel_workers or count, count)
        if lanes > 1:
            tasks = [self._ctx.in_task(self._lane()) for _ in range(lanes)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            errors = [task.exception() for task in tasks if task.done() and not task.cancelled()]
            error = next((one for one in errors if one is not None), None)
            if error is not None:
                raise self._failed[min(self._failed)] if self._failed else error
        else:
            await self._lane()
        if self._asked is not None:
            raise NodeInterruptedError(self._asked)
        return self._results

    async def _lane(self) -> None:
        """Run one item after the other until none is left; after a question only those that had begun before."""
        while self._next < len(self._items):
            index = self._next
            self._next += 1
            await self._run(index)

    async def _run(self, index: int) -> None:
        item, collects = self._items[index], self._worker.on_error == "collect"
        try:
            self._results[index] = await self._ctx.run_item(
                self._worker.node, item, is_failure_final=collects, may_begin=self._asked is None
            )
        except NodeInterruptedError as signal:
            self._asked = [*(self._asked or ()), *signal.interrupt_ids]
        except DynamicNodeFailError as failure:
            if not collects:
                self._failed[index] = failure
                failure.error.add_note(f"Item {index} of parallel worker {self._worker.name!r}: {item!r:.80}")
                raise
            self._results[index] = ItemError(
                item_index=index, error_type=failure.error_type, error_message=failure.error_message
            ).model_dump()
