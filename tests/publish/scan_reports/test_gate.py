"""The gate of a scan: exit code, JUnit, SARIF and JSON state the same decision about every server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest

from evidence.canonical import canonical_json
from evidence.kinds import listing
from evidence.model import Dossier, Observed, Reason
from publish.scan_reports import junit, sarif
from publish.scan_reports.baseline import AppliedBaseline
from publish.scan_reports.document import make_scan_document
from publish.scan_reports.findings import FindingGrade, list_scan_findings, list_violated
from publish.scan_reports.gate import Gate, GateDecision, GateStatus, decide_gate
from publish.scan_reports.schema import SCAN_SCHEMA
from publish.views.evidence.check_verdicts import CheckVerdicts, judge_checks
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.example_builders.conversation import legacy_exchange
from scoring.results.outcome import Level
from scoring.results.scorecard import Scorecard
from tests.dossiers import captures, recorded
from tests.publish import samples
from tests.publish.capped import fallen
from tests.scoring import rich
from tests.scoring.dossiers import dossier, listed, talked

NONE = frozenset[Level]()
MUST, BOTH = frozenset({Level.MUST}), frozenset({Level.MUST, Level.SHOULD})
MINIMA = (None, Decimal(0), Decimal(50), Decimal(101))
GATES = [Gate(minimum=minimum, levels=levels) for minimum in MINIMA for levels in (NONE, MUST, BOTH)]
FEW_GATES = [
    *(Gate(levels=levels) for levels in (NONE, MUST, BOTH)),
    Gate(minimum=Decimal(0)),
    Gate(minimum=Decimal(50), levels=MUST),
]
LACKING = (Reason.OAUTH_REQUIRED, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.COLLECTOR_ERROR, Reason.COLLECTOR_OFFLINE)
BROKEN = talked(
    legacy_exchange("initialize", result={"protocolVersion": "2025-11-25"}),
    legacy_exchange("ping", result="\x1b[31mpong\u202e"),
    legacy_exchange("unknown-method", status=503),
)
SERVERS: dict[str, Dossier] = {
    "capture": captures()["mcp-server-time"],
    **recorded(),
    **{reason.value: samples.absent_dossier(reason, "30 s") for reason in LACKING},
    "broken": BROKEN,
    "hostile": samples.hostile_dossier(),
}


def _unanswered() -> Dossier:
    """A server that opened, declared tools, and then gave no usable answer."""
    evidence = listed(opening={"capabilities": {"tools": {}}})
    body = json.loads(evidence.body)
    body["lists"]["tools"] = {"declared": True, "end": "failed", "error": "timeout", "pages": []}
    return dossier(listed=Observed(canonical_json(body)))


SERVERS["unanswered"] = _unanswered()
Judged = tuple[Sequence[Scorecard], CheckVerdicts]


def unlisted() -> Dossier:
    """The server that fell, whose tools could not be listed."""
    return rich.without(fallen(), listing.KIND)


def judge(server: Dossier) -> Judged:
    rubrics = [catalogue.get_rubric(rubric) for rubric in ("adaptive@2", "lint@1", "sdk_tier@1")]
    assessment = assess_dossier(server, rubrics)
    return [rubric.score(assessment) for rubric in rubrics], judge_checks(assessment)


@cache
def judged(name: str) -> Judged:
    return judge(SERVERS[name])


def decided(name: str, gate: Gate, rubrics: int) -> GateDecision:
    cards, checks = judged(name)
    return decide_gate(gate, SERVERS[name], cards[:rubrics], checks)


def check_agreement(server: Dossier, judged: Judged, gates: Sequence[Gate], rubrics: int) -> None:
    cards, checks = judged
    for gate in gates:
        decision = decide_gate(gate, server, cards[:rubrics], checks)
        fails = decision.status is not GateStatus.PASSED
        root = ET.fromstring(junit.render_junit(checks, decision, server.server.ref))
        assert (int(root.get("failures", "")) + int(root.get("errors", "")) > 0) is fails
        (log,) = sarif.render_sarif(server, cards, decision, code="1.0.0")["runs"]
        has_error = any(result["level"] == "error" for result in log["results"])
        assert (has_error or not log["invocations"][0]["executionSuccessful"]) is fails
        if decision.status is GateStatus.REFUSED:
            assert has_error and int(root.get("failures", "")) > 0
        shown = make_scan_document(server, cards, checks, decision)["gate"]
        assert (shown["status"], bool(shown["failures"])) == (decision.status, fails)


@pytest.mark.parametrize("name", SERVERS)
def test_every_report_fails_exactly_when_the_exit_code_does(name: str) -> None:
    check_agreement(SERVERS[name], judged(name), FEW_GATES, 2)


@pytest.mark.soak
def test_every_report_of_every_capture_agrees_under_every_gate() -> None:
    for server in (*captures().values(), *SERVERS.values()):
        for rubrics in (1, 3):
            check_agreement(server, judge(server), GATES, rubrics)


@pytest.mark.parametrize("name", ["broken", "scripted-5", "oauth_required", "collector_error"])
def test_the_decision_is_part_of_the_schema(name: str) -> None:
    cards, checks = judged(name)
    shown = make_scan_document(SERVERS[name], cards, checks, decided(name, GATES[-1], 3))
    jsonschema_rs.validate(dict(SCAN_SCHEMA), shown)


def test_a_violated_should_fails_only_where_it_is_demanded() -> None:
    statuses = [decided("sdk-http", Gate(levels=levels), 1).status for levels in (MUST, BOTH)]
    assert statuses == [GateStatus.PASSED, GateStatus.REFUSED]


def test_what_is_tolerated_or_not_demanded_is_no_failure() -> None:
    cards, checks = judged("scripted-5")
    decision = decided("scripted-5", Gate(levels=MUST), 1)
    root = ET.fromstring(junit.render_junit(checks, decision, "x"))
    assert {failure.get("type") for failure in root.iter("failure")} == {"MUST"}
    assert any("(tolerated)" in (out.text or "") for out in root.iter("system-out"))
    (log,) = sarif.render_sarif(SERVERS["scripted-5"], cards, decision, code="1")["runs"]
    errors = {(one["ruleId"], one["message"]["text"]) for one in log["results"] if one["level"] == "error"}
    assert errors == {(rule, message) for rule, _, message in decision.list_refused()}
    assert any(one["properties"]["severity"] == "error" and one["level"] == "warning" for one in log["results"])


def test_a_score_that_is_missing_is_a_failure_and_our_failure_an_error() -> None:
    for name, tag in (("timeout", "failure"), ("collector_error", "error")):
        _, checks = judged(name)
        root = ET.fromstring(junit.render_junit(checks, decided(name, Gate(minimum=Decimal(0)), 1), "x"))
        (case,) = (case for case in root.iter("testcase") if case.get("name") == "adaptive@2 is at least 0")
        assert [child.tag for child in case] == [tag]


@pytest.mark.parametrize(
    ("make", "rubrics"),
    [
        (fallen, ["adaptive@2"]),
        (fallen, ["sdk_tier@1"]),
        (fallen, ["adaptive@2", "lint@1", "sdk_tier@1"]),
        (unlisted, ["adaptive@2", "sdk_tier@1"]),
    ],
    ids=["a cap", "no tier", "all", "no score"],
)
@pytest.mark.parametrize("gate", [Gate(grades=frozenset({FindingGrade.HIGH})), Gate(levels=MUST), Gate(levels=BOTH)])
def test_a_fall_refuses_a_server_in_every_report(make: Callable[[], Dossier], rubrics: list[str], gate: Gate) -> None:
    dossier = make()
    assessment = assess_dossier(dossier, [*map(catalogue.get_rubric, rubrics), catalogue.get_rubric("sdk_tier@1")])
    cards = [catalogue.get_rubric(name).score(assessment) for name in rubrics]
    checks = judge_checks(assessment)
    found = list_scan_findings(dossier, cards, judged=cards[:1])
    [fall] = [one for one in found if one.rule == "server-fell-over"]
    decision = decide_gate(gate, dossier, cards[:1], checks, found)
    assert (fall.grade, decision.status) == (FindingGrade.HIGH, GateStatus.REFUSED)
    root = ET.fromstring(junit.render_junit(checks, decision, "x"))
    assert fall.message in [failure.get("message") for failure in root.iter("failure")]
    (log,) = sarif.render_sarif(dossier, cards, decision, code="1", findings=found)["runs"]
    assert ("server-fell-over", "error") in {(one["ruleId"], one["level"]) for one in log["results"]}
    shown = make_scan_document(dossier, cards, checks, decision, AppliedBaseline(found))
    assert "server-fell-over" in {one["id"] for one in shown["gate"]["failures"]}
    assert ("server-fell-over", "high") in {(one["rule"], one["severity"]) for one in shown["findings"]}


def test_a_finding_of_a_refused_severity_is_one_failure_whether_a_check_demands_it_or_not() -> None:
    cards, checks = judged("scripted-5")
    refusing = Gate(levels=MUST, grades=frozenset(FindingGrade))
    found = list_scan_findings(SERVERS["scripted-5"], cards, list_violated(checks, MUST), judged=cards)
    decision = decide_gate(refusing, SERVERS["scripted-5"], cards, checks, found)
    root = ET.fromstring(junit.render_junit(checks, decision, "x"))
    violated = {(one.rule, one.at, one.message) for result in decision.violated for one in result.findings}
    others = [one for one in decision.found if one.key not in violated]
    assert len(others) < len(decision.found)
    assert int(root.get("failures", "")) == len(decision.violated) + len(others)


@pytest.mark.parametrize("name", ["capture", "scripted-5", "sdk-http"])
def test_every_check_that_did_not_pass_has_a_reason(name: str) -> None:
    cards, checks = judged(name)
    shown = make_scan_document(SERVERS[name], cards, checks)["conformance"]["checks"]
    assert {one["verdict"] for one in shown if not one["why"]} == {"pass"}
    assert all(one["why"] in {each["message"] for each in one["findings"]} for one in shown if one["findings"])


def test_a_server_that_declares_tools_and_does_not_list_them_passes_no_gate() -> None:
    demands = Gate(levels=MUST), Gate(levels=BOTH), Gate(grades=frozenset({FindingGrade.HIGH}))
    for gate in demands:
        decision = decided("unanswered", gate, 1)
        assert (decision.status, decision.untested) == (
            GateStatus.NOT_MEASURED,
            "no usable answer to the request for its tools",
        )
    assert decided("unanswered", Gate(minimum=Decimal(0)), 1).status is GateStatus.REFUSED
    assert decided("unanswered", Gate(), 1).status is GateStatus.PASSED


def test_what_was_not_examined_is_skipped_in_junit_and_a_notification_in_sarif() -> None:
    cards, checks = judged("broken")
    decision = decided("broken", Gate(levels=MUST), 1)
    root = ET.fromstring(junit.render_junit(checks, decision, "x"))
    (case,) = (case for case in root.iter("testcase") if case.get("name", "").startswith("JSON-04 "))
    assert case.find("skipped") is not None
    (log,) = sarif.render_sarif(BROKEN, cards, decision, code="1")["runs"]
    notes = [note["message"]["text"] for note in log["invocations"][0]["toolExecutionNotifications"]]
    assert any(note.startswith("not examined (HTTP 503)") and "JSON-04" in note for note in notes)
    assert "JSON-04" in make_scan_document(BROKEN, cards, checks, decision)["gate"]["not_examined"]
