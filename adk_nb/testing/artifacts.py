"""The contract of artifact services as tests: derive from `ArtifactServiceContract` and give your service.

```
class TestMyService(ArtifactServiceContract):
    def make(self):
        return MyService(...)
```

pytest then runs every rule against it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from google.genai import types

from adk_nb.artifacts import BaseArtifactService
from adk_nb.errors import InputValidationError
from adk_nb.testing.samples import raised

_USER: dict[str, Any] = {"app_name": "app", "user_id": "ada"}
_SESSION: dict[str, Any] = {**_USER, "session_id": "s"}

NAMES = (
    "a.txt",
    "charts/q1.png",
    "charts/q1.png/small.png",
    "Quarter 1 (final).pdf",
    "übersicht.txt",
    "versions",
    "versions/0",
    "metadata.json",
    "a%2Fb",
    "a\\b",
    "con:1?.txt",
    "ends with dot.",
    " blanks ",
    ".hidden",
    "...",
    "x" * 300,
    "x" * 301,
)
"""Names that differ, and that every service can take."""

BAD_NAMES = (
    "",
    " ",
    "..",
    ".",
    "../a",
    "a/../b",
    "a/..",
    "/etc/a",
    "\\a",
    "a//b",
    "a/",
    "..\\a",
    "C:\\a",
    "C:/a",
    "a\0b",
)
"""Names that no service takes, with or without `user:` in front."""

BAD_IDS = ("", "..", ".", "../ada", "ada/../bob", "ada\\..\\bob", "ada\0")
"""Ids of apps, users and sessions that no service takes."""


def text(said: str) -> types.Part:
    """Return a text as an artifact."""
    return types.Part(text=said)


class ArtifactServiceContract:
    """What holds for every artifact service."""

    def make(self) -> BaseArtifactService:
        """Return a new service without artifacts."""
        raise NotImplementedError("Derive a class that returns a new service here.")

    def reopen(self, service: BaseArtifactService) -> BaseArtifactService:
        """Return what another process sees; services without a store return the service itself."""
        return service

    def run(self, steps: Coroutine[Any, Any, None]) -> None:
        """Run the steps of a rule."""
        asyncio.run(steps)

    def test_versions_count_from_zero(self) -> None:
        """Each save makes the next version; the newest is loaded unless one is named, and what isn't there is None."""

        async def steps() -> None:
            service = self.make()
            where = {**_SESSION, "filename": "a.txt"}
            assert await service.list_versions(**where) == []
            assert await service.load_artifact(**where) is None
            saved = [await service.save_artifact(**where, artifact=text(f"{n}")) for n in range(12)]
            assert saved == list(range(12))
            again = self.reopen(service)
            assert await again.list_versions(**where) == saved
            assert await again.load_artifact(**where) == text("11")
            assert await again.load_artifact(**where, version=0) == text("0")
            assert [await again.load_artifact(**where, version=version) for version in (12, -1)] == [None, None]
            assert await again.save_artifact(**where, artifact=text("12")) == 12

        self.run(steps())

    def test_what_is_kept_comes_back(self) -> None:
        """Texts, bytes and addresses come back as they were, empty ones too."""
        blob = types.Blob(data=bytes(range(256)), mime_type="image/png", display_name="A chart")
        kept = [
            text("line 1\r\nline 2\nGrüße"),
            text(""),
            types.Part(inline_data=blob),
            types.Part(inline_data=types.Blob(data=b"", mime_type="application/octet-stream")),
            types.Part(inline_data=types.Blob(data=b"text", mime_type="text/plain")),
            types.Part(file_data=types.FileData(file_uri="gs://bucket/a.csv", mime_type="text/csv")),
        ]

        async def steps() -> None:
            service = self.make()
            for number, part in enumerate(kept):
                await service.save_artifact(**_SESSION, filename="a", artifact=part)
                assert await self.reopen(service).load_artifact(**_SESSION, filename="a", version=number) == part
            await service.save_artifact(**_SESSION, filename="a", artifact={"text": "a dictionary"})
            assert await service.load_artifact(**_SESSION, filename="a") == text("a dictionary")

        self.run(steps())

    def test_parts_are_the_callers_own(self) -> None:
        """What is changed after a save or a load changes nothing that is kept."""

        async def steps() -> None:
            service = self.make()
            part, about = text("kept"), {"tags": ["a"]}
            await service.save_artifact(**_SESSION, filename="a", artifact=part, custom_metadata=about)
            part.text = "changed"
            about["tags"].append("b")
            loaded = await service.load_artifact(**_SESSION, filename="a")
            assert loaded == text("kept")
            loaded.text = "changed"
            version = await service.get_artifact_version(**_SESSION, filename="a")
            assert version is not None
            assert version.custom_metadata == {"tags": ["a"]}
            version.custom_metadata.clear()
            again = await service.get_artifact_version(**_SESSION, filename="a")
            assert await service.load_artifact(**_SESSION, filename="a") == text("kept")
            assert again is not None
            assert again.custom_metadata == {"tags": ["a"]}

        self.run(steps())

    def test_versions_are_told(self) -> None:
        """A version tells its number, kind, time, metadata and where it is kept; what isn't there is None."""

        async def steps() -> None:
            service = self.make()
            where = {**_SESSION, "filename": "a"}
            png = types.Part(inline_data=types.Blob(data=b"1", mime_type="image/png"))
            uri = types.Part(file_data=types.FileData(file_uri="gs://b/c", mime_type="text/csv"))
            for part, about in ((text("x"), None), (png, {"m": 1}), (uri, {})):
                await service.save_artifact(**where, artifact=part, custom_metadata=about)
            told = await self.reopen(service).list_artifact_versions(**where)
            assert [(one.version, one.mime_type, one.custom_metadata) for one in told] == [
                (0, "text/plain", {}),
                (1, "image/png", {"m": 1}),
                (2, "text/csv", {}),
            ]
            assert len({one.canonical_uri for one in told}) == 3
            assert sorted(one.create_time for one in told) == [one.create_time for one in told]
            assert await service.get_artifact_version(**where) == told[2]
            assert await service.get_artifact_version(**where, version=1) == told[1]
            assert await service.get_artifact_version(**where, version=3) is None
            assert await service.get_artifact_version(**{**where, "filename": "b"}) is None
            assert await service.list_artifact_versions(**{**where, "filename": "b"}) == []

        self.run(steps())

    def test_users_artifacts_are_shared_by_sessions(self) -> None:
        """A `user:` name is the same artifact in every session of the user, and other users and apps don't see it."""

        async def steps() -> None:
            service = self.make()
            await service.save_artifact(**_SESSION, filename="user:a", artifact=text("shared"))
            await service.save_artifact(**_SESSION, filename="a", artifact=text("own"))
            other = {**_USER, "session_id": "other"}
            assert await service.load_artifact(**other, filename="user:a") == text("shared")
            assert await service.load_artifact(**_USER, filename="user:a") == text("shared")
            assert await service.load_artifact(**other, filename="a") is None
            assert await service.save_artifact(**_USER, filename="user:a", artifact=text("newer")) == 1
            assert await service.list_artifact_keys(**_SESSION) == ["a", "user:a"]
            assert await service.list_artifact_keys(**other) == ["user:a"] == await service.list_artifact_keys(**_USER)
            for stranger in ({"app_name": "x"}, {"user_id": "x"}):
                assert await service.load_artifact(**{**_SESSION, **stranger}, filename="user:a") is None
                assert await service.list_artifact_keys(**{**_SESSION, **stranger}) == []

        self.run(steps())

    def test_names_are_kept_apart(self) -> None:
        """Different names are different artifacts, whatever signs they hold, and the list tells them as they are."""

        async def steps() -> None:
            service = self.make()
            for name in NAMES:
                assert await service.save_artifact(**_SESSION, filename=name, artifact=text(name)) == 0
            again = self.reopen(service)
            for name in NAMES:
                assert await again.load_artifact(**_SESSION, filename=name) == text(name)
            assert await again.list_artifact_keys(**_SESSION) == sorted(NAMES)

        self.run(steps())

    def test_ids_are_kept_apart(self) -> None:
        """Different users and sessions have different artifacts, also where one's id looks like a path to the other."""
        ids = ("ada", "ada/sessions/s", "ada%2Fsessions%2Fs", "artifacts", "sessions", "ada.", "a:b")

        async def steps() -> None:
            service = self.make()
            for user in ids:
                for session in ids:
                    where: dict[str, Any] = {"app_name": "app", "user_id": user, "session_id": session}
                    assert await service.save_artifact(**where, filename="a", artifact=text(user + session)) == 0
            for user in ids:
                where = {"app_name": "app", "user_id": user, "session_id": "ada"}
                assert await self.reopen(service).load_artifact(**where, filename="a") == text(user + "ada")
                assert await service.list_artifact_keys(**where) == ["a"]

        self.run(steps())

    def test_what_leads_elsewhere_is_refused(self) -> None:
        """Names and ids that could lead out of their place are refused by every method, and nothing is kept."""

        async def steps() -> None:
            service = self.make()
            for name in [*BAD_NAMES, *(f"user:{name}" for name in BAD_NAMES)]:
                where = {**_SESSION, "filename": name}
                await raised(InputValidationError, service.save_artifact(**where, artifact=text("x")))
                await raised(InputValidationError, service.load_artifact(**where))
                await raised(InputValidationError, service.delete_artifact(**where))
                await raised(InputValidationError, service.list_versions(**where))
                await raised(InputValidationError, service.list_artifact_versions(**where))
                await raised(InputValidationError, service.get_artifact_version(**where))
            for what in _SESSION:
                for bad in BAD_IDS:
                    where = {**_SESSION, what: bad}
                    await raised(InputValidationError, service.save_artifact(**where, filename="a", artifact=text("x")))
                    await raised(InputValidationError, service.load_artifact(**where, filename="a"))
                    await raised(InputValidationError, service.list_artifact_keys(**where))
            assert await service.list_artifact_keys(**_SESSION) == []

        self.run(steps())

    def test_what_is_no_artifact_is_refused(self) -> None:
        """A part without text or file, metadata that is no JSON, and a session's artifact without one are refused."""
        call = types.Part(function_call=types.FunctionCall(name="x"))

        async def steps() -> None:
            service = self.make()
            where = {**_SESSION, "filename": "a"}
            for wrong in (call, types.Part(), "text", None, {"txt": "a"}):
                given: Any = wrong
                await raised(InputValidationError, service.save_artifact(**where, artifact=given))
            for about in ({"a": object()}, {"a": float("nan")}):
                wanted = service.save_artifact(**where, artifact=text("x"), custom_metadata=about)
                await raised(InputValidationError, wanted)
            error = await raised(InputValidationError, service.save_artifact(**_USER, filename="a", artifact=text("x")))
            assert "Session ID must be provided" in str(error)
            version: Any = "../0"
            await raised(InputValidationError, service.load_artifact(**where, version=version))
            assert await service.list_artifact_keys(**_SESSION) == []

        self.run(steps())

    def test_delete_takes_all_versions_of_one_artifact(self) -> None:
        """A deleted artifact is gone with its versions and counts from 0 again; those below its name stay."""

        async def steps() -> None:
            service = self.make()
            for name in ("a", "a", "a/b", "ab", "user:a"):
                await service.save_artifact(**_SESSION, filename=name, artifact=text(name))
            await service.delete_artifact(**_SESSION, filename="a")
            await service.delete_artifact(**_SESSION, filename="never there")
            again = self.reopen(service)
            assert await again.list_artifact_keys(**_SESSION) == ["a/b", "ab", "user:a"]
            assert await again.load_artifact(**_SESSION, filename="a") is None
            assert await again.load_artifact(**_SESSION, filename="a/b") == text("a/b")
            assert await again.save_artifact(**_SESSION, filename="a", artifact=text("new")) == 0

        self.run(steps())

    def test_saves_at_the_same_time_are_all_kept(self) -> None:
        """Versions that are saved at the same time get numbers of their own, and none is lost."""

        async def steps() -> None:
            service = self.make()
            other = self.reopen(service)
            where = {**_SESSION, "filename": "a"}
            saves = [
                (service, other)[number % 2].save_artifact(**where, artifact=text(f"{number}")) for number in range(24)
            ]
            numbers = await asyncio.gather(*saves)
            assert sorted(numbers) == list(range(24))
            loaded = [await service.load_artifact(**where, version=number) for number in numbers]
            assert loaded == [text(f"{number}") for number in range(24)]

        self.run(steps())
