"""Rule `param-examples-missing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import is_truthy

_EXAMPLES: Final = ("examples", "example", "default")
_UNIONS: Final = ("oneOf", "anyOf", "allOf")
_COMPLEX: Final = ("object", "array")
_COMPLEX_TYPES: Final = frozenset(_COMPLEX)
_NULL: Final = frozenset({"null"})


@rule(
    "param-examples-missing",
    scope=Param,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Complex parameter has no example",
    remedy="Add `examples` to the parameter's schema: an array with at least one valid value.",
    since="2026.1",
    version=1,
    fix=(
        build_param("filter", type="object", description="Fields that a note must have."),
        build_param("filter", type="object", description="Fields that a note must have.", examples=[{"tag": "work"}]),
    ),
    good=[
        build_param(type="object", examples=[{}]),
        build_param(type="array", default=None),
        build_param(type="string"),
        build_param(anyOf=[{"type": "string"}, {"type": "null"}], type=UNDEFINED),
    ],
    bad=[
        build_param(type="object"),
        build_param(type=UNDEFINED, anyOf=[{"type": "string"}, {"type": "integer"}]),
        build_param(type=["array", "null"]),
    ],
)
def param_examples_missing(param: Param, literal: bool = False) -> Iterator[str]:
    """An object, an array or a union is easier to copy from an example than to derive from its schema.

    `literal` reads as the published reference does: any union and an enum of more than three values is complex, and a
    list of types is not examined.
    """
    if any(param.get(keyword) is not UNDEFINED for keyword in _EXAMPLES):
        return
    if _is_complex_literally(param) if literal else _is_complex(param):
        yield f"none of {', '.join(_EXAMPLES)} is set"


def _is_complex_literally(param: Param) -> bool:
    enum = param.get("enum")
    if param.get("type") in _COMPLEX or any(is_truthy(param.get(union)) for union in _UNIONS):
        return True
    return isinstance(enum, list) and len(enum) > 3


def _is_complex(param: Param) -> bool:
    first, *_ = param.places
    if not first.types.isdisjoint(_COMPLEX_TYPES):
        return True
    branches = [place for place in param.places[1:] if not place.suffix and place.types != _NULL]
    return len(branches) > 1 or any(not place.types.isdisjoint(_COMPLEX_TYPES) for place in branches)
