"""Schemas that Ajv 8 compiles and refuses, and regular expressions that JavaScript accepts and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.json_schema import ecma_regex
from scoring.json_schema.compilation import SchemaCompiler, ValidatorDialect

LINES = (Path(__file__).parents[2] / "golden" / "ajv.jsonl").read_text(encoding="utf-8").splitlines()
VECTORS = [json.loads(line) for line in LINES]
"""Verdicts of Ajv 8.20 with ajv-formats, `strict: false, allErrors: true`, a new instance each; figures only."""

NEWER = "https://json-schema.org/draft/2020-12/schema"
SAME = {"$id": "https://e.example/same", "type": "object"}


@pytest.mark.parametrize(("schema", "compiles"), VECTORS, ids=lambda value: json.dumps(value)[:60])
def test_schema_compiles_where_ajv_compiles_it(schema: Any, compiles: bool) -> None:
    assert (SchemaCompiler(ValidatorDialect.AJV).complaint(schema) is None) is compiles


def test_an_id_is_taken_once_on_a_server_as_ajv_reads_it_and_free_otherwise() -> None:
    ajv, declared = SchemaCompiler(ValidatorDialect.AJV), SchemaCompiler(ValidatorDialect.DECLARED)
    assert [bool(ajv.complaint(schema)) for schema in (SAME, dict(SAME))] == [False, True]
    assert [bool(declared.complaint(schema)) for schema in (SAME, dict(SAME))] == [False, False]


@pytest.mark.parametrize(
    ("schema", "compiles"),
    [
        ({"$schema": NEWER, "prefixItems": [{"type": "string"}]}, True),
        ({"prefixItems": 5}, False),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": 5}, True),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, True),
        ({"items": [{"type": "string"}]}, False),
        ({"$schema": "https://schemas.example/own"}, False),
        ({"$defs": {"a": {"pattern": "("}}}, False),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}, True),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, False),
        ({"properties": {"a": {"$ref": "#tail"}}, "$defs": {"a": {"$anchor": "tail"}}}, True),
        ({"nullable": True}, True),
        ({"enum": []}, False),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_declared_reading_follows_the_dialect(schema: Any, compiles: bool) -> None:
    assert (SchemaCompiler(ValidatorDialect.DECLARED).complaint(schema) is None) is compiles


@pytest.mark.parametrize("schema", [[], True, None, 5, {"\ud800": 1}, {"$id": "\ud800"}, {"minimum": 10**400}])
@pytest.mark.parametrize("reading", list(ValidatorDialect))
def test_no_value_breaks_the_compiler(schema: Any, reading: ValidatorDialect) -> None:
    SchemaCompiler(reading).complaint(schema)


def test_references_in_a_circle_end() -> None:
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert SchemaCompiler(ValidatorDialect.AJV).complaint(circle) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^[a-z]+$",
        "(?<y>a)\\k<y>",
        "a{2,3}?",
        "\\u{1F600}",
        "[\\w-]",
        "(?<=a)b",
        "\\p{L}\\P{Script=Greek}",
        "\\1(a)",
        "[^]",
        "\\ud83d\\ude00",
        "[\\ud83d\\ude00-\\ud83d\\ude10]",
        "\\0",
        "\\cA",
        "a|",
        "()",
        "[\\-a]",
        "\\/",
    ],
)
def test_javascript_accepts(pattern: str) -> None:
    assert ecma_regex.is_valid_regex(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "a{2,1}",
        "*",
        "a**",
        "^*",
        "(?=a)*",
        "\\",
        "\\-",
        "\\_",
        "\\u{110000}",
        "\\x4",
        "\\c1",
        "[z-a]",
        "[\\d-z]",
        "\\01",
        "\\2(a)",
        "\\k<x>",
        "(?<a>.)(?<a>.)",
        "\\p{Foo}",
        "(?i)a",
        "(?P<a>b)",
        "\\Z",
        "a{,2}",
    ],
)
def test_javascript_refuses(pattern: str) -> None:
    assert not ecma_regex.is_valid_regex(pattern)


def test_a_long_pattern_takes_linear_time() -> None:
    assert not ecma_regex.is_valid_regex("(" * 200_000)
    assert ecma_regex.is_valid_regex("(a|[b-d]{1,3})" * 50_000)
