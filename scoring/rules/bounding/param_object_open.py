"""Rule `param-object-open`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param


@rule(
    "param-object-open",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Object parameter accepts undeclared members",
    remedy='Add `"additionalProperties": false` to the schema of the object. If members with other names are valid, '
    "set `additionalProperties` to the schema of their values.",
    since="2026.1",
    version=1,
    fix=(
        build_param("filter", type="object", properties={"tag": {"type": "string"}}, description=UNDEFINED),
        build_param(
            "filter",
            type="object",
            properties={"tag": {"type": "string"}},
            description=UNDEFINED,
            additionalProperties=False,
        ),
    ),
    good=[
        build_param(type="object", additionalProperties=False),
        build_param(type="object", additionalProperties={"type": "string"}),
    ],
    bad=[
        build_param(type="object"),
        build_param(type="object", additionalProperties=True),
        build_param(type=["object", "null"]),
    ],
)
def param_object_open(param: Param, literal: bool = False) -> Iterator[Answer]:
    """An object that accepts undeclared members hides misspelled names and allows unexpected data.

    `literal` judges only the parameter itself, as the published reference does.
    """
    for suffix in list_suffixes(param.top if literal else param.places, _is_open):
        yield suffix, "an object without additionalProperties: false"


def _is_open(place: ValueSchema) -> bool:
    return "object" in place.types and place.schema.get("additionalProperties", True) is True
