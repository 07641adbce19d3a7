"""Finds servers whose score or grade differs between two scorings of the same evidence, and the causing lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct

from evidence.model import ServerId
from publish.views.server_summary import receipt_lines
from scoring.results.scorecard import Scorecard


class ChargedLine(NamedTuple):
    """What identifies a charge: id, place and points. The message is left out, since it may change without effect."""

    cites: str
    at: str
    points: str


class ChargeShift(Struct, frozen=True, kw_only=True):
    """A published id whose charges differ: signed points in total, number of lines added and removed, and one place."""

    cites: str
    points: Decimal
    came: int
    went: int
    at: str


class ScoreMove(Struct, frozen=True, kw_only=True):
    """One server under one rubric, before and after; None where there was no receipt, no score or no grade."""

    server: ServerId
    before: str | None
    after: str
    old_score: Decimal | None
    new_score: Decimal | None
    old_grade: str | None
    new_grade: str | None
    shifts: tuple[ChargeShift, ...]

    @property
    def points(self) -> Decimal | None:
        """Points gained or lost, None when there is no score on one of the sides."""
        return None if self.old_score is None or self.new_score is None else self.new_score - self.old_score


def find_moves(before: Sequence[Scorecard], after: Sequence[Scorecard]) -> Iterator[ScoreMove]:
    """One move for each new receipt of a server whose score or grade differs from that of the receipt it replaces.

    It replaces that of its own version, or else of the newest earlier version of its rubric; a receipt that replaces
    none has not moved.
    """
    for new in after:
        old = _replaced(new, before)
        if old is not None and (_score(old), old.grade) != (_score(new), new.grade):
            yield ScoreMove(
                server=new.server,
                before=_name(old),
                after=_name(new),
                old_score=_score(old),
                new_score=_score(new),
                old_grade=old.grade,
                new_grade=new.grade,
                shifts=tuple(find_shifts(list_charges(old), list_charges(new))),
            )


def list_charges(card: Scorecard) -> list[ChargedLine]:
    """Every line of a receipt: its own lines and those of its dimensions and components."""
    return [ChargedLine(line.cites, line.at, format(line.points.normalize(), "f")) for line in receipt_lines(card)]


def find_shifts(before: Iterable[ChargedLine], after: Iterable[ChargedLine]) -> Iterator[ChargeShift]:
    """Which published ids charge differently, the largest change first."""
    old, new = Counter(before), Counter(after)
    came, went = new - old, old - new
    found = [_shift(cites, came, went) for cites in dict.fromkeys(charge.cites for charge in (*went, *came))]
    return iter(sorted(found, key=lambda shift: (-abs(shift.points), shift.cites)))


def _shift(cites: str, came: Counter[ChargedLine], went: Counter[ChargedLine]) -> ChargeShift:
    arrived = [charge for charge in came.elements() if charge.cites == cites]
    left = [charge for charge in went.elements() if charge.cites == cites]
    points = sum((Decimal(charge.points) for charge in arrived), Decimal(0))
    points -= sum((Decimal(charge.points) for charge in left), Decimal(0))
    at = next((charge.at for charge in (*arrived, *left) if charge.at), "")
    return ChargeShift(cites=cites, points=points, came=len(arrived), went=len(left), at=at)


def _replaced(new: Scorecard, before: Sequence[Scorecard]) -> Scorecard | None:
    of_rubric = [card for card in before if card.rubric == new.rubric and card.version <= new.version]
    return max(of_rubric, key=lambda card: card.version, default=None)


def _score(card: Scorecard) -> Decimal | None:
    return card.score if isinstance(card.score, Decimal) else None


def _name(card: Scorecard) -> str:
    return f"{card.rubric}@{card.version}"
