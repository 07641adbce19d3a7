"""Arguments fit the schema whenever there are any, are harmless, and cost nothing to make, for any schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crawler.collectors.protocol.trials import pattern_samples
from crawler.collectors.protocol.trials.arguments import NoArguments, make_arguments
from crawler.collectors.protocol.trials.invalid_arguments import make_incomplete_arguments, make_wrong_type_arguments
from crawler.collectors.protocol.trials.sample_texts import is_harmless_text
from tests.durations import cpu_below
from tests.sampling import examples

CAPTURES = sorted((Path(__file__).parents[4] / "dossiers" / "captures").glob("*.json"))

NAMES = st.sampled_from(["note", "path", "url", "email", "dryRun", "delete", "limit", "a/b", "user_id", "sql"])
PATTERNS = st.sampled_from(["^[a-z]{3,8}$", r"^\d{4}-\d{2}$", "^(en|de)$", "[A-Z]+", "^x?y*z{2}$", "(?=a)b", "^[^/]+$"])
FORMATS = st.sampled_from(["date", "date-time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname", "time", "odd"])
TEXTS = st.sampled_from(["", "open", "delete", "/etc/passwd", "owner/repo", "http://127.0.0.1/", "2024-05-05", "a;b"])
NUMBERS = st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6), st.sampled_from([1e300, -(10**30), 0.1]))


def keywords(*names: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), values, max_size=2)


STRINGS = st.builds(
    lambda lengths, rest: {"type": "string", **lengths, **rest},
    keywords("minLength", "maxLength", values=st.integers(0, 40)),
    st.one_of(
        st.just({}),
        st.fixed_dictionaries({"pattern": PATTERNS}),
        st.fixed_dictionaries({"format": FORMATS}),
        st.fixed_dictionaries({"enum": st.lists(TEXTS, max_size=4)}),
        st.fixed_dictionaries({"default": TEXTS}),
        st.fixed_dictionaries({"examples": st.lists(TEXTS, max_size=3)}),
    ),
)
NUMERIC = st.builds(
    lambda kind, members: {"type": kind, **members},
    st.sampled_from(["integer", "number"]),
    st.dictionaries(
        st.sampled_from(["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]),
        NUMBERS.filter(lambda number: number > 0),
        max_size=3,
    ),
)
LEAVES = st.one_of(
    STRINGS,
    NUMERIC,
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {}, True, {"type": ["string", "null"]}, {"const": 3}]),
    st.just({"$ref": "#/$defs/shared"}),
)


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arrays = st.builds(
        lambda items, members: {"type": "array", "items": items, **members},
        inner,
        st.dictionaries(st.sampled_from(["minItems", "maxItems"]), st.integers(0, 4), max_size=2).flatmap(
            lambda members: st.sampled_from([members, {**members, "uniqueItems": True}])
        ),
    )
    unions = st.builds(
        lambda name, parts: {name: parts},
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(inner, min_size=1, max_size=3),
    )
    return st.one_of(arrays, unions, objects(inner))


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda properties, required, more: {
            "type": "object",
            "properties": properties,
            "required": sorted({*list(properties)[:required]}),
            **more,
        },
        st.dictionaries(NAMES, inner, max_size=4),
        st.integers(0, 4),
        st.sampled_from([{}, {"additionalProperties": False}, {"minProperties": 2}, {"additionalProperties": {}}]),
    )


SCHEMAS = objects(st.recursive(LEAVES, composed, max_leaves=8)).map(
    lambda schema: {**schema, "$defs": {"shared": {"type": "integer", "minimum": 5}}}
)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in strings(inner)]
    return [text for inner in value for text in strings(inner)] if isinstance(value, list) else []


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=SCHEMAS)
@example(schema={"type": "object", "properties": {"a": {"enum": [True, 1]}}, "required": ["a"]})
def test_arguments_fit_the_schema_whenever_there_are_any(schema: dict[str, Any]) -> None:
    made = make_arguments(schema)

    if isinstance(made, NoArguments):
        assert made.why
        return
    assert jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(made)
    assert made == make_arguments(json.loads(json.dumps(schema)))
    assert all(text in {"https://example.com/", ""} or is_harmless_text(text) for text in strings(made))


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
                          lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                              st.sampled_from(["type", "properties", "required", "items", "$ref", "anyOf", "allOf",
                                               "enum", "const", "pattern", "format", "minimum", "multipleOf", "default",
                                               "minItems", "minLength", "examples", "prefixItems", "$schema", "not"]),
                              inner, max_size=4), max_leaves=12))  # fmt: skip
@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_schema_of_any_shape_gives_arguments_or_a_reason(value: Any) -> None:
    made = make_arguments(value)
    assert isinstance(made, (dict, NoArguments))


def test_every_captured_tool_gets_arguments() -> None:
    schemas = [tool["inputSchema"] for path in CAPTURES for tool in json.loads(path.read_text("utf-8"))["tools"]]

    assert len(schemas) > 250
    assert [schema for schema in schemas if isinstance(make_arguments(schema), NoArguments)] == []


def taking(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "example"),
        ({"type": "string", "default": "main"}, "main"),
        ({"type": "string", "examples": ["owner/repo"]}, "owner/repo"),
        ({"type": "string", "format": "date"}, "2024-01-01"),
        ({"type": "string", "format": "uri"}, "https://example.com/"),
        ({"type": "string", "minLength": 10}, "2024-01-01"),
        ({"type": "string", "maxLength": 3}, "1"),
        ({"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"}, "AAA-1"),
        ({"type": "string", "pattern": "^(?:get|list)_x$"}, "get_x"),
        ({"enum": ["open", "closed"]}, "closed"),
        ({"const": 7}, 7),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "integer", "minimum": 10, "multipleOf": 4}, 12),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "boolean"}, False),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True}, ["example", "Example"]),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, 3),
        ({"$ref": "#/properties/other"}, "example"),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"a": 1}),
    ],
)
def test_a_parameter_gets_the_plainest_value_that_fits(schema: dict[str, Any], expected: Any) -> None:
    whole = taking(note=schema) | {"properties": {"note": schema, "other": {"type": "string"}}}
    assert make_arguments(whole) == {"note": expected}


@pytest.mark.parametrize("name", ["path", "filePath", "url", "command", "sql", "script", "working_directory", "host"])
@pytest.mark.parametrize(
    "proposal", [{"default": "/etc/passwd"}, {"examples": ["rm -rf x", "DROP TABLE x"]}, {"default": "x"}]
)
def test_a_place_or_command_gets_a_dummy_whatever_its_author_proposes(name: str, proposal: dict[str, Any]) -> None:
    made = make_arguments(taking(**{name: {"type": "string", **proposal}}))
    assert isinstance(made, Mapping)
    assert made[name] in {"example", "https://example.com/", "example.com"}


@pytest.mark.parametrize(
    "schema",
    [
        {"const": "http://169.254.169.254/latest"},
        {"enum": ["/etc/passwd", "../secret", "~/.ssh", "C:\\Windows"]},
        {"enum": ["delete", "remove_all"]},
        {"type": "string", "pattern": "^/etc/.+$"},
        {"type": "string", "pattern": "^(delete|purge)$"},
        {"type": "string", "format": "date", "maxLength": 3},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "minItems": 10**9},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "string", "pattern": "(?=x)(?!y)^\\p{L}+$"},
        {"$ref": "https://schemas.example/one.json"},
        {"$ref": "#/$defs/nowhere"},
        {"not": {}},
        False,
    ],
    ids=json.dumps,
)
def test_nothing_is_made_when_only_harm_or_nothing_fits(schema: Any) -> None:
    assert isinstance(make_arguments(taking(note=schema)), NoArguments)


def test_a_switch_for_a_deed_stays_off_and_a_dry_run_is_on() -> None:
    assert make_arguments(taking(delete={"type": "boolean"}, dry_run={"type": "boolean"})) == {
        "delete": False,
        "dry_run": True,
    }
    assert isinstance(make_arguments(taking(delete={"const": True})), NoArguments)


def test_what_is_not_required_is_left_out_unless_its_author_gives_a_harmless_value() -> None:
    properties: dict[str, Any] = {
        "note": {"type": "string"},
        "limit": {"type": "integer", "default": 20},
        "path": {"type": "string", "default": "/"},
        "overwrite": {"type": "boolean", "default": True},
        "odd": {"type": "integer", "default": "twenty"},
    }
    assert make_arguments({"type": "object", "properties": properties}) == {"limit": 20}


@pytest.mark.parametrize("name", ["duration", "delayMs", "sleep_seconds", "maxWait", "wait"])
def test_a_call_waits_no_longer_than_its_schema_demands(name: str) -> None:
    properties = {name: {"type": "number", "default": 10}}
    assert make_arguments({"type": "object", "properties": properties}) == {name: 1}
    assert make_arguments(taking(**properties)) == {name: 1}
    assert make_arguments(taking(**{name: {"type": "integer", "minimum": 5, "default": 60}})) == {name: 5}
    assert make_arguments(taking(**{name: {"type": "string", "default": "fast"}})) == {name: "fast"}
    assert make_arguments(taking(awaited={"type": "number", "default": 10})) == {"awaited": 10}
    for odd in ({"enum": [5, 10]}, {"anyOf": [{"minimum": 10}]}, {"type": "integer", "minimum": 10}):
        properties = {name: {"type": "integer", "default": 10, **odd}}
        assert make_arguments({"type": "object", "properties": properties}) == {name: 10}
    assert make_arguments({"type": "object", "properties": {name: {"type": "integer"}}}) == {}


def _doubling(levels: int, keyword: str) -> dict[str, Any]:
    parts = {f"d{i}": {keyword: [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return taking(note={"$ref": "#/$defs/d0"}) | {"$defs": parts | {f"d{levels}": {"type": "string"}}}


def _deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = taking(note=schema)
    return schema


HOSTILE: dict[str, Any] = {
    "doubling allOf": _doubling(40, "allOf"),
    "doubling oneOf": _doubling(40, "oneOf"),
    "requires itself": taking(note={"$ref": "#"}),
    "refers to itself": {"$ref": "#"},
    "circle": {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#"}]}}},
    "deep": _deep(200),
    "wide": taking(**{f"p{i}": {"type": "string"} for i in range(20_000)}),
    "many required": taking(**{f"p{i}": {"type": "string"} for i in range(1_000)}),
    "backtracking": taking(note={"type": "string", "pattern": "^(a+)+(a|a?)+(?=b)$", "minLength": 40}),
    "repeats": taking(note={"type": "string", "pattern": "^((((a{9}){9}){9}){9}){9}$"}),
    "huge class": taking(note={"type": "string", "pattern": "[\\u0000-\\uffff]{9999}"}),
    "infinite": taking(note={"type": "number", "minimum": float("inf")}),
    "nan": taking(note={"type": "number", "multipleOf": float("nan")}),
    "zero step": taking(note={"type": "number", "multipleOf": 0}),
    "huge number": taking(note={"type": "integer", "minimum": 10**400}),
    "surrogate": taking(note={"const": "\ud800"}),
    "surrogate name": taking(**{"\ud800": {"type": "string"}}),
    "prototype": taking(__proto__={"type": "string"}),
    "wrong shapes": {"type": 5, "properties": [], "required": "note", "allOf": {}, "anyOf": 3, "enum": {}},
    "moving": taking(note={"$dynamicRef": "#x"}),
    "inner id": taking(note={"$id": "http://x.example/", "$ref": "#/properties/note"}),
    "bomb of enums": taking(note={"enum": ["/x" * 100] * 3_000}),
    "null": None,
    "text": "object",
    "true": True,
}


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_schema_costs_less_than_a_second(schema: Any) -> None:
    with cpu_below(3):
        made = make_arguments(schema)
    assert isinstance(made, (dict, NoArguments))


@given(
    pattern=st.from_regex(
        r"\A(\^)?([a-z0-9_ -]|\\[dws.]|\[[a-z0-9]-?[a-z0-9]?\]|\((a|bc)\)|[?*+]|\{[1-3]\}|\|){1,12}\$?\Z"
    )
)
@settings(max_examples=examples(200), deadline=None)
def test_a_sample_matches_its_pattern_or_is_thrown_away(pattern: str) -> None:
    made = make_arguments(taking(note={"type": "string", "pattern": pattern}))
    if isinstance(made, Mapping):
        assert jsonschema_rs.Draft202012Validator({"pattern": pattern}).is_valid(made["note"])


@pytest.mark.parametrize(
    "pattern", ["^[a-z]{2,5}$", r"^\w+@\w+\.com$", "^(ab|cd){2}$", "^v[0-9]+(\\.[0-9]+)*$", "^[^a-z]$"]
)
def test_simple_patterns_are_generated(pattern: str) -> None:
    found = pattern_samples.make_matching_text(pattern)
    assert found is not None
    assert jsonschema_rs.Draft202012Validator({"pattern": pattern}).is_valid(found)


def test_mistakes_break_the_schema_at_one_parameter() -> None:
    schema = taking(note={"type": "string"}, limit={"type": "integer", "default": 5})
    arguments = make_arguments(schema)
    assert isinstance(arguments, Mapping)

    wrong, without = make_wrong_type_arguments(schema, arguments), make_incomplete_arguments(schema, arguments)
    assert wrong is not None
    assert without is not None
    assert (wrong.parameter, wrong.recorded) == ("note", {"note": {"hallmark": "invalid"}, "limit": 5})
    assert isinstance(wrong.arguments["note"], dict)
    assert {**wrong.arguments, "note": None} == {**wrong.recorded, "note": None}
    assert (without.parameter, without.arguments) == ("note", {"limit": 5})


@pytest.mark.parametrize(
    "schema", [{}, taking(), taking(note={}), {"type": "object", "properties": {"a": {"type": "string"}}}]
)
def test_there_is_no_type_to_get_wrong_where_nothing_typed_is_required(schema: dict[str, Any]) -> None:
    arguments = make_arguments(schema)
    assert isinstance(arguments, Mapping)
    assert make_wrong_type_arguments(schema, arguments) is None


@pytest.mark.parametrize("declared", ["string", "integer", "number", "boolean", "array", "object"])
def test_a_wrong_value_is_drawn_anew_and_breaks_its_type(declared: str) -> None:
    schema = taking(note={"type": declared})
    arguments = make_arguments(schema)
    assert isinstance(arguments, Mapping)
    drawn = [make_wrong_type_arguments(schema, arguments) for _ in range(5)]
    values = [one.arguments["note"] for one in drawn if one is not None]
    assert len({json.dumps(value) for value in values}) == 5
    assert not any(jsonschema_rs.Draft202012Validator({"type": declared}).is_valid(value) for value in values)
    assert "hallmark" not in json.dumps(values)
