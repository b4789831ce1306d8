"""Every error adk_nb raises, as one tree.

```
AdkNbError
├── ConfigurationError (ValueError)             as written: found when a graph, agent or option is built
│   ├── GraphValidationError
│   ├── WorkflowConfigurationError
│   └── MissingApiKeyError
├── DataError (ValueError)                      this run's values
│   ├── WorkflowDataError
│   │   ├── AnswerError
│   │   └── ToolArgumentsError (TypeError)
│   ├── ModelAnswerError
│   │   └── UnusableAnswerError
│   │       ├── BlockedAnswerError
│   │       ├── EmptyAnswerError
│   │       ├── InvalidAnswerError
│   │       └── MalformedCallError
│   ├── TapeError
│   │   └── TapeMissError
│   ├── MissingVariableError (KeyError)
│   ├── InputValidationError
│   ├── NotFoundError
│   │   ├── InvocationNotFoundError
│   │   └── SessionNotFoundError
│   ├── AlreadyExistsError
│   ├── StaleSessionError
│   ├── SessionBusyError
│   └── SessionStoreError
├── EngineError (RuntimeError)                  ours: please report
│   └── WorkflowInvariantError
├── StateSchemaError (TypeError)
├── ModelConnectionError (ConnectionError)
├── NodeTimeoutError (TimeoutError)
├── PluginError (RuntimeError)
├── LlmCallsLimitExceededError (RuntimeError)
├── DynamicNodeFailError (RuntimeError)
└── StoredRunError (RuntimeError)
NodeInterruptedError (BaseException)            a signal, not an error: a child waits for a person
```

Every class also derives from the builtin that a Python user expects, so `except ValueError` keeps working. Two more
stand in their rooms: `models.transport.RateLimitError`, which is google-genai's `ClientError` as well, and
`notebook.layout.LayoutError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class AdkNbError(Exception):
    """Base of every error that adk_nb raises on purpose.

    Attributes:
        is_worth_another_try: Trying the same again may go well; where it can't, a `RetryConfig` that names no
            exceptions doesn't try.
    """

    is_worth_another_try = True


class ConfigurationError(AdkNbError, ValueError):
    """A graph, agent, node or option is written in a way that can't work."""


class GraphValidationError(ConfigurationError):
    """The edges don't form a graph that can run."""


class WorkflowConfigurationError(ConfigurationError):
    """A node or an edge is written in a way that can't work."""


class MissingApiKeyError(ConfigurationError):
    """A hosted model was asked without an API key."""

    is_worth_another_try = False


class DataError(AdkNbError, ValueError):
    """A value of this run doesn't fit where it was put."""


class WorkflowDataError(DataError):
    """A node's input, output or argument doesn't fit."""


class AnswerError(WorkflowDataError):
    """A person's answer doesn't fit its question, or the question isn't open; nothing was stored or run."""


class ToolArgumentsError(WorkflowDataError, TypeError):
    """A tool can't be called with these arguments: one is missing, or doesn't fit."""


class ModelAnswerError(DataError):
    """A model's reply can't be used: blocked, empty or not in the declared shape."""


class UnusableAnswerError(ModelAnswerError):
    """A model ended its turn with an error code in place of an answer.

    Attributes:
        status: The code.
    """

    def __init__(self, message: str, status: str) -> None:
        super().__init__(message)
        self.status = status


class BlockedAnswerError(UnusableAnswerError):
    """The provider's filter refused the prompt or the answer; asking the same again is refused again."""

    is_worth_another_try = False


class EmptyAnswerError(UnusableAnswerError):
    """The answer holds no word, for instance because thinking used up the output limit."""


class MalformedCallError(UnusableAnswerError):
    """The model tried to call a tool and what it wrote is no call; asking again may go well."""


class InvalidAnswerError(UnusableAnswerError):
    """The answer doesn't fit the agent's `output_schema`; `status` is `INVALID_ANSWER`, `MAX_TOKENS` if cut short."""


class ModelConnectionError(AdkNbError, ConnectionError):
    """The model's server could not be reached, broke off, or sent something that isn't an answer."""

    status = "CONNECTION_FAILED"


class TapeError(DataError):
    """A tape of model calls can't be read, or holds an error that can't be raised as it was."""


class TapeMissError(TapeError):
    """A model was asked for something that isn't on the tape; no model was asked in its place."""

    status = "TAPE_MISS"
    is_worth_another_try = False


class MissingVariableError(DataError, KeyError):
    """An instruction names a state key that isn't set.

    Attributes:
        key: The key.
    """

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key

    def __str__(self) -> str:
        return str(self.args[0])


class InputValidationError(DataError):
    """A name, an id or a value can't be taken by a service; nothing was stored."""


class NotFoundError(DataError):
    """What was asked for isn't there."""


class InvocationNotFoundError(NotFoundError):
    """No run with this invocation id is in the session."""


class SessionNotFoundError(NotFoundError):
    """No session with this id is in the store."""


class AlreadyExistsError(DataError):
    """A session with this id is in the store already."""


class StaleSessionError(DataError):
    """Another process wrote to the session since it was loaded."""


class SessionBusyError(DataError):
    """Another process is running this session now."""


class SessionStoreError(DataError):
    """The file or database isn't a session store that adk_nb can use."""


class EngineError(AdkNbError, RuntimeError):
    """adk_nb broke one of its own rules: please report it."""


class WorkflowInvariantError(EngineError):
    """The engine met a state that can't be."""


class StateSchemaError(AdkNbError, TypeError):
    """A state key isn't declared in the `state_schema`, or its value doesn't fit."""


class NodeTimeoutError(AdkNbError, TimeoutError):
    """One attempt of a node took longer than its `timeout`.

    Attributes:
        node_name: The node's name.
        timeout: The limit, in seconds.
    """

    def __init__(self, node_name: str, timeout: float) -> None:
        super().__init__(f"Node {node_name!r} timed out after {timeout:g} s; raise its timeout= or make it faster.")
        self.node_name = node_name
        self.timeout = timeout


class PluginError(AdkNbError, RuntimeError):
    """A plugin's hook failed; the cause is the plugin's own error.

    Attributes:
        plugin_name: The plugin.
        hook: Its hook, for instance `on_event_callback`.
    """

    def __init__(self, message: str, plugin_name: str, hook: str) -> None:
        super().__init__(message)
        self.plugin_name = plugin_name
        self.hook = hook


class LlmCallsLimitExceededError(AdkNbError, RuntimeError):
    """A run asked its models more often than `RunConfig.max_llm_calls` allows."""


class DynamicNodeFailError(AdkNbError, RuntimeError):
    """A child started with `ctx.run_node` failed; catch it to go on without the child.

    Attributes:
        error: The child's own exception.
        error_node_path: Path of the node that raised it.
        error_type: Class name of the child's exception.
        error_message: Its text.
    """

    def __init__(
        self, node_name: str, error: BaseException, error_node_path: str, *, error_type: str | None = None
    ) -> None:
        """Say which child failed with what.

        Args:
            node_name: Name of the child.
            error: Its exception.
            error_node_path: Path of the node that raised it.
            error_type: The class name, where `error` only stands for an exception of an earlier process.
        """
        self.error = error
        self.error_node_path = error_node_path
        self.error_type = error_type or type(error).__name__
        self.error_message = str(error)
        super().__init__(f"Dynamic node {node_name!r} failed at {error_node_path}: {self.error_type}: {error}")

    @property
    def status_code(self) -> Any:
        """The child error's `status_code` or `code`, or `None`."""
        return getattr(self.error, "status_code", getattr(self.error, "code", None))

    @property
    def details(self) -> Any:
        """The child error's `details`, or `None`."""
        return getattr(self.error, "details", None)


class StoredRunError(AdkNbError, RuntimeError):
    """A stored run had failed; its original exception went with the process that ran it."""


class NodeInterruptedError(BaseException):
    """A child of this node waits for a person, so the node stops here until the answer is in."""

    def __init__(self, interrupt_ids: Iterable[str]) -> None:
        self.interrupt_ids = tuple(interrupt_ids)
        super().__init__(f"waiting for {', '.join(self.interrupt_ids)}")


def one_of(found: object, allowed: Iterable[object]) -> str:
    """Say which names are allowed, the one nearest to what was found first.

    Example:
        >>> one_of("BILING", ["BUG", "BILLING"])
        "'BILLING' (did you mean this?), 'BUG'"
    """
    names = [str(name) for name in allowed]
    near = difflib.get_close_matches(str(found), names, n=1, cutoff=0.6)
    rest = [repr(name) for name in names if name not in near]
    return ", ".join([f"{near[0]!r} (did you mean this?)", *rest] if near else rest) or "none"


__all__ = [
    "AdkNbError",
    "AlreadyExistsError",
    "AnswerError",
    "BlockedAnswerError",
    "ConfigurationError",
    "DataError",
    "DynamicNodeFailError",
    "EmptyAnswerError",
    "EngineError",
    "GraphValidationError",
    "InputValidationError",
    "InvalidAnswerError",
    "InvocationNotFoundError",
    "LlmCallsLimitExceededError",
    "MalformedCallError",
    "MissingApiKeyError",
    "MissingVariableError",
    "ModelAnswerError",
    "ModelConnectionError",
    "NodeInterruptedError",
    "NodeTimeoutError",
    "NotFoundError",
    "PluginError",
    "SessionBusyError",
    "SessionNotFoundError",
    "SessionStoreError",
    "StaleSessionError",
    "StateSchemaError",
    "TapeError",
    "TapeMissError",
    "ToolArgumentsError",
    "UnusableAnswerError",
    "WorkflowConfigurationError",
    "WorkflowDataError",
    "WorkflowInvariantError",
    "one_of",
]
