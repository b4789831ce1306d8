"""Re-sent tokens: how much of each prompt a model had been sent before in the same session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


class Resent:
    """Follows the calls of one session in order and says how much of each prompt was sent before.

    Where the request is known, its pieces (system text, each tool's declaration, each part of each message) are looked
    up among those of earlier calls. If they are the whole call before it, its count is the answer; else the prompt's
    tokens are shared out by length. Where only the counts are stored,
    a call that goes on in the same node run has sent at least what the call before it sent; of the first call of a node
    run nothing is known, unless it is the session's first.

    Example:
        >>> resent = Resent()
        >>> one = {"contents": [{"role": "user", "parts": [{"text": "abcdefgh"}]}]}
        >>> two = {"contents": [*one["contents"], {"role": "model", "parts": [{"text": "ijklmnop"}]}]}
        >>> resent.of("e", "a@1", 10, one), resent.of("e", "a@1", 20, two)
        (0, 10)
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._before: dict[tuple[str, str], int] = {}
        self._last: dict[tuple[str, str], list[str]] = {}
        self._is_first = True

    def of(self, invocation: str, path: str, prompt: int | None, request: dict[str, Any] | None) -> int | None:
        """Take the next call in, and return how many of its prompt's tokens were sent before; `None` is unknown."""
        key, is_first = (invocation, path), self._is_first
        before = self._before.get(key)
        self._is_first = False
        if prompt is not None:
            self._before[key] = prompt
        if request is not None:
            pieces = list(_pieces(request))
            old = [piece for piece in pieces if piece in self._seen]
            last, self._last[key] = self._last.get(key), pieces
            self._seen.update(pieces)
            if prompt is None:
                return None
            if before is not None and last == old:
                return min(prompt, before)  # the call before it, as a whole: the provider has counted that
            whole = sum(map(len, pieces))
            return round(prompt * sum(map(len, old)) / whole) if whole else None
        if prompt is None:
            return None
        if before is not None:
            return min(prompt, before)
        return 0 if is_first else None


def _pieces(request: dict[str, Any]) -> Iterator[str]:
    config = request.get("config") or {}
    system = config.get("system_instruction")
    if system:
        yield system if isinstance(system, str) else json.dumps(system)
    for tool in config.get("tools") or ():
        declared = tool.get("function_declarations") if isinstance(tool, dict) else None
        for one in declared or [tool]:
            yield json.dumps(one, default=str)
    for content in request.get("contents") or ():
        for part in content.get("parts") or ():
            text = part.get("text")
            yield text if isinstance(text, str) and text else _without_id(part)


def _without_id(part: dict[str, Any]) -> str:
    """Return a part as text without what differs each time it is sent."""
    told = {
        name: {key: inner for key, inner in value.items() if key != "id"} if isinstance(value, dict) else value
        for name, value in part.items()
    }
    return json.dumps(told, default=str)
