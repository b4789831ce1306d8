"""Memory: what was said in a user's earlier sessions, to be found again in later ones."""

from adk_nb.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from adk_nb.memory.in_memory_memory_service import InMemoryMemoryService
from adk_nb.memory.memory_entry import MemoryEntry

__all__ = ["BaseMemoryService", "InMemoryMemoryService", "MemoryEntry", "SearchMemoryResponse"]
