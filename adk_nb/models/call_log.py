"""The calls of models that this process made: what exactly was asked, what came back, how long it took.

It is kept beside the runs and never stored. The newest thousand calls are there; older ones are told by their events.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.plain_request import plain_request, plain_response
from adk_nb.models.secrets import without_secrets

KEPT = 1_000
"""How many calls are kept."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks a model, and where in the run."""

    agent: str = ""
    path: str = ""
    """Path of the node run."""
    invocation_id: str = ""
    attempt: int = 1
    """Which try of the node run it is."""


@dataclass(slots=True)
class ModelCall:
    """One call of a model; it grows until the call has ended."""

    caller: Caller
    model: str
    """The name it was asked under."""
    asked: LlmRequest = field(repr=False)
    """What was sent, by reference: see `request`."""
    is_streamed: bool = False
    source: str = "model"
    """`tape` when a tape replied in the model's place."""
    started_at: float = 0.0
    """Seconds since the epoch."""
    seconds: float | None = None
    """How long it took, `None` while it goes on."""
    response: LlmResponse | None = field(default=None, repr=False)
    """The whole answer; `None` while there is none and where the call failed."""
    error_type: str | None = None
    """What it failed with: the API's status, the finish reason or the exception's class name."""
    error_message: str | None = None
    http_attempts: int = 1
    """How often the server was asked, with those that failed."""
    wait_s: float = 0.0
    """Seconds spent between them."""

    @property
    def request(self) -> dict[str, Any]:
        """What was sent, as JSON values; no key, header or client is in it."""
        return plain_request(self.asked)

    @property
    def reply(self) -> dict[str, Any] | None:
        """What came back, as JSON values."""
        return None if self.response is None else plain_response(self.response)

    def heard(self, response: LlmResponse) -> None:
        """The whole answer is there."""
        self.response = response
        noted = response.custom_metadata or {}
        self.http_attempts = noted.get("http_attempts", 1)
        self.wait_s = noted.get("wait_s", 0.0)
        if response.error_code:
            self.error_type, self.error_message = response.error_code, without_secrets(response.error_message)

    def failed(self, error: BaseException) -> None:
        """The call ended in an exception."""
        status = getattr(error, "status", None)
        self.error_type = status if isinstance(status, str) and status else type(error).__name__
        self.error_message = without_secrets(str(error))
        self.http_attempts = getattr(error, "http_attempts", 1)
        self.wait_s = getattr(error, "wait_s", 0.0)


class CallLog:
    """Calls by run, the newest of all runs together.

    Args:
        kept: How many calls are kept at most.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._order: deque[str] = deque()
        self._calls: OrderedDict[str, deque[ModelCall]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, caller: Caller, model: str, request: LlmRequest, *, stream: bool) -> ModelCall:
        """Note that a call begins, and return it to be filled in."""
        sent = LlmRequest.model_construct(
            model=request.model or model,
            contents=list(request.contents),
            config=request.config.model_copy(),
            tools_dict={},
        )
        call = ModelCall(caller, model, sent, is_streamed=stream, started_at=time.time())
        with self._lock:
            self._order.append(caller.invocation_id)
            self._calls.setdefault(caller.invocation_id, deque()).append(call)
            if len(self._order) > self._kept:
                self._forget_oldest()
        return call

    def calls(self, invocation_id: str) -> list[ModelCall]:
        """Return the calls of a run that are still kept, oldest first."""
        with self._lock:
            return list(self._calls.get(invocation_id, ()))

    def clear(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._order.clear()
            self._calls.clear()

    def _forget_oldest(self) -> None:
        oldest = self._order.popleft()
        calls = self._calls[oldest]
        calls.popleft()
        if not calls:
            del self._calls[oldest]


call_log = CallLog()
"""The log of this process."""
