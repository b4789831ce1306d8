"""Names of artifacts and ids as names of folders: two different ones are never the same, and none leads elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

from adk_nb.artifacts.place import Place

VERSIONS, ABOUT = "versions", "metadata.json"
HIDDEN = "%~"
"""Begins the names of folders that are being written or deleted; no encoded name begins like this."""

_PLAIN = frozenset("._-+=@()[],~ ")
_LONGEST, _KEPT = 200, 120


def folder_name(name: str) -> str:
    """Return a name as the name of one folder.

    Letters and digits stay as they are, and what some file system can't take is written as `%` and its code.

    Example:
        >>> folder_name("Q1 report.pdf"), folder_name("google:12/3"), folder_name("versions")
        ('Q1 report.pdf', 'google%3A12%2F3', '%76ersions')
    """
    signs = [sign if sign.isalnum() or sign in _PLAIN else _code(sign) for sign in name]
    if name.lower() in (VERSIONS, ABOUT):
        signs[0] = _code(name[0])
    if name[-1] in ". ":  # Windows drops these at the end
        signs[-1] = _code(name[-1])
    whole = "".join(signs)
    raw = whole.encode()
    if len(raw) <= _LONGEST:
        return whole
    begin = raw[:_KEPT].decode(errors="ignore")
    return f"{begin}{HIDDEN}{hashlib.sha256(raw).hexdigest()}"


def scope_folder(root: Path, app_name: str, user_id: str, session_id: str | None) -> Path:
    """Return the folder of a session's artifacts, or of those that the user's sessions share."""
    user = root / "apps" / folder_name(app_name) / "users" / folder_name(user_id)
    return (user if session_id is None else user / "sessions" / folder_name(session_id)) / "artifacts"


def artifact_folder(root: Path, place: Place) -> Path:
    """Return the folder of one artifact; each `/` in its name is one folder deeper."""
    folder = scope_folder(root, *place[:3])
    return folder.joinpath(*map(folder_name, place.path.split("/")))


def _code(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogatepass"))
