"""Servers side by side: for each rubric their receipts, and the faults that not all of them have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import Enum
from typing import Final

from msgspec import Struct

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


class PartPair(Struct, frozen=True):
    """One dimension of two receipts; None where a receipt has no such dimension."""

    name: str
    left: Decimal | NotMeasured | None
    right: Decimal | NotMeasured | None


class FaultCount(Struct, frozen=True, kw_only=True):
    """A rule whose lines cost points, and how many lines there are."""

    rule: str
    title: str
    cites: str
    times: int


class ReceiptPair(Struct, frozen=True, kw_only=True):
    """Two receipts of one rubric, for their difference."""

    left: Scorecard
    right: Scorecard
    parts: tuple[PartPair, ...]

    @property
    def incomparable(self) -> tuple[Incomparable, ...]:
        """Why the scores cannot be compared; empty if they can."""
        return tuple(find_obstacles(self.left, self.right))

    @property
    def difference(self) -> Decimal | None:
        """The right score minus the left one; None if they cannot be compared."""
        left, right = self.left.score, self.right.score
        if self.incomparable or isinstance(left, NotMeasured) or isinstance(right, NotMeasured):
            return None
        return right - left


class ComparedRubric(Struct, frozen=True, kw_only=True):
    """The newest receipts of several servers under one rubric, in the order of the servers; None where one has none.

    `own_faults` are, for each server, the rules that cost it points and not all of the others; `shared` is the number
    of rules that cost all of them points.
    """

    rubric: str
    cards: tuple[Scorecard | None, ...]
    own_faults: tuple[tuple[FaultCount, ...], ...]
    shared: int

    @property
    def is_complete(self) -> bool:
        """Whether each server has a receipt with a score."""
        return all(card is not None and not isinstance(card.score, NotMeasured) for card in self.cards)

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Why the scores cannot be compared, in words; empty if they can."""
        found = [card for card in self.cards if card is not None]
        words = [word for card in found[1:] for word in explain_incomparable(found[0], card)]
        missing = ["one of them has no receipt"] if len(found) < len(self.cards) else []
        return tuple(dict.fromkeys([*missing, *words]))


def compare_servers(servers: Sequence[Sequence[Scorecard]]) -> tuple[ComparedRubric, ...]:
    """One comparison for each rubric under which a server has a receipt, in the order of the receipts."""
    newest = [_newest(cards) for cards in servers]
    rubrics = dict.fromkeys(rubric for cards in newest for rubric in cards)
    return tuple(_compare(rubric, [cards.get(rubric) for cards in newest]) for rubric in rubrics)


def pair_receipts(left: Scorecard, right: Scorecard) -> ReceiptPair:
    """Two receipts of one rubric side by side."""
    ours = {part.name: part.result for part in left.dimensions}
    theirs = {part.name: part.result for part in right.dimensions}
    names = dict.fromkeys((*ours, *theirs))
    parts = tuple(PartPair(name, ours.get(name), theirs.get(name)) for name in names)
    return ReceiptPair(left=left, right=right, parts=parts)


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
        words.get(why) or f"the {why.value} differs, so the same fault may cost other points"
        for why in find_obstacles(left, right)
    )


def _newest(cards: Sequence[Scorecard]) -> dict[str, Scorecard]:
    found: dict[str, Scorecard] = {}
    for card in cards:
        if card.rubric not in found or found[card.rubric].version < card.version:
            found[card.rubric] = card
    return found


def _compare(rubric: str, cards: Sequence[Scorecard | None]) -> ComparedRubric:
    faults = [_faults(card) for card in cards]
    shared = set.intersection(*(set(found) for found in faults))
    own = (tuple(fault for rule, fault in found.items() if rule not in shared) for found in faults)
    return ComparedRubric(rubric=rubric, cards=tuple(cards), own_faults=tuple(own), shared=len(shared))


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
