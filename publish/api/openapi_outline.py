"""The OpenAPI document as an outline for pages: operations by subject, with parameters, responses and examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from publish.web.problems import PROBLEM_TYPES, ProblemType

_JSON: Final = "application/json"
_LONGEST: Final = 2_000


class OutlinedParameter(Struct, frozen=True):
    """One parameter; `takes` describes its values in words."""

    name: str
    where: str
    takes: str
    default: str
    meaning: str


class OutlinedOperation(Struct, frozen=True):
    """One operation. `command` is a request, `example` shows its response; empty where there is none."""

    id: str
    method: str
    path: str
    summary: str
    meaning: str
    parameters: tuple[OutlinedParameter, ...]
    problems: tuple[str, ...]
    takes_token: bool
    needs_token: bool
    command: str
    example: str


class OutlinedSubject(Struct, frozen=True):
    """The operations on one subject."""

    name: str
    operations: tuple[OutlinedOperation, ...]


class ApiOutline(Struct, frozen=True):
    """The outline of the API."""

    title: str
    version: str
    about: str
    base: str
    subjects: tuple[OutlinedSubject, ...]
    problems: Mapping[str, ProblemType]


def outline_document(document: Mapping[str, Any]) -> ApiOutline:
    """The outline of a completed OpenAPI document."""
    found: dict[str, list[OutlinedOperation]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found.setdefault(operation["tags"][0], []).append(_operation(method, path, operation))
    info = document["info"]
    return ApiOutline(
        title=info["title"],
        version=info["version"],
        about=info["description"],
        base=document["servers"][0]["url"],
        subjects=tuple(OutlinedSubject(name, tuple(operations)) for name, operations in found.items()),
        problems=PROBLEM_TYPES,
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> OutlinedOperation:
    answers = operation["responses"]
    security = operation.get("security", [])
    good: Mapping[str, Any] = next((answer for status, answer in answers.items() if status.startswith("2")), {})
    return OutlinedOperation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        meaning=" ".join(operation.get("description", "").split()),
        parameters=tuple(map(_parameter, operation.get("parameters", []))),
        problems=tuple(_problems(answers)),
        takes_token=bool(security),
        needs_token=bool(security) and {} not in security,
        command=operation["x-codeSamples"][0]["source"],
        example=_example(good),
    )


def _parameter(parameter: Mapping[str, Any]) -> OutlinedParameter:
    schema = parameter["schema"]
    default = schema.get("default")
    return OutlinedParameter(
        name=parameter["name"],
        where=parameter["in"],
        takes=_takes(schema),
        default="required" if parameter.get("required") else "" if default is None else json.dumps(default).strip('"'),
        meaning=parameter.get("description", ""),
    )


def _takes(schema: Mapping[str, Any]) -> str:
    """The values of a parameter in words."""
    kinds = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    kind = kinds[0]
    if "$ref" in kind:
        return str(kind["$ref"]).rpartition("/")[2]
    if "enum" in kind:
        return ", ".join(map(str, kind["enum"]))
    if "minimum" in kind and "maximum" in kind:
        return f"{kind['minimum']} to {kind['maximum']}"
    return str(kind.get("type", "string"))


def _problems(answers: Mapping[str, Any]) -> Iterator[str]:
    for answer in answers.values():
        for content in answer.get("content", {}).values():
            yield from content.get("examples", {})


def _example(answer: Mapping[str, Any]) -> str:
    content = answer.get("content", {}).get(_JSON, {})
    if "example" not in content:
        return ""
    text = json.dumps(content["example"], indent=2)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rpartition(chr(10))[0]}\n  …"
