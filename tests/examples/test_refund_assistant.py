"""The refund assistant: agents understand, the workflow keeps the order, a person approves, the refund is paid once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from adk_nb import Agent, Event, Workflow
from adk_nb.events import RequestInput
from adk_nb.examples import refund_model
from adk_nb.examples.refund import ORDERS
from adk_nb.notebook.running.starts import run
from adk_nb.workflow import JoinNode, RetryConfig, node


class Intake(BaseModel):
    """What the customer wants."""

    order_id: str | None
    reason: str


class Verdict(BaseModel):
    """What the policy says."""

    eligible: bool
    reason: str


class Bank:
    """A payment service that keeps one receipt for each key, and loses its first answers."""

    def __init__(self, lost_answers: int = 0) -> None:
        self.receipts: dict[str, float] = {}
        self.calls = 0
        self._lost_answers = lost_answers

    def refund(self, key: str, amount: float) -> str:
        """Pay back once a key."""
        self.calls += 1
        self.receipts.setdefault(key, amount)
        if self.calls <= self._lost_answers:
            raise ConnectionError("the answer was lost")
        return f"receipt {key}"


def assistant(bank: Bank) -> Workflow:
    """Return the whole workflow."""
    intake = Agent(name="intake", instruction="Say order id and reason.", output_schema=Intake)
    check_policy = Agent(
        name="check_policy",
        description="Checks the return policy.",
        mode="task",
        instruction="Decide by the policy; ask the customer when the reason is unclear.",
        output_schema=Verdict,
    )

    @node(rerun_on_resume=True)
    def find_order(node_input: Intake, ctx: Any) -> Iterator[Any]:
        order_id = node_input.order_id or ctx.resume_inputs.get("order")
        if order_id not in ORDERS:
            yield RequestInput(interrupt_id="order", message="Which order? It begins with RF-.")
            return
        yield {**ORDERS[order_id], "reason": node_input.reason}

    def check_order(node_input: dict[str, Any]) -> dict[str, Any]:
        risk = "high" if node_input["price"] > 500 else "low"
        return {"order_id": node_input["order_id"], "price": node_input["price"], "risk": risk}

    def decide(node_input: dict[str, Any]) -> Any:
        order, verdict = node_input["check_order"], node_input["check_policy"]
        route = order["risk"] if verdict["eligible"] else "refused"
        return Event(output={**order, "why": verdict["reason"]}, route=route)

    def human_approval(node_input: dict[str, Any]) -> Iterator[Any]:
        yield RequestInput(interrupt_id="approval", message=f"Refund {node_input['price']}?", payload=node_input)

    def approved(node_input: str, ctx: Any) -> Any:
        return Event(output=ctx.state["order"], route="yes" if node_input == "yes" else "no")

    @node(retry_config=RetryConfig(max_attempts=3, initial_delay=0.0, jitter=0.0))
    def issue_refund(node_input: dict[str, Any]) -> str:
        return bank.refund(f"refund:{node_input['order_id']}", node_input["price"])

    def remember(node_input: dict[str, Any]) -> Any:
        return Event(output=node_input, state={"order": node_input})

    def refuse(node_input: dict[str, Any]) -> str:
        return "no refund"

    join = JoinNode(name="checked")
    return Workflow(
        name="refund_workflow",
        edges=[
            ("START", intake, find_order),
            (find_order, (check_order, check_policy)),
            ((check_order, check_policy), join),
            (join, decide),
            (decide, {"low": issue_refund, "high": remember, "refused": refuse}),
            (remember, human_approval, approved),
            (approved, {"yes": issue_refund, "no": refuse}),
        ],
    )


def drive(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine; whatever it leaves hanging fails the test."""
    asyncio.run(asyncio.wait_for(work, 30))


def test_a_small_refund_is_paid_without_a_person() -> None:
    """Eligible and low risk takes the automatic edge; two model calls decide, the rest is code."""

    async def main() -> None:
        bank = Bank()
        made = await run(assistant(bank), "RF-204: the shoes are too small", model=refund_model(), sessions="memory")
        assert (made.status, made.output, bank.receipts) == (
            "completed",
            "receipt refund:RF-204",
            {"refund:RF-204": 89.0},
        )
        assert made.usage.model_calls == 2

    drive(main())


def test_a_lost_answer_pays_once() -> None:
    """When the bank's answer is lost the node is tried again, and the key makes it one payment."""

    async def main() -> None:
        bank = Bank(lost_answers=2)
        made = await run(assistant(bank), "RF-204: too tight", model=refund_model(), sessions="memory")
        assert (made.status, bank.calls, bank.receipts) == ("completed", 3, {"refund:RF-204": 89.0})

    drive(main())


def test_a_large_refund_waits_for_a_person() -> None:
    """High risk takes the approval edge; no answer means no payment, and "no" refuses."""

    async def main() -> None:
        for answer, output in (("yes", "receipt refund:RF-305"), ("no", "no refund")):
            bank = Bank()
            made = await run(assistant(bank), "RF-305 has a crack", model=refund_model(), sessions="memory")
            assert (made.status, [one.node for one in made.pending], bank.calls) == ("waiting", ["human_approval"], 0)
            await made.respond(answer)
            assert (made.status, made.output) == ("completed", output)

    drive(main())


def test_what_is_missing_is_asked_for() -> None:
    """A node asks for the order, the policy agent for the reason, in one run; each answer goes where it belongs."""

    async def main() -> None:
        bank = Bank()
        made = await run(assistant(bank), "I want my money back", model=refund_model(), sessions="memory")
        assert [one.node for one in made.pending] == ["find_order"]
        await made.respond("RF-204")
        assert [(one.node, one.is_spoken) for one in made.pending] == [("check_policy", True)]
        assert await made.send("They don't fit.") is made
        assert (made.status, made.output) == ("completed", "receipt refund:RF-204")

    drive(main())


def test_the_policy_refuses() -> None:
    """What the policy doesn't take back ends on the refusing edge."""

    async def main() -> None:
        bank = Bank()
        made = await run(assistant(bank), "RF-417, I want another colour", model=refund_model(), sessions="memory")
        assert (made.status, made.output, bank.calls) == ("completed", "no refund", 0)

    drive(main())


def test_every_pause_survives_a_restart(tmp_path: Path) -> None:
    """Each answer may come to a new process with new objects on the same file; nothing runs twice."""

    async def main() -> None:
        bank = Bank()
        file = str(tmp_path / "sessions.db")
        first = await run(assistant(bank), "RF-305, my bike", model=refund_model(), sessions=file)
        assert [one.node for one in first.pending] == ["check_policy"]
        second = await run(
            assistant(bank), "It is broken", model=refund_model(), session=first.session_id, sessions=file
        )
        assert [one.node for one in second.pending] == ["human_approval"]
        assert second.invocation_id == first.invocation_id
        await second.respond("yes")
        assert (second.status, bank.receipts) == ("completed", {"refund:RF-305": 1240.0})

    drive(main())
