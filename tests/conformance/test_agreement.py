"""The comparison with the official suite names checks that exist."""

from __future__ import annotations

from scoring.protocol.conformance import CheckResult, Verdict, list_checks
from scoring.results.outcome import Finding
from tests.conformance.agreement import REASONS, SAME, Difference, compared


def test_every_check_compared_is_one_of_ours() -> None:
    known = {check.requirement.id for check in list_checks()}

    assert {name for names in SAME.values() for name in names} <= known


def test_reasons_are_given_for_checks_that_are_compared() -> None:
    assert {check for check, _ in REASONS} <= set(SAME)


def test_what_is_wrong_in_the_other_era_is_no_difference() -> None:
    checks = {check.requirement.id: check for check in list_checks()}
    remark = Finding(
        "reading", at="exchanges/legacy/read-nonexistent", message="error 0, error -32002 expected", evidence=""
    )
    ours = {name: CheckResult(check, Verdict.PASS) for name, check in checks.items()}
    ours["RES-02"] = CheckResult(checks["RES-02"], Verdict.WARN, (remark,))
    suite = {"sep-2164-resource-not-found": {"sep-2164-no-empty-contents": ["SUCCESS"]}}

    assert compared("2026-07-28", suite, ours) == (1, [])
    assert compared("2025-11-25", suite, ours)[1] == [
        Difference("sep-2164-no-empty-contents", "pass", "RES-02", "warn")
    ]
