"""A foreign schema is applied only when that is cheap, and a violation is reported without the value."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.collectors.protocol.trials.schema_validation import SchemaNotDecidable, find_violation
from tests.durations import cpu_below

TREE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "n": {"type": "integer"}}}


def chain(levels: int) -> dict[str, Any]:
    parts: dict[str, Any] = {f"d{i}": {"oneOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": parts | {f"d{levels}": {}}}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "string"}, "x", None),
        ({"type": "string"}, 1, "type"),
        (False, 1, "the root"),
        (TREE, {"n": 1, "kids": [{"n": 2, "kids": []}]}, None),
        (TREE, {"n": 1, "kids": [{"n": "secret"}]}, "properties/n/type"),
        ({"$schema": "https://unknown.example/dialect", "type": "string"}, "x", None),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 0, "exclusiveMinimum": True}, 0, "Minimum"),
        ({"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(500)}}, {"p1": "x"}, None),
    ],
)
def test_a_value_fits_or_breaks_the_schema_at_a_place(schema: Any, value: Any, expected: str | None) -> None:
    found = find_violation(schema, value)
    assert found is None if expected is None else (found or "").endswith(expected)
    assert "secret" not in (found or "")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#"}, 1),
        ({"$ref": "http://127.0.0.1/"}, 1),
        ({"$ref": "#/nowhere"}, 1),
        ({"$dynamicRef": "#x"}, 1),
        ({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}, 1),
        (chain(40), "x"),
        ({"anyOf": [{"properties": {"a": {"$ref": "#"}}}] * 2}, nested(25)),
        ({"type": "string"}, nested(40)),
        ({"type": "array"}, list(range(30_000))),
        (nested(100), 1),
        ({"pattern": "("}, "x"),
        ({"type": 5}, "x"),
        ({"type": "string"}, "\ud800"),
        ("object", 1),
    ],
)
def test_what_is_dear_or_invalid_is_not_judged(schema: Any, value: Any) -> None:
    with cpu_below(3), pytest.raises(SchemaNotDecidable):
        find_violation(schema, value)


def test_the_dearest_schema_that_is_applied_takes_a_moment() -> None:
    with cpu_below(6):
        assert find_violation(chain(20), "x") is not None
        assert find_violation(TREE, [{"kids": [{"n": n} for n in range(200)]} for _ in range(40)]) is not None
