"""Files in a person's message, saved as artifacts where a call of the runner wants it."""

from __future__ import annotations

from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event
from adk_nb.workflow.invocation import InvocationContext


async def save_blobs(event: Event, invocation: InvocationContext) -> None:
    """Save the files of a message, and say in its event which versions they are; the message keeps them.

    Raises:
        ConfigurationError: there is no artifact service.
    """
    parts = event.content.parts if event.content is not None else None
    blobs = [(at, part, part.inline_data) for at, part in enumerate(parts or ()) if part.inline_data is not None]
    if not blobs:
        return
    service, session = invocation.artifact_service, invocation.session
    if service is None:
        raise ConfigurationError(
            "RunConfig(save_input_blobs_as_artifacts=True) and a message with files need an artifact service: give one "
            "to the runner, Runner(artifact_service=...). Nothing was stored."
        )
    for at, part, blob in blobs:
        name = blob.display_name or f"artifact_{event.invocation_id}_{at}"
        event.actions.artifact_delta[name] = await service.save_artifact(
            app_name=session.app_name, user_id=session.user_id, session_id=session.id, filename=name, artifact=part
        )
