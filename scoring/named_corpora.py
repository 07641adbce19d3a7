"""Named corpora: the values that published percentiles refer to. `hallmark calibrate` writes such tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from scoring.calibration import CalibrationTable, compute_percentile
from scoring.results.scorecard import Scorecard

STARTER: Final = CalibrationTable(
    corpus="starter-2026-11",
    rubric="adaptive",
    version=2,
    ruleset="d7c0b162687c187b",
    run="20261125T215538Z-09965a4148e7b",
    as_of=datetime(2026, 11, 25, 21, 55, 38, tzinfo=UTC),
    values=tuple(map(Decimal, (19, 21, 30, 33, 35, 35, 36, 39, 39, 42, 43, 43, 44, 45, 46, 47, 50, 55, 62))),
)
"""The 19 packages of the starter registry, collected without GitHub and OSV."""

CORPORA: Final = (STARTER,)


@dataclass(frozen=True, slots=True)
class Percentile:
    """The whole per cent of a corpus that a value surpasses, and the name of the corpus."""

    value: int
    corpus: str


def find_percentile(card: Scorecard) -> Percentile | None:
    """The percentile of a score in the corpus of its version of the rubric; None without a score or a corpus."""
    if not isinstance(card.score, Decimal):
        return None
    table = next((one for one in CORPORA if (one.rubric, one.version) == (card.rubric, card.version)), None)
    return None if table is None else Percentile(compute_percentile(card.score, table.values), table.corpus)
