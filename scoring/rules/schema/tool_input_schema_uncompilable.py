"""Rule `tool-input-schema-uncompilable`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_tool, build_tool_with_params, build_toolset
from scoring.json_schema.compilation import SchemaCompiler, ValidatorDialect
from scoring.results.outcome import Severity
from scoring.scopes.base import Toolset
from scoring.text.javascript import is_object

_NEWER: Final = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}


@rule(
    "tool-input-schema-uncompilable",
    scope=Toolset,
    reads="listing",
    severity=Severity.ERROR,
    title="Input schema cannot be compiled",
    remedy="Correct the schema: use known types, ECMA-262 patterns, `$ref` with a target, non-empty `enum` and unique "
    "`$id`; no `nullable` or `id` keyword. Remove `$schema` if a client may not know its dialect.",
    since="2026.1",
    version=1,
    fix=(
        build_toolset(
            build_tool(
                "search-notes",
                description="Searches the notes of the current user.",
                inputSchema={"type": "object", "properties": {"query": {"type": "string", "pattern": "("}}},
            )
        ),
        build_toolset(
            build_tool(
                "search-notes",
                description="Searches the notes of the current user.",
                inputSchema={"type": "object", "properties": {"query": {"type": "string", "pattern": "^[a-z ]+$"}}},
            )
        ),
    ),
    good=[
        build_toolset(build_tool_with_params(query={"type": "string", "pattern": "^a"})),
        build_toolset(build_tool(inputSchema=_NEWER), build_tool()),
    ],
    bad=[
        build_toolset(build_tool_with_params(query={"type": "text"})),
        build_toolset(build_tool_with_params(query={"type": "string", "pattern": "("})),
        build_toolset(build_tool_with_params(query={"$ref": "#/$defs/query"})),
        build_toolset(build_tool_with_params(query={"enum": []})),
        build_toolset(build_tool(inputSchema={"$schema": "https://schemas.example/own", "type": "object"})),
    ],
)
def tool_input_schema_uncompilable(toolset: Toolset, reading: str = "declared") -> Iterator[Answer]:
    """A client that cannot compile the schema cannot validate a call, and many clients reject the tool.

    The dialect is the one in `$schema`, else 2020-12. `reading="ajv"` reads every schema as draft-07, as Ajv does
    without configuration: any other dialect is an error there, and an `$id` may occur only once on a server.
    """
    compiler = SchemaCompiler(ValidatorDialect(reading))
    for member in toolset.tools:
        if is_object(member.input_schema) and (complaint := compiler.complaint(member.input_schema)):  # type: ignore[arg-type]
            yield member, complaint
