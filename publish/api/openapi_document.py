"""Completes the OpenAPI document with the problem schema and an example of every response and request body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from publish.web.problems import ProblemDocument, describe_problems

OF_BODIES: Final = describe_problems("too-slow", "content-too-large")
"""Problems of operations that take a request body."""

_REFERENCE: Final = "#/components/schemas/"
_DEEPEST: Final = 40
_JSON: Final = "application/json"
_PLAIN: Final[Mapping[str, Any]] = {
    "string": "text",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
}


def complete_document(document: dict[str, Any]) -> dict[str, Any]:
    """Complete the document that FastAPI generates, in place."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schema = TypeAdapter(ProblemDocument).json_schema(ref_template=_REFERENCE + "{model}")
    schemas |= schema.pop("$defs", {}) | {ProblemDocument.__name__: schema}
    for operation in _operations(document):
        if "requestBody" in operation:
            operation["responses"] |= {str(status): response for status, response in OF_BODIES.items()}
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (body.get("content", {}).get(_JSON) for body in bodies):
            if content and "example" not in content and "examples" not in content:
                content["example"] = make_example(content["schema"], schemas)
    return document


def make_example(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int = 0) -> Any:
    """A value of a schema: its own example, or one made from the examples of its parts."""
    if depth > _DEEPEST:
        return None
    if "$ref" in schema:
        return make_example(schemas[schema["$ref"].removeprefix(_REFERENCE)], schemas, depth + 1)
    for given in (schema.get("examples"), [schema["const"]] if "const" in schema else None, schema.get("enum")):
        if given:
            return given[0]
    for parts in (schema.get("anyOf"), schema.get("oneOf"), schema.get("allOf")):
        if parts:
            return make_example(parts[0], schemas, depth + 1)
    return _made(schema, schemas, depth + 1)


def _made(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int) -> Any:
    """A value of a schema that has no example."""
    if "properties" in schema:
        return {name: make_example(part, schemas, depth) for name, part in schema["properties"].items()}
    if "items" in schema:
        return [make_example(schema["items"], schemas, depth)]
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping) and more:
        return {"name": make_example(more, schemas, depth)}
    return _PLAIN.get(schema.get("type", "string"), "text")


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()
