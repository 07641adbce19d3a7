"""Two servers side by side: for each rubric their scores, dimensions, and the faults that only one of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final

from publish.disclosure import WITHHELD
from publish.views.server_summary import has_thin_evidence, receipt_lines
from scoring.engine.rule import discover_rules
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard

JUDGING_PINS: Final = ("ruleset", "engine")
"""Pins of a run that decide how evidence is judged, beside the version of the rubric."""


class Incomparable(Enum):
    """Why two scores under one rubric cannot be compared."""

    VERSION = "version"
    RULESET = "ruleset"
    ENGINE = "engine"
    NO_SCORE = "no score"
    THIN_EVIDENCE = "thin evidence"


@dataclass(frozen=True, slots=True)
class PartPair:
    """One dimension of both; None where a receipt has no such dimension."""

    name: str
    left: Decimal | NotMeasured | None
    right: Decimal | NotMeasured | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCount:
    """A rule whose lines cost points, and how many lines there are."""

    rule: str
    title: str
    cites: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptPair:
    """The newest receipts of two servers under one rubric; None where a server has none.

    `only_left` and `only_right` are rules that cost points on one side, `shared` is the number that cost both points.
    """

    rubric: str
    left: Scorecard | None
    right: Scorecard | None
    parts: tuple[PartPair, ...]
    only_left: tuple[FaultCount, ...]
    only_right: tuple[FaultCount, ...]
    shared: int

    @property
    def incomparable(self) -> tuple[Incomparable, ...]:
        """Why the scores cannot be compared; empty if they can, and if a receipt is missing."""
        return tuple(find_obstacles(self.left, self.right)) if self.left and self.right else ()

    @property
    def apart(self) -> tuple[str, ...]:
        """The same in words, also for a missing receipt."""
        if self.left is None or self.right is None:
            return ("one of them has no receipt",)
        return explain_incomparable(self.left, self.right)

    @property
    def difference(self) -> Decimal | None:
        """The right score minus the left one; None if they cannot be compared."""
        if self.left is None or self.right is None or self.incomparable:
            return None
        left, right = self.left.score, self.right.score
        return right - left if isinstance(left, Decimal) and isinstance(right, Decimal) else None


def compare_servers(left: Sequence[Scorecard], right: Sequence[Scorecard]) -> tuple[ReceiptPair, ...]:
    """One pair for each rubric under which a server has a receipt, in the order of the receipts."""
    ours, theirs = _newest(left), _newest(right)
    return tuple(_pair(rubric, ours.get(rubric), theirs.get(rubric)) for rubric in dict.fromkeys((*ours, *theirs)))


def pair_receipts(left: Scorecard, right: Scorecard) -> ReceiptPair:
    """Two receipts of one rubric side by side."""
    return _pair(left.rubric, left, right)


def find_obstacles(left: Scorecard, right: Scorecard) -> Iterator[Incomparable]:
    """Why two scores under one rubric cannot be compared; nothing if they can."""
    if left.version != right.version:
        yield Incomparable.VERSION
    yield from (Incomparable(pin) for pin in JUDGING_PINS if left.versions.get(pin) != right.versions.get(pin))
    if isinstance(left.score, NotMeasured) or isinstance(right.score, NotMeasured):
        yield Incomparable.NO_SCORE
    elif has_thin_evidence(left) or has_thin_evidence(right):
        yield Incomparable.THIN_EVIDENCE


def explain_incomparable(left: Scorecard, right: Scorecard) -> tuple[str, ...]:
    """The obstacles in words, for pages."""
    words = {
        Incomparable.VERSION: f"one is by {left.rubric}@{left.version}, the other by {right.rubric}@{right.version}",
        Incomparable.NO_SCORE: "one of them has no score",
        Incomparable.THIN_EVIDENCE: "one of them rests on thin evidence",
    }
    return tuple(
        words.get(why) or f"the {why.value} differs, so the same fault may cost something else"
        for why in find_obstacles(left, right)
    )


def _newest(cards: Sequence[Scorecard]) -> dict[str, Scorecard]:
    found: dict[str, Scorecard] = {}
    for card in cards:
        if card.rubric not in found or found[card.rubric].version < card.version:
            found[card.rubric] = card
    return found


def _pair(rubric: str, left: Scorecard | None, right: Scorecard | None) -> ReceiptPair:
    ours, theirs = _faults(left), _faults(right)
    return ReceiptPair(
        rubric=rubric,
        left=left,
        right=right,
        parts=tuple(_parts(left, right)),
        only_left=tuple(fault for rule, fault in ours.items() if rule not in theirs),
        only_right=tuple(fault for rule, fault in theirs.items() if rule not in ours),
        shared=len(ours.keys() & theirs.keys()),
    )


def _parts(left: Scorecard | None, right: Scorecard | None) -> Iterator[PartPair]:
    ours = {part.name: part.result for part in left.dimensions} if left else {}
    theirs = {part.name: part.result for part in right.dimensions} if right else {}
    yield from (PartPair(name, ours.get(name), theirs.get(name)) for name in dict.fromkeys((*ours, *theirs)))


def _faults(card: Scorecard | None) -> dict[str, FaultCount]:
    """The rules that cost points on a receipt; withheld lines name no rule."""
    lines = [line for line in receipt_lines(card) if line.points < 0 and line.rule] if card else []
    times, known = Counter(line.rule for line in lines), discover_rules()
    return {
        line.rule: FaultCount(
            rule=line.rule,
            title=known[line.rule].title if line.rule in known else line.why,
            cites=line.cites,
            times=times[line.rule],
        )
        for line in lines
        if line.rule and line.rule != WITHHELD
    }
