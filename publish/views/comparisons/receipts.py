"""Compares a server's receipts in two runs: score, dimensions, and lines added or removed, for each rubric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from msgspec import Struct

from evidence.canonical import Json
from publish.text.numbers import json_number
from publish.views.headlines import Turn, find_turn
from publish.views.server_summary import receipt_lines
from scoring.remedy import ROUNDING
from scoring.results.scorecard import Line, Scorecard


class ReceiptResult(Struct, frozen=True, kw_only=True):
    """Score and grade of a receipt; None where there is none."""

    score: Decimal | None
    grade: str | None


class PartChange(Struct, frozen=True):
    """One dimension whose result differs, on the dimension's own scale; None where it was not measured."""

    name: str
    before: Decimal | None
    after: Decimal | None


class LineChange(Struct, frozen=True, kw_only=True):
    """One line that is on one of the two receipts only."""

    cites: str
    rule: str | None
    at: str
    points: Decimal
    why: str


class Comparison(Struct, frozen=True, kw_only=True):
    """One version of a rubric before and after. `before` is None when there was no receipt of that version.

    `rules` are the ids of the rules whose lines changed. `judged_otherwise`: rules or code differ between the two, so
    that not every change needs to come from the server.
    """

    rubric: str
    version: int
    before: ReceiptResult | None
    after: ReceiptResult
    parts: tuple[PartChange, ...]
    gone: tuple[LineChange, ...]
    new: tuple[LineChange, ...]
    rules: tuple[str, ...]
    judged_otherwise: bool

    @property
    def name(self) -> str:
        return f"{self.rubric}@{self.version}"

    @property
    def points(self) -> Decimal | None:
        """Points gained or lost; None without a score on one of the sides."""
        if self.before is None or self.before.score is None or self.after.score is None:
            return None
        return self.after.score - self.before.score

    @property
    def turn(self) -> Turn | None:
        """Whether the score disappeared or appeared; then dimensions and lines are not compared either."""
        return None if self.before is None else find_turn(self.before.score, self.after.score)

    @property
    def changed(self) -> bool:
        return self.before != self.after or bool(self.parts or self.gone or self.new)


def compare_receipts(before: Sequence[Scorecard], after: Sequence[Scorecard]) -> tuple[Comparison, ...]:
    """One comparison for each receipt of `after`, in its order; both are of one server."""
    known = {(card.rubric, card.version): card for card in before}
    return tuple(_compared(known.get((card.rubric, card.version)), card) for card in after)


def find_lost_places(cards: Iterable[Scorecard]) -> frozenset[str]:
    """Every place in a line whose published id costs points on some receipt.

    Some rubrics charge an id once however many places there are: if one is repaired, the next one would cost as much.
    """
    found: set[str] = set()
    for card in cards:
        lines = list(receipt_lines(card))
        lost = {line.cites for line in lines if line.points < 0}
        found.update(line.at for line in lines if line.at and line.cites in lost)
    return frozenset(found)


def comparison_as_json(comparison: Comparison) -> dict[str, Json]:
    """The comparison as JSON values for the command line and the API; numbers are rounded as on pages."""
    return {
        "rubric": comparison.rubric,
        "version": comparison.version,
        "before": None if comparison.before is None else _side_json(comparison.before),
        "after": _side_json(comparison.after),
        "points": _plain(comparison.points),
        "turn": comparison.turn and comparison.turn.value,
        "parts": [
            {"name": part.name, "before": _plain(part.before), "after": _plain(part.after)} for part in comparison.parts
        ],
        "gone": [_line_json(line) for line in comparison.gone],
        "new": [_line_json(line) for line in comparison.new],
        "rules": list(comparison.rules),
        "judged_otherwise": comparison.judged_otherwise,
    }


def _compared(old: Scorecard | None, new: Scorecard) -> Comparison:
    turned = old is not None and find_turn(_result(old.score), _result(new.score)) is not None
    went, came = ([], []) if turned else (_lines_of(old), _lines_of(new))
    gone, fresh = tuple(_beyond(went, came)), tuple(_beyond(came, went))
    return Comparison(
        rubric=new.rubric,
        version=new.version,
        before=None if old is None else _side(old),
        after=_side(new),
        parts=() if turned else tuple(_parts(old, new)),
        gone=gone if old is not None else (),
        new=fresh if old is not None else (),
        rules=tuple(sorted({line.rule for line in (*gone, *fresh) if line.rule})) if old is not None else (),
        judged_otherwise=old is not None and old.versions != new.versions,
    )


def _lines_of(card: Scorecard | None) -> list[Line]:
    return [] if card is None else list(receipt_lines(card))


def _beyond(lines: Sequence[Line], others: Sequence[Line]) -> Iterator[LineChange]:
    """Lines about a fault without a counterpart of the same id and place on the other receipt.

    Their words may differ, and so may their points where faults share the price of a part.
    """
    left = Counter((line.cites, line.at) for line in others)
    for line in lines:
        if left[line.cites, line.at] > 0:
            left[line.cites, line.at] -= 1
        elif line.cites != ROUNDING:
            yield LineChange(cites=line.cites, rule=line.rule, at=line.at, points=line.points, why=line.why)


def _parts(old: Scorecard | None, new: Scorecard) -> Iterator[PartChange]:
    if old is None:
        return
    known = {part.name: _result(part.result) for part in old.dimensions}
    for part in new.dimensions:
        before, after = known.get(part.name), _result(part.result)
        if before != after:
            yield PartChange(part.name, before, after)


def _side(card: Scorecard) -> ReceiptResult:
    return ReceiptResult(score=_result(card.score), grade=card.grade)


def _result(value: object) -> Decimal | None:
    return value if isinstance(value, Decimal) else None


def _side_json(side: ReceiptResult) -> dict[str, Json]:
    return {"score": _plain(side.score), "grade": side.grade}


def _line_json(line: LineChange) -> dict[str, Json]:
    return {
        "cites": line.cites,
        "rule": line.rule,
        "at": line.at,
        "points": json_number(line.points),
        "why": line.why,
    }


def _plain(value: Decimal | None) -> int | float | None:
    return None if value is None else json_number(value)
