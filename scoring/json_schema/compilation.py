"""Checks whether validators can compile a schema: meta-schema, references, patterns and other refused members."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum, auto
from functools import cache
from typing import Final

import jsonschema_rs
import orjson
from msgspec import Struct, field

from evidence.canonical import Json
from scoring.json_schema import dialects, draft07, ecma_regex, references
from scoring.text.evidence_path import clip_text, show_value


class _Holds(Enum):
    """The shape in which the value of a keyword contains schemas."""

    ONE = auto()
    MANY = auto()
    NAMED = auto()
    ITEMS = auto()


_OLDER: Final = {
    **dict.fromkeys(("not", "propertyNames", "additionalProperties", "contains"), _Holds.ONE),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), _Holds.MANY),
    **dict.fromkeys(("properties", "patternProperties", "dependencies"), _Holds.NAMED),
    "items": _Holds.ITEMS,
}
_NEWER: Final = {
    **_OLDER,
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), _Holds.ONE),
    "prefixItems": _Holds.MANY,
    **dict.fromkeys(("dependentSchemas", "$defs", "definitions"), _Holds.NAMED),
}
_NAMING: Final = frozenset({"$id", "$anchor", "$dynamicAnchor"})
_LIMITS: Final = draft07.FORMAT_LIMITS
_REMARKABLE: Final = tuple(
    f'"{name}'.encode()
    for name in ('$ref"', '$id"', '$anchor"', '$dynamicAnchor"', "pattern", 'enum":[]', 'id":', 'nullable"', *_LIMITS)
)
"""Text in a serialized schema that requires the check of every subschema."""

_ANCHOR: Final = re.compile(r"[a-z_][-a-z0-9._]*", re.IGNORECASE | re.ASCII)


class ValidatorDialect(StrEnum):
    """The validator whose behaviour is reproduced."""

    AJV = "ajv"  # Ajv 8 with its default dialect, not strict: draft-07 whatever the schema says
    DECLARED = "declared"  # any validator that reads the declared dialect, 2020-12 when none is declared


class _Node(Struct, frozen=True):
    schema: Mapping[str, Json]
    base: str


class SchemaCompiler(Struct, dict=True):
    """Compiles the schemas of one server in order. Ajv keeps one register of `$id`s for all of them."""

    reading: ValidatorDialect
    _register: dict[str, Mapping[str, Json] | None] = field(default_factory=dict)

    def complaint(self, schema: Json) -> str | None:
        """The reason why the schema does not compile, or None."""
        if not isinstance(schema, dict):
            return "the schema is not an object"
        return next(self._complaints(schema), None)

    def _complaints(self, schema: Mapping[str, Json]) -> Iterator[str]:
        local: dict[str, Mapping[str, Json]] = {}
        plain = _is_plain(schema)
        if not plain:
            yield from self._enter(schema, local)
        dialect = self._dialect(schema)
        if dialect is None:
            yield f"$schema is {show_value(schema['$schema'])}, a known dialect expected"
            return
        validator = (
            draft07.build_meta_schema_validator() if self.reading is ValidatorDialect.AJV else _validator(dialect)
        )
        if complaint := _against(validator, schema):
            yield complaint
        elif not plain:
            yield from self._compile(schema, local)

    def _enter(self, schema: Mapping[str, Json], local: dict[str, Mapping[str, Json]]) -> Iterator[str]:
        named = schema.get("$id")
        root = references.strip_empty_fragment(named) if isinstance(named, str) else ""
        bases: dict[int, str] = {0: root}
        for part, own, outer in references.iterate_schemas(schema) if _names_parts(schema) else ():
            base = bases[outer]
            if outer and own:
                base = references.strip_empty_fragment(references.resolve_reference(base, own))
                if base in local:
                    yield f"$id {clip_text(own)} is used twice"
                local[base] = part
            for anchor in self._anchors(part, at_root=not outer):
                address = f"{base.partition('#')[0]}#{anchor}"
                if address in local or not _ANCHOR.fullmatch(anchor):
                    yield f"{clip_text(anchor)} is used twice or is not an anchor"
                local[address] = part
            bases[id(part)] = base
        if root and not root.startswith("#") and self.reading is ValidatorDialect.AJV:
            if root in self._register or root == draft07.ADDRESS:
                yield f"$id {clip_text(root)} is used by another schema of this server"
            self._register[root] = schema
        if self.reading is ValidatorDialect.AJV:
            self._register |= {address: None for address in local if address and address not in self._register}

    def _anchors(self, schema: Mapping[str, Json], *, at_root: bool) -> list[str]:
        """The anchors that a schema sets. Ajv ignores anchors of the root."""
        if at_root and self.reading is ValidatorDialect.AJV:
            return []
        return [value for name in ("$anchor", "$dynamicAnchor") if isinstance(value := schema.get(name), str)]

    def _dialect(self, schema: Mapping[str, Json]) -> str | None:
        if self.reading is ValidatorDialect.DECLARED:
            return dialects.detect_dialect(schema)
        named = schema.get("$schema", "")
        known = isinstance(named, str) and (
            not named or references.strip_empty_fragment(named) in draft07.OWN_ADDRESSES
        )
        return draft07.ADDRESS if known else None

    def _compile(self, root: Mapping[str, Json], local: Mapping[str, Mapping[str, Json]]) -> Iterator[str]:
        """Visit the subschemas that a compiler visits: definitions only when a reference leads to them."""
        named = root.get("$id")
        base = references.strip_empty_fragment(named) if isinstance(named, str) else ""
        waiting, seen = [_Node(root, base)], {id(root)}
        while waiting:
            node = waiting.pop()
            yield from self._refused(node.schema)
            inner = list(self._inside(node))
            reference = node.schema.get("$ref")
            if isinstance(reference, str):
                target = self._target(reference, node.base, root, local)
                if target is None:
                    yield f"$ref {clip_text(reference)} has no target"
                else:
                    inner.append(target)
            for found in inner:
                if id(found.schema) not in seen:
                    seen.add(id(found.schema))
                    waiting.append(found)

    def _inside(self, node: _Node) -> Iterator[_Node]:
        for part in self._subschemas(node.schema):
            if isinstance(part, dict):
                named = part.get("$id")
                base = (
                    references.strip_empty_fragment(references.resolve_reference(node.base, named))
                    if isinstance(named, str)
                    else node.base
                )
                yield _Node(part, base)

    def _subschemas(self, schema: Mapping[str, Json]) -> Iterator[Json]:
        newer = self.reading is ValidatorDialect.DECLARED
        shapes = _NEWER if newer else _OLDER
        for keyword, value in schema.items():
            match shapes.get(keyword):
                case _Holds.ONE:
                    yield value
                case _Holds.MANY if isinstance(value, list):
                    if newer or keyword != "anyOf" or not any(map(draft07.accepts_everything, value)):
                        yield from value
                case _Holds.NAMED if isinstance(value, dict):
                    yield from (part for name, part in value.items() if newer or name != "__proto__")
                case _Holds.ITEMS:
                    yield from (*value, schema.get("additionalItems")) if isinstance(value, list) else (value,)
                case _:
                    pass
        if "if" in schema and not all(
            draft07.accepts_everything(schema.get(branch, True)) for branch in ("then", "else")
        ):
            yield from (schema["if"], schema.get("then"), schema.get("else"))

    def _refused(self, schema: Mapping[str, Json]) -> Iterator[str]:
        for pattern in (schema.get("pattern"), *draft07.list_compiled_patterns(schema)):
            if isinstance(pattern, str) and not ecma_regex.is_valid_regex(pattern):
                yield f"{clip_text(pattern)} is not a regular expression"
        if schema.get("enum") == []:
            yield "enum is empty"
        if self.reading is ValidatorDialect.AJV:
            yield from draft07.list_refusals(schema)

    def _target(
        self, reference: str, base: str, root: Mapping[str, Json], local: Mapping[str, Mapping[str, Json]]
    ) -> _Node | None:
        address = references.strip_empty_fragment(references.resolve_reference(base, reference))
        if address in local:
            return _Node(local[address], address)
        document, _, fragment = address.partition("#")
        named = root.get("$id")
        own = references.strip_empty_fragment(named).partition("#")[0] if isinstance(named, str) else ""
        if document == own:
            start: Mapping[str, Json] | None = root
        elif document in draft07.OWN_ADDRESSES:
            return _Node({}, document) if not fragment or fragment.startswith("/") else None
        else:
            start = local.get(document) or self._register.get(document)
        if start is None or (fragment and not fragment.startswith("/")):
            return None
        try:
            found = references.resolve_pointer(dict(start), fragment) if fragment else start
        except LookupError:
            return None
        if isinstance(found, bool):
            return _Node({}, base)
        return _Node(found, document) if isinstance(found, dict) else None


def _against(validator: jsonschema_rs.Validator, schema: Json) -> str | None:
    """The first error against the meta-schema; formats are checked elsewhere."""
    try:
        if validator.is_valid(schema):
            return None
        first = next(validator.iter_errors(schema))
    except UnicodeEncodeError:
        return _against(validator, json.loads(json.dumps(schema, ensure_ascii=False).encode("utf-8", "replace")))
    where = "/".join(str(part) for part in first.instance_path)
    return f"{clip_text(where or 'the root')}: {clip_text(first.message, 160)}"


def _is_plain(schema: Json) -> bool:
    """Whether a schema has no addresses, references, patterns or other members that need a compiler."""
    try:
        text = orjson.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        return False
    return not any(map(text.__contains__, _REMARKABLE))


def _names_parts(schema: Json) -> bool:
    """Whether any part of the schema may have its own address."""
    waiting: list[Json] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if not _NAMING.isdisjoint(part):
                return True
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return False


@cache
def _validator(dialect: str) -> jsonschema_rs.Validator:
    reference = dialect if "/draft/" in dialect else f"{dialect}#"
    return dialects.DIALECTS[dialect]({"$ref": reference}, validate_formats=False)
