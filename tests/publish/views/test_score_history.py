"""The line of a server's scores joins what can be compared, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

from evidence.model import Trigger
from evidence.store.listing.values import HistoryPoint
from publish.views.score_history import HEIGHT, WIDTH, ScoreSeries, view_history
from tests.publish.samples import AS_OF

RULES = {"ruleset": "one"}


def night(
    day: int, points: str | None = "50", version: int = 1, pinned: Mapping[str, str] = RULES, rubric: str = "adaptive"
) -> HistoryPoint:
    return HistoryPoint(
        run=f"run-{day:04}",
        as_of=AS_OF + timedelta(days=day),
        trigger=Trigger.NIGHTLY,
        rubric=rubric,
        version=version,
        score=None if points is None else Decimal(points),
        grade=None,
        pins="",
        pinned=pinned,
    )


def series(*nights: HistoryPoint) -> ScoreSeries:
    (found,) = view_history(nights, {"adaptive": "Adaptive score"})
    return found


def corners(found: ScoreSeries) -> list[int]:
    return [len(stroke.split()) for stroke in found.strokes]


def test_comparable_nights_are_one_line_and_say_how_far_they_moved() -> None:
    found = series(night(0, "50"), night(1, "60"), night(2, "55"))
    assert corners(found) == [3]
    assert [dot.moved for dot in found.dots] == [None, Decimal(10), Decimal(-5)]
    assert found.marks == ()


def test_other_rules_break_the_line_and_the_difference_is_not_shown() -> None:
    found = series(night(0), night(1), night(2, "90", pinned={"ruleset": "two"}), night(3, pinned={"ruleset": "two"}))
    assert corners(found) == [2, 2]
    assert found.dots[2].moved is None
    assert "ruleset one before, two after" in found.dots[2].because
    assert [mark.label for mark in found.marks] == ["rules"]


def test_another_version_of_the_methodology_breaks_the_line_too() -> None:
    found = series(night(0), night(1, version=2))
    assert corners(found) == []
    assert [mark.label for mark in found.marks] == ["adaptive@2"]


def test_a_night_without_a_score_is_no_zero() -> None:
    found = series(night(0), night(1, None), night(2))
    assert found.dots[1].y is None
    assert found.dots[2].moved is None
    assert corners(found) == []
    assert "2 with a score, always 50" in found.said


def test_of_two_versions_in_one_night_the_newest_counts() -> None:
    found = series(night(0, "10", version=1), night(0, "20", version=2))
    assert [(dot.name, dot.score) for dot in found.dots] == [("adaptive@2", Decimal(20))]


def test_everything_stays_inside_of_the_plot_however_many_nights_there_are() -> None:
    found = series(*(night(day, str(day % 101), pinned={"ruleset": str(day % 7)}) for day in range(900)))
    assert len(found.dots) == 400
    assert found.earlier == 500
    assert all(0 <= dot.x <= WIDTH and dot.y is not None and 0 <= dot.y <= HEIGHT for dot in found.dots)
    assert not any(mark.label for mark in found.marks)


def test_one_night_is_a_point() -> None:
    found = series(night(0, "100"))
    assert found.strokes == ()
    assert len(found.ticks) == 1
    assert found.said == "1 run, with the score 100."
