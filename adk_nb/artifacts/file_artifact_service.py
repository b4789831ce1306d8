"""`FileArtifactService`: artifacts in a folder, where they outlive the process."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.genai import types

from adk_nb.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from adk_nb.artifacts.folders import ABOUT, HIDDEN, VERSIONS, artifact_folder, scope_folder
from adk_nb.artifacts.place import (
    TAKEN_BACK,
    Place,
    check_ids,
    check_version,
    metadata_of,
    mime_type_of,
    part_of,
    place_of,
)
from adk_nb.errors import DataError, InputValidationError

_TRIES = 1000
"""How often a number may be taken by another writer before a save gives up."""


class FileArtifactService(BaseArtifactService):
    """Keeps artifacts in a folder, each version in a folder of its own with the file and a `metadata.json`.

    A version is written beside its place and moved there whole, so that a reader, or a process that starts after a
    crash, finds all of it or nothing. Any number of processes may use one folder.

    Example:
        >>> import tempfile
        >>> where = {"app_name": "app", "user_id": "ada", "session_id": "s", "filename": "note.txt"}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved = asyncio.run(FileArtifactService(folder).save_artifact(**where, artifact=types.Part(text="hi")))
        ...     loaded = asyncio.run(FileArtifactService(folder).load_artifact(**where))
        >>> saved, loaded.text
        (0, 'hi')
    """

    def __init__(self, root_dir: Path | str) -> None:
        """Use a folder, which is made when the first artifact is saved."""
        self.root_dir = Path(root_dir).expanduser().resolve()

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Save a new version of an artifact and return its number."""
        place = place_of(app_name, user_id, session_id, filename)
        part = part_of(artifact, filename)
        return await asyncio.to_thread(self._save, place, part, metadata_of(custom_metadata, filename))

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """Return a version of an artifact, the newest unless one is named; `None` when it isn't there."""
        place = place_of(app_name, user_id, session_id, filename)
        return await asyncio.to_thread(self._load, place, version)

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """Return the names of a session's and its user's artifacts, sorted; without a session only the user's."""
        check_ids(app_name, user_id, session_id)
        scopes = {scope_folder(self.root_dir, app_name, user_id, one) for one in (None, session_id)}
        return await asyncio.to_thread(lambda: sorted(name for scope in scopes for name in _names_in(scope)))

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete an artifact with all its versions, in silence when it isn't there."""
        place = place_of(app_name, user_id, session_id, filename)
        await asyncio.to_thread(self._delete, place)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of an artifact's versions, oldest first."""
        place = place_of(app_name, user_id, session_id, filename)
        return await asyncio.to_thread(self._numbers, place)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return what is known about an artifact's versions, oldest first."""
        place = place_of(app_name, user_id, session_id, filename)

        def all_of_them() -> list[ArtifactVersion]:
            found = [self._about(place, number) for number in self._numbers(place)]
            return [_told(about) for about in found if about is not None]

        return await asyncio.to_thread(all_of_them)

    async def get_artifact_version(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> ArtifactVersion | None:
        """Return what is known about a version, the newest unless one is named; `None` when it isn't there."""
        place = place_of(app_name, user_id, session_id, filename)
        about = await asyncio.to_thread(self._about, place, version)
        return None if about is None else _told(about)

    def _save(self, place: Place, part: types.Part, metadata: dict[str, Any]) -> int:
        folder = artifact_folder(self.root_dir, place)
        versions = folder / VERSIONS
        about: dict[str, Any] = {"customMetadata": metadata, "createTime": time.time(), "fileName": place.filename}
        payload = _payload(part, about)
        for _ in range(_TRIES):
            number = _newest(versions) + 1
            self._refuse_mixing(place, number - 1)
            about.update(version=number, canonicalUri=(versions / str(number) / folder.name).as_uri())
            written = versions / f"{HIDDEN}{uuid.uuid4().hex}"
            try:
                written.mkdir(parents=True)
                _write(written / folder.name, payload)
                _write(written / ABOUT, json.dumps(about, ensure_ascii=False).encode())
                written.rename(versions / str(number))
            except FileNotFoundError:  # the artifact was deleted meanwhile
                continue
            except OSError:
                shutil.rmtree(written, ignore_errors=True)
                if not (versions / str(number)).exists():
                    raise
            else:
                return number
        raise DataError(f"The artifact {place.filename!r} can't be saved: other writers took each number first.")

    def _refuse_mixing(self, place: Place, newest: int) -> None:
        """Refuse a name that the folder's file system can't tell from another one's."""
        other = _read_about(artifact_folder(self.root_dir, place), newest)
        if other is not None and other.get("fileName", place.filename) != place.filename:
            raise InputValidationError(
                f"The artifact filename {place.filename!r:.80} can't be taken: the file system of {self.root_dir} "
                f"doesn't tell it from {other['fileName']!r:.80}, which is there. Choose another name."
            )

    def _load(self, place: Place, version: int | None) -> types.Part | None:
        about = self._about(place, version)
        if about is None or about["customMetadata"].get(TAKEN_BACK):
            return None
        if "fileData" in about:
            return types.Part(file_data=types.FileData.model_validate(about["fileData"]))
        folder = artifact_folder(self.root_dir, place)
        try:
            data = (folder / VERSIONS / str(about["version"]) / folder.name).read_bytes()
        except FileNotFoundError:  # deleted meanwhile
            return None
        if about.get("mimeType") is None:
            return types.Part(text=data.decode("utf-8", "surrogatepass"))
        blob = types.Blob(data=data, mime_type=about["mimeType"], display_name=about.get("displayName"))
        return types.Part(inline_data=blob)

    def _delete(self, place: Place) -> None:
        folder = artifact_folder(self.root_dir, place)
        if _read_about(folder, _newest(folder / VERSIONS), place.filename) is None:
            return
        gone = folder / f"{HIDDEN}{uuid.uuid4().hex}"
        try:
            (folder / VERSIONS).rename(gone)
        except FileNotFoundError:  # another one was quicker
            return
        shutil.rmtree(gone, ignore_errors=True)
        scope = scope_folder(self.root_dir, *place[:3])
        while folder != scope:
            try:
                folder.rmdir()
            except OSError:  # it holds other artifacts
                return
            folder = folder.parent

    def _numbers(self, place: Place) -> list[int]:
        folder = artifact_folder(self.root_dir, place)
        numbers = sorted(_numbers_in(folder / VERSIONS))
        return numbers if numbers and _read_about(folder, numbers[-1], place.filename) else []

    def _about(self, place: Place, version: int | None) -> dict[str, Any] | None:
        check_version(version)
        folder = artifact_folder(self.root_dir, place)
        return _read_about(folder, _newest(folder / VERSIONS) if version is None else version, place.filename)


def _payload(part: types.Part, about: dict[str, Any]) -> bytes:
    """Return what goes into the file, and write into `about` what is needed to read it."""
    if part.inline_data is not None:
        about["mimeType"] = mime_type_of(part) or "application/octet-stream"
        if part.inline_data.display_name is not None:
            about["displayName"] = part.inline_data.display_name
        return part.inline_data.data or b""
    if part.file_data is not None:
        about["fileData"] = part.file_data.model_dump(mode="json", exclude_none=True)
        return b""
    return (part.text or "").encode("utf-8", "surrogatepass")


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _read_about(folder: Path, version: int, filename: str | None = None) -> dict[str, Any] | None:
    """Return what is written about a version, `None` when it isn't there or belongs to another name."""
    path = folder / VERSIONS / str(version) / ABOUT
    try:
        about = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} can't be read as the metadata of an artifact: {error}. Delete its folder.") from None
    about.setdefault("customMetadata", {})
    return about if filename is None or about.get("fileName", filename) == filename else None


def _told(about: dict[str, Any]) -> ArtifactVersion:
    kind = about.get("mimeType")
    if kind is None:
        kind = about["fileData"].get("mime_type") if "fileData" in about else "text/plain"
    known = {name: about[name] for name in ("version", "canonicalUri", "customMetadata", "createTime")}
    return ArtifactVersion.model_validate({**known, "mimeType": kind})


def _numbers_in(versions: Path) -> Iterator[int]:
    try:
        with os.scandir(versions) as entries:
            yield from (int(entry.name) for entry in entries if entry.name.isascii() and entry.name.isdecimal())
    except FileNotFoundError:
        return


def _newest(versions: Path) -> int:
    """Return the newest number, -1 when there is none."""
    return max(_numbers_in(versions), default=-1)


def _names_in(scope: Path) -> Iterator[str]:
    """Yield the names of the artifacts in a folder of a session or user, those that were taken back left out."""
    for where, folders, _ in os.walk(scope):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        if VERSIONS in folders:
            folders.remove(VERSIONS)
            about = _read_about(Path(where), _newest(Path(where) / VERSIONS))
            if about is not None and "fileName" in about and not about["customMetadata"].get(TAKEN_BACK):
                yield about["fileName"]
