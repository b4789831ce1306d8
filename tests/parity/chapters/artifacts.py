"""Artifacts and memory."""

from __future__ import annotations

from typing import Any

from google.genai import types

from tests.parity.pieces import flow, gives, shows
from tests.parity.side import Side, said

HERE: dict[str, Any] = {"app_name": "x", "user_id": "u", "session_id": "s"}


def text(words: str) -> types.Part:
    """Return a text as an artifact."""
    return types.Part(text=words)


def png(data: bytes = b"png") -> types.Part:
    """Return a picture as an artifact."""
    return types.Part(inline_data=types.Blob(data=data, mime_type="image/png"))


async def versions_count(adk: Side) -> None:
    """Each save makes the next version, and the newest is loaded unless one is named."""
    service = adk.InMemoryArtifactService()
    for words in ("one", "two"):
        adk.note("saved", await service.save_artifact(**HERE, filename="a", artifact=text(words)))
    for version in (None, 0, 1, 2):
        found = await service.load_artifact(**HERE, filename="a", version=version)
        adk.note(f"version {version}", found.text if found else None)
    adk.note("versions", await service.list_versions(**HERE, filename="a"))


async def versions_are_told(adk: Side) -> None:
    """A version tells its number, where it is kept, its kind and what was given with it."""
    service = adk.InMemoryArtifactService()
    await service.save_artifact(**HERE, filename="a.txt", artifact=text("x"), custom_metadata={"m": 1})
    await service.save_artifact(**HERE, filename="user:b.png", artifact=png())
    for name in ("a.txt", "user:b.png"):
        one = await service.get_artifact_version(**HERE, filename=name)
        adk.note(name, [one.version, one.canonical_uri, one.mime_type, one.custom_metadata])
    adk.note("absent", await service.get_artifact_version(**HERE, filename="c"))


async def artifacts_of_a_user(adk: Side) -> None:
    """A name with `user:` is shared by the user's sessions; the list is sorted."""
    service = adk.InMemoryArtifactService()
    for name in ("b", "user:z", "a"):
        await service.save_artifact(**HERE, filename=name, artifact=text(name))
    adk.note("own", await service.list_artifact_keys(**HERE))
    adk.note("other session", await service.list_artifact_keys(app_name="x", user_id="u", session_id="other"))
    adk.note("no session", await service.list_artifact_keys(app_name="x", user_id="u"))
    adk.note("other user", await service.list_artifact_keys(app_name="x", user_id="v", session_id="s"))


async def artifacts_are_deleted(adk: Side) -> None:
    """Deleting takes all versions, and what isn't there is no error."""
    service = adk.InMemoryArtifactService()
    await service.save_artifact(**HERE, filename="a", artifact=text("x"))
    for name in ("a", "never"):
        await service.delete_artifact(**HERE, filename=name)
    adk.note("keys", await service.list_artifact_keys(**HERE))
    adk.note("again", await service.save_artifact(**HERE, filename="a", artifact=text("x")))


async def _refused(adk: Side, what: str, wanted: Any) -> None:
    try:
        await wanted
    except Exception as error:  # noqa: BLE001  # whatever the package refuses with is what is compared
        adk.note(what, f"refused with {adk.error(error)}")
    else:
        adk.note(what, "accepted")


async def ids_that_lead_elsewhere(adk: Side) -> None:
    """Ids with `..` are refused."""
    service = adk.InMemoryArtifactService()
    for what in ("user_id", "session_id", "app_name"):
        where = {**HERE, what: "../x"}
        await _refused(adk, what, service.save_artifact(**where, filename="a", artifact=text("x")))


async def file_names_that_lead_elsewhere(adk: Side) -> None:
    """Names with `..`, or that are absolute or empty, in memory."""
    service = adk.InMemoryArtifactService()
    for name in ("../a", "a/../b", "/etc/a", ".", ""):
        await _refused(adk, repr(name), service.save_artifact(**HERE, filename=name, artifact=text("x")))


async def parts_that_are_no_artifacts(adk: Side) -> None:
    """A function call is no artifact, and a session's artifact needs a session."""
    service = adk.InMemoryArtifactService()
    call = types.Part(function_call=types.FunctionCall(name="f"))
    await _refused(adk, "call", service.save_artifact(**HERE, filename="a", artifact=call))
    nowhere = service.save_artifact(app_name="x", user_id="u", filename="a", artifact=text("x"))
    await _refused(adk, "no session", nowhere)


async def artifacts_in_a_folder(adk: Side) -> None:
    """A folder keeps versions, nested names and kinds, and another service finds them."""
    folder = adk.folder()
    for words in ("one", "two"):
        service = adk.FileArtifactService(folder)
        adk.note("saved", await service.save_artifact(**HERE, filename="notes/a.txt", artifact=text(words)))
    await service.save_artifact(**HERE, filename="user:b.png", artifact=png())
    other = adk.FileArtifactService(folder)
    found = await other.load_artifact(**HERE, filename="notes/a.txt")
    adk.note("found", found.text)
    found = await other.load_artifact(**HERE, filename="user:b.png")
    adk.note("picture", [found.inline_data.mime_type, found.inline_data.data])
    adk.note("keys", await other.list_artifact_keys(**HERE))
    await _refused(adk, "traversal", other.save_artifact(**HERE, filename="../a", artifact=text("x")))


async def a_node_saves(adk: Side) -> None:
    """What a node saves is told with its event, and another node finds it."""
    Context: Any = adk.Context

    async def saves(ctx: Context) -> int:
        return int(await ctx.save_artifact("a.txt", text("hello")))

    async def finds(ctx: Context) -> list[Any]:
        found = await ctx.load_artifact("a.txt")
        return [found.text, await ctx.list_artifacts(), await ctx.load_artifact("b") is None]

    saves.__annotations__["ctx"] = finds.__annotations__["ctx"] = Context
    talk = adk.talk(flow(adk, saves, finds, shows(adk)), artifact_service=adk.InMemoryArtifactService())
    stream = talk.runner.run_async(**talk.where, new_message=said("hi"))
    adk.note("deltas", [dict(event.actions.artifact_delta) async for event in stream])
    await talk.turn("again")


async def a_node_without_a_service(adk: Side) -> None:
    """A node that saves where there is no service."""
    Context: Any = adk.Context

    async def saves(ctx: Any) -> int:
        return int(await ctx.save_artifact("a.txt", text("hello")))

    saves.__annotations__["ctx"] = Context
    await adk.play(flow(adk, gives(adk, "a"), saves))


async def a_rewind_restores_artifacts(adk: Side) -> None:
    """A rewind saves the earlier content as a new version, and what wasn't there isn't found any more."""
    Context: Any = adk.Context

    async def saves(ctx: Any, node_input: Any) -> None:
        words = node_input.parts[0].text
        await ctx.save_artifact("common", text(words))
        await ctx.save_artifact(words, text(words))

    saves.__annotations__["ctx"] = Context
    artifacts = adk.InMemoryArtifactService()
    talk = adk.talk(flow(adk, saves), artifact_service=artifacts)
    ids = []
    for words in ("one", "two"):
        async for event in talk.runner.run_async(**talk.where, new_message=said(words)):
            ids.append(event.invocation_id)
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=ids[-1])
    for name in ("common", "one", "two"):
        found = await artifacts.load_artifact(**HERE, filename=name)
        adk.note(name, found.text if found else None)
    adk.note("versions", await artifacts.list_versions(**HERE, filename="common"))


def _event(adk: Side, words: str, author: str = "user") -> Any:
    return adk.Event(author=author, content=said(words), timestamp=1.0)


async def _session(adk: Side, *texts: str) -> Any:
    service = adk.InMemorySessionService()
    session = await service.create_session(**HERE)
    for words in texts:
        await service.append_event(session, _event(adk, words))
    return await service.get_session(**HERE)


async def memories_are_found_by_words(adk: Side) -> None:
    """A search finds whole words whatever their case, the best first, and nothing for other users."""
    memory = adk.InMemoryMemoryService()
    await memory.add_session_to_memory(await _session(adk, "I like Tea and coffee", "teatime", "tea"))
    for query in ("TEA coffee", "te", "tea, please!", "", "milk"):
        found = await memory.search_memory(app_name="x", user_id="u", query=query)
        adk.note(repr(query), [one.content.parts[0].text for one in found.memories])
    found = await memory.search_memory(app_name="x", user_id="other", query="tea")
    adk.note("other user", len(found.memories))


async def memories_are_few(adk: Side) -> None:
    """A search gives at most ten."""
    memory = adk.InMemoryMemoryService()
    await memory.add_session_to_memory(await _session(adk, *(f"note {number}" for number in range(15))))
    found = await memory.search_memory(app_name="x", user_id="u", query="note")
    adk.note("found", [one.content.parts[0].text for one in found.memories])


async def sessions_are_remembered_once(adk: Side) -> None:
    """A session that is taken in again replaces itself; events come beside it."""
    memory = adk.InMemoryMemoryService()
    session = await _session(adk, "tea one", "tea two")
    for _ in range(2):
        await memory.add_session_to_memory(session)
    await memory.add_events_to_memory(app_name="x", user_id="u", session_id="s", events=[_event(adk, "tea three")])
    found = await memory.search_memory(app_name="x", user_id="u", query="tea")
    adk.note("found", [one.content.parts[0].text for one in found.memories])


async def memories_are_written(adk: Side) -> None:
    """Writing a memory directly."""
    memory = adk.InMemoryMemoryService()
    entry = adk.MemoryEntry(content=said("tea"))
    await _refused(adk, "written", memory.add_memory(app_name="x", user_id="u", memories=[entry]))


async def a_node_remembers(adk: Side) -> None:
    """A node takes its session in and finds it."""
    Context: Any = adk.Context

    async def remembers(ctx: Any) -> list[Any]:
        await ctx.add_session_to_memory()
        found = await ctx.search_memory("hello")
        return [one.content.parts[0].text for one in found.memories]

    remembers.__annotations__["ctx"] = Context
    await adk.play(flow(adk, remembers, shows(adk)), "hello there", memory_service=adk.InMemoryMemoryService())
