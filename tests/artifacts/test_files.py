"""Artifacts in a folder: what a crash leaves behind, other processes, other file systems, and google-adk beside us."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_nb.artifacts import FileArtifactService, InMemoryArtifactService
from adk_nb.artifacts.folders import folder_name
from adk_nb.errors import DataError, InputValidationError
from adk_nb.testing.artifacts import NAMES, text

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from google.adk.artifacts import FileArtifactService as GoogleFiles

WHERE: dict[str, Any] = {"app_name": "app", "user_id": "ada", "session_id": "s"}
HERE = "apps/app/users/ada/sessions/s/artifacts"


def files_in(folder: Path) -> list[str]:
    """All files below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_nothing_is_written_outside_of_the_scope(tmp_path: Path) -> None:
    """Whatever the name, every file lies in the folder of its session or user."""

    async def steps() -> None:
        service = FileArtifactService(tmp_path / "root")
        assert not (tmp_path / "root").exists()
        for name in NAMES:
            await service.save_artifact(**WHERE, filename=name, artifact=text("x"))

    asyncio.run(steps())
    assert len(files_in(tmp_path)) == 2 * len(NAMES)
    assert all(path.startswith(f"root/{HERE}/") for path in files_in(tmp_path))


def test_a_version_that_was_not_finished_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save that fails in the middle leaves no version, and the next save takes the same number."""
    service = FileArtifactService(tmp_path)

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    async def steps() -> None:
        await service.save_artifact(**WHERE, filename="a", artifact=text("kept"))
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="disk full"):
                await service.save_artifact(**WHERE, filename="a", artifact=text("lost"))
        assert await service.list_versions(**WHERE, filename="a") == [0]
        assert await service.load_artifact(**WHERE, filename="a") == text("kept")
        assert await service.save_artifact(**WHERE, filename="a", artifact=text("next")) == 1

    asyncio.run(steps())
    assert len(files_in(tmp_path)) == 4


_KILLED = """
import asyncio, os, sys
from google.genai import types
from adk_nb.artifacts import FileArtifactService
steps = 0
def killing(real):
    def do(*args):
        global steps
        steps += 1
        if steps == int(sys.argv[2]):
            os._exit(9)
        return real(*args)
    return do
os.fsync, os.rename = killing(os.fsync), killing(os.rename)
where = {"app_name": "app", "user_id": "ada", "session_id": "s", "filename": "a"}
asyncio.run(FileArtifactService(sys.argv[1]).save_artifact(**where, artifact=types.Part(text="new")))
"""


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_killed_process_leaves_whole_versions(tmp_path: Path, step: int) -> None:
    """A process that is killed while it saves leaves the versions before, and the next process goes on from them."""
    where = {**WHERE, "filename": "a"}

    asyncio.run(FileArtifactService(tmp_path).save_artifact(**where, artifact=text("old")))
    done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), str(step)], check=False)
    assert done.returncode == 9

    async def steps() -> None:
        service = FileArtifactService(tmp_path)
        assert await service.list_versions(**where) == [0]
        assert await service.load_artifact(**where) == text("old")
        assert await service.save_artifact(**where, artifact=text("next")) == 1
        assert await service.list_artifact_keys(**WHERE) == ["a"]

    asyncio.run(steps())


def test_names_that_a_file_system_mixes_up_are_refused(tmp_path: Path) -> None:
    """Where a folder holds versions of another name, as on file systems without case, nothing is mixed with them."""

    async def steps() -> None:
        service = FileArtifactService(tmp_path)
        await service.save_artifact(**WHERE, filename="a.txt", artifact=text("lower"))
        about = tmp_path / HERE / "a.txt/versions/0/metadata.json"
        about.write_text(json.dumps({**json.loads(about.read_text()), "fileName": "A.txt"}))
        with pytest.raises(InputValidationError, match=r"doesn't tell it from 'A.txt'"):
            await service.save_artifact(**WHERE, filename="a.txt", artifact=text("x"))
        assert await service.load_artifact(**WHERE, filename="a.txt") is None
        assert await service.list_versions(**WHERE, filename="a.txt") == []
        await service.delete_artifact(**WHERE, filename="a.txt")
        assert await service.list_artifact_keys(**WHERE) == ["A.txt"]

    asyncio.run(steps())


def test_broken_metadata_is_told(tmp_path: Path) -> None:
    """Metadata that can't be read is told with its path."""

    async def steps() -> None:
        service = FileArtifactService(tmp_path)
        await service.save_artifact(**WHERE, filename="a", artifact=text("x"))
        (tmp_path / HERE / "a/versions/0/metadata.json").write_text("{")
        with pytest.raises(DataError, match=r"metadata.json can't be read"):
            await service.load_artifact(**WHERE, filename="a")

    asyncio.run(steps())


def test_deleting_leaves_no_empty_folders(tmp_path: Path) -> None:
    """With the last artifact of a folder the folder goes, and not before."""

    async def steps() -> None:
        service = FileArtifactService(tmp_path)
        for name in ("x/y/a", "x/b"):
            await service.save_artifact(**WHERE, filename=name, artifact=text("x"))
        await service.delete_artifact(**WHERE, filename="x/y/a")
        assert [path.name for path in (tmp_path / HERE / "x").iterdir()] == ["b"]
        await service.delete_artifact(**WHERE, filename="x/b")
        assert list((tmp_path / HERE).iterdir()) == []

    asyncio.run(steps())


def test_google_adk_reads_and_writes_the_same_folder(tmp_path: Path) -> None:
    """google-adk finds what we save under usual names, and we find what it saves."""
    parts = {
        "a.txt": text("hello"),
        "charts/q1.png": types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png", display_name="Q1")),
        "user:shared.md": text("# shared"),
    }

    async def steps() -> None:
        ours, theirs = FileArtifactService(tmp_path), GoogleFiles(tmp_path)
        services: tuple[Any, ...] = (ours, theirs)
        for number, writer in enumerate(services):
            for name, part in parts.items():
                assert await writer.save_artifact(**WHERE, filename=name, artifact=part) == number
            for reader in services:
                assert await reader.list_artifact_keys(**WHERE) == sorted(parts)
                for name, part in parts.items():
                    assert await reader.list_versions(**WHERE, filename=name) == list(range(number + 1))
                    assert await reader.load_artifact(**WHERE, filename=name) == part

    asyncio.run(steps())


segments = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12)


@given(st.sets(segments, max_size=20))
def test_different_names_are_different_folders(names: set[str]) -> None:
    """Two names are never one folder, and no folder's name is one that means something to a file system or to us."""
    folders = [folder_name(name) for name in names]
    assert len(set(folders)) == len(names)
    assert not any(
        "/" in one or "\\" in one or one in (".", "..", "versions") or one.startswith("%~") for one in folders
    )
    assert all(len(one.encode()) <= 255 for one in folders)


names = st.sampled_from(["a", "A", "a/b", "a/b/c", "user:a", "user:a/b", "b.txt"])
steps = st.lists(
    st.tuples(st.sampled_from(["save", "save", "load", "delete", "keys", "versions"]), names, st.text(max_size=5)),
    max_size=25,
)


@settings(max_examples=30, deadline=None)
@given(steps)
def test_a_folder_does_what_memory_does(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    """Whatever is saved, loaded and deleted in whichever order, the two services answer the same."""

    async def play(service: Any) -> list[Any]:
        said: list[Any] = []
        for method, name, words in steps:
            where = {**WHERE, "filename": name}
            if method == "save":
                said.append(await service.save_artifact(**where, artifact=text(words)))
            elif method == "load":
                said.append([await service.load_artifact(**where, version=version) for version in (None, 0, 1)])
            elif method == "delete":
                said.append(await service.delete_artifact(**where))
            elif method == "keys":
                said.append(await service.list_artifact_keys(**WHERE))
            else:
                said.append(await service.list_versions(**where))
        return said

    folder = tmp_path_factory.mktemp("artifacts")
    assert asyncio.run(play(FileArtifactService(folder))) == asyncio.run(play(InMemoryArtifactService()))
