"""What a saved copy of a run holds: everything that its tabs show, small, and no key of anybody."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import re
import zlib
from typing import Any

import pytest
from google.genai import types

from adk_nb import events
from adk_nb.events import Attempt, NodeRun, Status
from adk_nb.events.prices import Price
from adk_nb.notebook.running.starts import run
from adk_nb.notebook.view.event_details import DETAIL_LIMIT, details_of
from adk_nb.notebook.view.event_rows import EventRows
from adk_nb.notebook.view.fold import RunFold
from adk_nb.notebook.view.run_page import PACKED_LIMIT, packed_snapshot, with_details
from adk_nb.workflow import RetryConfig, Workflow, node

Event: Any = events.Event
KEY = "sk-" + "abcdefghijklmnopqrstuvwx"


def inside(page: str) -> dict[str, Any]:
    """The snapshot inside a page."""
    text = re.findall(r'mountCopies\(\\"\w+\\", \\"\w+\\", \\"([\w+/=]+)\\"', page)[0]
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return found


def test_tabs_find_what_they_show() -> None:
    """A page holds each event whole, the state at the start, and when each node run was tried and failed."""
    tries: list[int] = []

    def shaky(node_input: str, ctx: Any) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("away")
        ctx.state["done"] = {"n": 1}
        return "ok"

    flaky = node(shaky, name="shaky", retry_config=RetryConfig(initial_delay=0.001, max_attempts=2))

    async def main() -> None:
        made = await run(Workflow(name="w", edges=[("START", flaky)]), "go", sessions="memory", state={"before": 1})
        shown = inside(made.to_html())
        deltas = [event.get("actions", {}).get("state_delta", {}) for event in shown["details"].values()]
        whole = {**shown["start_state"], **{key: value for delta in deltas for key, value in delta.items()}}
        assert whole == {"before": 1, "done": {"n": 1}}
        [span] = [span for span in shown["spans"] if span[1] == "shaky"]
        first, second = span[5]
        assert (span[3], first[2], second[2]) == ("completed", "ConnectionError", None)
        assert first[3] is not None
        assert first[1] <= second[0] <= second[1]

    asyncio.run(main())


def test_thousand_events_are_below_300_kb() -> None:
    """A page of a thousand events is below 300 kB, script and style sheet included, and has all rows in it.

    Of texts that no program can pack it holds as many of the newest as fit.
    """
    words = random.Random(1)

    def noise(length: int) -> str:
        return "".join(words.choices("abcdefghijklmnoprstuvw", k=length))

    vocabulary = [noise(words.randint(2, 9)) for _ in range(200)]

    async def talk(node_input: str) -> Any:
        for number in range(1_000):
            said = " ".join(words.choices(vocabulary, k=25)) if node_input == "words" else noise(200)
            yield Event(message=said, state={f"k{number % 9}": number})

    async def main() -> None:
        for kind in ("words", "noise"):
            made = await run(Workflow(name="w", edges=[("START", talk)]), kind, sessions="memory")
            page = made.to_html()
            assert len(page.encode()) < 300_000
            shown = inside(page)
            assert shown["rows"][-1][0] == 1_001
            assert len(shown["rows"]) == 1_001 or kind == "noise"
            assert "1001" in shown["details"]

    asyncio.run(main())


def test_keys_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in a message, an output or the state is in no page, neither in what is read nor in what is packed."""
    monkeypatch.setenv("MY_API_KEY", "a very own secret")

    def tell(node_input: str, ctx: Any) -> dict[str, str]:
        ctx.state["kept"] = "a very own secret"
        return {"key": KEY}

    async def main() -> None:
        made = await run(Workflow(name="w", edges=[("START", tell)]), f"use {KEY}", sessions="memory")
        page = made.to_html()
        for told in (page, json.dumps(inside(page))):
            assert KEY not in told
            assert "a very own secret" not in told
        assert "&lt;hidden&gt;" in page

    asyncio.run(main())


def test_details_give_way_to_the_limit() -> None:
    """Where the events are too large for a saved copy, the newest ones stay whole and the rows all stay."""
    fold = RunFold(name="w")
    noise = random.Random(2)
    for number in range(200):
        body = "".join(noise.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=4_000))
        fold.event(Event(author="a", message=body, timestamp=float(number)))
    whole = with_details(fold.snapshot(), fold.rows)
    assert len(packed_snapshot(whole)) <= PACKED_LIMIT
    assert len(whole["rows"]) == 200
    assert 200 in whole["details"]
    assert 1 not in whole["details"]


def test_one_huge_event_is_shortened() -> None:
    """An event of any size is shown up to a limit, its texts shortened; what is empty is left out, an output never."""
    huge = details_of(Event(author="a", output={"text": "x" * 10**6, "list": list(range(10**5))}))
    assert len(json.dumps(huge)) <= DETAIL_LIMIT + 100
    assert details_of(Event(author="a", output=False)) == {"author": "a", "output": False}


def test_streamed_pieces_are_one_row_whole() -> None:
    """The pieces of a streamed message are one row, whose event says all that came so far, then the whole message."""
    rows = EventRows()
    place = {"author": "a", "node_path": "w@1/a@1"}
    for piece in ("Hel", "lo ", "Ada"):
        rows.add(Event(message=piece, partial=True, **place), "partial", "a", None)
    assert rows.details([1])[1]["content"]["parts"] == [{"text": "Hello Ada"}]
    rows.add(Event(message="Hello Ada!", **place), "message", "a", None)
    assert rows.details([1])[1]["content"]["parts"] == [{"text": "Hello Ada!"}]
    assert rows.count == 1


def test_older_rows_in_order() -> None:
    """Rows before a number come in order, as many as are asked for."""
    rows = EventRows()
    for number in range(10):
        rows.add(Event(author="a", output=number), "output", "a", None)
    assert [row[0] for row in rows.newest(3)] == [8, 9, 10]
    assert [row[0] for row in rows.newest(3, before=8)] == [5, 6, 7]
    assert [row[0] for row in rows.newest(30, before=3)] == [1, 2]


def test_money_is_known_or_not_told() -> None:
    """The header tells what the model calls cost; one call whose price nobody knows leaves it out."""
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=1_000_000, candidates_token_count=0)
    known = Event(author="a", message="x", usage_metadata=usage, model_version="m")
    fold = RunFold(name="w", prices={"m": Price(input=2.0, output=1.0)})
    assert fold.snapshot()["header"]["money"] is None
    fold.event(known)
    assert fold.snapshot()["header"]["money"] == 2.0
    fold.event(Event(author="a", message="x", usage_metadata=usage, model_version="nobody-knows"))
    assert fold.snapshot()["header"]["money"] is None


def test_batches_tell_changed_times_only() -> None:
    """A batch has the times of the runs that changed, not those of all."""
    fold = RunFold(name="w")
    for name in ("a", "b"):
        fold.run(NodeRun(f"w@1/{name}@1", name, "1", "w@1", "e", status=Status.RUNNING, attempts=(Attempt(1.0),)))
    fold.take_changes()
    fold.run(NodeRun("w@1/b@1", "b", "1", "w@1", "e", status=Status.COMPLETED, attempts=(Attempt(1.0, 2.0),)))
    changes = fold.take_changes()
    assert changes is not None
    assert [span[:4] for span in changes["spans"]] == [["w@1/b@1", "b", "node", "completed"]]
