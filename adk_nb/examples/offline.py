"""A stand-in for the support inbox's model: it reads each ticket, needs no network and says the same every time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from adk_nb.errors import ConfigurationError
from adk_nb.examples.bug_report import draft_bug_report
from adk_nb.examples.orders import order_details
from adk_nb.examples.reader import NaiveBayesReader
from adk_nb.examples.tickets import load_tickets
from adk_nb.models import BaseLlm, LlmRequest
from adk_nb.testing import FunctionModel


def offline_model(reader: NaiveBayesReader | None = None) -> BaseLlm:
    """Return a model that answers the support inbox's agents by reading the newest user message.

    `classifier` gets the fields that its `output_schema` has among `category`, `summary`, `order_id`, `amount` and
    `currency`; `bug_triage` gets a bug report drafted from the summary that it is handed. Both come out of the ticket's
    own words, whatever the ticket says about instructions. Tokens are counted from the
    texts that really went to and fro, by `FunctionModel`'s rule: four characters are one token.

    Args:
        reader: A fitted reader; `None` fits one on the training half of the labelled tickets.

    Raises:
        ConfigurationError: when asked by an agent with another name.

    Example:
        >>> offline_model().model
        'offline-reader'
    """
    chosen = reader if reader is not None else NaiveBayesReader().fit(load_tickets("train"))
    answers: dict[str, Callable[[LlmRequest], dict[str, Any] | str]] = {
        "classifier": lambda request: _classification(request, chosen),
        "bug_triage": lambda request: draft_bug_report(_handed_summary(request.last_user_text), chosen),
    }

    def answer(request: LlmRequest) -> dict[str, Any] | str:
        if request.agent_name not in answers:
            raise ConfigurationError(
                f"The offline model was asked by agent {request.agent_name!r}; it can only answer "
                f"{' and '.join(map(repr, answers))}. Name the agent so, or give it another model."
            )
        return answers[request.agent_name](request)

    return FunctionModel(answer, model="offline-reader")


def _classification(request: LlmRequest, reader: NaiveBayesReader) -> dict[str, Any]:
    text = request.last_user_text
    details = order_details(text)
    known = {
        "category": reader.predict(text)[0],
        "summary": reader.summary(text),
        "order_id": details.order_id,
        "amount": None if details.amount is None else float(details.amount),
        "currency": details.currency,
    }
    wanted = _asked_fields(request)
    return {name: value for name, value in known.items() if name in wanted}


def _asked_fields(request: LlmRequest) -> set[str]:
    """Fields of the answer's shape; category and summary where no shape was asked for."""
    shape = request.config.response_schema or request.config.response_json_schema
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return set(shape.model_fields)
    properties = shape.get("properties") if isinstance(shape, dict) else getattr(shape, "properties", None)
    return set(properties or ("category", "summary"))


def _handed_summary(text: str) -> str:
    """The summary inside a classified ticket (JSON), or the text itself."""
    try:
        ticket = json.loads(text)
    except ValueError:
        return text
    summary = ticket.get("summary") if isinstance(ticket, dict) else None
    return summary if isinstance(summary, str) else text
