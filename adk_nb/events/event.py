"""`Event`: one thing that happened in a session, as people, models and exports read it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, TypeVar

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, alias_generators, field_serializer, model_validator

from adk_nb.events.event_actions import EventActions
from adk_nb.events.made import made, put_fields, put_names
from adk_nb.events.paths import last_segment, parent_path
from adk_nb.events.read_only import OpenFields, ReadOnlyDict, ReadOnlyFields, ReadOnlyList, ReadOnlySet
from adk_nb.events.response import LlmResponse
from adk_nb.events.storing import without_secrets
from adk_nb.events.values import cleaned_text, freeze, freeze_content, freeze_each

M = TypeVar("M", bound=BaseModel)


def new_id() -> str:
    """Return a random id in the form of a version 4 UUID.

    Example:
        >>> len(new_id())
        36
    """
    raw = os.urandom(16).hex()
    return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-{'89ab'[int(raw[16], 16) & 3]}{raw[17:20]}-{raw[20:]}"


class NodeInfo(BaseModel):
    """Where an event comes from, and whose output it carries."""

    model_config = ConfigDict(alias_generator=alias_generators.to_camel, populate_by_name=True)

    path: str = ""
    """Path of the node run, for instance `wf@1/a@2`; empty for events of the user."""
    output_for: list[str] | None = None
    """Paths of all node runs whose output this event's `output` is."""
    message_as_output: bool | None = None
    """The event's content is the node's output."""

    @property
    def run_id(self) -> str:
        """Run id at the end of the path, `""` without a path."""
        return last_segment(self.path)[1]

    @property
    def parent_run_id(self) -> str:
        """Run id of the run one level up, `""` at a root."""
        return last_segment(parent_path(self.path))[1]

    @property
    def name(self) -> str:
        """Node name at the end of the path, `""` without a path."""
        return last_segment(self.path)[0]


class Event(LlmResponse):
    """One thing that happened: a message, a node's output, a route, a question, an error.

    Besides its fields, the constructor takes four shortcuts: `message` (str, Part, list or Content) for `content`,
    `state` for `actions.state_delta`, `route` for `actions.route` and `node_path` for `node_info.path`.

    Example:
        >>> event = Event(output={"total": 3}, route="BILLING", state={"seen": True})
        >>> event.actions.route, event.actions.state_delta
        ('BILLING', {'seen': True})
    """

    model_config = ConfigDict(extra="ignore")

    invocation_id: str = ""
    """Id of the run of the root that this event belongs to."""
    author: str = ""
    """`user`, an agent's name, or the name of the workflow whose node wrote it."""
    actions: EventActions = Field(default_factory=EventActions)
    output: Any = None
    """The value that the node hands on; `None` when this event carries none."""
    node_info: NodeInfo = Field(default_factory=NodeInfo)
    long_running_tool_ids: set[str] | None = None
    """Ids of the function calls in `content` that wait for an answer from outside."""
    branch: str | None = None
    """Which of several concurrent lanes this event lies on; `None` is the trunk."""
    isolation_scope: str | None = None
    id: str = Field(default_factory=new_id)
    timestamp: float = Field(default_factory=time.time)
    """Seconds since the epoch."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            message: Any = None,
            state: dict[str, Any] | None = None,
            route: Any = None,
            node_path: str = "",
            **fields: Any,
        ) -> None:
            """Make an event from its fields and the four shortcuts."""

    @model_validator(mode="before")
    @classmethod
    def _expand_shortcuts(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not _SHORTCUTS.intersection(data):
            return data
        data = dict(data)
        own = cls.model_fields
        if "message" in data and "message" not in own:
            if data.get("content") is not None:
                raise ValueError("message= and content= are mutually exclusive: give one of them.")
            data["content"] = to_content(data.pop("message"))
        if "route" in data or "state" in data:
            _set_inner(data, ("actions", "actions"), {"state": "state_delta", "route": "route"}, own)
        if "node_path" in data:
            _set_inner(data, ("node_info", "nodeInfo"), {"node_path": "path"}, own)
        return data

    @field_serializer("long_running_tool_ids")
    def _sort_ids(self, ids: set[str] | None) -> list[str] | None:
        return None if ids is None else sorted(ids)

    @property
    def message(self) -> types.Content | None:
        """The event's content."""
        return self.content

    @message.setter
    def message(self, value: Any) -> None:
        self.content = None if value is None else to_content(value)

    @property
    def node_name(self) -> str:
        """Name of the node that wrote the event, `""` for events of the user."""
        return self.node_info.name

    def get_function_calls(self) -> list[types.FunctionCall]:
        """Return the function calls in the content, in order."""
        parts = self.content.parts if self.content else None
        return [part.function_call for part in parts or () if part.function_call]

    def get_function_responses(self) -> list[types.FunctionResponse]:
        """Return the function responses in the content, in order."""
        parts = self.content.parts if self.content else None
        return [part.function_response for part in parts or () if part.function_response]

    def is_final_response(self) -> bool:
        """Say whether nothing more follows from this event before someone speaks to the agent again."""
        if self.actions.skip_summarization or self.long_running_tool_ids:
            return True
        calls = self.get_function_calls()
        if self.error_code and not self.partial and not calls:
            return True
        ends_in_code = bool(self.content and self.content.parts and self.content.parts[-1].code_execution_result)
        return not (calls or self.get_function_responses() or self.partial or ends_in_code)

    def place(self, *, invocation_id: str, author: str, path: str, branch: str | None) -> None:
        """Write down where this event comes from; for the engine, whose values need no check."""
        fields = self.__dict__
        fields["invocation_id"], fields["author"], fields["branch"] = invocation_id, author, branch
        self.__pydantic_fields_set__.update(_PLACE)
        info: NodeInfo = fields["node_info"]
        info.__dict__["path"] = path
        info.__pydantic_fields_set__.add("path")

    def note_output_for(self, paths: list[str]) -> None:
        """Write down the runs whose output this event's `output` is; for the engine, whose values need no check."""
        info: NodeInfo = self.__dict__["node_info"]
        info.__dict__["output_for"] = paths
        info.__pydantic_fields_set__.add("output_for")

    @property
    def does_nothing(self) -> bool:
        """Its actions are all empty: no state, no route, no transfer."""
        return self.actions is _NO_ACTIONS

    @property
    def is_sealed(self) -> bool:
        """The event is history: it, its actions and its values can't be changed."""
        return type(self.__dict__) is ReadOnlyFields

    def seal(self) -> None:
        """Make this event history: from now on every change of it is refused, so that sessions can share it.

        Content and values are taken over as copies, so that later changes of what they were made from aren't seen.
        A copy made with `model_copy` can be changed again.

        Raises:
            WorkflowDataError: a value can't be stored; the event is left as it was.

        Example:
            >>> event = Event(output=1)
            >>> event.seal()
            >>> event.output = 2
            Traceback (most recent call last):
            adk_nb.errors.DataError: This event is history, which never changes: take a copy with ...
            >>> event.model_copy(update={"output": 2}).output
            2
        """
        own = self.__dict__
        if type(own) is ReadOnlyFields:
            return
        frozen: dict[str, Any] = {}
        if own["output"] is not None:
            frozen["output"] = freeze(own["output"], "output")
        frozen |= self._frozen_says()
        if own["error_message"] is not None:
            frozen["error_message"] = cleaned_text(own["error_message"])
        if own["actions"] is not _NO_ACTIONS:
            frozen["actions"] = _sealed_actions(own["actions"])
        if not self.__pydantic_fields_set__ <= _KNOWN:
            for name in self.__pydantic_fields_set__ - _KNOWN:
                frozen[name] = without_secrets(own[name], name)
        own.update(frozen)
        info = own["node_info"]
        if type(info.__dict__) is not ReadOnlyFields:  # a copy of a sealed event has that one's
            if info.output_for is not None:
                info.__dict__["output_for"] = ReadOnlyList(info.output_for)
            _close(info)
        self.__pydantic_fields_set__.add("id")  # a copy of it brings its id along
        _close(self)

    def settle(self) -> None:
        """Take over what this event says and does as copies that don't change; for the engine, before it takes note.

        Raises:
            WorkflowDataError: something in it can't be stored; the event is left as it was.
        """
        own = self.__dict__
        if type(own) is ReadOnlyFields or (
            own["content"] is None and not own["custom_metadata"] and own["actions"] is _NO_ACTIONS
        ):
            return
        actions: EventActions = own["actions"]
        done = {} if actions is _NO_ACTIONS else _frozen_deeds(actions.__dict__, _DEEDS)
        own.update(self._frozen_says())
        if done:
            actions.__dict__.update(done)

    def _frozen_says(self) -> dict[str, Any]:
        own, frozen = self.__dict__, {}
        if own["content"] is not None:
            frozen["content"] = freeze_content(own["content"])
        if own["custom_metadata"]:
            frozen["custom_metadata"] = freeze_each(own["custom_metadata"], "custom_metadata")
        return frozen

    def own_actions(self) -> EventActions:
        """Return the event's actions for writing; events without actions share theirs until then."""
        actions: EventActions = self.__dict__["actions"]
        if actions is _NO_ACTIONS:
            actions = self.__dict__["actions"] = EventActions()
        return actions


_PLACE = frozenset({"invocation_id", "author", "branch", "node_info"})
_KNOWN = frozenset(name for name, field in Event.model_fields.items() if field.annotation is not Any) | {"output"}
"""Fields that can't hold a secret, or are taken care of by name."""
_SHORTCUTS = frozenset({"message", "state", "route", "node_path"})
_OWN_MODELS = frozenset({Event, EventActions, NodeInfo})
_NOTHING = ReadOnlyDict()


def _sealed_actions(actions: EventActions) -> EventActions:
    """Return actions as history holds them: a copy, as a node's own event may still be in its hands."""
    own = actions.__dict__
    if type(own) is ReadOnlyFields:
        return actions
    if not actions.__pydantic_fields_set__ and own == _NO_ACTIONS.__dict__:
        return _NO_ACTIONS
    fields = OpenFields(own)
    fields.update(_frozen_deeds(own, _FILLED))
    fields.__class__ = ReadOnlyFields  # type: ignore[assignment]
    sealed: EventActions = made(EventActions, fields, _shared(actions.__pydantic_fields_set__))
    return sealed


def _frozen_deeds(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of actions that hold something, as history holds them: of credentials, what may be shown."""
    frozen = {}
    for name in names:
        value = fields[name]
        if value is None or value is _NOTHING:
            continue
        if not value:
            if name not in _OPEN_DEEDS:
                frozen[name] = _NOTHING
            continue
        where = f"actions.{name}"
        if name in _OPEN_DEEDS or name == "requested_auth_configs":
            value = without_secrets(value, where)
        frozen[name] = value if name in _OPEN_DEEDS else freeze_each(value, where)
    return frozen


def _close(model: BaseModel) -> None:
    """Make the fields of a model read-only, and let it share the names of those that were set."""
    fields = model.__dict__
    if type(fields) is OpenFields:
        fields.__class__ = ReadOnlyFields  # type: ignore[assignment]  # same layout, other methods
    else:
        put_fields(model, ReadOnlyFields(fields))
    put_names(model, _shared(model.__pydantic_fields_set__))


def _shared(names: set[str]) -> set[str]:
    """Return the one read-only set of these names: most events have the same, and history is long."""
    known = frozenset(names)
    shared = _SHARED_NAMES.get(known)
    if shared is None:
        shared = _SHARED_NAMES[known] = ReadOnlySet(known)
    return shared


_OPEN_DEEDS = ("requested_tool_confirmations", "compaction", "render_ui_widgets", "set_model_response")
"""Fields that may hold objects of any kind, which are left as they are when they hold no secret."""
_DEEDS = ("artifact_delta", "agent_state", "requested_auth_configs", *_OPEN_DEEDS)
_FILLED = ("state_delta", *_DEEDS)
_SHARED_NAMES: dict[frozenset[str], ReadOnlySet] = {}
_NO_ACTIONS = EventActions()  # all events that do nothing share it
_NO_ACTIONS.__dict__.update({name: _NOTHING for name, value in _NO_ACTIONS.__dict__.items() if value == {}})
_close(_NO_ACTIONS)
_EVENT_DEFAULTS, _INFO_DEFAULTS = {**Event().__dict__, "actions": _NO_ACTIONS}, NodeInfo().__dict__


def no_actions() -> EventActions:
    """Return the actions that all events share which do nothing; see `Event.own_actions`.

    Example:
        >>> no_actions().is_empty
        True
    """
    return _NO_ACTIONS


def event_of(**fields: Any) -> Event:
    """Return the event that `Event(**fields)` is, for fields that need no check and no default of their own.

    The engine makes one for each node run; the constructor takes twice as long.

    Example:
        >>> event_of(output=1).output
        1
    """
    own = OpenFields(_EVENT_DEFAULTS)
    own.update(fields)
    own["id"], own["timestamp"] = new_id(), time.time()
    own["node_info"] = made(NodeInfo, OpenFields(_INFO_DEFAULTS), set())
    event: Event = made(Event, own, set(fields))
    return event


def own_copy(event: Event) -> Event:
    """Return a copy of an event that can be written into: its actions and its node info are its own, too."""
    copied = _copy_of(event)
    fields = copied.__dict__
    actions = event.actions
    if actions.__pydantic_fields_set__ or type(actions) is not EventActions or actions.__dict__ != _NO_ACTIONS.__dict__:
        fields["actions"] = _copy_of(actions)
    else:
        fields["actions"] = _NO_ACTIONS
    fields["node_info"] = _copy_of(event.node_info)
    return copied


def _copy_of(model: M) -> M:
    kind = type(model)
    if kind not in _OWN_MODELS:  # a subclass may have more to copy
        return model.model_copy()
    copied: M = made(kind, OpenFields(model.__dict__), set(model.__pydantic_fields_set__))
    return copied


def _set_inner(data: dict[str, Any], spellings: tuple[str, str], names: dict[str, str], own: Any) -> None:
    given = {target: data.pop(name) for name, target in names.items() if name in data and name not in own}
    if not given:
        return
    field, alias = spellings
    inner = data.pop(field, None) or data.pop(alias, None) or {}
    if isinstance(inner, BaseModel):
        inner = {name: getattr(inner, name) for name in inner.model_fields_set}
    data[field] = {**inner, **given}


def to_content(message: Any, role: str = "user") -> types.Content:
    """Return a message given as str, Part, list of both, or Content as one Content.

    Example:
        >>> to_content("hello").parts[0].text
        'hello'
    """
    if isinstance(message, types.Content):
        return message
    items = message if isinstance(message, (list, tuple)) else [message]
    parts = [item if isinstance(item, types.Part) else types.Part(text=str(item)) for item in items]
    return types.Content(role=role, parts=parts)


def content_text(content: types.Content | None) -> str:
    """Return the text of a content without thoughts, `""` when there is none."""
    parts = content.parts if content is not None else None
    if not parts:
        return ""
    if len(parts) == 1:
        return "" if parts[0].thought else parts[0].text or ""
    return "".join(part.text for part in parts if part.text and not part.thought)
