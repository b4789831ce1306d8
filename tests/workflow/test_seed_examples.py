"""The examples that people meet first when they read about graph workflows, with models that follow a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb import Agent, Context, Event, Workflow
from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import JoinNode, RetryConfig, node
from tests.workflow.driving import Conversation, lines, outputs, run

AT_ONCE: dict[str, Any] = {"initial_delay": 0, "jitter": 0}


class CityTime(BaseModel):
    """What a look-up returns."""

    time_info: str
    city: str


def test_city_time_pipeline() -> None:
    """An agent's reply is a function's input, and the function's model is the next agent's input."""

    async def test() -> None:
        model = ScriptedModel({"city_generator": ["Paris"], "city_report": ["It is 10:10 AM in lovely Paris."]})
        city_agent = Agent(name="city_generator", model=model, instruction="Return the name of a random city.")

        def lookup_time(node_input: str) -> CityTime:
            return CityTime(time_info="10:10 AM", city=node_input)

        report_agent = Agent(name="city_report", model=model, instruction="Write one friendly sentence.")
        talk = Conversation(Workflow(name="root_agent", edges=[("START", city_agent, lookup_time, report_agent)]))
        events = await talk.say("go")
        assert [event.node_info.path for event in events] == [
            "root_agent@1/city_generator@1",
            "root_agent@1/lookup_time@1",
            "root_agent@1/city_report@1",
        ]
        assert outputs(events) == {"root_agent@1/lookup_time@1": {"time_info": "10:10 AM", "city": "Paris"}}
        assert "10:10 AM" in model.requests[1].last_user_text
        assert "Paris" in model.requests[1].last_user_text
        root = await talk.root()
        assert root.status is Status.COMPLETED
        assert model.left == 0

    run(test)


@pytest.mark.parametrize(
    ("reply", "handled"),
    [("BUG", ["bug"]), ("BUG, LOGISTICS", ["bug", "logistics"]), ("CUSTOMER_SUPPORT,BUG", ["bug", "support"])],
)
def test_routing_workflow(reply: str, handled: list[str]) -> None:
    """A list of routes fans out to every matching branch and no other."""

    async def test() -> None:
        process_message = Agent(name="process_message", model=ScriptedModel([reply]), instruction="Which queues?")

        def router(node_input: str) -> Event:
            return Event(route=[r.strip() for r in node_input.split(",")])

        done: list[str] = []
        handle_bug = node(lambda: done.append("bug"), name="handle_bug")
        handle_support = node(lambda: done.append("support"), name="handle_support")
        handle_logistics = node(lambda: done.append("logistics"), name="handle_logistics")
        router_node = node(router)
        talk = Conversation(
            Workflow(
                name="routing_workflow",
                edges=[
                    ("START", process_message, router_node),
                    (
                        router_node,
                        {"BUG": handle_bug, "CUSTOMER_SUPPORT": handle_support, "LOGISTICS": handle_logistics},
                    ),
                ],
            )
        )
        await talk.say("my parcel broke the app")
        assert done == handled
        assert (await talk.root()).status is Status.COMPLETED

    run(test)


def test_draft_review_loop() -> None:
    """The reviewer's route leads back to the drafter until it approves; each pass is a new run."""

    async def test() -> None:
        drafter = Agent(name="drafter", model=ScriptedModel(["draft 1", "draft 2", "draft 3"]), instruction="Draft.")
        seen: list[str] = []

        def reviewer(node_input: str) -> Event:
            seen.append(node_input)
            return Event(output=node_input, route="approve" if len(seen) == 3 else "revise")

        def send(node_input: str) -> str:
            return f"sent {node_input}"

        reviewer_node = node(reviewer)
        talk = Conversation(
            Workflow(
                name="review_loop",
                edges=[
                    ("START", drafter),
                    (drafter, reviewer_node),
                    (reviewer_node, {"revise": drafter, "approve": send}),
                ],
            )
        )
        await talk.say("a letter")
        assert seen == ["draft 1", "draft 2", "draft 3"]
        assert (await talk.root()).output == "sent draft 3"
        assert [p for p in await talk.records() if "drafter" in p] == [f"review_loop@1/drafter@{n}" for n in (1, 2, 3)]

    run(test)


def test_parallel_analysis() -> None:
    """Three agents get the same text on their own lanes; the join hands all three replies to the report."""

    async def test() -> None:
        model = ScriptedModel({"sentiment": ["good"], "entities": ["Ada"], "summary": ["short"]})
        sentiment, entities, summary = (
            Agent(name=name, model=model, instruction=f"Find the {name}.")
            for name in ("sentiment", "entities", "summary")
        )
        join = JoinNode(name="join_analyses")

        def write_report(node_input: dict[str, str]) -> str:
            return ", ".join(f"{name}={text}" for name, text in node_input.items())

        talk = Conversation(
            Workflow(
                name="analysis",
                edges=[
                    ("START", (sentiment, entities, summary)),
                    ((sentiment, entities, summary), join),
                    (join, write_report),
                ],
            )
        )
        await talk.say("Ada likes it")
        assert (await talk.root()).output == "sentiment=good, entities=Ada, summary=short"
        assert [request.last_user_text for request in model.requests] == ["Ada likes it"] * 3

    run(test)


class Check(BaseModel):
    """What the linter found."""

    findings: list[str]


def code_fixing(log: list[str]) -> tuple[Any, ScriptedModel]:
    """Return the code-fixing loop and its model."""
    model = ScriptedModel({"coder": ["x = "], "fixer": ["x = (", "x = 1"]})
    coder_agent = Agent(name="coder", model=model, instruction="Write code.")
    fixer_agent = Agent(name="fixer", model=model, instruction="Fix the code.")

    def compile_lint_check(node_input: str) -> dict[str, list[str]]:
        log.append(f"check {node_input}")
        try:
            compile(node_input, "code", "exec")
        except SyntaxError as error:
            return {"findings": [str(error.msg)]}
        return {"findings": []}

    @node(rerun_on_resume=True)
    async def code_workflow(ctx: Context, user_request: str) -> AsyncGenerator[Event, None]:
        log.append("top")
        code = await ctx.run_node(coder_agent, user_request)
        check = Check.model_validate(await ctx.run_node(compile_lint_check, code))
        while check.findings:
            yield Event(state={"code": code, "findings": check.findings})
            code = await ctx.run_node(fixer_agent, {"code": code, "findings": check.findings})
            check = Check.model_validate(await ctx.run_node(compile_lint_check, code))
        yield Event(output=code)

    return code_workflow, model


def test_code_fixing_loop() -> None:
    """An ordinary while loop over agents and a check; its steps are recorded below it."""

    async def test() -> None:
        code_workflow, model = code_fixing([])
        talk = Conversation(code_workflow)
        await talk.say("set x to one")
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, "x = 1")
        assert model.left == 0
        assert (await talk.state())["code"] == "x = ("

    run(test)


@pytest.mark.parametrize("cut", range(1, 8))
def test_code_fixing_loop_interrupted(cut: int) -> None:
    """Interrupted after any event, the loop goes on without paying for the fixes that it has."""

    async def test() -> None:
        log: list[str] = []
        code_workflow, model = code_fixing(log)
        talk = Conversation(code_workflow)
        await talk.cut_after(cut)
        await talk.go_on()
        assert (await talk.root()).output == "x = 1"
        assert model.left == 0
        assert [line for line in log if line != "top"] == ["check x = ", "check x = (", "check x = 1"]

    run(test)


def test_process_batch_with_stable_ids() -> None:
    """A resumed batch reuses finished orders by their id, also when the orders come in another order."""

    async def test() -> None:
        done: list[int] = []
        orders = [{"id": n} for n in (7, 3, 9)]
        fails = {3}

        def process_order(node_input: dict[str, int]) -> str:
            if node_input["id"] in fails:
                raise ConnectionError("shop is down")
            done.append(node_input["id"])
            return f"done {node_input['id']}"

        @node(rerun_on_resume=True)
        async def process_batch(ctx: Context) -> list[str]:
            tasks = [ctx.run_node(process_order, o, run_id=f"order-{o['id']}") for o in orders]
            return list(await asyncio.gather(*tasks))

        talk = Conversation(Workflow(name="wf", edges=[("START", process_batch)]))
        await talk.fail(ConnectionError, talk.say())
        finished = list(done)
        orders.reverse()
        fails.clear()
        await talk.go_on()
        assert (await talk.root()).output == ["done 9", "done 3", "done 7"]
        assert sorted(done) == [3, 7, 9]
        assert done[: len(finished)] == finished
        assert {p.rpartition("@")[2] for p in await talk.records() if "process_order" in p} == {
            f"order-{n}" for n in (3, 7, 9)
        }

    run(test)


class ApprovalDecision(BaseModel):
    """What a person says to a deletion."""

    approved: bool
    reason: str = ""


@pytest.mark.parametrize(("approved", "result"), [(True, "deleted 214"), (False, "Cleanup cancelled.")])
def test_cleanup_with_approval(approved: bool, result: str) -> None:
    """The plan is made once, the reply is checked and read as an object, and nothing is deleted without a yes."""

    async def test() -> None:
        model, deleted = ScriptedModel(["delete 214 rows"]), []
        plan_agent = Agent(name="plan_agent", model=model, instruction="Plan the cleanup.")

        @node(rerun_on_resume=False)
        async def get_approval(ctx: Context, node_input: str) -> AsyncGenerator[RequestInput, None]:
            yield RequestInput(message="Delete 214 stale records from production?", response_schema=ApprovalDecision)

        def delete_records(node_input: str) -> str:
            deleted.append(node_input)
            return "deleted 214"

        @node(rerun_on_resume=True)
        async def cleanup(ctx: Context, node_input: str) -> Any:
            plan = await ctx.run_node(plan_agent, node_input)
            decision = await ctx.run_node(get_approval, plan)
            if decision.approved:
                return await ctx.run_node(delete_records, plan)
            return "Cleanup cancelled."

        talk = Conversation(cleanup)
        await talk.say("clean up")
        ((asker, question),) = await talk.questions()
        assert asker.name == "get_approval"
        assert question.message == "Delete 214 stale records from production?"
        await talk.answer({question.interrupt_id: {"approved": approved}})
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, result)
        assert deleted == (["delete 214 rows"] if approved else [])
        assert len(model.requests) == 1

    run(test)


def test_check_stock_is_retried_and_a_broad_except_is_not() -> None:
    """An error that propagates is tried again; one that is swallowed never reaches the engine."""

    async def test() -> None:
        calls: list[str] = []

        def get(sku: str) -> dict[str, bool]:
            calls.append(sku)
            if len(calls) < 3:
                raise TimeoutError("inventory is slow")
            return {"in_stock": True}

        def check_stock(sku: str) -> dict[str, Any]:
            return get(sku)

        def check_stock_bad(sku: str) -> dict[str, Any]:
            try:
                return get(sku)
            except Exception:  # noqa: BLE001  # the mistake that this example is about
                return {"error": "lookup failed"}

        for func, tries, result in (
            (check_stock, 3, {"in_stock": True}),
            (check_stock_bad, 1, {"error": "lookup failed"}),
        ):
            calls.clear()
            stock = node(func, retry_config=RetryConfig(max_attempts=5, **AT_ONCE))
            talk = Conversation(Workflow(name="wf", edges=[("START", stock)]))
            await talk.say("A-1")
            assert (await talk.root()).output == result
            assert calls == ["A-1"] * tries

    run(test)


class Ticket(BaseModel):
    """What the classifier says."""

    category: str
    summary: str


def support_inbox(model: ScriptedModel) -> Workflow:
    """Return the support inbox."""
    classifier = Agent(
        name="classifier",
        model=model,
        instruction="Classify the ticket as BILLING or BUG and summarise it in one line.",
        output_schema=Ticket,
    )

    def router(node_input: Ticket) -> Event:
        return Event(output=node_input, route=node_input.category)

    def approve_refund(node_input: Ticket) -> Any:
        yield RequestInput(message=f"Refund requested: {node_input.summary}. Approve? (yes/no)")

    def issue_refund(node_input: str) -> str:
        return "Refund issued." if node_input.strip().lower() == "yes" else "Refund declined."

    bug_agent = Agent(name="bug_triage", model=model, instruction="Draft a bug report from the ticket summary.")
    return Workflow(
        name="ticket_workflow",
        edges=[
            ("START", classifier, router),
            (router, {"BILLING": approve_refund, "BUG": bug_agent}),
            (approve_refund, issue_refund),
        ],
    )


@pytest.mark.parametrize(
    ("reply", "result"), [("yes", "Refund issued."), (" YES ", "Refund issued."), ("no", "Refund declined.")]
)
def test_support_inbox_refund(reply: str, result: str) -> None:
    """A billing ticket waits for a person; the reply decides, and the classifier isn't asked again."""

    async def test() -> None:
        model = ScriptedModel({"classifier": [{"category": "BILLING", "summary": "charged twice"}], "bug_triage": []})
        talk = Conversation(support_inbox(model))
        await talk.say("I was charged twice")
        ((_, question),) = await talk.questions()
        assert question.message == "Refund requested: charged twice. Approve? (yes/no)"
        events = await talk.answer({question.interrupt_id: reply})
        assert lines(events) == [("ticket_workflow@1/issue_refund@1", result)]
        assert (await talk.root()).output == result
        assert len(model.requests) == 1

    run(test)


def test_support_inbox_bug() -> None:
    """A bug goes to the second agent, which sees the ticket as the classifier put it."""

    async def test() -> None:
        model = ScriptedModel(
            {"classifier": [{"category": "BUG", "summary": "app crashes"}], "bug_triage": ["Report: app crashes"]}
        )
        talk = Conversation(support_inbox(model))
        events = await talk.say("It crashes!")
        assert [event.author for event in events] == ["classifier", "ticket_workflow", "bug_triage"]
        assert "app crashes" in model.requests[1].last_user_text
        root = await talk.root()
        assert root.status is Status.COMPLETED
        assert "approve_refund" not in str(await talk.records())

    run(test)


def test_support_inbox_with_a_category_nobody_handles() -> None:
    """A category outside the graph ends the run as incomplete, with the labels that exist."""

    async def test() -> None:
        model = ScriptedModel({"classifier": [{"category": "SALES", "summary": "wants a quote"}], "bug_triage": []})
        talk = Conversation(support_inbox(model))
        await talk.say("How much is it?")
        root = await talk.root()
        assert root.status is Status.INCOMPLETE
        assert all(part in root.notes[0] for part in ("router", "SALES", "BILLING", "BUG"))

    run(test)
