"""Files that are there under their name once all is in them: what is cut off costs nobody the old one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give another name beside a path to write to; what was written takes the path's place if nothing failed.

    Example:
        >>> import tempfile
        >>> kept = Path(tempfile.mkdtemp(), "kept.txt")
        >>> for word in ("old", "new"):
        ...     with written_whole(kept) as part:
        ...         _ = part.write_text(word)
        >>> kept.read_text()
        'new'
    """
    place = Path(path)
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page of HTML to a file, whole or not at all, and return its path."""
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")
    return Path(path)
