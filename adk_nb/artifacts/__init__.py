"""Artifacts: files with versions that a run saves and loads, of a session or of a user; in memory or in a folder."""

from adk_nb.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from adk_nb.artifacts.file_artifact_service import FileArtifactService
from adk_nb.artifacts.in_memory_artifact_service import InMemoryArtifactService

__all__ = ["ArtifactVersion", "BaseArtifactService", "FileArtifactService", "InMemoryArtifactService"]
