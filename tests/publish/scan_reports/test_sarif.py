"""SARIF logs: the structure that the standard asks for, places that can be found, fingerprints that stay."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Reason
from publish.scan_reports import sarif
from publish.scan_reports.gate import Gate, decide_gate
from publish.text.snippets import render_snippet
from publish.views.evidence.check_verdicts import judge_checks
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.rubrics.sdk_tier import SDK_TIER_1
from scoring.rule_snippets import make_snippet
from tests.publish import samples
from tests.scoring.rich import SECRETS, adding, leak, sourced, without

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
DOSSIERS = [*samples.dossiers(4), samples.hostile_dossier(), samples.absent_dossier(Reason.TIMEOUT, "30 s")]


def run(dossier: Dossier, *names: str, location: str = "") -> dict[str, Any]:
    rubrics = [catalogue.get_rubric(name) for name in names or ("lint@1", "adaptive@1")]
    assessment = assess_dossier(dossier, [*rubrics, SDK_TIER_1])
    cards = [rubric.score(assessment) for rubric in rubrics]
    decision = decide_gate(Gate(), dossier, cards, judge_checks(assessment))
    log = json.loads(json.dumps(sarif.render_sarif(dossier, cards, decision, code="1.0.0", location=location)))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    found: dict[str, Any] = log["runs"][0]
    return found


@pytest.mark.parametrize("dossier", DOSSIERS, ids=lambda it: it.server.ref)
def test_every_result_names_a_rule_of_the_log_and_a_place(dossier: Dossier) -> None:
    found = run(dossier)
    rules = found["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        (place,) = result["locations"]
        assert re.fullmatch(r"[!-~]+", place["physicalLocation"]["artifactLocation"]["uri"])
        assert place["logicalLocations"][0]["fullyQualifiedName"]
    for rule in rules:
        assert rule["help"]["text"]
        assert "Cited by" in rule["help"]["markdown"]
        snippet = make_snippet(catalogue.get_rule(rule["id"]))
        assert snippet is None or render_snippet(snippet) in rule["help"]["markdown"]
        assert rule["shortDescription"]["text"]


@pytest.mark.parametrize("dossier", DOSSIERS, ids=lambda it: it.server.ref)
def test_fingerprints_are_distinct_and_do_not_move_with_time(dossier: Dossier) -> None:
    prints = [result["partialFingerprints"][sarif.FINGERPRINT] for result in run(dossier)["results"]]
    assert len(set(prints)) == len(prints)
    later = replace(dossier, as_of=dossier.as_of + timedelta(days=30))
    assert [result["partialFingerprints"][sarif.FINGERPRINT] for result in run(later)["results"]] == prints
    alone = run(dossier, "lint@1")["results"]
    assert {result["partialFingerprints"][sarif.FINGERPRINT] for result in alone} <= set(prints)


def test_one_place_that_two_rubrics_charge_for_is_one_result() -> None:
    found = run(samples.dossiers(4)[2])
    places = [(result["ruleId"], result["locations"][0], result["message"]["text"]) for result in found["results"]]
    assert len({json.dumps(place) for place in places}) == len(places)
    assert any(len(result["properties"]["points"]) == 2 for result in found["results"])


def test_a_failed_collection_is_a_notification() -> None:
    found = run(samples.absent_dossier(Reason.TIMEOUT, "30 s"), "lint@1")
    assert found["results"] == []
    notifications = [note["message"]["text"] for note in found["invocations"][0]["toolExecutionNotifications"]]
    assert any("listing could not be collected: timeout" in text for text in notifications)
    assert any("lint@1 has no score" in text for text in notifications)


def test_nothing_hostile_is_in_the_log() -> None:
    text = json.dumps(run(samples.hostile_dossier()), ensure_ascii=False)
    assert not HIDDEN.search(text)


def test_the_scanned_file_is_the_location() -> None:
    results = run(samples.dossiers(4)[2], location="my servers/server.json")["results"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert uris == {"my%20servers/server.json"}


def test_logical_locations_tell_tools_from_their_parameters() -> None:
    kinds = {}
    for dossier in samples.dossiers(10):
        for result in run(dossier)["results"]:
            (place,) = result["locations"][0]["logicalLocations"]
            kinds[place["fullyQualifiedName"].count("/"), place["fullyQualifiedName"].split("/")[0]] = place["kind"]
    assert kinds[1, "tools"] == "function"
    assert kinds.get((2, "tools"), "parameter") == "parameter"


def test_a_finding_in_a_file_names_the_file_and_the_line() -> None:
    """A credential, a README and a tool that only the code declares; other findings have the reference."""
    dark = adding(without(sourced(), "listing"), {"secrets": {**SECRETS, "findings": [leak(path="src/a b.ts")]}})
    places = {
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]: result["locations"][0]["physicalLocation"]
        for result in run(dark, "adaptive@2")["results"]
    }
    assert places["secrets/src/a b.ts/3"] == {
        "artifactLocation": {"uri": "src/a%20b.ts"},
        "region": {"startLine": 3},
    }
    rest = {place["artifactLocation"]["uri"] for at, place in places.items() if at.startswith("repository")}
    assert rest <= {"npm:notes-mcp"}
