"""Rule `param-number-unbounded`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param

_NUMBERS: Final = frozenset({"number", "integer"})
_INCLUSIVE: Final = frozenset({"minimum", "maximum"})
_BOUNDS: Final = _INCLUSIVE | {"exclusiveMinimum", "exclusiveMaximum", "enum", "const"}


@rule(
    "param-number-unbounded",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Number parameter has no bounds",
    remedy='Add `minimum` and `maximum` to the schema of the number, for example `"minimum": 1, "maximum": 100`.',
    since="2026.1",
    version=1,
    fix=(
        build_param("limit", type="integer", description="Number of notes."),
        build_param("limit", type="integer", description="Number of notes.", minimum=1, maximum=100),
    ),
    good=[
        build_param(type="integer", minimum=1),
        build_param(type="number", exclusiveMaximum=1),
        build_param(type="string"),
    ],
    bad=[build_param(type="integer"), build_param(type=["number", "null"])],
)
def param_number_unbounded(param: Param, literal: bool = False) -> Iterator[Answer]:
    """Bounds prevent a model from requesting a million results, and show which values are usual.

    `literal` judges only the parameter itself, and ignores exclusive bounds and enum, as the published reference does.
    """
    bounds = _INCLUSIVE if literal else _BOUNDS
    for suffix in list_suffixes(param.top if literal else param.places, lambda place: _is_unbounded(place, bounds)):
        yield suffix, "a number without minimum or maximum"


def _is_unbounded(place: ValueSchema, bounds: frozenset[str]) -> bool:
    return not place.types.isdisjoint(_NUMBERS) and place.schema.keys().isdisjoint(bounds)
