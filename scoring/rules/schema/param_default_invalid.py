"""Rule `param-default-invalid`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.protocol.result_schemas import is_integer
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.evidence_path import show_value

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
    "number": (int, float),
}


@rule(
    "param-default-invalid",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="The default of a parameter is not one of its values",
    remedy="Set `default` to a value that has the parameter's `type` and matches its `enum` or `const`, or remove "
    "`default`.",
    since="2026.3",
    version=1,
    fix=(
        build_param("limit", type="integer", description="Number of notes.", default="20"),
        build_param("limit", type="integer", description="Number of notes.", default=20),
    ),
    good=[
        build_param(type="integer", default=20),
        build_param(type=["string", "null"], default=None),
        build_param(enum=["json", "csv"], default="csv"),
        build_param(default="anything"),
    ],
    bad=[
        build_param(type="integer", default="20"),
        build_param(type="boolean", default="false"),
        build_param(type="number", default=True),
        build_param(enum=["json", "csv"], default="xml"),
        build_param(const="json", default="csv"),
    ],
)
def param_default_invalid(param: Param) -> Iterator[str]:
    """A client fills in the default of a parameter, and a server that validates its arguments refuses it.

    The default has the type of the parameter and is one of its allowed values.
    """
    default, types, allowed, only = (param.get(word) for word in ("default", "type", "enum", "const"))
    if default is UNDEFINED:
        return
    names = [types] if isinstance(types, str) else types if isinstance(types, list) else []
    known = [name for name in names if isinstance(name, str) and (name in _TYPES or name == "integer")]
    if known and len(known) == len(names) and not any(_has_type(name, default) for name in known):
        yield f"the default {show_value(default)} is not of type {' or '.join(known)}"
    elif (isinstance(allowed, list) and default not in allowed) or (only is not UNDEFINED and default != only):
        yield f"the default {show_value(default)} is not one of the allowed values"


def _has_type(name: str, value: Json) -> bool:
    if name == "integer":
        return is_integer(value)
    return isinstance(value, _TYPES[name]) and (name != "number" or not isinstance(value, bool))
