"""One refund process built twice, to race: an agent with five tools, and a workflow of six nodes with two agents in it.

The process is the one of a published comparison (Google Developers Blog, "Why we built ADK 2.0", 1 July 2026: 5,152
tokens against 2,265 a run). Its prompts, data and split by call weren't published, so everything here is invented,
and the model is offline. Its counts come about so: a text's length over four characters a token, times `SCALE`, is
what a call sends and says, and `REASONING` tokens of thinking are spread over the calls of a refund, the same amount
on both sides; a rejection takes the loop one call less, and that call's share of thinking. These two numbers are
chosen so that the totals are the published ones: a picture of the mechanism, not a benchmark.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from typing import Any

from google.genai import types

from adk_nb.agents import Agent
from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event
from adk_nb.models import BaseLlm, LlmRequest, LlmResponse
from adk_nb.testing import FunctionModel
from adk_nb.workflow import Workflow
from adk_nb.workflow.context import Context

SCALE = 1.06
"""Tokens for every four characters; fitted, see the module's docstring."""
REASONING = 1_800
"""Thinking tokens of a refund's run; fitted."""
PUBLISHED_TOKENS = {"loop": 5_152, "graph": 2_265}

COMPLAINTS: dict[str, dict[str, Any]] = {
    "C-101": {"complaint_id": "C-101", "item": "running shoes", "price": 89.0, "days_ago": 6, "reason": "torn seam"},
    "C-102": {"complaint_id": "C-102", "item": "rain jacket", "price": 120.0, "days_ago": 75, "reason": "wrong size"},
    "C-103": {"complaint_id": "C-103", "item": "road bike", "price": 1240.0, "days_ago": 12, "reason": "bent wheel"},
    "C-104": {"complaint_id": "C-104", "item": "tent", "price": 260.0, "days_ago": 41, "reason": "changed my mind"},
}
"""The shop's complaints, by id. Customers and goods are invented."""
_POLICY = "Goods go back within 30 days of the purchase, whatever the reason; later ones are rejected."
_TEMPLATES = {
    "REFUND": "Dear customer, your money is on its way. We are sorry for the trouble.",
    "REJECT": "Dear customer, we can't take this back, as more than 30 days have passed.",
}
_ID = re.compile(r"\bC-\d+\b")
_CHARACTERS_A_TOKEN = 4


def fetch_complaint(complaint_id: str) -> dict[str, Any]:
    """Return a complaint with what was bought, for how much and when."""
    return COMPLAINTS[complaint_id]


def look_up_policy(item: str) -> str:
    """Return the rules that hold for an item."""
    return f"{item}: {_POLICY}"


def issue_refund(complaint_id: str, amount: float) -> dict[str, Any]:
    """Pay an amount back for a complaint."""
    return {"complaint_id": complaint_id, "paid_back": amount}


def get_template(kind: str) -> str:
    """Return the text of a letter; kind is REFUND or REJECT."""
    return _TEMPLATES[kind]


def close_case(complaint_id: str, letter: str) -> dict[str, Any]:
    """Send the letter and close the complaint."""
    return {"complaint_id": complaint_id, "state": "closed", "letter": letter}


TOOLS = (fetch_complaint, look_up_policy, issue_refund, get_template, close_case)


def refund_loop(model: BaseLlm | None = None) -> Agent:
    """Return the agent that decides every step itself, with five tools.

    Example:
        >>> len(refund_loop().tools)
        5
    """
    return Agent(
        name="refund_desk",
        model=model or race_model(),
        instruction=(
            "You handle complaints of an online shop.\n1. Fetch the complaint.\n2. Look the policy up for its item.\n"
            "3. If the policy allows it, issue the refund.\n4. Get the template that fits and fill it in.\n5. Close "
            "the case with the letter. Then say in one line whether it was refunded or rejected."
        ),
        tools=list(TOOLS),
    )


def refund_graph(model: BaseLlm | None = None) -> Workflow:
    """Return the workflow of six nodes, two of which ask the model.

    Example:
        >>> [node.name for node in refund_graph().describe().nodes if node.kind != "start"]
        ['fetch', 'analyze', 'route_complaint', 'refund', 'draft', 'close']
    """
    asked = model or race_model()
    analyze = Agent(
        name="analyze",
        model=asked,
        instruction="Look the policy up for the item, then answer REFUND or REJECT.",
        tools=[look_up_policy],
    )
    draft = Agent(
        name="draft", model=asked, instruction="Get the template that fits and fill it in.", tools=[get_template]
    )
    edges = [
        ("START", fetch, analyze, route_complaint, {"REFUND": refund, "REJECT": draft}),
        (refund, draft),
        (draft, close),
    ]
    return Workflow(name="refund_workflow", edges=edges)


def fetch(node_input: str, ctx: Context) -> dict[str, Any]:
    """Fetch the complaint that the message names."""
    named = _ID.search(node_input)
    complaint = fetch_complaint(named.group() if named else "")
    ctx.state["complaint"] = complaint
    return {name: complaint[name] for name in ("item", "days_ago", "reason")}


def route_complaint(node_input: str) -> Event:
    """Take the edge that the verdict names."""
    verdict = "REFUND" if "REFUND" in node_input else "REJECT"
    return Event(output={"letter": verdict}, route=verdict)


def refund(complaint: dict[str, Any], ctx: Context) -> dict[str, Any]:
    """Pay the price back."""
    ctx.state["outcome"] = "refunded"
    issue_refund(complaint["complaint_id"], complaint["price"])
    return {"letter": "REFUND"}


def close(node_input: str, complaint: dict[str, Any], ctx: Context) -> str:
    """Send the letter, close the case and say how it ended."""
    close_case(complaint["complaint_id"], node_input)
    return f"{complaint['complaint_id']} closed: {ctx.state.get('outcome', 'rejected')}."


def refund_cases() -> list[dict[str, Any]]:
    """Return the cases of the race: message, what should come out, and what each design should run.

    Example:
        >>> [case["answer"] for case in refund_cases()]
        ['refunded', 'rejected', 'refunded', 'rejected']
    """
    cases = []
    for complaint_id, complaint in COMPLAINTS.items():
        is_due = complaint["days_ago"] <= 30
        pays = ["issue_refund"] if is_due else []
        loop = ["fetch_complaint", "look_up_policy", *pays, "get_template", "close_case"]
        graph = ["fetch", "analyze", "route_complaint", *(["refund"] if is_due else []), "draft", "close"]
        cases.append(
            {
                "message": f"Please handle complaint {complaint_id}.",
                "answer": "refunded" if is_due else "rejected",
                "path": {"loop": loop, "graph": graph},
            }
        )
    return cases


def race_model(wrong_turn: float = 0.0, seed: int = 0) -> BaseLlm:
    """Return the offline model that plays all three agents of the race, and counts its tokens as the module says.

    Args:
        wrong_turn: Chance that one choice goes wrong: in the loop each choice of the next step, the last one, to stop,
            included; in the graph the one verdict that picks a route.
        seed: What the mistakes are drawn with. Each agent draws for itself, so that the same runs make the same ones.

    Raises:
        ConfigurationError: `wrong_turn` isn't between 0 and 1.

    Example:
        >>> race_model(wrong_turn=0.05).model
        'offline-race'
    """
    if not 0 <= wrong_turn <= 1:
        raise ConfigurationError(f"wrong_turn={wrong_turn} can't be: it is a chance, from 0 to 1.")
    player = _Player(wrong_turn, seed)
    return FunctionModel(player.reply, model="offline-race")


class _Player:
    """Plays the agents by plain rules, with mistakes."""

    def __init__(self, wrong_turn: float, seed: int) -> None:
        self._wrong_turn = wrong_turn
        self._draws: dict[str, random.Random] = defaultdict(lambda: random.Random(seed))

    def reply(self, request: LlmRequest) -> LlmResponse:
        """Answer one call."""
        agent = request.agent_name
        calls = {"refund_desk": 6, "analyze": 4, "draft": 4}
        if agent not in calls:
            raise ConfigurationError(
                f"The offline model of the race was asked by agent {agent!r}; it can only play {', '.join(calls)}."
            )
        said = _said(request)
        part = self._desk(said) if agent == "refund_desk" else self._judge(agent, said)
        written = part.text or _call_text(part)
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=_tokens(_sent(request)),
            candidates_token_count=_tokens(written),
            thoughts_token_count=round(REASONING / calls[agent]),
        )
        return LlmResponse(
            content=types.Content(role="model", parts=[part]), usage_metadata=usage, model_version="offline-race"
        )

    def _is_wrong(self, agent: str) -> bool:
        return self._draws[agent].random() < self._wrong_turn

    def _desk(self, said: _Said) -> types.Part:
        done = [name for name, _ in said.results]
        complaint = COMPLAINTS[said.complaint_id]
        is_due = complaint["days_ago"] <= 30
        kind = "REFUND" if is_due else "REJECT"
        arguments: dict[str, dict[str, Any]] = {
            "fetch_complaint": {"complaint_id": said.complaint_id},
            "look_up_policy": {"item": complaint["item"]},
            "issue_refund": {"complaint_id": said.complaint_id, "amount": complaint["price"]},
            "get_template": {"kind": kind},
            "close_case": {"complaint_id": said.complaint_id, "letter": _TEMPLATES[kind]},
        }
        left = [name for name in arguments if name not in done and (is_due or name != "issue_refund")]
        is_wrong = self._is_wrong("refund_desk")
        if not left and not is_wrong:
            outcome = "refunded" if "issue_refund" in done else "rejected"
            return types.Part(text=f"{said.complaint_id} closed: {outcome}.")
        intended = left[0] if left else ""
        others = [name for name in arguments if name != intended]
        name = self._draws["refund_desk"].choice(others) if is_wrong else intended
        return types.Part(function_call=types.FunctionCall(name=name, args=arguments[name]))

    def _judge(self, agent: str, said: _Said) -> types.Part:
        task = json.loads(said.first)
        if agent == "analyze":
            if not said.results:
                return types.Part(function_call=types.FunctionCall(name="look_up_policy", args={"item": task["item"]}))
            is_due = (task["days_ago"] <= 30) != self._is_wrong("analyze")
            return types.Part(text="REFUND: within 30 days" if is_due else "REJECT: too late")
        if not said.results:
            return types.Part(function_call=types.FunctionCall(name="get_template", args={"kind": task["letter"]}))
        return types.Part(text=_TEMPLATES[task["letter"]])


class _Said:
    """What stands in a request: the first message, and the results of tools so far."""

    def __init__(self, first: str, results: list[tuple[str, Any]]) -> None:
        self.first = first
        self.results = results
        named = _ID.search(first)
        self.complaint_id = named.group() if named else ""


def _said(request: LlmRequest) -> _Said:
    parts = [part for content in request.contents for part in content.parts or ()]
    results = [
        (part.function_response.name or "", part.function_response.response) for part in parts if part.function_response
    ]
    return _Said(next((part.text for part in parts if part.text), ""), results)


def _sent(request: LlmRequest) -> str:
    """Return the texts that a call sends: instruction, declarations of tools, conversation."""
    config = request.config
    pieces = [str(config.system_instruction or "")]
    for tool in config.tools or ():
        for declared in getattr(tool, "function_declarations", None) or ():
            pieces.append(declared.model_dump_json(exclude_none=True))
    for content in request.contents:
        for part in content.parts or ():
            pieces.append(part.text or "")
            if part.function_call:
                pieces.append(_call_text(part))
            if part.function_response:
                pieces.append(json.dumps(part.function_response.response))
    return "".join(pieces)


def _call_text(part: types.Part) -> str:
    call = part.function_call
    return "" if call is None else f"{call.name}{json.dumps(call.args)}"


def _tokens(text: str) -> int:
    return round(SCALE * len(text) / _CHARACTERS_A_TOKEN)
