"""Rule `tool-schema-refers-to-network`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.listing import build_tool
from scoring.json_schema import dialects
from scoring.json_schema.subschemas import list_subschemas
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Tool
from scoring.text.evidence_path import clip_text
from scoring.text.uris import join_reference

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_NETWORK: Final = ("http:", "https:", "ftp:", "ws:", "wss:", "//")


@rule(
    "tool-schema-refers-to-network",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="A schema of the tool refers to the network",
    remedy="Copy the referenced schema into `$defs` of the same schema, and refer to it locally, such as "
    '`"$ref": "#/$defs/query"`.',
    since="2026.2",
    version=1,
    checks=should("TOOL-09", "E", "basic#ref-resolution"),
    fix=(
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"$ref": "https://schemas.example/query.json"}}},
        ),
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={
                "type": "object",
                "properties": {"query": {"$ref": "#/$defs/query"}},
                "$defs": {"query": {"type": "string"}},
            },
        ),
    ),
    good=[
        build_tool(inputSchema={"type": "object", "properties": {"query": {"$ref": "#/$defs/query"}}}),
        build_tool(
            inputSchema={"type": "object", "properties": {"$ref": {"const": {"$ref": "https://schemas.example/q"}}}}
        ),
        build_tool(
            inputSchema={"type": "object", "$id": "https://schemas.example/q", "not": {"$ref": "#/$defs/query"}}
        ),
        build_tool(
            outputSchema={"$ref": "https://schemas.example/q", "$defs": {"q": {"$id": "https://schemas.example/q"}}}
        ),
        build_tool(outputSchema={"$ref": "http://json-schema.org/draft-07/schema#"}),
    ],
    bad=[
        build_tool(
            inputSchema={"type": "object", "properties": {"query": {"$ref": "https://schemas.example/query.json"}}}
        ),
        build_tool(outputSchema={"$id": "https://schemas.example/root", "allOf": [{"$ref": "other"}]}),
        build_tool(outputSchema={"$ref": "http://[bad"}),
    ],
    unjudged=[build_tool(inputSchema=None)],
)
def tool_schema_refers_to_network(tool: Tool) -> Iterator[Answer]:
    """A `$ref` should stay inside its schema: `#/$defs/query`, not an address on the network.

    Clients must not fetch the target, so its contents are ignored, and many clients reject the tool. Put the other
    schema under `$defs`. Addresses of the published dialects, and of schemas that are embedded with their `$id`, need
    no network. This check fetches nothing.
    """
    given = {name: schema for name in ("inputSchema", "outputSchema") if isinstance(schema := tool.get(name), Mapping)}
    if not given:
        raise Inapplicable("no schemas")
    for name, schema in given.items():
        for target in dict.fromkeys(_targets(schema)):
            yield name, f"the reference {clip_text(target)} is a network address"


def _targets(root: Mapping[str, Json]) -> Iterator[str]:
    bases: dict[tuple[str, ...], str] = {(): ""}
    references: list[str] = []
    for position in list_subschemas(root):
        base = next(
            bases[position.steps[:end]] for end in range(len(position.steps), -1, -1) if position.steps[:end] in bases
        )
        base = bases[position.steps] = _joined(base, position.schema.get("$id"))
        references += [_joined(base, position.schema[word]) for word in _REFERENCES if word in position.schema]
    known = {address.partition("#")[0] for address in bases.values()} | set(dialects.DIALECTS)
    for reference in references:
        if reference.lower().startswith(_NETWORK) and reference.partition("#")[0] not in known:
            yield reference


def _joined(base: str, reference: Json) -> str:
    return join_reference(base, reference) if isinstance(reference, str) else base
