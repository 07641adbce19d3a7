"""Named corpora: the values that published percentiles refer to. `hallmark calibrate` writes such tables."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from msgspec import Struct

from scoring.calibration import CalibrationTable, compute_percentile
from scoring.results.scorecard import Scorecard

STARTER: Final = CalibrationTable(
    corpus="starter-2026-11",
    rubric="adaptive",
    version=2,
    ruleset="1368cadcedd9280a",
    run="20261126T024359Z-5175099a171ff",
    as_of=datetime(2026, 11, 26, 2, 43, 59, tzinfo=UTC),
    values=tuple(map(Decimal, (40, 41, 51, 59, 61, 62, 63, 65, 65, 67, 69, 70, 71, 72, 72, 76, 81, 84, 86))),
)
"""The 19 packages of the starter registry, collected without GitHub and OSV."""

CORPORA: Final = (STARTER,)


class Percentile(Struct, frozen=True):
    """The whole per cent of a corpus that a value surpasses, and the name of the corpus."""

    value: int
    corpus: str


def find_percentile(card: Scorecard) -> Percentile | None:
    """The percentile of a score in the corpus of its version of the rubric; None without a score or a corpus."""
    if not isinstance(card.score, Decimal):
        return None
    table = next((one for one in CORPORA if (one.rubric, one.version) == (card.rubric, card.version)), None)
    return None if table is None else Percentile(compute_percentile(card.score, table.values), table.corpus)
