"""Rule `param-array-unbounded`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param


@rule(
    "param-array-unbounded",
    scope=Param,
    reads="listing",
    severity=Severity.ERROR,
    title="Array parameter has no maximum size",
    remedy='Add `maxItems`, for example `"maxItems": 100`, to the schema of the array.',
    since="2026.1",
    version=1,
    fix=(
        build_param("tags", type="array", description="Tags of the note.", items={"type": "string"}),
        build_param("tags", type="array", description="Tags of the note.", items={"type": "string"}, maxItems=50),
    ),
    good=[build_param(type="array", maxItems=50), build_param(type="string")],
    bad=[build_param(type="array"), build_param(type=["array", "null"])],
)
def param_array_unbounded(param: Param, literal: bool = False) -> Iterator[Answer]:
    """An array without `maxItems` allows one call to start an unlimited amount of work.

    `literal` judges only the parameter itself, as the published reference does.
    """
    for suffix in list_suffixes(param.top if literal else param.places, _is_unbounded):
        yield suffix, "an array without maxItems"


def _is_unbounded(place: ValueSchema) -> bool:
    return "array" in place.types and "maxItems" not in place.schema
