"""One of the two packages beside each other: its names as attributes, and what a scenario sees happen on it."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import pathlib
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from google.genai import types

from tests.parity.written import Numbers, error_names, event_line, head_of, is_toolkits, written

# Where google-adk has each name; ours must have it at the same place.
HOMES = {
    "": ["Agent", "Context", "Event", "Runner", "Workflow"],
    "agents": ["BaseAgent", "LlmAgent", "LoopAgent", "ParallelAgent", "RunConfig", "SequentialAgent"],
    "apps": ["App", "ResumabilityConfig"],
    "apps.app": ["EventsCompactionConfig"],
    "apps.base_events_summarizer": ["BaseEventsSummarizer"],
    "apps.llm_event_summarizer": ["LlmEventSummarizer"],
    "artifacts": ["FileArtifactService", "InMemoryArtifactService"],
    "auth": ["AuthConfig", "AuthCredential"],
    "auth.credential_service.in_memory_credential_service": ["InMemoryCredentialService"],
    "errors.already_exists_error": ["AlreadyExistsError"],
    "errors.session_not_found_error": ["SessionNotFoundError"],
    "events": ["EventActions", "RequestInput"],
    "events.event": ["NodeInfo"],
    "memory": ["InMemoryMemoryService"],
    "memory.memory_entry": ["MemoryEntry"],
    "models": ["BaseLlm", "Gemini", "LlmRequest", "LlmResponse"],
    "planners": ["PlanReActPlanner"],
    "plugins.base_plugin": ["BasePlugin"],
    "runners": ["InMemoryRunner"],
    "sessions": ["InMemorySessionService", "State", "StateSchemaError"],
    "sessions.base_session_service": ["GetSessionConfig"],
    "sessions.sqlite_session_service": ["SqliteSessionService"],
    "tools": [
        "AgentTool",
        "FunctionTool",
        "LongRunningFunctionTool",
        "exit_loop",
        "get_user_choice",
        "load_artifacts",
        "load_memory",
        "preload_memory",
        "request_input",
    ],
    "tools.base_toolset": ["BaseToolset"],
    "workflow": [
        "BaseNode",
        "DEFAULT_ROUTE",
        "Edge",
        "FunctionNode",
        "JoinNode",
        "Node",
        "NodeTimeoutError",
        "RetryConfig",
        "START",
        "node",
    ],
}
_HOME_OF = {name: home for home, names in HOMES.items() for name in names}


class Side:
    """google-adk or adk_nb as a scenario sees it: `adk.Workflow` is the package's own; what happens is written down."""

    def __init__(self, package: str) -> None:
        """Stand on one side: `google.adk` or `adk_nb`."""
        self.package = package
        self.lines: list[str] = []
        """What happened, in order; errors stand in them as `errors_in` reads them."""
        self.hides_paths = False
        """Lines of events leave the paths of their nodes out."""
        self._words: dict[str, bool] = {}
        self._numbers, self._invocations = Numbers(), Numbers()
        self._talks: list[Talk] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"{name!r} has no home in HOMES: add it there.")
        home = _HOME_OF[name]
        return getattr(importlib.import_module(f"{self.package}.{home}" if home else self.package), name)

    async def play(self, root: Any, *turns: str | types.Content, **options: Any) -> Talk:
        """Play turns, "hi" if none are given, in a session of its own; return the talk, to go on with."""
        talk = self.talk(root, **options)
        for turn in turns or ("hi",):
            await talk.turn(turn)
        return talk

    def talk(self, root: Any, **options: Any) -> Talk:
        """Open a session with a root; `options` are the talk's."""
        talk = Talk(self, root, **options)
        self._talks.append(talk)
        return talk

    def file_store(self, name: str = "sessions") -> Any:
        """Open a session store in a file; the file goes away with the side."""
        store = self.SqliteSessionService(str(pathlib.Path(self.folder()) / f"{name}.db"))
        self._files.append(store)
        return store

    def folder(self) -> str:
        """Return a folder that goes away with the side."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory()
        return self._folder.name

    def note(self, what: str, value: Any) -> None:
        """Write down what the scenario itself observed."""
        self._write(f"{what}: {written(value)}")

    def listen(self, *words: str) -> None:
        """Watch for words that the texts of errors must hold from now on."""
        self._words = dict.fromkeys(words, False)

    def refused(self, what: str, build: Callable[[], Any], *words: str) -> None:
        """Build something that may be refused, and write down whether it was, and with which of the words."""
        self.listen(*words)
        try:
            build()
        except Exception as error:  # noqa: BLE001  # whatever the package refuses with is what is compared
            self._write(f"{what}: refused with {self.error(error)}")
        else:
            self._write(f"{what}: accepted")
        self.check_words()

    def error(self, error: BaseException) -> str:
        """Return how an error reads."""
        return self._named(error_names(type(error)), type(error).__name__, str(error))

    def happened(self, head: str, events: list[tuple[str, int, str]], end: str) -> None:
        """Write down a turn: its events lane by lane, since lanes race, each lane in its own order."""
        runs = sorted({number for _, number, _ in events})
        self._write(f"> {head}" + (f" (run {', '.join(map(str, runs))})" if runs else ""))
        for _, _, line in sorted(events, key=lambda event: event[0]):
            self._write(line)
        if end:
            self._write(end)

    def line_of(self, event: Any) -> tuple[str, int, str]:
        """Return an event's lane, the number of its invocation, and its line."""
        error = ""
        if event.error_code:
            error = self._named(error_names(event.error_code), event.error_code, event.error_message or "")
            error = f"error {error}"
        line = event_line(event, error)
        if self.hides_paths:
            line = line.partition(" ")[2]
        return event.branch or "", self._invocations.of(event.invocation_id), line

    async def finish(self) -> None:
        """Write down what each session holds in the end."""
        for talk in self._talks:
            await talk.finish()
        self.check_words()

    async def close(self) -> None:
        """Close what was opened."""
        for store in self._files:
            if hasattr(store, "close"):
                await store.close()
        if self._folder is not None:
            self._folder.cleanup()
            gc.collect()  # google-adk leaves connections to the collector, which warns: here, and not in a later test

    def check_words(self) -> None:
        """Write down the words watched for that no error held, and stop watching."""
        missing = [word for word, was_heard in self._words.items() if not was_heard]
        self._words = {}
        if missing:
            self._write(f"no error said {written(missing)}")

    def _named(self, names: list[str], code: str, text: str) -> str:
        name = f"<{'|'.join(names)}>"
        heard = [word for word in self._words if word in text]
        self._words.update(dict.fromkeys(heard, True))
        if not is_toolkits(code):
            return f"{name} {text!r}"
        return f"{name} saying {', '.join(map(repr, heard))}" if heard else name

    def _write(self, line: str) -> None:
        self.lines.append(self._numbers.put_into(line))


class Talk:
    """One session with one root, driven turn by turn. Every method that runs returns the events of its turn."""

    def __init__(
        self,
        side: Side,
        root: Any,
        *,
        sessions: Any = None,
        session_id: str = "s",
        state: dict[str, Any] | None = None,
        is_app: bool = False,
        **options: Any,
    ) -> None:
        """Open a talk.

        Args:
            side: The package.
            root: The root node, or an app.
            sessions: Where sessions are kept; the default is a new store in memory.
            session_id: Name of the session.
            state: What the session begins with; the default is that the runner makes the session.
            is_app: The root is an app.
            options: Given to the runner.
        """
        self._side, self._state = side, state
        self.sessions = side.InMemorySessionService() if sessions is None else sessions
        roots = {"app": root} if is_app else {"node": root, "app_name": "x"}
        self.runner = side.Runner(
            **{"auto_create_session": state is None, **roots, **options}, session_service=self.sessions
        )
        self.where = {"user_id": "u", "session_id": session_id}
        self.invocation_ids: list[str] = []
        """Ids of the invocations, oldest first."""

    async def turn(self, message: str | types.Content, **options: Any) -> list[Any]:
        """Send a text or a content."""
        if isinstance(message, str):
            return await self.run(message, new_message=said(message), **options)
        return await self.run(head_of(message), new_message=message, **options)

    async def go_on(self, number: int = -1, **options: Any) -> list[Any]:
        """Continue an invocation, the newest if none is given, without a message."""
        return await self.run("go on", invocation_id=self.invocation_ids[number], **options)

    async def run(self, head: str, *, leave_after: int | None = None, **options: Any) -> list[Any]:
        """Call the runner and write down what comes; walk away after some events when asked to."""
        await self._open()
        found, lines, end = [], [], ""
        try:
            async with contextlib.aclosing(self.runner.run_async(**self.where, **options)) as stream:
                async for event in stream:
                    found.append(event)
                    lines.append(self._side.line_of(event))
                    if event.invocation_id not in self.invocation_ids:
                        self.invocation_ids.append(event.invocation_id)
                    if len(found) == leave_after:
                        break
        except Exception as error:  # noqa: BLE001  # whatever leaves the run is what is compared
            end = f"raised {self._side.error(error)}"
        self._side.happened(head, lines, end)
        return found

    async def status(self) -> str | None:
        """Return what the package says of how the newest run ended; google-adk says nothing beyond its events."""
        if not hasattr(self.runner, "root_run"):
            return None
        return str((await self.runner.root_run(**self.where)).status)

    async def session(self) -> Any:
        """Return the stored session."""
        return await self.sessions.get_session(app_name=self.runner.app_name, **self.where)

    async def finish(self) -> None:
        """Write down the session's state and how much it holds."""
        session = await self.session()
        if session is None:
            self._side.note("session", None)
            return
        by_user = sum(event.author == "user" for event in session.events)
        count = f"{by_user} by the user, {len(session.events) - by_user} others"
        self._side.note(f"session {session.id} ({count})", dict(session.state))

    async def _open(self) -> None:
        if self._state is not None:
            state, self._state = self._state, None
            await self.sessions.create_session(app_name=self.runner.app_name, state=state, **self.where)


def said(text: str) -> types.Content:
    """Return what a user says."""
    return types.Content(role="user", parts=[types.Part(text=text)])


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep google-adk's own warnings and log lines out: it warns of its own experimental and deprecated parts."""
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
