"""Credentials that people gave, kept in this process only and for as long as their run can need them.

Nothing of this is written anywhere. After a restart the credentials are gone and a node that needs one asks again; a
credential service given to the runner keeps them longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adk_nb.auth.auth_credential import AuthCredential

RunKey = tuple[str, str, str, str]
"""App, user, session and invocation of a run."""

_kept: dict[RunKey, dict[str, AuthCredential]] = {}


def run_key(session: Any, invocation_id: str) -> RunKey:
    """Return what names a run in this process."""
    return session.app_name, session.user_id, session.id, invocation_id


def keep(run: RunKey, credential_key: str, credential: AuthCredential) -> None:
    """Keep a credential for a run."""
    _kept.setdefault(run, {})[credential_key] = credential


def recall(run: RunKey, credential_key: str) -> AuthCredential | None:
    """Return a run's credential, a copy of its own for each caller; `None` when nobody gave it in this process."""
    credential = _kept.get(run, {}).get(credential_key)
    return None if credential is None else credential.model_copy(deep=True)


def forget(run: RunKey) -> None:
    """Forget a run's credentials, as when it has completed."""
    if _kept:
        _kept.pop(run, None)
