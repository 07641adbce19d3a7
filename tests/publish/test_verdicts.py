"""Verdicts as data and as JUnit."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import jsonschema_rs

from publish import junit
from publish.scan_document import document
from publish.scan_schema import SCHEMA
from publish.verdicts import Verdicts, as_json, verdicts
from scoring import conformance
from scoring.assess import assess
from scoring.conversing import legacy
from tests.publish import samples
from tests.scoring.dossiers import dossier, talked

TALK = talked(
    legacy("initialize", result={"protocolVersion": "2025-11-25"}),
    legacy("ping", result="\x1b[31mpong\u202e"),
    legacy("unknown-method", status=503),
)


def found() -> Verdicts:
    return verdicts(assess(TALK))


def test_every_check_has_one_verdict_in_one_section() -> None:
    listed = [result.check.requirement.id for result in found().results]
    assert sorted(listed) == sorted(check.requirement.id for check in conformance.checks())
    assert sum(found().counts.values()) == len(listed)


def test_the_document_with_verdicts_is_valid() -> None:
    shown = document(TALK, [], found())
    jsonschema_rs.validate(dict(SCHEMA), shown)
    (ping,) = [check for check in shown["conformance"]["checks"] if check["id"] == "PING-01"]
    assert ping["verdict"] == "fail"
    assert ping["findings"][0]["at"] == "exchanges/legacy/ping"
    assert ping["spec"].startswith("https://modelcontextprotocol.io/specification/2025-11-25/")


def test_without_a_conversation_the_reason_stands_where_the_verdicts_would() -> None:
    shown = as_json(verdicts(assess(dossier())))
    assert shown["absent"]["reason"] == "not_collected"
    assert (shown["depth"], shown["eras"], shown["requests"]) == (None, [], 0)
    jsonschema_rs.validate(dict(SCHEMA), document(samples.dossiers(1)[0], [], verdicts(assess(dossier()))))


def test_junit_fails_for_a_must_and_skips_what_says_nothing() -> None:
    root = ET.fromstring(junit.render(found(), "https://x.example/\x00mcp"))
    cases = {case.get("name", "").split()[0]: case for case in root.iter("testcase")}
    assert cases["PING-01"].find("failure").get("type") == "MUST"  # type: ignore[union-attr]
    assert all(case.find("failure") is None for name, case in cases.items() if name == "INTEROP-01")
    counted = int(root.get("skipped", "")) + int(root.get("failures", "")) <= int(root.get("tests", ""))
    assert counted and len(cases) == len(found().results)
    assert int(root.get("failures", "")) == len(list(root.iter("failure")))
