"""Ranks of servers in sort orders as integers, so that sorting and paging are index lookups."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct

from evidence.store.errors import BadCursor
from evidence.store.listing.values import ListedScore

BY_NAME: Final = 0
BY_DATE: Final = 1
BY_ADDITION: Final = 2
FIRST_RUBRIC: Final = 3
"""Numbers of the sort orders; those of the rubric versions follow."""

_SCALE: Final = 10_000
_TOP: Final = 100 * _SCALE
_MOST: Final = 2**63 - 1
_MOST_PLACES: Final = 2**31 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = 2**56
"""A far future time in microseconds since 1970, from which dates are counted back."""

_CURSOR: Final = re.compile(r"([ab])-([0-9]{1,5})-([0-9]{1,19})-([0-9]{1,10})", re.ASCII)

UNRANKED: Final = ((_TOP + 1) * (_SCALE + 1)) * (_TOP + 2)
"""The rank of servers without a score of a rubric version: after all others."""


class PagePosition(Struct, frozen=True):
    """A row of one order after which a page begins, or before which it ends (`backwards`)."""

    sort: int
    rank: int
    place: int
    backwards: bool = False

    @property
    def cursor(self) -> str:
        """The position as a text for URLs."""
        return f"{'b' if self.backwards else 'a'}-{self.sort}-{self.rank}-{self.place}"


def parse_cursor(text: str, sort: int) -> PagePosition:
    """The position of a cursor in an order; raise BadCursor."""
    match = _CURSOR.fullmatch(text)
    if match is None or int(match[3]) > _MOST or int(match[4]) > _MOST_PLACES:
        raise BadCursor(f"expected the cursor of an earlier page, found {text[:60]!r}")
    if int(match[2]) != sort:
        raise BadCursor("the cursor is that of a list in another order: begin again without it")
    return PagePosition(sort, int(match[3]), int(match[4]), backwards=match[1] == "b")


def rank_score(score: ListedScore) -> int:
    """The rank of a score, smaller is better: by floor, coverage, score, as in `scoring.ranking`; no score is last.

    Floors and scores count in ten-thousandths of a point, coverage in ten-thousandths of 1.
    """
    floor = score.floor if score.floor is not None else score.score or Decimal(0)
    rest = _TOP + 1 if score.score is None else _TOP - score_to_integer(score.score)
    covered = max(0, min(_SCALE, int(score.coverage * _SCALE)))
    return ((_TOP - score_to_integer(floor)) * (_SCALE + 1) + _SCALE - covered) * (_TOP + 2) + rest


def rank_date(seen: datetime) -> int:
    """The rank of a date, smaller is later."""
    return _LAST - (seen - _EPOCH) // timedelta(microseconds=1)


def rank_addition(server_key: int) -> int:
    """The rank of a server by the key that it got when it was first discovered; smaller is later."""
    return _MOST_PLACES - server_key


def score_to_integer(points: Decimal) -> int:
    """Points from 0 to 100 in ten-thousandths, other values clamped."""
    return max(0, min(_TOP, int(points * _SCALE)))
