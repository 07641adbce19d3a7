"""The checks of the protocol as weighted checks of a methodology."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from evidence.kinds import exchanges
from evidence.model import Absent
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Check
from scoring.protocol import conformance
from scoring.protocol.conformance import Verdict
from scoring.results.outcome import Level
from scoring.scopes.conversation import LEFT_OUT

MUST_WEIGHT: Final = 3
"""What a MUST weighs against a SHOULD."""

_CONTESTED: Final = frozenset({"HTTP-02", "HTTP-03"})
"""Requirements that most servers in the field do not keep, some of them on purpose: a MUST of these weighs one."""

_ACCESS: Final = "AUTH"
_ON_THE_WAY: Final = frozenset({"AUTH-02", "AUTH-03", "AUTH-05"})
"""Steps on the way to an authorization server, of which the first that fails hides the next."""

_ELSEWHERE: Final = frozenset({"TOOL-02", "TOOL-03", "AUTH-01", "CALL-01"})
"""Checks whose question another component asks, or that only say what kind of lock there is."""

LATER: Final = frozenset({"META-04"})
"""Checks that were added after the first version of `adaptive`."""


def build_protocol_checks(*, without: frozenset[str] = frozenset()) -> Iterator[Check]:
    """One check per requirement of the protocol without authorization; requirements without a level do not count."""
    for check in _list_counted():
        requirement = check.requirement
        if requirement.id in without:
            continue
        heavy = requirement.level is Level.MUST and requirement.id not in _CONTESTED
        yield Check(criteria=(check.criterion,), weight=Decimal(MUST_WEIGHT if heavy else 1))


def describe_unfinished(assessment: Assessment, effect: str, *, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """Caveats with the number of those checks that could not be finished with a server that was asked, if any.

    `effect` is what they count; questions that a probe leaves out count nothing.
    """
    if isinstance(assessment.dossier.read(exchanges.KIND), Absent):
        return
    counted = [check for check in _list_counted() if check.requirement.id not in without]
    results = [conformance.evaluate_check(check, assessment) for check in counted]
    unfinished = [result.why for result in results if result.verdict is Verdict.INCONCLUSIVE]
    left_out = unfinished.count(LEFT_OUT)
    if number := len(unfinished) - left_out:
        yield f"Of the protocol checks, {number} could not be finished and {effect}."
    if left_out:
        yield f"Of the protocol checks, {left_out} count neither as passed nor as failed: {LEFT_OUT}."


def build_access_checks() -> Iterator[Check]:
    """The MUST checks of authorization."""
    for check in conformance.list_checks():
        if check.prefix == _ACCESS and check.requirement.level is Level.MUST and not _is_elsewhere(check):
            yield Check(criteria=(check.criterion,), weight=Decimal(1 if check.requirement.id in _ON_THE_WAY else 2))


def _list_counted() -> Iterator[conformance.ConformanceCheck]:
    for check in conformance.list_checks():
        is_required = check.requirement.level in {Level.MUST, Level.SHOULD}
        if is_required and check.prefix != _ACCESS and not _is_elsewhere(check):
            yield check


def _is_elsewhere(check: conformance.ConformanceCheck) -> bool:
    return check.requirement.id in _ELSEWHERE
