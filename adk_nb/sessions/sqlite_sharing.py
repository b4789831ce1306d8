"""What all connections of this process to one file share, and how long a call waits for other programs.

Within a process writers queue for the file and never fail, however long one of them, or the thread that moves the
write-ahead log into the file, needs on a busy machine. Only a lock that another program holds is given up on.
"""

from __future__ import annotations

import random
import threading
import weakref
from collections.abc import Hashable


class Sharing:
    """One file, as this process uses it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held by whoever reads or writes; event loops of several threads may share a file."""
        self.is_checkpointing = False
        """A thread of this process moves the write-ahead log, and may keep writers out."""
        self.progress = 0
        """Counts what this process has done to the file: if it grows, no other program holds the file for long."""


class Patience:
    """How long one call goes on asking for a locked file. Only pauses count: a loop that stands still isn't a lock."""

    def __init__(self, sharing: Sharing, most: float) -> None:
        """Begin with all of it.

        Args:
            sharing: The file.
            most: How long to wait for another program, in seconds.
        """
        self._sharing = sharing
        self._most = most
        self._left = most

    def pause(self, progress: int) -> float | None:
        """Return how long to wait before asking again, `None` when another program has held the file for too long.

        Args:
            progress: The file's before it was asked in vain.
        """
        if self._sharing.is_checkpointing or self._sharing.progress != progress:
            self._left = self._most
        if self._left < 0:
            return None
        pause = random.uniform(0.002, 0.02)
        self._left -= pause
        return pause


def sharing_of(place: Hashable) -> Sharing:
    """Return what this process shares of the file at a place."""
    with _lock:
        found = _files.get(place)
        if found is None:
            found = _files[place] = Sharing()
        return found


_files: weakref.WeakValueDictionary[Hashable, Sharing] = weakref.WeakValueDictionary()
_lock = threading.Lock()
