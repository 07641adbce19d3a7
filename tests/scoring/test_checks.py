"""Checks of a component: partial failures, alternative checks, and checks that say too little alone."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Check, Component, Criterion
from scoring.results import arithmetic
from scoring.results.outcome import Finding, Measured, NotMeasured, Outcome, Severity
from scoring.results.scorecard import ComponentScore
from scoring.rubrics.component_scores import score_component
from tests.sampling import examples
from tests.scoring.dossiers import dossier

FIRST, SECOND = "tool-description-missing", "tool-title-missing"
SHARES = st.lists(st.tuples(st.integers(0, 2), st.decimals("0.001", "1", places=3), st.booleans()), max_size=8)


def check(rule: str, **members: object) -> Check:
    criterion = Criterion(cites=rule, rule=rule, severity=Severity.WARNING)
    return replace(Check(criteria=(criterion,)), **members)  # type: ignore[arg-type]


def found(rule: str, place: int, share: Decimal = Decimal(1), *, tolerated: bool = False) -> Finding:
    return Finding(rule, f"tools/{place}", "why", "", (place,), tolerated=tolerated, share=share)


def scored(*checks: Check, **answers: Outcome) -> ComponentScore:
    """A component of checks, scored over answers to `first` and `second`."""
    outcomes: dict[str, Outcome] = {FIRST: NotMeasured("not_collected"), SECOND: NotMeasured("not_collected")}
    outcomes |= {{"first": FIRST, "second": SECOND}[name]: answer for name, answer in answers.items()}
    questions = {part.question: outcomes[part.rule] for one in checks for part in one.all_criteria}
    assessment: Assessment = replace(assess_dossier(dossier(), []), outcomes=questions)
    return score_component(Component(name="part", title="Part", checks=checks), assessment, dimension="whole")


def test_a_thing_that_fails_in_part_costs_that_part() -> None:
    part = scored(check(FIRST), first=Measured(2, (found(FIRST, 0, Decimal("0.5")),)))
    assert part.result == Decimal("7.5")
    assert [line.points for line in part.lines] == [Decimal("-2.5")]


def test_shares_of_one_thing_add_up_to_no_more_than_the_thing() -> None:
    findings = tuple(found(FIRST, 0, Decimal(share)) for share in ("0.6", "0.9"))
    part = scored(check(FIRST), first=Measured(1, findings))
    assert part.result == 0
    assert [line.points for line in part.lines] == [Decimal(-4), Decimal(-6)]


def test_a_whole_failure_leaves_nothing_for_the_parts() -> None:
    findings = (found(FIRST, 0, Decimal("0.5")), found(FIRST, 0), found(FIRST, 0))
    part = scored(check(FIRST), first=Measured(2, findings))
    assert [line.points for line in part.lines] == [0, Decimal(-5), 0]


@settings(derandomize=True, max_examples=examples(80), deadline=None)
@given(SHARES, SHARES)
def test_lines_sum_to_the_loss_and_more_findings_never_cost_less(one: list[object], more: list[object]) -> None:
    def result(entries: list[object]) -> Decimal:
        findings = tuple(found(FIRST, place, share, tolerated=flag) for place, share, flag in entries)  # type: ignore[misc]
        part = scored(check(FIRST), check(SECOND), first=Measured(3, findings), second=Measured(1))
        assert isinstance(part.result, Decimal)
        assert 10 + sum(line.points for line in part.lines) == part.result
        assert 5 <= part.result <= 10
        return part.result

    assert result([*one, *more]) <= result(one)
    assert result(list(reversed(one))) == result(one)


@settings(derandomize=True, max_examples=examples(80), deadline=None)
@given(st.decimals("0", "10", places=4), st.lists(st.decimals("0", "1", places=3), min_size=1, max_size=9))
def test_an_apportioned_total_is_all_given_out(total: Decimal, weights: list[Decimal]) -> None:
    if any(weights):
        parts = arithmetic.apportion_total(arithmetic.round_to_quantum(total), weights)
        assert sum(parts) == total
        assert all((part == 0) >= (not weight) for part, weight in zip(parts, weights, strict=True))


@pytest.mark.parametrize("answer", [NotMeasured("oauth_required"), Measured(0)])
def test_an_unmeasured_check_uses_its_alternative(answer: Outcome) -> None:
    either = check(FIRST, otherwise=check(SECOND))
    part = scored(either, first=answer, second=Measured(1, (found(SECOND, 0),)))
    assert part.result == 0
    assert (part.floor, part.ceiling) == ((0, 10) if isinstance(answer, NotMeasured) else (0, 0))


def test_a_measured_check_ignores_its_alternative() -> None:
    either = check(FIRST, otherwise=check(SECOND))
    assert scored(either, first=Measured(1), second=Measured(1, (found(SECOND, 0),))).result == 10


def test_a_check_beside_others_is_silent_alone() -> None:
    checks = (check(FIRST), check(SECOND, supplementary=True))
    alone = scored(*checks, second=Measured(1, (found(SECOND, 0),)))
    assert alone.result == NotMeasured("not_collected")
    assert (alone.floor, alone.ceiling) == (0, 10)
    assert scored(*checks, first=Measured(1), second=Measured(1, (found(SECOND, 0),))).result == 5


def test_a_check_without_weight_is_listed_and_costs_nothing() -> None:
    checks = (check(FIRST), check(SECOND, weight=Decimal(0), supplementary=True))
    part = scored(*checks, first=Measured(1), second=Measured(1, (found(SECOND, 0, tolerated=True),)))
    assert [line.points for line in part.lines] == [0]
    assert (part.result, part.floor, part.checked) == (10, 10, 1)
