"""Runs of agents that are cut at every write and go on in a new process come to the same end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from adk_nb.agents import Agent
from adk_nb.events.record import Question, Status
from adk_nb.models import LlmRequest
from adk_nb.runners import Runner
from adk_nb.testing import FunctionModel
from adk_nb.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from adk_nb.workflow import Workflow, node
from tests.agents.calling import calls, said, short
from tests.workflow.mortal_stores import KilledError, OnlyEvents, SqliteStore, Store

MOST_TURNS = 40
Script = dict[str, list[Any]]


class Price(BaseModel):
    """An answer with a shape."""

    amount: int


def model(script: Script) -> FunctionModel:
    """Return a model whose reply depends only on what it reads: how often the agent has spoken so far."""

    def reply(request: LlmRequest) -> Any:
        spoken = sum(content.role == "model" for content in request.contents)
        return script[request.agent_name][spoken]

    return FunctionModel(reply)


class Work:
    """Tools that note what they do."""

    def __init__(self) -> None:
        """Begin with nothing done."""
        self.done: list[str] = []

    def add(self, n: int, tool_context: ToolContext) -> int:
        """Add to the sum in the state."""
        self.done.append(f"add {n}")
        tool_context.state["sum"] = tool_context.state.get("sum", 0) + n
        return n

    def pay(self, to: str, tool_context: ToolContext) -> str:
        """Pay somebody."""
        assert tool_context.tool_confirmation is not None
        assert tool_context.tool_confirmation.confirmed
        self.done.append(f"pay {to}")
        return f"paid {to}"

    def ask_first(self, what: str, tool_context: ToolContext) -> Any:
        """Ask in the middle."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="Really?", payload={"what": what})
            return "asked"
        return f"{what}: {tool_context.tool_confirmation.confirmed}"

    def order(self, item: str) -> None:
        """Order something that comes later."""
        self.done.append(f"order {item}")


def tools(work: Work) -> Any:
    """Calls side by side, one after the other, and a shape for the answer."""
    script: Script = {
        "bot": [
            [calls("add", "A1", n=1), calls("add", "A2", n=2)],
            [calls("add", "A3", n=4)],
            [calls("set_model_response", "S1", amount=7)],
        ]
    }
    return Agent(name="bot", model=model(script), tools=[work.add], output_schema=Price, output_key="price")


def approvals(work: Work) -> Any:
    """Approvals beside a plain call, one that a tool asks for itself, and a result from outside."""
    script: Script = {
        "bot": [
            [calls("pay", "P1", to="Ann"), calls("add", "A1", n=1), calls("pay", "P2", to="Bob")],
            "one is open",
            [calls("ask_first", "F1", what="x")],
            [calls("order", "O1", item="tea")],
            "done",
        ]
    }
    own = [FunctionTool(work.pay, require_confirmation=True), work.add, work.ask_first]
    return Agent(name="bot", model=model(script), tools=[*own, LongRunningFunctionTool(work.order)])


def tree(work: Work) -> Any:
    """Transfers, a task with a question, and agents that answer at once, one of them after an approval."""
    script: Script = {
        "root": [calls("transfer_to_agent", "T1", agent_name="desk")],
        "desk": [
            [calls("booker", "B1", request="a room"), calls("add", "A1", n=1)],
            [calls("ann", "N1", request="1"), calls("ben", "N2", request="2")],
            calls("transfer_to_agent", "T2", agent_name="root"),
        ],
        "booker": ["Which city?", calls("add", "A2", n=2), calls("finish_task", "E1", result="room in Oslo")],
        "ann": [calls("pay", "P1", to="Ann"), "Ann is paid"],
        "ben": ["Ben is here"],
    }
    script["root"].append("bye")
    booker = Agent(name="booker", mode="task", tools=[work.add], output_key="room")
    ann = Agent(name="ann", mode="single_turn", tools=[FunctionTool(work.pay, require_confirmation=True)])
    desk = Agent(name="desk", tools=[work.add], sub_agents=[booker, ann, Agent(name="ben", mode="single_turn")])
    return Agent(name="root", model=model(script), sub_agents=[desk])


def flow(work: Work) -> Any:
    """Agents as nodes of a workflow: one with tools, one with a task."""
    script: Script = {
        "one": [calls("add", "A1", n=1), "first"],
        "two": ["What colour?", calls("finish_task", "E1", result="red")],
    }
    one = Agent(name="one", model=model(script), tools=[work.add])
    two = Agent(name="two", model=model(script), mode="task")
    return Workflow(name="wf", edges=[("START", one, two, node(lambda node_input: f"got {node_input}", name="last"))])


def answer_to(question: Question) -> types.Content:
    """Return what a person says to a question."""
    if question.is_spoken:
        return said("Oslo, please")
    given: dict[str, Any] = {"status": "arrived"}
    if question.response_schema is not None:
        given = {"confirmed": True}
    response = types.FunctionResponse(id=question.interrupt_id, name="any", response=given)
    return types.Content(role="user", parts=[types.Part(function_response=response)])


class Lives:
    """One session, process after process."""

    def __init__(self, make: Callable[[Work], Any], store: Store) -> None:
        """Begin without a process."""
        self._make, self._store = make, store
        self.work = Work()
        self.where: dict[str, Any] = {"user_id": "u", "session_id": "s"}

    async def begin(self) -> None:
        """Begin a process."""
        service = await self._store.open()
        self.runner = Runner(
            node=self._make(self.work), app_name="app", session_service=service, auto_create_session=True
        )

    async def live(self) -> None:
        """Go on to the end, or until the process is killed."""
        for _ in range(MOST_TURNS):
            options = await self._next()
            if options is None:
                return
            async for _ in self.runner.run_async(**self.where, **options):
                pass
        raise AssertionError("the run doesn't come to an end")

    async def _next(self) -> dict[str, Any] | None:
        session = await self.runner.session_service.get_session(app_name="app", **self.where)
        root = None if session is None else await self.runner.root_run(**self.where)
        if root is None:
            return {"new_message": said("go")}
        if root.status is Status.WAITING:
            asked = await self.runner.open_questions(**self.where)
            return {"new_message": answer_to(asked[0][1])}
        if root.status is Status.COMPLETED:
            return None
        return {"invocation_id": root.invocation_id}

    async def told(self) -> tuple[list[str], dict[str, Any], Any]:
        """Return what history says in the end: the events in short, the state, the output."""
        session = await self.runner.session_service.get_session(app_name="app", **self.where)
        root = await self.runner.root_run(**self.where)
        assert root is not None
        lines = [short(event) for event in session.events if event.content is not None]
        return lines, dict(session.state), root.output


@pytest.mark.parametrize("kind", [Store, SqliteStore, OnlyEvents], ids=["memory", "sqlite", "plain"])
@pytest.mark.parametrize("make", [tools, approvals, tree, flow], ids=["tools", "approvals", "tree", "flow"])
def test_a_process_that_is_killed_at_any_write(make: Callable[[Work], Any], kind: Callable[[], Store]) -> None:
    """Wherever the process dies, the next one goes on: no result is lost, no finished call is made again."""

    async def uncut() -> tuple[Any, list[str], int]:
        store = kind()
        lives = Lives(make, store)
        await lives.begin()
        await lives.live()
        told, writes = await lives.told(), store.life.writes
        await store.close()
        return told, lives.work.done, writes

    async def cut(at: int) -> tuple[Any, list[str]]:
        store = kind()
        lives = Lives(make, store)
        await lives.begin()
        store.life.left = at
        try:
            await lives.live()
        except KilledError:
            await lives.begin()
            await lives.live()
        told = await lives.told()
        await store.close()
        return told, lives.work.done

    expected, done, writes = asyncio.run(uncut())
    for at in range(1, writes):
        told, work = asyncio.run(cut(at))
        assert told == expected, f"cut at write {at}"
        assert set(work) == set(done)
        assert len(work) <= len(done) + 2  # the calls side by side whose results were not stored yet
