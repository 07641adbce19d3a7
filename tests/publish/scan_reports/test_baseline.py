"""A baseline accepts findings with a reason, and says which of its entries have become useless."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from evidence.model import Absent, Reason
from publish.scan_reports.baseline import (
    NEW_REASON,
    AppliedBaseline,
    InvalidBaseline,
    apply_baseline,
    encode_baseline,
    make_entries,
    parse_baseline,
)
from publish.scan_reports.findings import FindingGrade
from publish.scan_reports.gate import Gate, GateStatus, decide_gate
from publish.views.evidence.check_verdicts import CheckVerdicts
from tests.publish.scan_reports.projects import findings, judge, leaked, project
from tests.scoring.rich import adding

HIGH = Gate(grades=frozenset({FindingGrade.HIGH}))
NO_CHECKS = CheckVerdicts("", (), 0, None, ())


def status(applied: AppliedBaseline) -> GateStatus:
    dossier = project(leaked())
    return decide_gate(HIGH, dossier, judge(dossier), NO_CHECKS, applied.findings, is_project=True).status


def test_what_is_written_accepts_every_finding_until_a_new_one_appears() -> None:
    dossier = project(leaked())
    first = AppliedBaseline(findings(dossier))
    assert status(first) is GateStatus.REFUSED
    entries = parse_baseline(encode_baseline(make_entries(first)))
    moved = apply_baseline(findings(project(leaked(line=99))), entries, dossier)
    assert status(moved) is GateStatus.PASSED
    assert {one.accepted for one in moved.findings} == {NEW_REASON}
    more = apply_baseline(findings(project(leaked(), leaked("src/new.ts"))), entries, dossier)
    assert status(more) is GateStatus.REFUSED
    assert [one.place.path for one in more.findings if not one.accepted and one.place] == ["src/new.ts"]


@pytest.mark.parametrize("members", [{"is_judged": False, "is_violation": False}, {"is_tolerated": True}])
def test_a_finding_that_no_judged_rubric_charges_for_or_that_is_tolerated_refuses_nothing(
    members: dict[str, bool],
) -> None:
    found = findings(project(leaked()))
    assert status(AppliedBaseline(found)) is GateStatus.REFUSED
    assert status(AppliedBaseline(tuple(replace(one, **members) for one in found))) is GateStatus.PASSED


def test_reasons_of_people_stay_when_the_file_is_written_again() -> None:
    dossier = project(leaked())
    entries = make_entries(AppliedBaseline(findings(dossier)))
    reviewed = [replace(one, reason="a test key of the vendor") for one in entries]
    again = make_entries(apply_baseline(findings(dossier), reviewed, dossier))
    assert {one.reason for one in again} == {"a test key of the vendor"}


def test_a_fixed_finding_leaves_a_stale_entry() -> None:
    entries = make_entries(AppliedBaseline(findings(project(leaked()))))
    fixed = project()
    applied = apply_baseline(findings(fixed), entries, fixed)
    assert [one.rule for one in applied.stale] == ["source-holds-secret"]
    assert "source-holds-secret" not in {one.rule for one in make_entries(applied)}


def test_an_entry_is_not_stale_when_nothing_could_be_examined() -> None:
    entries = make_entries(AppliedBaseline(findings(project(leaked()))))
    unread = adding(project(), {"secrets": Absent(Reason.TOO_LARGE, "")})
    applied = apply_baseline(findings(unread), entries, unread)
    assert [one.rule for one in applied.unexamined] == ["source-holds-secret"]
    assert applied.stale == ()
    assert "source-holds-secret" in {one.rule for one in make_entries(applied)}


@pytest.mark.parametrize(
    "document",
    [
        "{",
        "[]",
        "{}",
        {"hallmark_baseline": 2, "findings": []},
        {"hallmark_baseline": 1, "findings": [{"rule": "x", "reason": "y"}]},
        {"hallmark_baseline": 1, "findings": [{"fingerprint": "ab", "rule": "x", "at": "", "reason": " "}]},
    ],
)
def test_a_file_that_accepts_without_a_reason_is_refused(document: object) -> None:
    data = document if isinstance(document, str) else json.dumps(document)
    with pytest.raises(InvalidBaseline, match=r"expected .*found|expected a file"):
        parse_baseline(data.encode())
