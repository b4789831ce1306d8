"""Anything that can stand in an edge, turned into a node; `node` does it with options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, overload

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.workflow.functions import Binding, FunctionNode
from adk_nb.workflow.gates import Requirement
from adk_nb.workflow.nodes import START, START_NAME, BaseNode, node_like_error
from adk_nb.workflow.parallel import OnError, ParallelWorker, check_options
from adk_nb.workflow.retry import RetryConfig

if TYPE_CHECKING:
    from adk_nb.auth.auth_tool import AuthConfig


class OffersNode(Protocol):
    """A node, or anything that offers one, for instance a tool."""

    def as_node(self) -> BaseNode:
        """Return the node."""


def build_node(item: Any) -> BaseNode:
    """Return the node that `item` stands for: itself, what its `as_node` offers, or a function node.

    Raises:
        WorkflowConfigurationError: it can't be a node.
    """
    if isinstance(item, str) and item in ("START", START_NAME):
        return START
    offer = getattr(item, "as_node", None)
    if offer is not None:
        if isinstance(item, type):
            raise node_like_error(item)
        offered = offer()
        if isinstance(offered, BaseNode):
            return offered
    if callable(item):
        return FunctionNode(func=item)
    raise node_like_error(item)


@overload
def node(
    node_like: Callable[..., Any] | OffersNode,
    *,
    name: str | None = None,
    rerun_on_resume: bool | None = None,
    retry_config: RetryConfig | None = None,
    timeout: float | None = None,
    parallel_worker: bool = False,
    max_parallel_workers: int | None = None,
    on_error: OnError = "stop",
    auth_config: AuthConfig | None = None,
    require_confirmation: Requirement | None = None,
    parameter_binding: Binding = "state",
) -> BaseNode: ...


@overload
def node(
    node_like: None = None,
    *,
    name: str | None = None,
    rerun_on_resume: bool | None = None,
    retry_config: RetryConfig | None = None,
    timeout: float | None = None,
    parallel_worker: bool = False,
    max_parallel_workers: int | None = None,
    on_error: OnError = "stop",
    auth_config: AuthConfig | None = None,
    require_confirmation: Requirement | None = None,
    parameter_binding: Binding = "state",
) -> Callable[[Callable[..., Any]], BaseNode]: ...


def node(
    node_like: Any = None,
    *,
    name: str | None = None,
    rerun_on_resume: bool | None = None,
    retry_config: RetryConfig | None = None,
    timeout: float | None = None,
    parallel_worker: bool = False,
    max_parallel_workers: int | None = None,
    on_error: OnError = "stop",
    auth_config: AuthConfig | None = None,
    require_confirmation: Requirement | None = None,
    parameter_binding: Binding = "state",
) -> Any:
    """Turn a function into a node, or give a node other options; also as `@node` and `@node(...)`.

    A node given here isn't changed: with options, a copy is returned.

    Args:
        node_like: What the node runs; without it, a decorator is returned.
        name: The node's name; the function's own by default.
        rerun_on_resume: After an answer, run the node again instead of taking the answer as its output.
        retry_config: When to try again after an error.
        timeout: Seconds that one try may take.
        parallel_worker: Run the node once for each item of its input, a list or tuple, and hand on the list of what
            came out. The other options are then those of one item.
        max_parallel_workers: How many items run at a time; `None` means all.
        on_error: `"stop"` ends a parallel worker with the error of the first item that fails, `"collect"` runs the
            others to their end and leaves `{"item_index", "error_type", "error_message"}` in the place of that item.
        auth_config: The credential that a function needs, asked for before it is called; with `rerun_on_resume=True`.
        require_confirmation: Ask a person before a function is called: always, or when a function of the same arguments
            says so. The node runs after the answer, so `rerun_on_resume` becomes `True`.
        parameter_binding: Where a function's arguments come from: the session state, or the keys of the input.

    Example:
        >>> @node(name="shout", timeout=5)
        ... def upper(node_input: str) -> str:
        ...     return node_input.upper()
        >>> upper.name, upper.timeout
        ('shout', 5.0)
    """
    check_options(parallel_worker, max_parallel_workers, on_error)
    if node_like is None:
        return lambda item: node(
            item,
            name=name,
            rerun_on_resume=rerun_on_resume,
            retry_config=retry_config,
            timeout=timeout,
            parallel_worker=parallel_worker,
            max_parallel_workers=max_parallel_workers,
            on_error=on_error,
            auth_config=auth_config,
            require_confirmation=require_confirmation,
            parameter_binding=parameter_binding,
        )
    if require_confirmation and rerun_on_resume is None:
        rerun_on_resume = True
    of_functions: dict[str, Any] = {"auth_config": auth_config, "require_confirmation": require_confirmation}
    if parameter_binding != "state":
        of_functions["parameter_binding"] = parameter_binding
    options = {"name": name, "rerun_on_resume": rerun_on_resume, "retry_config": retry_config, "timeout": timeout}
    built = _built(node_like, _set(options), _set(of_functions))
    if not parallel_worker:
        return built
    return ParallelWorker(node=built, max_parallel_workers=max_parallel_workers, on_error=on_error)


def _set(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _built(node_like: Any, given: dict[str, Any], of_functions: dict[str, Any]) -> BaseNode:
    if hasattr(node_like, "as_node") or isinstance(node_like, str):
        return _changed(build_node(node_like), given, of_functions)
    if not callable(node_like):
        raise node_like_error(node_like)
    return FunctionNode(func=node_like, **given, **of_functions)


def _changed(built: BaseNode, given: dict[str, Any], of_functions: dict[str, Any]) -> BaseNode:
    if not given and not of_functions:
        return built
    if isinstance(built, ParallelWorker):
        return built.around(_changed(built.node, given, of_functions))
    if built is START:
        raise WorkflowConfigurationError("START can't have options: it is where every graph begins, and never runs.")
    checked = BaseNode(**{"name": built.name, **given}) if given else built
    update = {key: getattr(checked, key) for key in given}
    if of_functions and not isinstance(built, FunctionNode):
        name, value = next(iter(of_functions.items()))
        remedy = f"write FunctionTool(func, {name}=...)" if built.kind == "tool" else "leave it out"
        raise WorkflowConfigurationError(
            f"{name}={value!r:.40} is an option of functions, and {built.name!r} is a {type(built).__name__}: {remedy}."
        )
    if isinstance(built, FunctionNode):
        if "parameter_binding" in of_functions:
            bound = FunctionNode(built.func, name=built.name, parameter_binding=of_functions["parameter_binding"])
            update |= {"input_schema": bound.input_schema}
        update |= of_functions
    changed = built.model_copy(update=update)
    changed.check_options()
    return changed


def build_root(item: Any) -> BaseNode:
    """Return the node that a runner runs for `item`: an object with `as_root` says itself what that is."""
    offer = getattr(item, "as_root", None)
    if offer is not None:
        root = offer()
        if isinstance(root, BaseNode):
            return root
    return build_node(item)
