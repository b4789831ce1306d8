"""Approvals as views and pages show them."""

from __future__ import annotations

import asyncio

from adk_nb.events import RequestInput
from adk_nb.events.tool_confirmation import CONFIRMATION_SCHEMA
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run
from adk_nb.notebook.view.run_page import as_text
from adk_nb.workflow import Workflow, node


def wipe(node_input: str) -> str:
    """Do something that needs an approval."""
    return f"wiped {node_input}"


async def asked() -> Run:
    """A run that waits for an approval."""
    flow = Workflow(name="guarded", edges=[("START", node(wipe, name="wipe", require_confirmation=True))])
    return await run(flow, "all", sessions="memory")


def test_call_is_told() -> None:
    """A view gets the name and the arguments of the call, and the text says which lines decide."""

    async def main() -> None:
        made = await asked()
        [question] = made.history.fold.snapshot()["questions"]
        assert question["approval"]["name"] == "wipe"
        assert question["approval"]["args"] == {"node_input": "all"}
        text = as_text(made.history.fold.snapshot())
        assert f"await run.approve({question['interrupt_id']!r}) or await run.reject(" in text

    asyncio.run(main())


def test_page_says_what_was_decided() -> None:
    """Without scripts a page names the call and how to decide, later what was decided."""

    async def main() -> None:
        made = await asked()
        readable = made.to_html().partition("<script")[0]
        assert "<code>wipe</code>" in readable
        assert "<code>await run.approve()</code> or <code>await run.reject()</code>" in readable
        await made.reject(payload="no reason")
        readable = made.to_html().partition("<script")[0]
        assert "<b>rejected</b>" in readable
        assert "no reason" in readable

    asyncio.run(main())


def test_approval_in_own_words() -> None:
    """A node that asks with the schema of approvals and a payload of its own is shown with that payload."""

    def ask(node_input: str) -> object:
        return RequestInput(message="Sure?", payload={"a": 1}, response_schema=CONFIRMATION_SCHEMA)

    async def main() -> None:
        made = await run(Workflow(name="w", edges=[("START", ask)]), "x", sessions="memory")
        [question] = made.history.fold.snapshot()["questions"]
        assert question["approval"] == {"name": "", "args": {}, "shown": {"a": 1}}
        await made.approve()
        assert made.output["confirmed"] is True

    asyncio.run(main())
