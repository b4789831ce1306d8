"""What of a request counts on a tape, its key, and how two requests differ in words."""

from __future__ import annotations

import base64
import binascii
import difflib
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.plain_request import plain_request

_LARGE = 400
"""Attachments whose base64 text is longer stand on a tape as their checksum."""
_SHOWN = 60
_COMPARED = 4_000


def tape_request(request: LlmRequest, model: str) -> dict[str, Any]:
    """Return what of a request counts: model, contents, system text, tools and settings.

    Ids of calls, thought signatures, labels, and how the server is reached are left out, so that the same question
    asked in another run, session or process is the same request.
    """
    plain = plain_request(request)
    plain["model"] = request.model or model
    plain["config"].pop("labels", None)
    for content in plain["contents"]:
        content["parts"] = [_counting(part) for part in content.get("parts") or ()]
    return plain


def key_of(request: dict[str, Any]) -> str:
    """Return the key under which a request stands on a tape."""
    whole = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(whole.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _counting(part: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in part.items() if name != "thought_signature"}
    for name in ("function_call", "function_response"):
        if isinstance(kept.get(name), dict):
            kept[name] = {inner: value for inner, value in kept[name].items() if inner != "id"}
    data = kept.get("inline_data")
    if isinstance(data, dict) and isinstance(data.get("data"), str) and len(data["data"]) > _LARGE:
        kept["inline_data"] = {**data, "data": _checksum(data["data"])}
    return kept


def _checksum(encoded: str) -> str:
    try:
        raw = base64.urlsafe_b64decode(encoded)
    except binascii.Error:
        raw = encoded.encode()
    return f"sha256:{hashlib.sha256(raw).hexdigest()} ({len(raw)} bytes)"


def nearest(request: dict[str, Any], recorded: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the recorded request that is most like one, `None` when there is none."""
    wanted, best, found = _aspects(request), (1 << 30, 0.0), None
    text = _short_json(request)
    for one in recorded:
        aspects = _aspects(one)
        count = sum(wanted.get(name) != aspects.get(name) for name in {*wanted, *aspects})
        if count > best[0]:
            continue
        rank = (count, -difflib.SequenceMatcher(None, text, _short_json(one)).quick_ratio())
        if found is None or rank < best:
            best, found = rank, one
    return found


def differences(recorded: dict[str, Any], asked: dict[str, Any]) -> str:
    """Say in words what a request asks otherwise than a recorded one.

    Example:
        >>> old = {"model": "m", "contents": [], "config": {"system_instruction": "count"}}
        >>> new = {"model": "m", "contents": [], "config": {"system_instruction": "count again"}}
        >>> differences(old, new)
        "the instruction (recorded: 'count', now: 'count again')"
    """
    before, after = _aspects(recorded), _aspects(asked)
    said = []
    for name in dict.fromkeys([*after, *before]):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if old is None and new is not None:
            said.append(f"{name} (not recorded, now: {_excerpt(new, '')})")
        elif new is None and old is not None:
            said.append(f"{name} (recorded: {_excerpt(old, '')}, now missing)")
        elif old is not None and new is not None:
            said.append(f"{name} (recorded: {_excerpt(old, new)}, now: {_excerpt(new, old)})")
    return "; ".join(said[:4]) + (f"; and {len(said) - 4} more" if len(said) > 4 else "")


def _aspects(request: dict[str, Any]) -> dict[str, str]:
    """A request as named texts that can be compared."""
    config = dict(request.get("config") or {})
    found = {"the model": str(request.get("model"))}
    system = config.pop("system_instruction", None)
    if system is not None:
        found["the instruction"] = system if isinstance(system, str) else _json(system)
    for index, content in enumerate(request.get("contents") or ()):
        found[f"message {index + 1} ({content.get('role') or 'user'})"] = _said(content)
    tools = config.pop("tools", None)
    for tool in tools or ():
        for declared in (isinstance(tool, dict) and tool.get("function_declarations")) or [tool]:
            name = declared.get("name", "built in") if isinstance(declared, dict) else str(declared)
            found[f"tool {name!r}"] = _json(declared)
    for name in ("response_schema", "response_json_schema"):
        if name in config:
            found["the shape of the answer"] = _json(config.pop(name))
    found.update({f"setting {name}": _json(value) for name, value in config.items()})
    return found


def _said(content: dict[str, Any]) -> str:
    parts = content.get("parts") or ()
    texts = [part["text"] if set(part) == {"text"} else _json(part) for part in parts]
    return "\n".join(texts)


def _excerpt(text: str, other: str) -> str:
    """The part of a text around its first difference from another one."""
    if len(text) <= 2 * _SHOWN:
        return repr(text)
    same = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    start = max(0, same - _SHOWN // 2) if other else 0
    cut = text[start : start + 2 * _SHOWN]
    return repr(f"{'…' if start else ''}{cut}{'…' if start + len(cut) < len(text) else ''}")


def _short_json(request: dict[str, Any]) -> str:
    return _json(request)[:_COMPARED]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def named(agent: str) -> str:
    """Return an agent as messages name it."""
    return f"agent {agent!r}" if agent else "code outside of any agent"
