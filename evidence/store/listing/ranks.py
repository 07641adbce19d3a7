"""Where servers stand in a list, as one number each: sorting and going on from there is a look into an index."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from evidence.store.errors import BadCursor
from evidence.store.listing.values import ListedScore

BY_NAME: Final = 0
BY_DATE: Final = 1
FIRST_RUBRIC: Final = 2
"""Numbers of the orders; rubric versions follow."""

_SCALE: Final = 10_000
_TOP: Final = 100 * _SCALE
_MOST: Final = 2**63 - 1
_MOST_PLACES: Final = 2**31 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = 2**56
"""Microseconds after 1970 of a day that is far away, from which dates are counted back."""

_CURSOR: Final = re.compile(r"([ab])-([0-9]{1,5})-([0-9]{1,19})-([0-9]{1,10})", re.ASCII)

UNRANKED: Final = ((_TOP + 1) * (_SCALE + 1)) * (_TOP + 2)
"""The rank of servers of which a rubric version says nothing at all: behind all others."""


@dataclass(frozen=True, slots=True)
class PagePosition:
    """A row of one order that a page begins after, or ends before."""

    sort: int
    rank: int
    place: int
    backwards: bool = False

    @property
    def cursor(self) -> str:
        """The spot as a text for addresses."""
        return f"{'b' if self.backwards else 'a'}-{self.sort}-{self.rank}-{self.place}"


def parse_cursor(text: str, sort: int) -> PagePosition:
    """The spot of a cursor in an order; raise BadCursor."""
    match = _CURSOR.fullmatch(text)
    if match is None or int(match[3]) > _MOST or int(match[4]) > _MOST_PLACES:
        raise BadCursor(f"expected the cursor of an earlier page, found {text[:60]!r}")
    if int(match[2]) != sort:
        raise BadCursor("the cursor is that of a list in another order: begin again without it")
    return PagePosition(sort, int(match[3]), int(match[4]), backwards=match[1] == "b")


def rank_score(score: ListedScore) -> int:
    """Smaller is better, in the order of `scoring.ranking`: floor, then coverage, then score, none being the lowest.

    Floors and scores count by ten-thousandths of a point, coverage by those of its whole.
    """
    floor = score.floor if score.floor is not None else score.score or Decimal(0)
    rest = _TOP + 1 if score.score is None else _TOP - score_to_integer(score.score)
    covered = max(0, min(_SCALE, int(score.coverage * _SCALE)))
    return ((_TOP - score_to_integer(floor)) * (_SCALE + 1) + _SCALE - covered) * (_TOP + 2) + rest


def rank_date(seen: datetime) -> int:
    """Smaller is later."""
    return _LAST - (seen - _EPOCH) // timedelta(microseconds=1)


def score_to_integer(points: Decimal) -> int:
    """Points of 0 to 100 in ten-thousandths."""
    return max(0, min(_TOP, int(points * _SCALE)))
