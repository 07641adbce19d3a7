"""Rule `param-string-unbounded`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.words import split_tokens
from scoring.vocabularies import parameters

_ENDINGS: Final = {(ending,) for ending in parameters.CONTENT_ENDINGS}


@rule(
    "param-string-unbounded",
    scope=Param,
    reads="listing",
    severity=Severity.ERROR,
    title="String parameter has no maximum length",
    remedy='Add `maxLength`, for example `"maxLength": 1000`, to the schema of the string; in an array, add it to '
    "the schema in `items`.",
    since="2026.1",
    version=1,
    fix=(
        build_param("user_name", description="Name of the user."),
        build_param("user_name", description="Name of the user.", maxLength=100),
    ),
    good=[
        build_param(name="user", maxLength=100),
        build_param(name="content"),
        build_param(name="user", type="integer"),
        build_param(name="user", enum=["a"]),
    ],
    bad=[
        build_param(name="user"),
        build_param(name="context"),
        build_param(name="user", type=["string", "null"]),
        build_param(name="user", type="array", items={"type": "string"}),
    ],
)
def param_string_unbounded(param: Param, literal: bool = False) -> Iterator[Answer]:
    """A string without `maxLength` allows one call to send megabytes, by accident or on purpose.

    Content such as a body or a query may be long, and an enum limits the length already. `literal` judges only the
    parameter itself and exempts every name that ends with content, body, text or data, as the published reference does.
    """
    for suffix in list_suffixes(param.top if literal else param.places, lambda place: _is_unbounded(place, literal)):
        yield suffix, "a string without maxLength"


def _is_unbounded(place: ValueSchema, literal: bool) -> bool:
    if "string" not in place.types or "maxLength" in place.schema or _is_content(place.name, literal):
        return False
    return literal or not ("enum" in place.schema or "const" in place.schema)


def _is_content(name: str, literal: bool) -> bool:
    if name.lower() in parameters.CONTENT:
        return True
    return name.lower().endswith(parameters.CONTENT_ENDINGS) if literal else split_tokens(name)[-1:] in _ENDINGS
