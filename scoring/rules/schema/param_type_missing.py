"""Rule `param-type-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.javascript import is_truthy

_TYPING = ("type", "enum", "oneOf", "anyOf", "allOf", "$ref")


@rule(
    "param-type-missing",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameter has no type",
    remedy='Write the schema of the parameter as an object with `type`, such as `{"type": "string"}`, or with `enum`, '
    "`oneOf`, `anyOf`, `allOf` or `$ref`.",
    since="2026.1",
    version=1,
    fix=(
        build_param("owner", type=UNDEFINED, description="ID of the user that owns the note."),
        build_param("owner", description="ID of the user that owns the note."),
    ),
    good=[build_param(type="string"), build_param(type=UNDEFINED, enum=[])],
    bad=[build_param(type=UNDEFINED), build_param(type=UNDEFINED, const=1), build_param(raw=True)],
)
def param_type_missing(param: Param, constants: bool = False) -> Iterator[str]:
    """Without a type a client cannot validate the input, and a model must guess its form.

    Any of `type`, `enum`, `oneOf`, `anyOf`, `allOf` or `$ref` counts, and with `constants` also `const`.
    """
    if constants and param.get("const") is not UNDEFINED:
        return
    if not any(is_truthy(param.get(keyword)) for keyword in _TYPING):
        yield f"none of {', '.join(_TYPING)} is set"
