"""A server without a score has no number anywhere, and its score does not move: it goes dark and comes back."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from evidence.model import Dossier, Trigger
from evidence.store.listing.values import HistoryPoint
from publish.badges.images import draw_badge
from publish.badges.requirements import SECURITY_SCANNED, VENDOR_VERIFIED, judge_server
from publish.site.list_rows import render_rows
from publish.views.comparisons.receipts import compare_receipts, comparison_as_json
from publish.views.headlines import Turn
from publish.views.listed_servers import make_listing_row
from publish.views.public_servers import PublicServer
from publish.views.score_history import view_history
from scoring.engine.assess import assess_dossier
from scoring.results.scorecard import Scorecard
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from tests.publish import capped, samples
from tests.publish.filled_stores import stored

SERVERS = {"clean": capped.clean, "dark": capped.dark, "leaking": capped.leaking}


def card_of(dossier: Dossier) -> Scorecard:
    return ADAPTIVE_2.score(assess_dossier(dossier, [ADAPTIVE_2]))


def published(dossier: Dossier) -> PublicServer:
    return PublicServer(dossier, [stored(card_of(dossier))])


def point(day: int, score: Decimal | None) -> HistoryPoint:
    return HistoryPoint(
        run=f"run-{day}",
        as_of=samples.AS_OF + timedelta(days=day),
        trigger=Trigger.NIGHTLY,
        rubric="adaptive",
        version=2,
        score=score,
        grade=None,
        pins="",
        pinned={},
    )


@pytest.mark.parametrize(
    ("before", "after", "turn"), [("clean", "dark", Turn.LOST_SCORE), ("dark", "clean", Turn.GAINED_SCORE)]
)
def test_a_server_that_goes_dark_or_comes_back_does_not_move(before: str, after: str, turn: Turn) -> None:
    (found,) = compare_receipts([card_of(SERVERS[before]())], [card_of(SERVERS[after]())])
    assert (found.turn, found.points) == (turn, None)
    assert (found.parts, found.gone, found.new, found.rules) == ((), (), (), ())
    assert found.changed
    assert comparison_as_json(found)["turn"] == turn.value


def test_between_two_scores_the_points_move() -> None:
    (found,) = compare_receipts([card_of(capped.clean())], [card_of(capped.leaking())])
    assert found.turn is None
    assert found.points is not None
    assert found.points < 0


def test_a_history_that_ends_dark_does_not_end_at_its_last_score() -> None:
    (series,) = view_history([point(0, Decimal(85)), point(1, None)], {})
    assert [(dot.moved, dot.turn) for dot in series.dots] == [(None, None), (None, Turn.LOST_SCORE)]
    assert "no score in the last run" in series.said
    assert "the last one" not in series.said
    (series,) = view_history([point(0, None), point(1, Decimal(85))], {})
    assert [(dot.moved, dot.turn) for dot in series.dots] == [(None, None), (None, Turn.GAINED_SCORE)]


def test_a_badge_without_a_score_shows_the_bounds_in_words_and_no_number() -> None:
    listed = make_listing_row(published(capped.dark()), "run")
    badge = draw_badge(listed, "score", listed.as_of)
    assert badge.message == "not enough evidence"
    assert "complete evidence would give 0 to" in badge.title


def test_a_badge_shows_the_grade_with_the_score() -> None:
    listed = make_listing_row(published(capped.leaking()), "run")
    assert draw_badge(listed, "score", listed.as_of).message == "D · 47 / 100 · capped"


def test_a_list_shows_the_grade_or_the_bounds() -> None:
    dark, leaking = (make_listing_row(published(SERVERS[name]()), "run") for name in ("dark", "leaking"))
    (row,) = render_rows([dark], "adaptive")
    assert "not enough evidence" in row
    assert "0 to " in row
    assert '<span class="grade">' not in row
    (row,) = render_rows([leaking], "adaptive")
    assert '<b>47</b> <span class="grade">D</span>' in row


def test_a_server_whose_grade_is_capped_earns_no_badge_of_security() -> None:
    award = {one.id: one for one in judge_server(published(capped.leaking())).badges}
    for name in (SECURITY_SCANNED, VENDOR_VERIFIED):
        (cap,) = (one for one in award[name].criteria if one.requirement.id == "uncapped")
        assert not cap.met
    assert SECURITY_SCANNED in judge_server(published(capped.clean())).earned
    assert SECURITY_SCANNED not in judge_server(published(capped.leaking())).earned


def test_no_score_passes_no_gate() -> None:
    judged = judge_server(published(capped.dark()))
    assert not judged.indexed
    assert judged.earned == ()
