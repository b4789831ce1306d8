"""Asking a model's server again: when, how long to wait, and what a lost connection is called."""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import tenacity
from google.genai import errors, types

from adk_nb.errors import ModelConnectionError
from adk_nb.models.llm_response import LlmResponse

_T = TypeVar("_T")
_RETRIED_CODES = frozenset({408, 429, 500, 502, 503, 504})
_DEFAULT_ATTEMPTS = 5
_CLIENT_PACKAGES = frozenset({"aiohttp", "httpcore", "httpcore2", "httpx", "httpx2"})


class RateLimitError(errors.ClientError):
    """Too many requests (HTTP 429)."""

    def __str__(self) -> str:
        return (
            f"{super().__str__()} Wait a little, ask less often (max_concurrency=), or let the model ask again by "
            f"itself: Gemini(model=..., retry_options=types.HttpRetryOptions(attempts=4))."
        )


class Attempts:
    """The attempts of one model call, by google-genai's `HttpRetryOptions`.

    Attributes:
        model: The model's name, for messages.
        count: Attempts made so far.
        waited_s: Seconds spent between them.
    """

    def __init__(self, model: str, options: types.HttpRetryOptions | None) -> None:
        self.model = model
        self.count = 0
        self.waited_s = 0.0
        given = options or types.HttpRetryOptions(attempts=1)
        self._limit = _DEFAULT_ATTEMPTS if given.attempts is None else max(given.attempts, 1)
        self._codes = frozenset(given.http_status_codes or _RETRIED_CODES)
        self._max_delay = 60.0 if given.max_delay is None else given.max_delay
        self._backoff = tenacity.wait_exponential_jitter(
            initial=1.0 if given.initial_delay is None else given.initial_delay,
            max=self._max_delay,
            exp_base=2.0 if given.exp_base is None else given.exp_base,
            jitter=1.0 if given.jitter is None else given.jitter,
        )

    async def run(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        """Return what `ask` returns, asking again as long as the options allow."""
        while True:
            self.count += 1
            try:
                with asking(self.model):
                    return await ask()
            except (errors.APIError, ModelConnectionError) as error:
                delay = self._delay_after(error)
                if delay is None:
                    vars(error).update(http_attempts=self.count, wait_s=round(self.waited_s, 3))
                    if self.count > 1:
                        error.add_note(f"{self.count} attempts were made, with {self.waited_s:.1f} s between them.")
                    raise
            self.waited_s += delay
            await asyncio.sleep(delay)

    def noted_on(self, response: LlmResponse) -> LlmResponse:
        """Return the response, after several attempts with `http_attempts` and `wait_s` in its `custom_metadata`."""
        if self.count < 2:
            return response
        noted = {**(response.custom_metadata or {}), "http_attempts": self.count, "wait_s": round(self.waited_s, 3)}
        return response.model_copy(update={"custom_metadata": noted})

    def _delay_after(self, error: Exception) -> float | None:
        if self.count >= self._limit:
            return None
        if isinstance(error, errors.APIError) and error.code not in self._codes:
            return None
        asked_for = wanted_delay(error)
        if asked_for > max(self._max_delay, 0.0):
            return None
        state = tenacity.RetryCallState(tenacity.AsyncRetrying(), None, (), {})
        state.attempt_number = self.count
        return max(asked_for, self._backoff(state))


@contextmanager
def asking(model: str) -> Iterator[None]:
    """Give errors of the way to a model one class and one sentence each."""
    try:
        yield
    except errors.ClientError as error:
        if error.code != 429 or isinstance(error, RateLimitError):
            raise
        raise RateLimitError(error.code, error.details, error.response) from error
    except (errors.UnknownApiResponseError, json.JSONDecodeError) as error:
        raise ModelConnectionError(
            f"The server asked for model {model!r} sent something that isn't an answer in JSON: {_short(error)} A "
            f"proxy, a sign-in page or a wrong base_url is the usual cause."
        ) from error
    except Exception as error:  # the HTTP packages share no base class; all but theirs goes on unchanged
        if not _is_transport_error(error):
            raise
        raise ModelConnectionError(
            f"Model {model!r} could not be reached: {type(error).__name__}: {_short(error)} Check the network and "
            f"base_url, or let the model ask again by itself with retry_options=."
        ) from error


def wanted_delay(error: BaseException) -> float:
    """Return for how many seconds the server asked us to wait, 0 when it didn't say.

    It is said in the header `Retry-After` (seconds or a date) or in the error's `retryDelay`.
    """
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    said = headers.get("retry-after") or headers.get("Retry-After") or _retry_delay(getattr(error, "details", None))
    if not said:
        return 0.0
    try:
        return max(float(said), 0.0)
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(said).timestamp() - time.time(), 0.0)
    except ValueError:
        return 0.0


def _retry_delay(details: Any) -> str:
    inner = details.get("error", details) if isinstance(details, dict) else {}
    listed = inner.get("details") if isinstance(inner, dict) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and isinstance(item.get("retryDelay"), str):
            return str(item["retryDelay"]).removesuffix("s")
    return ""


def _is_transport_error(error: BaseException) -> bool:
    packages = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError) or bool(packages & _CLIENT_PACKAGES)


def _short(error: BaseException) -> str:
    text = re.sub(r" ssl:<[^>]*>", "", str(error)).strip() or "no details."
    text = text if len(text) <= 200 else f"{text[:199]}…"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
