"""Files are written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from adk_nb.frames.files import save_frame
from adk_nb.frames.whole_file import write_page

NO_TEXT = "a lone surrogate \ud800"
WRITERS: dict[str, Callable[[Path], Any]] = {
    "html": lambda place: write_page(place, NO_TEXT),
    "jsonl": lambda place: save_frame(pd.DataFrame({"text": ["a", NO_TEXT]}), place),
    "parquet": lambda place: save_frame(pd.DataFrame({"text": ["a", NO_TEXT]}), place),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_what_fails_in_the_middle_costs_nothing(ending: str, tmp_path: Path) -> None:
    """A write that fails leaves the file that was there, and nothing beside it."""
    place = tmp_path / f"kept.{ending}"
    place.write_text("old")
    with pytest.raises(ValueError, match=r"surrogate|utf|unicode"):
        WRITERS[ending](place)
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]
