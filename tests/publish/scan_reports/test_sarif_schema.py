"""SARIF logs are valid against the schema of OASIS, and within what GitHub's code scanning documents.

https://docs.github.com/en/code-security/reference/code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Reason
from publish.scan_reports import sarif
from publish.scan_reports.baseline import AppliedBaseline, apply_baseline, make_entries
from publish.scan_reports.file_places import FilePlace
from publish.scan_reports.findings import FindingGrade, ScanFinding
from publish.scan_reports.gate import Gate, decide_gate
from publish.views.evidence.check_verdicts import CheckVerdicts
from tests.publish import samples
from tests.publish.scan_reports.projects import findings, flaw, judge, leaked, project

SCHEMA = jsonschema_rs.validator_for(
    json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text()), validate_formats=True
)
NO_CHECKS = CheckVerdicts("", (), 0, None, ())
PROJECT = project(leaked("src/a b.ts"), flaws=(flaw(),))


def render(
    dossier: Dossier, found: tuple[ScanFinding, ...] | None = None, *, folder: str | None = "", minimum: int = 0
) -> dict[str, Any]:
    cards = judge(dossier, "adaptive@2", "lint@2")
    gate = Gate(minimum=minimum or None, grades=frozenset({FindingGrade.HIGH}))
    decision = decide_gate(gate, dossier, cards, NO_CHECKS, found or (), is_project=True)
    log: dict[str, Any] = json.loads(
        json.dumps(sarif.render_sarif(dossier, cards, decision, code="1.0.0", findings=found, folder=folder))
    )
    return log


@pytest.mark.parametrize(
    "dossier",
    [*samples.dossiers(6), samples.hostile_dossier(), samples.absent_dossier(Reason.TIMEOUT, "30 s"), PROJECT],
    ids=lambda it: it.server.ref,
)
def test_every_log_is_valid(dossier: Dossier) -> None:
    SCHEMA.validate(render(dossier, minimum=101))
    SCHEMA.validate(render(dossier, findings(dossier), folder="packages/server"))


def test_the_schema_refuses_a_damaged_log() -> None:
    log = render(PROJECT)
    assert SCHEMA.is_valid(log)
    (run,) = log["runs"]
    for damage in ({"results": [{"level": "error"}]}, {"tool": {}}, {"columnKind": "bytes"}):
        assert not SCHEMA.is_valid({**log, "runs": [{**run, **damage}]})


def test_files_are_relative_to_the_root_of_the_repository() -> None:
    (run,) = render(PROJECT, findings(PROJECT), folder="packages/server")["runs"]
    assert run["originalUriBaseIds"].keys() == {"%SRCROOT%"}
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    in_files = [place for place in places if "uriBaseId" in place["artifactLocation"]]
    assert {place["artifactLocation"]["uriBaseId"] for place in in_files} == {"%SRCROOT%"}
    uris = {place["artifactLocation"]["uri"]: place["region"]["startLine"] for place in in_files}
    assert uris["packages/server/src/a%20b.ts"] == 3
    assert uris["packages/server/package-lock.json"] == 7
    assert all(uri.startswith("packages/server/") and line >= 1 for uri, line in uris.items())
    root = sarif.render_sarif(
        PROJECT,
        [],
        decide_gate(Gate(), PROJECT, [], NO_CHECKS),
        code="1",
        findings=[replace(findings(PROJECT)[0], place=FilePlace("/LICENSE"))],
        folder="packages/server",
    )
    place = root["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]) == ("LICENSE", {"startLine": 1})


def test_every_finding_of_a_project_has_a_file() -> None:
    (run,) = render(PROJECT, findings(PROJECT))["runs"]
    assert run["results"]
    for result in run["results"]:
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"] == "%SRCROOT%"


def test_github_can_tell_two_findings_of_one_line_apart() -> None:
    found = findings(PROJECT, "adaptive@2", "lint@2")
    (run,) = render(PROJECT, found)["runs"]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(prints)) == len(prints) == len(found)


def test_what_github_documents_holds() -> None:
    many = findings(PROJECT) * 13_000
    found = tuple(replace(one, fingerprint=f"{number:064x}") for number, one in enumerate(many))
    assert len(found) > 25_000
    log = render(PROJECT, found)
    (run,) = log["runs"]
    assert len(run["results"]) == sarif.MAX_RESULTS == 5_000
    assert any(
        "are left out" in note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]
    )
    assert {result["level"] for result in run["results"][:2_000]} == {"error"}  # the severest stay
    assert len(gzip.compress(json.dumps(log).encode())) < 10_000_000
    for rule in run["tool"]["driver"]["rules"]:
        assert len(rule["id"]) <= 255
        assert len(rule["name"]) <= 255
        assert len(rule["shortDescription"]["text"]) <= 1_024
        assert len(rule["fullDescription"]["text"]) <= 1_024
        assert rule["help"]["text"]
        assert len(rule["properties"]["tags"]) <= 20
        assert 0 < float(rule["properties"].get("security-severity", "1")) <= 10
    assert all(len(result["locations"]) <= 1_000 for result in run["results"])


def test_a_security_rule_has_a_number_that_github_reads() -> None:
    (run,) = render(PROJECT, findings(PROJECT))["runs"]
    rules = {rule["id"]: rule["properties"] for rule in run["tool"]["driver"]["rules"]}
    assert rules["source-holds-secret"] == {
        "tags": ["secrets", "security"],
        "version": rules["source-holds-secret"]["version"],
        "security-severity": "8.5",
    }
    others = [properties for properties in rules.values() if "security" not in properties["tags"]]
    assert {properties["problem.severity"] for properties in others} <= {"error", "warning", "recommendation"}


def test_what_the_baseline_accepts_is_suppressed_with_its_reason() -> None:
    found = findings(PROJECT)
    entries = [replace(one, reason="known") for one in make_entries(AppliedBaseline(found))]
    (run,) = render(PROJECT, apply_baseline(found, entries, PROJECT).findings)["runs"]
    for result in run["results"]:
        assert result["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "known"}]
        assert result["level"] != "error"
