"""How long it takes to make frames of many events, and how much memory: `python -m benchmarks.frames [events]`.

It stands beside the table of engines, which have no frames. Each line is measured once; memory is what making the
frame takes at its peak, over what the process held before.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from google.genai import types

from adk_nb.events.event import Event
from adk_nb.frames import events_frame, pages, usage_frame
from adk_nb.sessions import SqliteSessionService
from benchmarks.worker import peak_mib, resident_mib

EVENTS = 100_000
LIMIT_S, LIMIT_MIB = 1.5, 600.0


def event(number: int) -> Event:
    """Return one of five kinds of events: a user's, a model's with its usage, a tool call, an output, state."""
    where: dict[str, Any] = {"invocation_id": f"e{number // 50}", "author": "wf", "node_path": "wf@1/a@1"}
    kind = number % 5
    if kind == 0:
        return Event(invocation_id=where["invocation_id"], author="user", message="Where is my parcel?")
    if kind == 1:
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=100, candidates_token_count=10)
        return Event(**where, message="It left on Monday.", model_version="gemini-2.5-flash", usage_metadata=usage)
    if kind == 2:
        called = types.Part(function_call=types.FunctionCall(id="1", name="look", args={"order": "RF-204"}))
        return Event(**where, content=types.Content(role="model", parts=[called]))
    if kind == 3:
        return Event(**where, output={"lines": [1, 2, {"price": number}]}, route="x")
    return Event(**where, state={"seen": number})


async def stored(path: Path, events: list[Event]) -> None:
    """Put events into one session of a file."""
    async with SqliteSessionService(path) as service:
        session = await service.create_session(app_name="app", user_id="u", session_id="s")
        log = service.open_log(session)
        for one in events:
            await log.append(one, [])


def main() -> None:
    """Measure each kind in a process of its own, print a line each, and end with 1 if one took more than it may."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        asyncio.run(stored(path, [event(number) for number in range(count)]))
        # The peak of a process never falls, so each has its own.
        command = [sys.executable, "-c", "import sys; from benchmarks.frames import measure; measure(*sys.argv[1:])"]
        ends = [subprocess.run([*command, kind, str(path), str(count)], check=False).returncode for kind in KINDS]
    sys.exit(any(ends))


KINDS = {
    "live": "live",
    "file": "in an SQLite file",
    "pages": "in an SQLite file, by the page",
}


def measure(kind: str, path: str, count: str) -> None:
    """Print what frames of so many events take, and end with 1 if that is more than it may be."""
    usage_frame([event(number) for number in range(10)])  # loads what is loaded once: pandas, genai-prices
    events = [event(number) for number in range(int(count))] if kind == "live" else []
    for one in events:
        one.seal()
    started_s, before = time.process_time(), resident_mib()
    if kind == "pages":
        rows = sum(len(page) for page in pages(path))
    else:
        rows = len(events_frame(events or path))
    took_s, peak = time.process_time() - started_s, peak_mib() - before
    kept = took_s <= LIMIT_S and peak <= LIMIT_MIB
    print(f"{rows:,} events {KINDS[kind]}: {took_s:.2f} s of CPU, {peak:.0f} MiB ({'kept' if kept else 'missed'})")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
