"""Completes the OpenAPI document with the problem schema and examples of every request and response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from publish.api.examples import make_request, read_recorded
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
    base = document["servers"][0]["url"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            _add_examples(operation, schemas)
            command = make_request(base, method, path, operation).command
            operation["x-codeSamples"] = [{"lang": "Shell", "source": command}]
    return document


def _add_examples(operation: dict[str, Any], schemas: Mapping[str, Any]) -> None:
    """Add the recorded answer, and examples that the schemas make where nothing was recorded."""
    if "requestBody" in operation:
        operation["responses"] |= {str(status): response for status, response in OF_BODIES.items()}
    recorded = read_recorded().get(operation["operationId"])
    bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
    for body in bodies:
        content = body.get("content", {}).get(_JSON)
        if content and "example" not in content and "examples" not in content:
            is_answer = recorded is not None and body is not bodies[0]
            content["example"] = recorded if is_answer else make_example(content["schema"], schemas)


def make_example(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int = 0) -> Any:
    """A value of a schema: its own example, or one made from the examples of its parts."""
    if depth > _DEEPEST:
        return None
    for given in (schema.get("examples"), [schema["const"]] if "const" in schema else None, schema.get("enum")):
        if given:
            return given[0]
    if "$ref" in schema:
        return make_example(schemas[schema["$ref"].removeprefix(_REFERENCE)], schemas, depth + 1)
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
