"""Validates a JSON Schema under its own dialect: bounded, offline, without resolving `$ref` or `$schema` addresses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import jsonschema_rs

from evidence.canonical import Json
from scoring.text.evidence_path import clip_text

MAX_DEPTH: Final = 64
MAX_NODES: Final = 50_000

DEFAULT_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The default dialect of MCP 2025-11-25."""

TOO_LARGE: Final = f"the schema has more than {MAX_DEPTH} levels or {MAX_NODES} values"
"""The complaint about a schema that is not validated, because validating it may take long."""

NOT_UNICODE: Final = "a key is not valid Unicode"
"""The complaint about a schema with lone surrogates, which cannot be validated."""

DIALECTS: Final[Mapping[str, type[jsonschema_rs.Validator]]] = {
    DEFAULT_DIALECT: jsonschema_rs.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
}


def detect_dialect(schema: Json) -> str | None:
    """The known dialect that a schema names, the default without a name, None for an unknown dialect."""
    named = schema.get("$schema", DEFAULT_DIALECT) if isinstance(schema, dict) else DEFAULT_DIALECT
    plain = named.removesuffix("#") if isinstance(named, str) else ""
    return plain if plain in DIALECTS else None


def find_schema_error(schema: Json) -> str | None:
    """Why a schema is not valid under its dialect's meta-schema, or None. An unknown dialect is read as the default.

    The meta-schemas are the ones inside the validator: nothing that a schema says makes it fetch anything.
    """
    if not is_within_bounds(schema):
        return TOO_LARGE
    validator = _validator(detect_dialect(schema) or DEFAULT_DIALECT)
    try:
        if validator.is_valid(schema):
            return None
        first = next(validator.iter_errors(schema))
    except UnicodeEncodeError:
        return NOT_UNICODE
    where = "/".join(str(part) for part in first.instance_path)
    return f"{clip_text(where or 'the root')}: {clip_text(first.message, 160)}"


@cache
def _validator(name: str) -> jsonschema_rs.Validator:
    # Formats are hints: what an ECMA-262 engine reads, such as [\\w-.], is no "regex" to every library.
    meta = {"$ref": name if "2020" in name or "2019" in name else f"{name}#"}
    return DIALECTS[name](meta, validate_formats=False)


def is_within_bounds(schema: Json) -> bool:
    """Whether a schema is within MAX_DEPTH and MAX_NODES; the check itself is bounded by them."""
    level: list[Any] = [schema] if isinstance(schema, (dict, list)) else []
    seen = 0
    for _ in range(MAX_DEPTH):
        seen += len(level)
        if not level or seen > MAX_NODES:
            return not level
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, (dict, list))
        ]
    return not level
