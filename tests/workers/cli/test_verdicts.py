"""What the command line says of servers without a score: a range, and never a movement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from msgspec.structs import replace

from publish.views.comparisons.receipts import compare_receipts
from publish.views.server_summary import MeasuredState, RubricMark, ServerRow
from scoring.explain import explain_scorecard
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import DimensionScore, Line, Scorecard
from scoring.results.verdict import COLLECTOR_FAILED, NOT_ENOUGH_EVIDENCE
from workers.cli.display.comparisons import make_comparison_object, show_comparisons
from workers.cli.display.console import print_data
from workers.cli.display.verdicts import format_change, format_score, make_verdict_object
from workers.cli.results.servers import make_server_table, rank_row

DARK = NotMeasured(NOT_ENOUGH_EVIDENCE, "nothing was listed (unreachable)")
CAPPED = Line(cites="cap.poisoning", points=Decimal(-20), why="capped at D by an instruction; lifted by its removal")


def card(score: int | NotMeasured, *, lines: Sequence[Line] = (), security: int = 4, version: int = 2) -> Scorecard:
    known = isinstance(score, int)
    part = DimensionScore(
        name="security",
        base_weight=Decimal(25),
        effective_weight=Decimal(1),
        result=Decimal(security),
        status="measured",
    )
    return Scorecard(
        server="srv_1",
        rubric="adaptive",
        version=version,
        source_version="2.1",
        score=Decimal(score) if isinstance(score, int) else score,
        grade="D" if known else None,
        as_of=datetime(2026, 11, 25, tzinfo=UTC),
        coverage=Decimal("0.7") if known else Decimal(0),
        lines=tuple(lines),
        dimensions=(part,),
        floor=Decimal(score) if isinstance(score, int) else Decimal(0),
        ceiling=Decimal(100),
    )


def row(number: int, score: int | None, *, floor: int = 0) -> ServerRow:
    mark = RubricMark("adaptive", 2, None if score is None else Decimal(score), None, Decimal(1), floor=Decimal(floor))
    return ServerRow(
        id=f"srv_{number}",
        name=f"server {number}",
        ref=f"npm:server-{number}",
        state=MeasuredState.MEASURED,
        reason=None,
        detail="",
        tools=1,
        marks=(mark,),
    )


def test_a_missing_headline_is_words_and_a_range() -> None:
    assert str(format_score(card(DARK))) == "not enough evidence 0-100"
    assert str(format_score(card(NotMeasured(COLLECTOR_FAILED)))) == "collector failed 0-100"
    assert str(format_score(card(NotMeasured("oauth_required"), version=1))) == "no score"


def test_the_grade_stands_beside_the_value_and_the_cap_before_it() -> None:
    assert str(format_score(card(47))) == "47 D"
    assert str(format_score(card(47, lines=[CAPPED]))) == "capped 47 D"


def test_servers_without_a_score_rank_last_whatever_their_floor() -> None:
    rows = [row(1, None, floor=60), row(2, 0), row(3, 50, floor=40), replace(row(4, 1), marks=())]
    assert [one.id for one in sorted(rows, key=rank_row)] == ["srv_3", "srv_2", "srv_1", "srv_4"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [(98, None, "lost its score"), (None, 20, "has a score now"), (None, None, ""), (20, 41, "+21")],
)
def test_a_change_without_a_score_on_both_sides_has_no_size(before: int | None, after: int | None, said: str) -> None:
    sides = (None if side is None else Decimal(side) for side in (before, after))
    assert format_change(*sides) == said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [(card(60), card(DARK, security=10), "lost its score"), (card(DARK), card(60), "has a score now")],
)
def test_a_retest_shows_no_movement_of_a_server_that_lost_or_gained_its_score(
    before: Scorecard, after: Scorecard, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = Line(cites="security", points=Decimal(-3), why="a fault")
    before, after = replace(before, lines=(lost,)), replace(after, lines=(replace(lost, at="tools/other"),))
    found = compare_receipts([before], [after])
    show_comparisons(found)
    printed = capsys.readouterr().out
    assert said in printed
    assert "→" not in printed and "a fault" not in printed and "tools/other" not in printed
    shown = make_comparison_object(found[0])
    assert (shown["turn"], shown["points"], shown["parts"], shown["gone"], shown["new"]) == (said, None, [], [], [])


def test_a_retest_prints_a_new_cap_first(capsys: pytest.CaptureFixture[str]) -> None:
    show_comparisons(compare_receipts([card(60)], [card(40, lines=[CAPPED])]))
    assert capsys.readouterr().out.splitlines()[0] == f"New: {CAPPED.why}"


def test_a_list_prints_ranges(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    print_data(make_server_table([(row(1, None), [card(DARK)])]))
    printed = capsys.readouterr().out
    assert "not enough evidence" in printed and "0-100" in printed


def test_an_explanation_begins_with_caps_and_never_calls_a_missing_score_a_number() -> None:
    capped = explain_scorecard(card(47, lines=[CAPPED]))
    assert capped.sections[0].heading == "Caps"
    cost = "  Under this cap documentation and compatibility count nothing and 3 points are taken, once for all caps."
    assert capped.sections[0].lines == (CAPPED.why, cost)
    dark = explain_scorecard(card(DARK))
    assert dark.title == "adaptive@2: not enough evidence, 0-100 (nothing was listed (unreachable))"


def test_a_verdict_as_json_begins_with_its_caps() -> None:
    found = make_verdict_object(card(47, lines=[CAPPED]))
    assert next(iter(found.items())) == ("caps", [CAPPED.why])
    assert (found["value"], found["grade"], found["percentile"]["corpus"]) == (47, "D", "starter-2026-11")
    assert (make_verdict_object(card(DARK))["value"], make_verdict_object(card(DARK))["percentile"]) == (None, None)
