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

    In Parquet, which needs the package pyarrow (`pip install adk-nb[parquet]`), columns that hold dictionaries or lists
    are JSON text. In JSONL, the first line names the columns and their types, each other line is one row as a list.

    Args:
        frame: Any frame of this package.
        path: The file, ending in `.parquet` or `.jsonl`.

    Raises:
        ConfigurationError: the path ends otherwise, or pyarrow is missing.
    """
    nested = [name for name in frame.columns if _is_nested(frame[name])]
    about = {"columns": {name: str(dtype) for name, dtype in frame.dtypes.items()}, "nested": nested}
    if _suffix(path) == ".jsonl":
        _write_lines(frame, about, Path(path))
        return
    flat = frame.assign(**{name: frame[name].map(_json, na_action="ignore") for name in nested})
    flat.attrs = {_ABOUT: about}
    flat.to_parquet(path)


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
    made: dict[str, Any] = {}
    for name, dtype in about["columns"].items():
        values: Any = flat[name]
        if dtype == "object":
            missing = values.isna()
            read = json.loads if name in about["nested"] else str
            kept = [None if gone else read(value) for value, gone in zip(values, missing, strict=True)]
            values = pd.Series(kept, dtype="object")
        made[name] = values.astype(dtype).reset_index(drop=True)
    return pd.DataFrame(made, columns=list(about["columns"]))


def _write_lines(frame: pd.DataFrame, about: dict[str, Any], path: Path) -> None:
    columns: list[Iterator[Any]] = [_plain_values(frame[name]) for name in frame.columns]
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{json.dumps(about, ensure_ascii=False)}\n")
        for row in zip(*columns, strict=True):
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
    made: dict[str, Any] = {}
    for (name, dtype), values in zip(about["columns"].items(), lists, strict=True):
        if dtype.startswith("datetime"):
            made[name] = pd.to_datetime(pd.Series(values, dtype="Int64"), unit="ns", utc=True).astype(dtype)
        else:
            made[name] = column(values, dtype)
    return pd.DataFrame(made, columns=list(about["columns"]))


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


def _is_nested(values: Any) -> bool:
    return values.dtype == object and any(isinstance(value, (dict, list)) for value in values)


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix
    if suffix not in (".parquet", ".jsonl"):
        raise ConfigurationError(f"{os.fspath(path)!r}: a frame is saved as '.parquet' or '.jsonl'.")
    if suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ConfigurationError("Parquet needs pyarrow: pip install adk-nb[parquet], or save as '.jsonl'.")
    return suffix
