"""Events: their shortcuts, their JSON, and what sealing does to them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from adk_nb.errors import DataError, WorkflowDataError
from adk_nb.events import Event, EventActions, NodeInfo
from adk_nb.events.event import content_text, event_of, new_id, to_content
from adk_nb.events.stored import event_from_json, event_to_json


def test_shortcuts_fill_the_fields() -> None:
    """`message`, `state`, `route` and `node_path` fill content, state change, route and path."""
    event = Event.model_validate({"message": "hi", "state": {"a": 1}, "route": "R", "node_path": "wf@1/a@2"})
    assert content_text(event.content) == content_text(event.message) == "hi"
    assert (event.actions.state_delta, event.actions.route) == ({"a": 1}, "R")
    assert (event.node_info.name, event.node_info.run_id, event.node_info.parent_run_id) == ("a", "2", "1")
    assert event.node_name == "a"


def test_shortcuts_join_what_is_given() -> None:
    """A shortcut beside its object changes a copy of the object; message beside content is refused."""
    actions = EventActions(escalate=True, state_delta={"old": 1})
    event = Event.model_validate({"actions": actions, "state": {"a": 1}, "route": ["x", 1]})
    assert (event.actions.escalate, event.actions.state_delta, event.actions.route) == (True, {"a": 1}, ["x", 1])
    assert actions.state_delta == {"old": 1}
    with pytest.raises(ValueError, match="mutually exclusive"):
        Event.model_validate({"message": "a", "content": to_content("b")})


@pytest.mark.parametrize("fields", [{}, {"output": {"a": [1]}}, {"content": to_content("hi"), "author": "x"}])
def test_an_event_of_checked_fields_is_what_the_constructor_makes(fields: dict[str, Any]) -> None:
    """`event_of` makes what the constructor makes; its actions are its own as soon as they are written."""
    given, made = Event(**fields), event_of(**fields)
    assert made.id != given.id
    assert list(made.__dict__) == list(given.__dict__)
    assert made.model_copy(update={"id": given.id, "timestamp": given.timestamp}) == given
    assert made.model_fields_set == given.model_fields_set
    with pytest.raises(DataError):
        made.actions.state_delta["x"] = 1
    made.own_actions().state_delta["x"] = made.own_actions().requested_auth_configs["x"] = 1
    made.own_actions().escalate, made.node_info.path = True, "wf@1"
    assert made.actions.state_delta == {"x": 1}
    assert (event_of().actions, event_of().node_info) == (EventActions(), NodeInfo())


def test_history_shares_no_actions_that_do_something() -> None:
    """What an event does is sealed with it, also where a dictionary of its actions was filled in place."""
    quiet, loud = Event(output=1), Event(output=1)
    loud.actions.state_delta["a"] = [1]
    quiet.seal()
    loud.seal()
    assert (quiet.actions, loud.actions.state_delta) == (EventActions(), {"a": [1]})
    for event in (quiet, loud):
        with pytest.raises(DataError):
            event.actions.state_delta["b"] = 1
    with pytest.raises(DataError):
        quiet.actions.requested_auth_configs["b"] = 1


@pytest.mark.parametrize("message", ["hi", types.Part(text="hi"), ["hi"], to_content("hi")])
def test_messages_become_content(message: Any) -> None:
    """A text, a part, a list or a content makes the same user message."""
    event = Event()
    event.message = message
    assert event.content == types.Content(role="user", parts=[types.Part(text="hi")])
    event.message = None
    assert event.content is None


def test_json_has_both_spellings() -> None:
    """Both spellings of field names load; unknown fields are ignored, ids are sorted, bytes survive."""
    event = Event(
        author="x",
        long_running_tool_ids={"b", "a"},
        content=types.Content(role="model", parts=[types.Part(inline_data=types.Blob(data=b"\xff", mime_type="x/y"))]),
        node_info=NodeInfo(path="wf@1", output_for=["wf@1"]),
    )
    for by_alias in (True, False):
        data = event.model_dump(mode="json", by_alias=by_alias, exclude_none=True)
        assert data["longRunningToolIds" if by_alias else "long_running_tool_ids"] == ["a", "b"]
        assert Event.model_validate({**data, "unknown": 1}) == event
    assert event_from_json(event_to_json(event)) == event


def test_final_response_is_what_nothing_follows() -> None:
    """Text and errors are final; calls, their results and pieces of a message aren't; a waiting call is."""
    call = types.Part(function_call=types.FunctionCall(id="1", name="f", args={}))
    answer = types.Part(function_response=types.FunctionResponse(id="1", name="f", response={}))
    assert Event.model_validate({"message": "done"}).is_final_response()
    assert Event(error_code="X").is_final_response()
    for part in (call, answer):
        assert not Event.model_validate({"message": part}).is_final_response()
    assert not Event.model_validate({"message": "do", "partial": True}).is_final_response()
    assert Event.model_validate({"message": call, "long_running_tool_ids": {"1"}}).is_final_response()
    assert Event.model_validate({"message": call}).get_function_calls()[0].name == "f"
    assert Event.model_validate({"message": answer}).get_function_responses()[0].name == "f"


def test_sealed_events_refuse_changes() -> None:
    """A sealed event refuses changes of itself, its actions, node info, content and values, and says what to do."""
    event: Any = Event.model_validate(
        {"author": "x", "message": "hi", "output": {"a": [1]}, "state": {"k": [1]}, "node_path": "wf@1/a@1"}
    )
    event.node_info.output_for = ["wf@1"]
    before = event.model_copy(deep=True)
    assert not event.is_sealed
    event.seal()
    event.seal()
    assert event.is_sealed
    changes: list[Any] = [
        lambda: setattr(event, "author", "y"),
        lambda: setattr(event, "message", "y"),
        lambda: setattr(event, "output", None),
        lambda: setattr(event.actions, "route", "R"),
        lambda: setattr(event.node_info, "path", "x"),
        lambda: event.node_info.output_for.append("x"),
        lambda: event.output["a"].append(2),
        lambda: event.actions.state_delta.update(k=2),
        lambda: event.actions.artifact_delta.update(f=1),
        lambda: event.content.parts.append(1),
        lambda: setattr(event.content.parts[0], "text", "x"),
    ]
    for change in changes:
        with pytest.raises(DataError, match=r"history.*(model_copy|deepcopy)"):
            change()
    assert event == before
    assert event_from_json(event_to_json(event)) == before
    assert event.model_dump() == before.model_dump()


def test_sealed_events_can_be_copied() -> None:
    """Copies and pickles of a sealed event are equal to it, and can be changed."""
    event: Any = Event.model_validate({"message": "hi", "output": {"a": [1]}, "state": {"k": 1}})
    event.seal()
    for copied in (event.model_copy(deep=True), pickle.loads(pickle.dumps(event))):
        assert copied == event
        copied.output["a"].append(2)
        copied.content.parts[0].text = "x"
        copied.actions.state_delta["k"] = 2
        copied.author = "y"
    assert (event.output, event.author, event.actions.state_delta) == ({"a": [1]}, "", {"k": 1})
    shallow = event.model_copy(update={"output": 3})
    shallow.author = "z"
    assert (shallow.output, event.output) == (3, {"a": [1]})


def test_sealing_takes_copies() -> None:
    """What an event was made from can change after sealing, without changing the event."""
    message: Any = to_content("hi")
    output = {"a": [1]}
    event = Event(content=message, output=output)
    event.seal()
    message.parts[0].text = "changed"
    output["a"].append(2)
    assert (content_text(event.content), event.output) == ("hi", {"a": [1]})


def test_event_that_cannot_be_stored_stays_open() -> None:
    """Sealing an event with something that can't be stored names its place and leaves the event as it was."""

    class Note(BaseModel):
        text: str

    event = Event(output={"a": object()})
    with pytest.raises(WorkflowDataError, match=r"output\['a'\]"):
        event.seal()
    assert not event.is_sealed
    event.output = Note(text="x")
    event.seal()
    assert event.output == {"text": "x"}


def test_what_json_cannot_hold_elsewhere_is_refused() -> None:
    """An object in a field that isn't a value is refused with the event's place, not with a serializer's error."""
    event = Event(author="wf", node_info=NodeInfo(path="wf@1/a@1"))
    event.actions.requested_auth_configs = {"x": object()}
    with pytest.raises(WorkflowDataError, match="'wf@1/a@1' can't be stored"):
        event_to_json(event)


def test_ids_are_uuids() -> None:
    """Ids have the form of version 4 UUIDs and don't repeat."""
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(i) == 36 and i[14] == "4" and i[19] in "89ab" for i in ids)


def test_a_copy_of_history_becomes_history() -> None:
    """A changed copy of a stored event can be stored as well, though the two share what wasn't changed."""
    event = Event(output=1, node_info={"path": "wf@1/a@1", "output_for": ["wf@1/a@1"]})
    event.seal()
    copied = event.model_copy(update={"output": 2})
    copied.seal()
    assert (copied.output, copied.node_info) == (2, event.node_info)
