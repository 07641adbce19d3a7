"""Checks of headers, messages and lists: each reads its own step, and nothing is charged to the wrong one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.kinds.listing import Item
from evidence.model import Observed
from scoring.engine.assess import ask_rule, assess_dossier
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.protocol import conformance
from scoring.protocol.conformance import ConformanceCheck
from scoring.results.outcome import Finding, Inapplicable, Level, Measured, Undecided
from scoring.scopes.base import ListedResource, Resource, Scope, Tool
from tests.sampling import examples
from tests.scoring.dossiers import dossier, listed

CHECKS: dict[str, ConformanceCheck] = {check.requirement.id: check for check in conformance.list_checks()}
SESSION = {"length": 32, "visible": True, "same_as": None}
TOOL = {"name": "add", "inputSchema": {"type": "object"}}
MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def found(check: str, thing: Scope) -> tuple[Finding, ...] | None:
    """The findings of a check, None when it does not judge the thing."""
    try:
        return ask_rule(CHECKS[check].rule, thing, "", **dict(CHECKS[check].requirement.params))
    except (Inapplicable, Undecided):
        return None


def tolerated(check: str, thing: Scope) -> bool:
    findings = found(check, thing)
    assert findings
    return all(finding.tolerated for finding in findings)


@pytest.mark.parametrize(
    ("check", "step"),
    [
        ("HDR-01", "discover-version-mismatch"),
        ("HDR-02", "discover-method-mismatch"),
        ("HDR-03", "discover-method-missing"),
        ("HDR-04", "discover-version-missing"),
        ("HDR-05", "call-name-mismatch"),
    ],
)
def test_a_header_check_reads_its_own_question(check: str, step: str) -> None:
    served = build_conversation(modern_exchange("discover", result={}), modern_exchange(step, result={}))
    assert found(check, served)
    assert found(check, build_conversation(modern_exchange(step, status=400, error={"code": -32020}))) == ()
    assert tolerated(check, build_conversation(modern_exchange(step, status=400, form="other", headers={})))
    others = {"HDR-01", "HDR-02", "HDR-03", "HDR-04", "HDR-05"} - {check}
    assert [found(other, served) for other in sorted(others)] == [None] * 4


def test_a_server_of_both_eras_may_assume_a_version_and_not_a_method() -> None:
    opened = legacy_exchange("initialize", result={})
    assert found("HDR-04", build_conversation(opened, modern_exchange("discover-version-missing", result={}))) is None
    assert found("HDR-03", build_conversation(opened, modern_exchange("discover-method-missing", result={})))


@pytest.mark.parametrize(("check", "name"), [("CAP-01", "tools"), ("CAP-02", "prompts"), ("CAP-03", "resources")])
def test_a_capability_check_reads_its_own_list(check: str, name: str) -> None:
    missing = build_conversation(legacy_exchange(f"list-{name}", error={"code": -32601}))
    assert found(check, missing)
    assert found(check, build_conversation(legacy_exchange(f"list-{name}-undeclared", result={name: [{}]})))
    assert found(check, build_conversation(legacy_exchange(f"list-{name}-undeclared", result={})))
    assert found(check, build_conversation(legacy_exchange(f"list-{name}-undeclared", result={name: []}))) == ()
    assert found(check, build_conversation(legacy_exchange(f"list-{name}", result={name: []}))) == ()
    assert (
        found(check, build_conversation(legacy_exchange(f"list-{name}", failure=("response_too_large", "5 MiB"))))
        is None
    )
    assert [found(other, missing) for other in sorted({"CAP-01", "CAP-02", "CAP-03"} - {check})] == [None, None]


def test_templates_need_no_capability_of_their_own() -> None:
    assert (
        found("CAP-03", build_conversation(legacy_exchange("list-resourceTemplates", error={"code": -32601}))) is None
    )


@pytest.mark.parametrize("check", ["JSON-04", "TOOL-13", "RES-02", "PROMPT-01"])
def test_a_lost_session_is_no_answer_to_the_question(check: str) -> None:
    steps = {"JSON-04": "unknown-method", "TOOL-13": "call", "RES-02": "read", "PROMPT-01": "prompt"}
    step = steps[check] if check == "JSON-04" else f"{steps[check]}-nonexistent"
    lost = legacy_exchange(step, session=SESSION, status=404, error={"code": -32001})
    assert found(check, build_conversation(lost)) is None
    assert found(check, build_conversation(lost, legacy_exchange("ping", session=SESSION, result={})))
    assert found(check, build_conversation(legacy_exchange("ping", session=SESSION, result={}), lost)) is None


def test_one_bad_tool_is_charged_to_the_check_of_its_entry() -> None:
    conversation = build_conversation(
        legacy_exchange("list-tools", result={"tools": [TOOL, {**TOOL, "description": 7}, "add"]}),
        legacy_exchange("list-prompts", result={"prompts": [{"name": 7}]}),
    )
    assert found("SCHEMA-01", conversation) == ()
    assert [finding.at for finding in found("TOOL-01", conversation) or ()] == [
        "exchanges/legacy/list-tools/add@1",
        "exchanges/legacy/list-tools/@2",
    ]
    assert [finding.message for finding in found("PROMPT-02", conversation) or ()] == [
        "name is the number 7, a string expected"
    ]


def test_every_page_is_judged_under_the_revision_it_was_asked_in() -> None:
    titled = {**TOOL, "title": 7}
    result = {"tools": [titled]}
    assert found("TOOL-01", build_conversation(legacy_exchange("list-tools", revision="B", result=result))) == ()
    both = build_conversation(
        legacy_exchange("list-tools", revision="B", result=result),
        modern_exchange("list-tools", result={**MODERN, **result}),
    )
    assert [finding.at for finding in found("TOOL-01", both) or ()] == ["exchanges/modern/list-tools/add"]


def test_a_result_that_was_not_kept_breaks_no_schema() -> None:
    kept = legacy_exchange("list-tools", received=[{"message": {"jsonrpc": "2.0", "id": 1}, "too_large": 70_000}])
    for check in ("SCHEMA-01", "TOOL-01", "PAGE-03"):
        assert found(check, build_conversation(kept)) is None


def test_a_missing_resource_costs_only_where_the_code_is_a_must() -> None:
    assert tolerated("RES-02", build_conversation(legacy_exchange("read-nonexistent", result={"contents": []})))
    assert not tolerated("RES-02", build_conversation(modern_exchange("read-nonexistent", result={"contents": []})))


@pytest.mark.parametrize(("name", "wrong"), [("", True), (" ", True), ("a b", True), ("add", False)])
def test_a_name_that_is_there_has_characters_of_the_grammar(name: str, wrong: bool) -> None:
    assert bool(found("TOOL-05", build_tool(name=name))) is wrong


def test_a_tool_without_a_name_has_no_name_to_judge() -> None:
    assert found("TOOL-05", build_tool(name=None)) == ()
    assert found("TOOL-06", build_toolset(build_tool(name=None), build_tool(name=7), build_tool(name="add"))) == ()
    assert found("TOOL-06", build_toolset(build_tool(name=None), build_tool(name=7))) is None
    assert found("TOOL-06", build_toolset(build_tool(name=""), build_tool(name="")))


@pytest.mark.parametrize("check", ["TOOL-02", "TOOL-03", "TOOL-04", "TOOL-09", "TOOL-10", "TOOL-11", "TOOL-12"])
@pytest.mark.parametrize("raw", [None, 7, "add", [], ["name"]])
def test_a_tool_that_is_no_object_is_a_matter_of_its_entry(check: str, raw: Any) -> None:
    assert found(check, Tool(item=Item(raw, 0))) is None


def test_lists_that_change_with_time_do_not_vary_by_connection() -> None:
    first, more = {"tools": [TOOL]}, {"tools": [TOOL, {**TOOL, "name": "greet"}]}
    varying = [modern_exchange("list-tools", result=first), modern_exchange("list-tools-elsewhere", result=more)]
    assert found("TOOL-08", build_conversation(*varying))
    assert found("TOOL-08", build_conversation(*varying, modern_exchange("list-tools-again", result=first)))
    assert found("TOOL-08", build_conversation(*varying, modern_exchange("list-tools-again", result=more))) is None


def test_codes_of_older_revisions_are_held_against_modern_servers_only() -> None:
    old = modern_exchange("discover-version-missing", status=400, error={"code": -32000})
    assert found("ERR-02", build_conversation(modern_exchange("discover", result={}), old))
    assert (
        found(
            "ERR-02",
            build_conversation(legacy_exchange("initialize", result={}), modern_exchange("discover", result={}), old),
        )
        is None
    )


def test_the_checks_that_only_inform_say_so_in_their_level() -> None:
    informing = {name for name, check in CHECKS.items() if check.requirement.level is Level.INFO}
    assert {"CAP-04", "TOOL-13"} <= informing


@pytest.mark.parametrize(
    ("version", "era", "judged"),
    [
        ("2025-03-26", "legacy", ["TOOL-02"]),
        ("2025-11-25", "legacy", ["TOOL-02", "TOOL-03", "TOOL-04"]),
        ("2026-07-28", "modern", ["TOOL-02", "TOOL-03", "TOOL-09"]),
        ("1900-01-01", "legacy", []),
    ],
)
def test_a_listing_is_judged_under_the_revision_it_was_read_in(version: str, era: str, judged: list[str]) -> None:
    bad = {"name": "add", "inputSchema": {"type": "array"}, "outputSchema": {"$ref": "https://a.test/", "type": 7}}
    body = json.loads(listed(bad).body) | {"protocolVersion": version, "era": era}
    assessment = assess_dossier(dossier(listed=Observed(json.dumps(body).encode())))
    wanted = ("TOOL-02", "TOOL-03", "TOOL-04", "TOOL-09")
    outcomes = {check: assessment.outcome(CHECKS[check].question) for check in wanted}
    assert [check for check, found in outcomes.items() if isinstance(found, Measured) and found.findings] == judged
    assert [one.check.requirement.id for one in conformance.evaluate_checks(assessment) if one.findings] == judged


def test_a_question_that_is_no_check_is_asked_under_every_revision() -> None:
    body = json.loads(listed({"name": "add"}, {"name": "add"}).body) | {"protocolVersion": "2024-11-05"}
    assessment = assess_dossier(dossier(listed=Observed(json.dumps(body).encode())))
    asked = [outcome for question, outcome in assessment.outcomes.items() if question.rule == "tool-names-duplicated"]
    assert {outcome.checked for outcome in asked if isinstance(outcome, Measured)} == {0, 1}


SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8)
WORDS = """
    name uri type properties $ref $id $defs $schema x-mcp-header anyOf items not const enum required format annotations
    readOnlyHint inputSchema outputSchema object string number https://a.test/b ../c #/d Region {a}
"""
WORD = st.sampled_from(WORDS.split()) | st.just("\ud800")
HOSTILE = st.recursive(
    SCALARS | WORD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=4), max_leaves=12
)


@settings(derandomize=True, max_examples=examples(300), deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_entry_breaks_a_check_of_the_listing(raw: Any, schema: Any, uri: Any) -> None:
    entry = {"name": "add", "inputSchema": schema, "outputSchema": raw, "annotations": raw, "uri": uri}
    for item in (Item(raw, 0), Item(entry, 0)):
        for check in CHECKS.values():
            if check.rule.scope in (Tool, Resource, ListedResource):
                thing = Tool(item=item) if check.rule.scope is Tool else Resource(item=item)
                for finding in found(check.requirement.id, thing) or ():
                    assert finding.message.isprintable()
                    assert len(finding.message) < 400


@pytest.mark.parametrize("code", [-32601, -32603])
def test_types_of_templates_are_judged_and_a_missing_list_of_templates_is_not(code: int) -> None:
    broken = {"uriTemplate": "memo://{topic}", "name": "memo", "mimeType": "text"}
    failed = {"declared": True, "end": "error", "error": {"code": code, "message": "no"}, "pages": []}
    resources = [{"uri": "memo:a", "name": "a", "mimeType": "text/plain"}]

    def outcome(**lists: Any) -> Any:
        asked = assess_dossier(dossier(listed=listed(**lists))).outcomes.items()
        return next(outcome for question, outcome in asked if question.rule == "resource-metadata-invalid")

    found = outcome(resources=resources, resourceTemplates=[broken])
    lacking = outcome(resources=resources, resourceTemplates=failed)

    assert [finding.at for finding in found.findings] == ["resourceTemplates/memo"]
    assert ([skipped.at for skipped in lacking.skipped] == []) is (code == -32601)
