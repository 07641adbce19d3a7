"""Verdicts as data and as JUnit."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import jsonschema_rs

from publish.scan_reports import junit
from publish.scan_reports.document import make_scan_document
from publish.scan_reports.gate import Gate, decide_gate
from publish.scan_reports.schema import SCAN_SCHEMA
from publish.views.evidence.check_verdicts import CheckVerdicts, judge_checks, verdicts_as_json
from scoring.engine.assess import assess_dossier
from scoring.example_builders.conversation import legacy_exchange
from scoring.protocol import conformance
from scoring.results.outcome import Level
from tests.publish import samples
from tests.scoring.dossiers import dossier, talked

TALK = talked(
    legacy_exchange("initialize", result={"protocolVersion": "2025-11-25"}),
    legacy_exchange("ping", result="\x1b[31mpong\u202e"),
    legacy_exchange("unknown-method", status=503),
)


def found() -> CheckVerdicts:
    return judge_checks(assess_dossier(TALK))


def test_every_check_has_one_verdict_in_one_section() -> None:
    listed = [result.check.requirement.id for result in found().results]
    assert sorted(listed) == sorted(check.requirement.id for check in conformance.list_checks())
    assert sum(found().counts.values()) == len(listed)


def test_the_document_with_verdicts_is_valid() -> None:
    shown = make_scan_document(TALK, [], found())
    jsonschema_rs.validate(dict(SCAN_SCHEMA), shown)
    (ping,) = [check for check in shown["conformance"]["checks"] if check["id"] == "PING-01"]
    assert ping["verdict"] == "fail"
    assert ping["findings"][0]["at"] == "exchanges/legacy/ping"
    assert ping["spec"].startswith("https://modelcontextprotocol.io/specification/2025-11-25/")


def test_without_a_conversation_the_reason_stands_where_the_verdicts_would() -> None:
    shown = verdicts_as_json(judge_checks(assess_dossier(dossier())))
    assert shown["absent"]["reason"] == "not_collected"
    assert (shown["depth"], shown["eras"], shown["requests"]) == (None, [], 0)
    jsonschema_rs.validate(
        dict(SCAN_SCHEMA), make_scan_document(samples.dossiers(1)[0], [], judge_checks(assess_dossier(dossier())))
    )


def test_junit_fails_for_a_must_and_skips_what_says_nothing() -> None:
    decision = decide_gate(Gate(levels=frozenset({Level.MUST})), TALK, [], found())
    root = ET.fromstring(junit.render_junit(found(), decision, "https://x.example/\x00mcp"))
    cases = {case.get("name", "").split()[0]: case for case in root.iter("testcase")}
    assert cases["PING-01"].find("failure").get("type") == "MUST"  # type: ignore[union-attr]
    assert all(case.find("failure") is None for name, case in cases.items() if name == "INTEROP-01")
    counted = int(root.get("skipped", "")) + int(root.get("failures", "")) <= int(root.get("tests", ""))
    assert counted and len(cases) == len(found().results) + 1, "one is the server itself"
    assert int(root.get("failures", "")) == len(list(root.iter("failure")))
