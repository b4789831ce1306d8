"""Questions that were asked with a model which the code has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from adk_nb.events.record import NodeRun, Question
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.nodes import BaseNode


def changed_schemas(node: BaseNode, run: NodeRun) -> Iterator[str]:
    """Say of each open question of a run what its model asks now and didn't, or the other way round.

    What a node asks with is known when it runs only. A model that its function names, with the name that the question
    keeps as its title, is taken for the one that it was asked with.
    """
    for question in run.open_questions:
        model = _named_model(node, question)
        if model is None:
            continue
        asked, now = question.response_schema or {}, model.model_json_schema()
        differences = _differences(asked, now)
        if differences:
            yield (
                f"Question {question.interrupt_id!r} of node {run.name!r} was asked with an earlier "
                f"{model.__name__}: {', '.join(differences)}. Its answer is judged as it was asked."
            )


def _named_model(node: BaseNode, question: Question) -> type[BaseModel] | None:
    title = (question.response_schema or {}).get("title")
    if not isinstance(node, FunctionNode) or not isinstance(title, str):
        return None
    code = getattr(node.func, "__code__", None)
    found = node.func.__globals__.get(title) if code is not None and title in code.co_names else None
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _differences(asked: dict[str, Any], now: dict[str, Any]) -> list[str]:
    if asked == now:
        return []
    before, after = asked.get("properties", {}), now.get("properties", {})
    told = [f"{name!r} is new" for name in after if name not in before]
    told += [f"{name!r} is gone" for name in before if name not in after]
    told += [f"{name!r} has changed" for name in after if name in before and before[name] != after[name]]
    needed = [name for name in now.get("required", ()) if name in before and name not in asked.get("required", ())]
    return told + [f"{name!r} is required now" for name in needed] or ["it has changed"]
