"""Rule `param-choice-open`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import is_truthy
from scoring.vocabularies import parameters


@rule(
    "param-choice-open",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameter for a choice accepts any string",
    remedy='Add an `enum` of all accepted values to the schema, for example `"enum": ["start", "stop"]`. Rename the '
    "parameter if any string is valid, for example to `search_text`.",
    since="2026.1",
    version=1,
    fix=(
        build_param("action", description="What to do with the timer."),
        build_param("action", description="What to do with the timer.", enum=["start", "stop"]),
    ),
    good=[
        build_param(name="action", enum=["start", "stop"]),
        build_param(name="Note"),
        build_param(name="query", description="What to search for."),
        build_param(name="command", description="Command line to run."),
    ],
    bad=[build_param(name="action"), build_param(name="Mode", type=["string", "null"])],
)
def param_choice_open(param: Param, literal: bool = False) -> Iterator[Answer]:
    """Without an `enum` a model must guess the values of a parameter such as `action` or `mode`.

    `literal` judges only the parameter itself, as the published reference does, and also `query` and `command`, which
    mostly hold a free text.
    """
    for suffix in list_suffixes(param.top if literal else param.places, lambda place: _is_open(place, literal)):
        yield suffix, "any string is accepted, an enum of the values expected"


def _is_open(place: ValueSchema, literal: bool) -> bool:
    name = place.name.lower()
    if "string" not in place.types or name not in parameters.CHOICES or (not literal and name in parameters.CODE):
        return False
    return not (is_truthy(place.schema.get("enum")) or (not literal and "const" in place.schema))
