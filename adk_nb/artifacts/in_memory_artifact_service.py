"""`InMemoryArtifactService`: artifacts that live as long as the process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.genai import types

from adk_nb.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
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


@dataclass(frozen=True, slots=True)
class _Kept:
    part: types.Part
    about: ArtifactVersion


class InMemoryArtifactService(BaseArtifactService):
    """Keeps artifacts in memory, for notebooks and tests.

    Example:
        >>> import asyncio
        >>> service = InMemoryArtifactService()
        >>> where = {"app_name": "app", "user_id": "ada", "session_id": "s", "filename": "note.txt"}
        >>> asyncio.run(service.save_artifact(**where, artifact=types.Part(text="first")))
        0
        >>> asyncio.run(service.save_artifact(**where, artifact=types.Part(text="second")))
        1
        >>> asyncio.run(service.load_artifact(**where, version=0)).text
        'first'
    """

    def __init__(self) -> None:
        """Begin without artifacts."""
        self._kept: dict[tuple[str, str, str | None], dict[str, list[_Kept]]] = {}

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
        about_it = metadata_of(custom_metadata, filename)
        versions = self._kept.setdefault(place[:3], {}).setdefault(filename, [])
        number = len(versions)
        about = ArtifactVersion(
            version=number,
            canonical_uri=_uri(place, number),
            custom_metadata=about_it,
            mime_type=mime_type_of(part),
        )
        versions.append(_Kept(part, about))
        return number

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """Return a version of an artifact, the newest unless one is named; `None` when it isn't there."""
        found = self._version(place_of(app_name, user_id, session_id, filename), version)
        return None if found is None or _is_taken_back(found) else found.part.model_copy(deep=True)

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """Return the names of a session's and its user's artifacts, sorted; without a session only the user's."""
        check_ids(app_name, user_id, session_id)
        scopes = dict.fromkeys([(app_name, user_id, None), (app_name, user_id, session_id)])
        found = [pair for scope in scopes for pair in self._kept.get(scope, {}).items()]
        return sorted(name for name, versions in found if not _is_taken_back(versions[-1]))

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete an artifact with all its versions, in silence when it isn't there."""
        place = place_of(app_name, user_id, session_id, filename)
        self._kept.get(place[:3], {}).pop(filename, None)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of an artifact's versions, oldest first."""
        return list(range(len(self._versions(place_of(app_name, user_id, session_id, filename)))))

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return what is known about an artifact's versions, oldest first."""
        versions = self._versions(place_of(app_name, user_id, session_id, filename))
        return [one.about.model_copy(deep=True) for one in versions]

    async def get_artifact_version(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> ArtifactVersion | None:
        """Return what is known about a version, the newest unless one is named; `None` when it isn't there."""
        found = self._version(place_of(app_name, user_id, session_id, filename), version)
        return None if found is None else found.about.model_copy(deep=True)

    def _versions(self, place: Place) -> list[_Kept]:
        return self._kept.get(place[:3], {}).get(place.filename, [])

    def _version(self, place: Place, version: int | None) -> _Kept | None:
        check_version(version)
        versions = self._versions(place)
        number = len(versions) - 1 if version is None else version
        return versions[number] if 0 <= number < len(versions) else None


def _is_taken_back(kept: _Kept) -> bool:
    return bool(kept.about.custom_metadata.get(TAKEN_BACK))


def _uri(place: Place, version: int) -> str:
    session = "" if place.session_id is None else f"/sessions/{place.session_id}"
    return (
        f"memory://apps/{place.app_name}/users/{place.user_id}{session}/artifacts/{place.filename}/versions/{version}"
    )
