"""Any answer passes through any form unchanged: as the kernel reads it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings

from adk_nb.notebook.view.form_fields import form_of
from adk_nb.notebook.view.form_values import collect, fill
from tests.notebook.form_cases import cases


def exact(value: Any) -> str:
    """A value as text that tells 1, 1.0 and true apart."""
    return json.dumps(value, sort_keys=True)


@settings(deadline=None)
@given(cases())
def test_any_answer_survives_any_form(case: tuple[dict[str, Any], Any]) -> None:
    """What goes into a form comes out, in value and in type, whether it fits the schema or not."""
    schema, answer = case
    form = json.loads(json.dumps(form_of(schema)))
    back, errors = collect(form, json.loads(json.dumps(fill(form["field"], answer, form["defs"]))))
    assert exact(back) == exact(answer)
    assert set(errors.values()) <= {"can't be null", "needs a value"}  # an answer that lacks what the schema wants
