"""A JSON schema as something that values can be checked against, refused when it is none."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from adk_nb.workflow.json_schema.faults import dotted, say
from adk_nb.workflow.json_schema.formats import FORMATS, fits
from adk_nb.workflow.json_schema.references import leads_out, references_in, target

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def validator_of(schema: dict[str, Any]) -> Validator:
    """Return what checks values against a schema, formats included; the schema itself is taken as it is.

    Example:
        >>> validator_of({"type": "string", "format": "date"}).is_valid("31.1.2026")
        False
    """
    return _validator(json.dumps(schema))


def check_schema(schema: dict[str, Any]) -> None:
    """Refuse a schema that no value could ever be checked against.

    Raises:
        ValueError: it breaks the rules of JSON schema, or a reference leads out of it, nowhere or in a circle.
        TypeError: it holds something that isn't JSON.
    """
    _check(json.dumps(schema))


@functools.lru_cache(maxsize=256)
def _validator(schema_text: str) -> Validator:
    # Where its optional format packages are installed, as with JupyterLab, this takes two seconds to import.
    import jsonschema

    schema = json.loads(schema_text)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    formats = jsonschema.FormatChecker(formats=())
    for name in FORMATS:
        formats.checks(name)(functools.partial(fits, name))
    return kind(schema, format_checker=formats)


@functools.lru_cache(maxsize=256)
def _check(schema_text: str) -> None:
    validator: Any = _validator(schema_text)
    kind = type(validator)
    for fault in kind(kind.META_SCHEMA, format_checker=validator.format_checker).iter_errors(validator.schema):
        raise ValueError(f"{dotted(tuple(fault.absolute_path)) or 'schema'}: {say(fault)}")
    for reference in references_in(validator.schema):
        # A reference to another document would be fetched from the network when the answer comes.
        if leads_out(reference):
            raise ValueError(f"$ref {reference!r:.80} leads out of the schema")
        if not isinstance(target(reference, validator.schema), (dict, bool)):
            raise ValueError(f"$ref {reference!r:.80} leads nowhere")
    try:
        validator.is_valid(None)
    except RecursionError:
        raise ValueError("$ref leads back to itself") from None
