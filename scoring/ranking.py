"""Order of servers in rankings: by the guaranteed score, so that hiding evidence never improves the rank."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeAlias

from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard

RankKey: TypeAlias = tuple[Decimal, Decimal, Decimal, str]


def rank_key(card: Scorecard) -> RankKey:
    """Sorts cards of one rubric, best first: highest floor, then widest coverage, then highest score, then server id.

    Coverage comes before the score because evidence of a measured 0, once hidden, leaves the floor and raises the
    score (docs/decisions/0024).
    """
    return rank_key_of_columns(floor=card.floor, coverage=card.coverage, score=_number(card.score), server=card.server)


def rank_key_of_columns(*, floor: Decimal, coverage: Decimal, score: Decimal | None, server: str) -> RankKey:
    """The key of `rank_key` from columns of a table; no score sorts lowest."""
    return (-floor, -coverage, Decimal(1) if score is None else -score, server)


def _number(score: Decimal | NotMeasured) -> Decimal | None:
    return None if isinstance(score, NotMeasured) else score
