"""The comparison with the official suite names checks that exist."""

from __future__ import annotations

from scoring.protocol.conformance import list_checks
from tests.conformance.agreement import REASONS, SAME


def test_every_check_compared_is_one_of_ours() -> None:
    known = {check.requirement.id for check in list_checks()}

    assert {name for names in SAME.values() for name in names} <= known


def test_reasons_are_given_for_checks_that_are_compared() -> None:
    assert set(REASONS) <= set(SAME)
