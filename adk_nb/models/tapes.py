"""`record` and `replay`: model calls to and from a tape, for tests and for teaching without a key or a network."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import AsyncGenerator
from typing import Any

from adk_nb.errors import ConfigurationError, TapeMissError
from adk_nb.events.event import new_id
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.call_log import Caller
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.plain_request import plain_response
from adk_nb.models.recorded_errors import from_tape, to_tape
from adk_nb.models.switch import Switch, Switched
from adk_nb.models.tape_file import Entry, TapeFile
from adk_nb.models.tape_request import differences, key_of, named, nearest, tape_request


class record(Switched["Recorder | Replayer"]):  # a verb: a call, or `with record(...)`
    """Keep every model call that agents make on a tape, a file of JSON lines that `replay` gives back.

    Called plainly it holds in the whole process until `record(None)`; in a `with` block for what the block runs or
    starts. Recording the same request again later takes the place of the older reply; others stay. What a call failed
    with is recorded as well. Keys, headers, labels, ids and times aren't on the tape; large attachments stand there as
    their checksum.

    Args:
        path: The file, made where there is none; `None` ends recording.
        fresh: Empty the file first.

    Raises:
        TapeError: the file can't be written, or is no tape.

    Example:
        >>> import adk_nb as adk, pathlib, tempfile
        >>> from adk_nb.testing import ScriptedModel
        >>> agent = adk.Agent(name="a", model=ScriptedModel(["hello"]))
        >>> tape = pathlib.Path(tempfile.mkdtemp()) / "tape.jsonl"
        >>> with record(tape):
        ...     _ = adk.run_sync(agent, "hi", sessions="memory")
        >>> with replay(tape):  # the script has no second reply: the tape says it
        ...     adk.run_sync(agent, "hi", sessions="memory").output
        'hello'
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, fresh: bool = False) -> None:
        super().__init__(_switch, None if path is None else Recorder(TapeFile(path), fresh=fresh))

    def __enter__(self) -> None:
        self._enter()


class replay(Switched["Recorder | Replayer"]):  # a verb: a call, or `with replay(...)`
    """Let a tape reply in place of every model: nothing is sent, no key is needed, it is the same each time.

    Called plainly it holds in the whole process until `replay(None)`; in a `with` block for what the block runs or
    starts. A request that isn't on the tape fails, with what differs from the nearest one that is. A request that one
    run makes several times gets its replies in the order of recording, and once more is a miss; several runs get those
    of the recorded runs in order, then from the first again, so that a cell can be run twice.

    Args:
        path: A file that `record` wrote; `None` ends replaying.

    Raises:
        TapeError: there is no such file, or it is no tape.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        super().__init__(_switch, None if path is None else Replayer(TapeFile(path)))

    def __enter__(self) -> None:
        self._enter()


def current_tape() -> Recorder | Replayer | None:
    """Return what records or replays model calls here, `None` when models are simply asked."""
    return _switch.current()


class Recorder:
    """Asks models and writes down what was said.

    Args:
        file: The tape.
        fresh: Whether to empty it first.
    """

    source = "model"

    def __init__(self, file: TapeFile, *, fresh: bool = False) -> None:
        self._file = file
        self._take = new_id()[:8]
        self._runs: dict[str, int] = {}
        self._calls = 0
        self._lock = threading.Lock()
        file.prepare(fresh=fresh)

    async def ask(
        self, model: BaseLlm, request: LlmRequest, *, stream: bool, caller: Caller
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model; the call is on the tape when its last response is there, or its error."""
        entry = self._entry(tape_request(request, model.model), stream, caller)
        is_whole = False
        try:
            async with contextlib.aclosing(model.generate_content_async(request, stream=stream)) as responses:
                async for response in responses:
                    entry.responses.append(plain_response(response))
                    is_whole = is_whole or not response.partial
                    yield response
        except ConfigurationError:
            raise  # no model was asked
        except Exception as error:
            entry.error = to_tape(error)
            raise
        finally:
            if is_whole or entry.error is not None:
                self._file.append(entry)

    def _entry(self, request: dict[str, Any], stream: bool, caller: Caller) -> Entry:
        with self._lock:
            run = self._runs.setdefault(caller.invocation_id, len(self._runs) + 1)
            self._calls += 1
            return Entry(key_of(request), self._take, run, self._calls, caller.agent, caller.path, stream, request)


class Replayer:
    """Gives what is on a tape.

    Args:
        file: The tape.
    """

    source = "tape"

    def __init__(self, file: TapeFile) -> None:
        self._path = str(file.path)
        self._entries = _newest(file.read())
        self._given: dict[str, dict[str, list[Entry]]] = {}
        self._lock = threading.Lock()

    async def ask(
        self, model: BaseLlm, request: LlmRequest, *, stream: bool, caller: Caller
    ) -> AsyncGenerator[LlmResponse, None]:
        """Give the recorded reply; the model isn't asked.

        Raises:
            TapeMissError: the request isn't on the tape, or this run made it as often as it is there.
        """
        entry = self._next(tape_request(request, model.model), caller)
        responses = [LlmResponse.model_validate_json(json.dumps(said)) for said in entry.responses]
        if not stream:
            responses = [response for response in responses if not response.partial]
        elif not entry.stream and responses and responses[0].content and not responses[0].error_code:
            responses.insert(0, responses[0].model_copy(update={"partial": True, "usage_metadata": None}))
            responses[-1].partial = False
        for response in responses:
            yield response
        if entry.error is not None:
            raise from_tape(entry.error)

    def _next(self, request: dict[str, Any], caller: Caller) -> Entry:
        key = key_of(request)
        runs = self._entries.get(key)
        if runs is None:
            raise TapeMissError(self._missing(request, caller))
        with self._lock:
            given = self._given.setdefault(key, {})
            left = given.get(caller.invocation_id)
            if left is None:
                left = given[caller.invocation_id] = list(runs[len(given) % len(runs)])
            if not left:
                raise TapeMissError(
                    f"{named(caller.agent).capitalize()} asks the same once more than the tape {self._path!r} holds: "
                    f"{_count(runs)}. Look for a loop that goes on for longer, or record it again with "
                    f"adk_nb.record({self._path!r})."
                )
            fits = (lambda e: e.path == caller.path, lambda e: e.agent == caller.agent, lambda e: True)
            found = next(entry for fit in fits for entry in left if fit(entry))
            left.remove(found)
            return found

    def _missing(self, request: dict[str, Any], caller: Caller) -> str:
        entries = [entry for runs in self._entries.values() for run in runs for entry in run]
        own = [entry for entry in entries if entry.agent == caller.agent] or entries
        again = f"Record it again with adk_nb.record({self._path!r}), or undo the change."
        asks = f"What {named(caller.agent)} asks isn't on the tape {self._path!r}"
        near = nearest(request, [entry.request for entry in own])
        if near is None:
            return f"{asks}, which is empty. {again}"
        whose = next(entry.agent for entry in own if entry.request is near)
        of = "" if whose == caller.agent else f", of {named(whose)},"
        return f"{asks}: it differs from the nearest recorded request{of} in {differences(near, request)}. {again}"


def _newest(entries: list[Entry]) -> dict[str, list[list[Entry]]]:
    """The entries of each request: those of its newest take, by run."""
    takes = {entry.key: entry.take for entry in entries}
    found: dict[str, dict[int, list[Entry]]] = {}
    for entry in entries:
        if takes[entry.key] == entry.take:
            found.setdefault(entry.key, {}).setdefault(entry.run, []).append(entry)
    return {
        key: [sorted(runs[run], key=lambda entry: entry.call) for run in sorted(runs)] for key, runs in found.items()
    }


def _count(runs: list[list[Entry]]) -> str:
    most = max(map(len, runs))
    return f"it was recorded {'once' if most == 1 else f'{most} times'} a run"


_switch: Switch[Recorder | Replayer] = Switch("tape")
