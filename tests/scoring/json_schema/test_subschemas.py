"""The places of a schema that hold schemas."""

from __future__ import annotations

from typing import Any

from scoring.json_schema.dialects import MAX_DEPTH
from scoring.json_schema.subschemas import list_subschemas

TEXT = {"type": "string"}


def found(schema: Any) -> dict[str, bool]:
    return {"/".join(position.steps): position.reachable for position in list_subschemas(schema)}


def test_properties_are_reachable_and_nothing_else_is() -> None:
    assert found(
        {
            "properties": {"a": {"properties": {"b": TEXT}}, "c": {"items": TEXT}},
            "anyOf": [TEXT],
            "$defs": {"d": {"properties": {"e": TEXT}}},
        }
    ) == {
        "": False,
        "properties/a": True,
        "properties/a/properties/b": True,
        "properties/c": True,
        "properties/c/items": False,
        "anyOf/0": False,
        "$defs/d": False,
        "$defs/d/properties/e": False,
    }


def test_data_is_no_schema() -> None:
    assert found({"const": {"properties": {"a": TEXT}}, "enum": [TEXT], "default": TEXT, "examples": [TEXT]}) == {
        "": False
    }


def test_a_property_named_like_a_keyword_is_a_property() -> None:
    assert found({"properties": {"items": TEXT, "const": TEXT}}) == {
        "": False,
        "properties/items": True,
        "properties/const": True,
    }


def test_what_is_no_object_holds_nothing() -> None:
    for value in (None, True, [TEXT], "x", {"properties": [TEXT], "anyOf": TEXT, "not": True}):
        assert set(found(value)) <= {""}


def test_depth_is_bounded() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5 * MAX_DEPTH):
        schema = {"not": schema}
    assert len(list(list_subschemas(schema))) == MAX_DEPTH + 1
