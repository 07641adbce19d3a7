"""Rule `param-code-unmarked`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import compile_pattern
from scoring.vocabularies import parameters

_DANGER: Final = compile_pattern("danger|warning|security|caution|risk|unsafe|untrusted")


@rule(
    "param-code-unmarked",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Description of an executed parameter does not mention the risk",
    remedy="State the risk in the `description`, for example `Warning: the server executes this value with its own "
    "rights`. Rename the parameter if its value is not executed.",
    since="2026.1",
    version=1,
    fix=(
        build_param("script", description="Script to run."),
        build_param("script", description="Script to run. Warning: it runs with full rights."),
    ),
    good=[
        build_param(name="script", description="Script to run. Warning: runs with full rights."),
        build_param(name="scripture"),
    ],
    bad=[build_param(name="SQL", description=UNDEFINED)],
)
def param_code_unmarked(param: Param, literal: bool = False) -> Iterator[Answer]:
    """Describe that the value is executed, and with which rights, so that a user can judge the risk of a call.

    `literal` judges only the parameter itself, whatever its type, as the published reference does.
    """
    for suffix in list_suffixes(param.top if literal else param.places, lambda place: _is_unmarked(place, literal)):
        yield suffix, "the value is executed, and the description does not mention the risk"


def _is_unmarked(place: ValueSchema, literal: bool) -> bool:
    if place.name.lower() not in parameters.CODE or not (literal or "string" in place.types):
        return False
    description = place.schema.get("description")
    return not (isinstance(description, str) and _DANGER.search(description))
