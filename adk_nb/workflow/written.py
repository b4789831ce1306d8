"""What people write down, as nodes, edges and retry rules: a mistake in it is one sentence and one of our errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from adk_nb.errors import AdkNbError, WorkflowConfigurationError, one_of

_WANTED = "Input should be "


class Written(BaseModel):
    """Base of nodes, edges, graphs and retry rules.

    Raises:
        WorkflowConfigurationError: an argument is unknown, missing or doesn't fit. An error of ours that a check raises
            comes out unchanged.
    """

    if not TYPE_CHECKING:  # type checkers know each class's own fields

        def __init__(self, /, **fields: Any) -> None:
            """Take the fields by keyword."""
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise mistake(type(self), fields, error) from None


def mistake(kind: type[BaseModel], given: dict[str, Any], error: ValidationError) -> AdkNbError:
    """Return what to raise for a pydantic error: the error of ours inside it, else one that says it in a sentence.

    Args:
        kind: The class that was called.
        given: The arguments.
        error: What pydantic says.
    """
    name = given.get("name")
    who = f"{kind.__name__} {name!r:.60}" if isinstance(name, str) else kind.__name__
    by_place: dict[str, list[Any]] = {}
    for line in error.errors(include_url=False):
        own = line.get("ctx", {}).get("error")
        if isinstance(own, AdkNbError):
            return own
        # A union says what each of its members wanted, with the member as the end of the place.
        place = str(line["loc"][0]) if line["loc"] else ""
        by_place.setdefault(place, []).append(line)
    found = [_sentence(kind, who, place, lines) for place, lines in by_place.items()]
    return WorkflowConfigurationError(" ".join(found))


def _sentence(kind: type[BaseModel], who: str, place: str, lines: list[Any]) -> str:
    line = lines[0]
    if line["type"] == "extra_forbidden":
        return f"{who} has no argument {place!r:.60}: it has {one_of(place, kind.model_fields)}."
    if line["type"] == "missing":
        return f"{who} needs {place}=: write {kind.__name__}({place}=...)."
    wanted = list(dict.fromkeys(str(one["msg"]) for one in lines))
    says = " or ".join(dict.fromkeys(_kind_wanted(one) for one in wanted))
    if all(one.startswith(_WANTED) for one in wanted):
        says = f"it must be {says}"
    else:
        says = "; ".join(one.removeprefix("Value error, ").rstrip(".") for one in wanted)
    where = f"{place}={line['input']!r:.80}" if place else f"{line['input']!r:.80}"
    return f"{who} can't have {where}: {says}."


def _kind_wanted(message: str) -> str:
    """Return what a value should be; after the first comma pydantic says what went wrong, unless it lists choices."""
    wanted = message.removeprefix(_WANTED)
    return wanted if wanted.startswith("'") else wanted.partition(", ")[0]
