"""Frames and sessions in files: out and in again without loss."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError, DataError
from adk_nb.frames import jsonl
from adk_nb.frames.columns import column
from adk_nb.frames.plain import plain
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import where
from adk_nb.frames.whole_file import written_whole

_ABOUT = "adk_nb"
"""The key under which a file says what its columns are."""


def export_jsonl(source: Any, path: str | os.PathLike[str], **filters: Any) -> int:
    """Write sessions, with their events and records, to a text file, and return how many.

    One JSON object a line; see `adk_nb.frames.jsonl` for what is in it. Every frame is made from such a file as from
    the store it came from, and `import_jsonl` puts it into another store.

    Args:
        source: As in `events_frame`.
        path: The file, ending in `.jsonl`, or in `.jsonl.gz` to compress it.
        **filters: `app`, `user`, `session` and `since`, which take whole sessions.

    Raises:
        ConfigurationError: the path ends otherwise, or a filter would take parts of sessions.

    Example:
        >>> import tempfile
        >>> from adk_nb.events.event import Event
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     export_jsonl([Event(output=1)], f"{folder}/all.jsonl")
        1
    """
    if not os.fspath(path).endswith((".jsonl", ".jsonl.gz")):
        raise ConfigurationError(f"{os.fspath(path)!r} isn't a name for sessions as text: end it in '.jsonl'.")
    wanted = where(filters)
    if wanted.invocation is not None or wanted.until is not None:
        raise ConfigurationError("Whole sessions are exported: allowed filters are app, user, session and since.")
    return jsonl.write_sessions(sessions_of(source, wanted), path)


def save_frame(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a frame to a Parquet or JSONL file, from which `load_frame` gives the same one back.

    In Parquet, which needs the package pyarrow (`pip install adk-nb[parquet]`), columns that hold more than text, such
    as dictionaries, lists, or values of several kinds, are JSON text. In JSONL, the first line names the columns and
    their types, each other line is one row as a list.

    Args:
        frame: Any frame of this package.
        path: The file, ending in `.parquet` or `.jsonl`.

    Raises:
        ConfigurationError: the path ends otherwise, or pyarrow is missing.
    """
    columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
    as_json = [place for place, values in enumerate(columns) if values.dtype == object and not _is_text(values)]
    about = {"columns": [(name, str(values.dtype)) for name, values in frame.items()], "as_json": as_json}
    if _suffix(path) == ".jsonl":
        with written_whole(path) as part:
            _write_lines(columns, about, part)
        return
    for place in as_json:
        columns[place] = columns[place].map(_json, na_action="ignore")
    flat = pd.DataFrame(dict(zip(_unlike(frame.columns), columns, strict=True)), index=frame.index)
    flat.attrs = {_ABOUT: about}
    with written_whole(path) as part:
        flat.to_parquet(part)


def load_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the frame in a file that `save_frame` wrote, with its columns and types.

    Raises:
        ConfigurationError: the path ends in something else than `.parquet` or `.jsonl`, or pyarrow is missing.
        DataError: the file wasn't written by `save_frame`.
    """
    if _suffix(path) == ".jsonl":
        return _read_lines(Path(path))
    flat = pd.read_parquet(path)
    about = flat.attrs.pop(_ABOUT, None)
    if about is None:
        raise DataError(f"{os.fspath(path)!r} wasn't written by save_frame: read it with pandas.read_parquet.")
    columns: list[Any] = []
    for place, (_, dtype) in enumerate(about["columns"]):
        values: Any = flat.iloc[:, place]
        if dtype == "object":
            missing = values.isna()
            read = json.loads if place in about["as_json"] else str
            kept = [None if gone else read(value) for value, gone in zip(values, missing, strict=True)]
            values = pd.Series(kept, dtype="object")
        columns.append(values.astype(dtype).reset_index(drop=True))
    return _named(columns, about)


def _named(columns: list[Any], about: dict[str, Any]) -> pd.DataFrame:
    """Return columns as a frame under their names, of which several may be the same."""
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index([name for name, _ in about["columns"]], dtype=frame.columns.dtype if not columns else None)
    return frame


def _unlike(names: Any) -> Iterator[str]:
    """Give names of columns, each once: Parquet has no two of the same."""
    taken: set[str] = set()
    for name in names:
        number, unlike = 1, name
        while unlike in taken:
            number += 1
            unlike = f"{name} ({number})"
        taken.add(unlike)
        yield unlike


def _write_lines(columns: list[Any], about: dict[str, Any], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{json.dumps(about, ensure_ascii=False)}\n")
        for row in zip(*map(_plain_values, columns), strict=True):
            file.write(f"{json.dumps(row, ensure_ascii=False)}\n")


def _read_lines(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8") as file:
        about = json.loads(next(file, "null"))
        if not isinstance(about, dict) or "columns" not in about:
            raise DataError(
                f"{str(path)!r} wasn't written by save_frame; sessions as text are given to frames as a path."
            )
        lists: list[list[Any]] = [[] for _ in about["columns"]]
        for line in file:
            for values, value in zip(lists, json.loads(line), strict=True):
                values.append(value)
    columns: list[Any] = []
    for (_, dtype), values in zip(about["columns"], lists, strict=True):
        if dtype.startswith("datetime"):
            columns.append(pd.to_datetime(pd.Series(values, dtype="Int64"), unit="ns", utc=True).astype(dtype))
        else:
            columns.append(column(values, dtype))
    return _named(columns, about)


def _plain_values(values: Any) -> Iterator[Any]:
    """Give the values of a column for JSON: moments as nanoseconds since the epoch, what is missing as null."""
    is_moment = str(values.dtype).startswith("datetime")
    for value, is_missing in zip(values, values.isna(), strict=True):
        if is_missing:
            yield None
        elif is_moment:
            yield value.value
        else:
            yield value.item() if hasattr(value, "item") else plain(value)


def _is_text(values: Any) -> bool:
    return all(type(value) is str or value is None for value in values)


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix
    if suffix not in (".parquet", ".jsonl"):
        raise ConfigurationError(f"{os.fspath(path)!r}: a frame is saved as '.parquet' or '.jsonl'.")
    if suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ConfigurationError("Parquet needs pyarrow: pip install adk-nb[parquet], or save as '.jsonl'.")
    return suffix
