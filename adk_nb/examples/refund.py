"""A refund desk to try agents inside a workflow on: an offline model that reads requests and checks the policy."""

from __future__ import annotations

import json
import re
from typing import Any

from adk_nb.errors import ConfigurationError
from adk_nb.models import BaseLlm, LlmRequest
from adk_nb.testing import FunctionModel, call

ORDERS: dict[str, dict[str, Any]] = {
    "RF-204": {"order_id": "RF-204", "item": "running shoes", "price": 89.0, "days_ago": 6},
    "RF-305": {"order_id": "RF-305", "item": "road bike", "price": 1240.0, "days_ago": 12},
    "RF-417": {"order_id": "RF-417", "item": "rain jacket", "price": 120.0, "days_ago": 75},
}
"""The shop's orders, by id. Customers and goods are invented."""

RETURN_DAYS = 30
"""How long the policy takes things back."""

_ORDER = re.compile(r"\bRF-\d+\b")
_REASONS = {
    "size": ("size", "small", "large", "fit", "tight"),
    "not arrived": ("arrived", "parcel", "lost", "delivery"),
    "changed mind": ("colour", "color", "another", "changed my mind"),
    "broken": ("broken", "crack", "torn", "defect"),
}


def refund_model() -> BaseLlm:
    """Return a model that plays a refund desk's agents by plain rules, without a network.

    `intake` answers with `order_id` (null where the customer names none) and `reason`. `check_policy` reads `reason`
    and `days_ago` from the task that it is given and ends it with `finish_task(eligible=…, reason=…)`; for a reason
    that it doesn't understand it first asks the customer.

    Raises:
        ConfigurationError: when asked by an agent with another name.

    Example:
        >>> refund_model().model
        'offline-refund'
    """
    return FunctionModel(_reply, model="offline-refund")


def _reply(request: LlmRequest) -> Any:
    if request.agent_name == "intake":
        text = request.last_user_text
        named = _ORDER.search(text)
        return {"order_id": named.group() if named else None, "reason": _reason(text) or "unclear"}
    if request.agent_name == "check_policy":
        return _check(request)
    raise ConfigurationError(
        f"The offline refund model was asked by agent {request.agent_name!r}; it can only play 'intake' and "
        f"'check_policy'. Name the agent so, or give it another model."
    )


def _check(request: LlmRequest) -> Any:
    texts = [part.text for content in request.contents for part in content.parts or () if part.text]
    task = json.loads(texts[0])
    reason = task["reason"] if task["reason"] != "unclear" else _reason(" ".join(texts[1:]))
    if not reason:
        return "What is wrong with it: the size, is it broken, did it not arrive, or did you change your mind?"
    is_in_time = task["days_ago"] <= RETURN_DAYS
    is_eligible = is_in_time or reason in ("broken", "not arrived")
    why = f"{reason}, bought {task['days_ago']} days ago"
    return call("finish_task", eligible=is_eligible, reason=why)


def _reason(text: str) -> str | None:
    lowered = text.lower()
    return next((reason for reason, words in _REASONS.items() if any(word in lowered for word in words)), None)
