"""Before and after: removed lines, added lines, and receipts that cannot be compared."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from publish.views.comparisons.receipts import (
    Comparison,
    PartChange,
    ReceiptResult,
    compare_receipts,
    comparison_as_json,
    find_lost_places,
)
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import DimensionScore, Line, Scorecard

AS_OF = datetime(2026, 11, 21, 3, tzinfo=UTC)


def line(cites: str, at: str, points: str = "-5", why: str = "because") -> Line:
    return Line(cites=cites, points=Decimal(points), why=why, rule=f"rule-{cites.lower()}", at=at)


def card(
    score: str | None,
    *lines: Line,
    rubric: str = "lint",
    ruleset: str = "1",
    dimensions: tuple[DimensionScore, ...] = (),
) -> Scorecard:
    return Scorecard(
        server="s",
        rubric=rubric,
        version=1,
        source_version="1",
        score=NotMeasured("unreachable") if score is None else Decimal(score),
        grade=None if score is None else "B",
        as_of=AS_OF,
        coverage=Decimal(1),
        lines=lines,
        dimensions=dimensions,
        versions={"ruleset": ruleset},
    )


def part(result: str) -> DimensionScore:
    return DimensionScore(
        name="protocol",
        base_weight=Decimal("0.5"),
        effective_weight=Decimal("0.5"),
        result=Decimal(result),
        status="measured",
    )


def one(before: Scorecard | None, after: Scorecard) -> Comparison:
    (found,) = compare_receipts([] if before is None else [before], [after])
    return found


def test_a_repaired_fault_is_gone_and_a_new_one_came() -> None:
    found = one(
        card("85", line("A", "tools/x"), line("B", "tools/y"), line("A", "tools/z")),
        card("90", line("B", "tools/y", "-4", why="other words"), line("C", "tools/x", "-2"), line("A", "tools/z")),
    )
    assert [(change.cites, change.at) for change in found.gone] == [("A", "tools/x")]
    assert [(change.cites, change.points) for change in found.new] == [("C", Decimal(-2))]
    assert found.rules == ("rule-a", "rule-c")
    assert found.points == Decimal(5)
    assert found.changed


def test_of_many_equal_lines_only_the_difference_is_listed() -> None:
    found = one(card("80", *[line("A", "")] * 3), card("90", line("A", "")))
    assert len(found.gone) == 2
    assert found.new == ()


def test_equal_receipts_have_not_changed() -> None:
    found = one(card("85", line("A", "x")), card("85", line("A", "x", "-5.0")))
    assert not found.changed
    assert not found.judged_otherwise


def test_moved_dimensions_are_listed() -> None:
    found = one(card("50", dimensions=(part("5"),)), card("70", dimensions=(part("7"),)))
    assert found.parts == (PartChange("protocol", Decimal(5), Decimal(7)),)


def test_no_score_is_no_zero() -> None:
    found = one(card(None), card("70", line("A", "x")))
    assert found.before == ReceiptResult(score=None, grade=None)
    assert found.points is None
    assert comparison_as_json(found)["points"] is None


def test_without_a_receipt_before_nothing_is_new() -> None:
    found = one(None, card("70", line("A", "x")))
    assert (found.before, found.gone, found.new, found.points) == (None, (), (), None)
    found = one(card("10", rubric="other"), card("70"))
    assert found.before is None


def test_other_rules_are_distinguished_from_another_server() -> None:
    assert one(card("85"), card("90", ruleset="2")).judged_otherwise


def test_places_under_an_id_that_cost_points_are_asked_again_all_of_them() -> None:
    cards = [
        card("85", line("A", "exchanges/legacy/ping"), line("A", "exchanges/legacy/end", "0"), line("B", "x", "0"))
    ]
    assert find_lost_places(cards) == {"exchanges/legacy/ping", "exchanges/legacy/end"}
