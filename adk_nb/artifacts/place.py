"""Where an artifact belongs: checked names and ids, and what may be kept under them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from google.genai import types
from pydantic import ValidationError

from adk_nb.errors import InputValidationError

USER_PREFIX = "user:"
"""Begins the names of artifacts that all sessions of a user share."""

TAKEN_BACK = "adk_nb_taken_back"
"""Marks, in a version's metadata, that a rewind took the artifact back: it isn't there from this version on."""

_SEPARATORS = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


class Place(NamedTuple):
    """Where one artifact is kept."""

    app_name: str
    user_id: str
    session_id: str | None
    """`None` for what the user's sessions share."""
    filename: str

    @property
    def path(self) -> str:
        """The name without `user:`."""
        return self.filename.removeprefix(USER_PREFIX)


def place_of(app_name: str, user_id: str, session_id: str | None, filename: str) -> Place:
    """Return where an artifact belongs.

    Raises:
        InputValidationError: a name or an id could lead elsewhere, or a session's artifact has no session.

    Example:
        >>> place_of("app", "ada", "s", "user:notes/a.txt")
        Place(app_name='app', user_id='ada', session_id=None, filename='user:notes/a.txt')
    """
    check_ids(app_name, user_id, session_id)
    if not isinstance(filename, str):
        raise InputValidationError(f"filename is {filename!r:.80}: give a text, for instance 'report.pdf'.")
    is_shared = filename.startswith(USER_PREFIX)
    problem = _problem(filename.removeprefix(USER_PREFIX), is_file=True)
    if problem:
        raise InputValidationError(
            f"The artifact filename {filename!r:.80} can't be taken: it {problem}. Give a name such as 'report.pdf' or "
            f"'charts/q1.png'."
        )
    if is_shared:
        return Place(app_name, user_id, None, filename)
    if session_id is None:
        raise InputValidationError(
            f"Session ID must be provided for the session-scoped artifact {filename!r:.80}: give session_id=, or begin "
            f"the name with 'user:' to share it among the user's sessions."
        )
    return Place(app_name, user_id, session_id, filename)


def check_ids(app_name: str, user_id: str, session_id: str | None) -> None:
    """Refuse ids that could lead elsewhere.

    Raises:
        InputValidationError: one is empty, absolute, holds a zero byte, or has `.` or `..` as a segment.
    """
    for what, given in (("app_name", app_name), ("user_id", user_id), ("session_id", session_id)):
        if given is None and what == "session_id":
            continue
        problem = _problem(given) if isinstance(given, str) else "isn't a text"
        if problem:
            raise InputValidationError(f"{what} {given!r:.80} can't be taken for artifacts: it {problem}.")


def check_version(version: Any) -> None:
    """Refuse what is no number of a version; `None` stands for the newest.

    Raises:
        InputValidationError: it isn't a whole number.
    """
    if version is not None and (not isinstance(version, int) or isinstance(version, bool)):
        raise InputValidationError(f"version is {version!r:.80}: give a whole number from 0, or None for the newest.")


def part_of(artifact: Any, filename: str) -> types.Part:
    """Return a copy of what is to be kept.

    Raises:
        InputValidationError: it holds neither text nor a file.
    """
    if isinstance(artifact, dict):
        try:
            artifact = types.Part.model_validate(artifact)
        except ValidationError as error:
            raise InputValidationError(f"The artifact {filename!r:.80} is no types.Part: {error}") from None
    if not isinstance(artifact, types.Part):
        raise InputValidationError(
            f"The artifact {filename!r:.80} is a {type(artifact).__name__}: give a types.Part, for instance "
            f"types.Part(text='...') or types.Part.from_bytes(data=..., mime_type='image/png')."
        )
    if artifact.text is None and artifact.inline_data is None and artifact.file_data is None:
        held = ", ".join(sorted(artifact.model_dump(exclude_none=True))) or "nothing"
        raise InputValidationError(
            f"Not supported artifact type: the part for {filename!r:.80} holds {held}; give text, inline_data or "
            f"file_data."
        )
    return artifact.model_copy(deep=True)


def metadata_of(given: Mapping[str, Any] | None, filename: str) -> dict[str, Any]:
    """Return a copy of the metadata that is kept with a version.

    Raises:
        InputValidationError: it isn't JSON.
    """
    try:
        kept = json.loads(json.dumps(given or {}, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputValidationError(f"custom_metadata of the artifact {filename!r:.80} is no JSON: {error}.") from None
    if not isinstance(kept, dict):
        raise InputValidationError(f"custom_metadata of the artifact {filename!r:.80} must be a dictionary.")
    return kept


def mime_type_of(part: types.Part) -> str | None:
    """Return what kind of file a part is, `text/plain` for a text.

    Example:
        >>> mime_type_of(types.Part(text="hello"))
        'text/plain'
    """
    if part.inline_data is not None:
        return part.inline_data.mime_type
    return part.file_data.mime_type if part.file_data is not None else "text/plain"


def _problem(name: str, *, is_file: bool = False) -> str | None:
    if not name.strip():
        return "is empty"
    if "\0" in name:
        return "holds a zero byte"
    segments = _SEPARATORS.split(name)
    if any(segment in (".", "..") for segment in segments):
        return "must not contain traversal segments ('.' or '..')"
    if is_file and (_DRIVE.match(name) or not all(segments)):
        return "is absolute or has an empty segment"
    return None
