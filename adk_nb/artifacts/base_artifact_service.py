"""`BaseArtifactService`: what a service that keeps artifacts does, and `ArtifactVersion`: what it tells of one."""

from __future__ import annotations

import abc
import time
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, alias_generators


class ArtifactVersion(BaseModel):
    """What is known about one version of an artifact, without its content."""

    model_config = ConfigDict(alias_generator=alias_generators.to_camel, populate_by_name=True)

    version: int
    """Its number, from 0."""
    canonical_uri: str
    """Where it is kept."""
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    """What was given with it."""
    create_time: float = Field(default_factory=time.time)
    """When it was saved, in seconds since 1970."""
    mime_type: str | None = None
    """What kind of file it is, `text/plain` for a text."""


class BaseArtifactService(abc.ABC):
    """Keeps files under names, each with all its versions.

    An artifact belongs to a session, or, with a name that begins with `user:`, to a user and all of the user's
    sessions. A service takes each artifact as it is at the call, and hands out what nobody else holds.
    """

    @abc.abstractmethod
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
        """Save a new version of an artifact and return its number: 0, then 1, 2, ….

        Args:
            app_name: The app.
            user_id: The user.
            filename: The artifact's name, which may hold `/`; `user:` in front shares it among the user's sessions.
            artifact: A text, bytes with their kind (`inline_data`), or the address of a file (`file_data`).
            session_id: The session; `None` only for a `user:` name.
            custom_metadata: Kept with the version.
        Raises:
            InputValidationError: a name or an id can't be taken, or the part is none of the three.
        """

    @abc.abstractmethod
    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """Return a version of an artifact, the newest unless one is named; `None` when it isn't there."""

    @abc.abstractmethod
    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """Return the names of a session's and its user's artifacts, sorted; without a session only the user's."""

    @abc.abstractmethod
    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete an artifact with all its versions, in silence when it isn't there."""

    @abc.abstractmethod
    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of an artifact's versions, oldest first."""

    @abc.abstractmethod
    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return what is known about an artifact's versions, oldest first."""

    @abc.abstractmethod
    async def get_artifact_version(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> ArtifactVersion | None:
        """Return what is known about a version, the newest unless one is named; `None` when it isn't there."""
