"""Rule `param-object-open`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.examples import param
from scoring.nesting import Place, where
from scoring.outcome import Severity
from scoring.rule import Answer, rule
from scoring.scope import Param


@rule(
    "param-object-open",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Object parameter accepts undeclared members",
    since="2026.1",
    version=1,
    good=[
        param(type="object", additionalProperties=False),
        param(type="object", additionalProperties={"type": "string"}),
    ],
    bad=[param(type="object"), param(type="object", additionalProperties=True), param(type=["object", "null"])],
)
def param_object_open(param: Param, literal: bool = False) -> Iterator[Answer]:
    """An object that accepts anything beside what it declares hides typing errors and lets unexpected data in.

    `literal` looks only at the parameter itself, as the published reference does.
    """
    for suffix in where(param.top if literal else param.places, _is_open):
        yield suffix, "an object without additionalProperties: false"


def _is_open(place: Place) -> bool:
    return "object" in place.types and place.schema.get("additionalProperties", True) is True
