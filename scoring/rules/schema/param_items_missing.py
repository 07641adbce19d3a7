"""Rule `param-items-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_param
from scoring.results.outcome import Severity
from scoring.scopes.base import Param


@rule(
    "param-items-missing",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Array parameter does not declare its elements",
    remedy='Add `items` with the schema of the elements to the parameter, for example `"items": {"type": "string"}`.',
    since="2026.1",
    version=1,
    fix=(
        build_param("tags", type="array", description="Tags of the note."),
        build_param("tags", type="array", description="Tags of the note.", items={"type": "string"}),
    ),
    good=[build_param(type="array", items={"type": "string"}), build_param(type="string")],
    bad=[build_param(type="array")],
)
def param_items_missing(param: Param) -> Iterator[str]:
    """An array without `items` does not define its elements, and several model APIs reject such a schema."""
    if param.get("type") == "array" and param.get("items") is UNDEFINED and param.get("prefixItems") is UNDEFINED:
        yield "type is array, and items is missing"
