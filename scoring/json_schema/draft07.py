"""JSON Schema draft-07 in Ajv 8: its meta-schema, and the keywords that Ajv compiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import jsonschema_rs

from evidence.canonical import Json
from scoring.text.words import parse_word_list

ADDRESS: Final = "http://json-schema.org/draft-07/schema"
OWN_ADDRESSES: Final = frozenset({ADDRESS, "http://json-schema.org/schema"})

COMPILED: Final = parse_word_list(
    """
    $ref additionalItems additionalProperties allOf anyOf const contains dependencies else enum
    exclusiveMaximum exclusiveMinimum format formatExclusiveMaximum formatExclusiveMinimum formatMaximum
    formatMinimum id if items maxItems maxLength maxProperties maximum minItems minLength minProperties
    minimum multipleOf not nullable oneOf pattern patternProperties properties propertyNames required then
    type uniqueItems
    """
)
"""Keywords for which Ajv generates code. A schema without any of them is never looked into."""

FORMAT_LIMITS: Final = ("formatMinimum", "formatMaximum", "formatExclusiveMinimum", "formatExclusiveMaximum")
_TYPES: Final[list[Json]] = ["array", "boolean", "integer", "null", "number", "object", "string"]
_TYPE: Final[dict[str, Json]] = {"enum": _TYPES}
_SELF: Final[dict[str, Json]] = {"$ref": "#"}
_SCHEMAS: Final[dict[str, Json]] = {"type": "array", "minItems": 1, "items": _SELF}
_NAMES: Final[dict[str, Json]] = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
_COUNT: Final[dict[str, Json]] = {"type": "integer", "minimum": 0}
_MAP: Final[dict[str, Json]] = {"type": "object", "additionalProperties": _SELF}
_KEYWORDS: Final[tuple[tuple[str, dict[str, Json]], ...]] = (
    ("$id $schema $ref $comment title description", {"type": "string"}),
    ("pattern format contentMediaType contentEncoding", {"type": "string"}),
    ("readOnly uniqueItems", {"type": "boolean"}),
    ("maximum exclusiveMaximum minimum exclusiveMinimum", {"type": "number"}),
    ("maxLength minLength maxItems minItems maxProperties minProperties", _COUNT),
    ("additionalItems contains additionalProperties propertyNames if then else not", _SELF),
    ("allOf anyOf oneOf", _SCHEMAS),
    ("definitions properties patternProperties", _MAP),
    ("multipleOf", {"type": "number", "exclusiveMinimum": 0}),
    ("examples", {"type": "array"}),
    ("required", _NAMES),
    ("enum", {"type": "array", "minItems": 1, "uniqueItems": True}),
    ("items", {"anyOf": [_SELF, _SCHEMAS]}),
    ("dependencies", {"type": "object", "additionalProperties": {"anyOf": [_SELF, _NAMES]}}),
    ("type", {"anyOf": [_TYPE, {"type": "array", "items": _TYPE, "minItems": 1, "uniqueItems": True}]}),
)


@cache
def build_meta_schema_validator() -> jsonschema_rs.Validator:
    properties = {name: form for names, form in _KEYWORDS for name in names.split()}
    return jsonschema_rs.Draft7Validator({"type": ["object", "boolean"], "properties": properties})


def accepts_everything(schema: Json) -> bool:
    """Whether Ajv treats a schema as accepting everything and generates no code for it."""
    return schema is True or (isinstance(schema, dict) and COMPILED.isdisjoint(schema))


def list_compiled_patterns(schema: Mapping[str, Json]) -> list[str]:
    """The names in `patternProperties` that Ajv compiles; empty when all their schemas accept everything."""
    named = schema.get("patternProperties")
    if not isinstance(named, dict):
        return []
    others_matter = "additionalProperties" in schema and not accepts_everything(schema["additionalProperties"])
    return list(named) if others_matter or not all(map(accepts_everything, named.values())) else []


def list_refusals(schema: Mapping[str, Json]) -> Iterator[str]:
    """Members that Ajv refuses although the meta-schema allows them."""
    nullable, kind = schema.get("nullable"), schema.get("type")
    if "nullable" in schema and not isinstance(nullable, bool):
        yield "nullable is not a boolean"
    elif "nullable" in schema and not kind:
        yield "nullable is set, and type is missing"
    elif nullable is False and (kind == "null" or (isinstance(kind, list) and "null" in kind)):
        yield "type null contradicts nullable: false"
    if "id" in schema:
        yield "id is not a keyword since draft-06; use $id"
    for limit in FORMAT_LIMITS:
        if limit in schema and (not isinstance(schema[limit], str) or "format" not in schema):
            yield f"{limit} is not a string, or format is missing"
