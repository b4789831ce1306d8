"""The contract of artifact services, over every service of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from adk_nb.artifacts import BaseArtifactService, FileArtifactService, InMemoryArtifactService
from adk_nb.testing.artifacts import ArtifactServiceContract


class TestInMemory(ArtifactServiceContract):
    """In memory."""

    def make(self) -> BaseArtifactService:
        """Return a new service."""
        return InMemoryArtifactService()


class TestFiles(ArtifactServiceContract):
    """In a folder, read back by a second service that has never seen the artifacts."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "artifacts"

    def make(self) -> BaseArtifactService:
        """Return a service on a new folder."""
        return FileArtifactService(self.path)

    def reopen(self, service: BaseArtifactService) -> BaseArtifactService:
        """Return another service on the folder."""
        return FileArtifactService(str(self.path))
