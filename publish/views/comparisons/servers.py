"""Two servers side by side: per methodology their scores, their parts, and what is wrong with one of them only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from publish.disclosure import WITHHELD
from publish.run_summary import has_thin_evidence, receipt_lines
from scoring.engine.rule import discover_rules
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard

JUDGING_PINS: Final = ("ruleset", "engine")
"""Pinned versions that decide how evidence is judged, beside the methodology's own."""


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
    """The newest receipts of one methodology; None where there is none.

    `apart` says why the scores cannot be compared; nothing when they can. `shared` counts rules that cost both points.
    """

    rubric: str
    left: Scorecard | None
    right: Scorecard | None
    apart: tuple[str, ...]
    parts: tuple[PartPair, ...]
    only_left: tuple[FaultCount, ...]
    only_right: tuple[FaultCount, ...]
    shared: int


def compare_servers(left: Sequence[Scorecard], right: Sequence[Scorecard]) -> tuple[ReceiptPair, ...]:
    """One pair for each methodology that has a receipt on a side, in the order of the receipts."""
    ours, theirs = _newest(left), _newest(right)
    return tuple(_pair(rubric, ours.get(rubric), theirs.get(rubric)) for rubric in dict.fromkeys((*ours, *theirs)))


def explain_incomparable(left: Scorecard, right: Scorecard) -> Iterator[str]:
    """Why two scores under one methodology cannot be compared; nothing when they can."""
    if left.version != right.version:
        yield f"one is by {left.rubric}@{left.version}, the other by {right.rubric}@{right.version}"
    for part in JUDGING_PINS:
        if left.versions.get(part) != right.versions.get(part):
            yield f"the {part} differs, so the same fault may cost something else"
    for card in (left, right):
        if isinstance(card.score, NotMeasured):
            yield "one of them has no score"
            return
    if has_thin_evidence(left) or has_thin_evidence(right):
        yield "one of them rests on thin evidence"


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
        apart=tuple(explain_incomparable(left, right)) if left and right else ("one of them has no receipt",),
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
    """What costs points on a receipt by rule; what is withheld names none."""
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
