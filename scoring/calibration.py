"""Calibration: the distribution of the values of a corpus, grade cut-offs proposed from it, and percentiles in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.canonical import Json
from scoring.results import arithmetic

FORMAT: Final = 1
"""Version of a written table."""

Bands: TypeAlias = tuple[tuple[Decimal, str], ...]
"""The lowest value of each grade, from the highest grade down; the last grade begins at 0."""

SHARES: Final = tuple(
    (Decimal(share), grade)
    for share, grade in (("0.05", "A+"), ("0.2", "A"), ("0.45", "B"), ("0.7", "C"), ("0.85", "D"), ("0.95", "E"))
)
"""The share of a corpus that a proposed cut-off lets reach each grade or a better one."""
LOWEST: Final = "F"

BIN_WIDTH: Final = 10
_TOP: Final = Decimal(100)
_HALF: Final = Decimal("0.5")
_TENTHS: Final = 10


class GradeShare(Struct, frozen=True, kw_only=True):
    """How many values of a corpus have a grade, and their share of all."""

    grade: str
    bound: Decimal
    count: int
    share: Decimal


class Distribution(Struct, frozen=True, kw_only=True):
    """Figures of a corpus of values. `deciles` are the minimum, the nine deciles and the maximum.

    `bins` count the values from 0 to 9, from 10 to 19 and so on; 100 counts in the last one.
    """

    count: int
    mean: Decimal
    deviation: Decimal
    deciles: tuple[Decimal, ...]
    bins: tuple[int, ...]


class CalibrationTable(Struct, frozen=True, kw_only=True):
    """The values of one corpus under one version of a rubric and one set of rules, with the cut-offs they propose."""

    corpus: str
    rubric: str
    version: int
    ruleset: str
    run: str
    as_of: datetime
    values: tuple[Decimal, ...]

    @property
    def cutoffs(self) -> Bands:
        return propose_cutoffs(self.values)


def describe_distribution(values: Sequence[Decimal]) -> Distribution:
    """The figures of at least one value from 0 to 100; raise ValueError without any."""
    ordered = _sorted(values)
    mean = sum(ordered, Decimal(0)) / len(ordered)
    variance = sum(((value - mean) ** 2 for value in ordered), Decimal(0)) / len(ordered)
    return Distribution(
        count=len(ordered),
        mean=mean,
        deviation=variance.sqrt(),
        deciles=tuple(_find_quantile(ordered, tenth) for tenth in range(_TENTHS + 1)),
        bins=_count_bins(ordered),
    )


def count_grades(values: Sequence[Decimal], bands: Bands) -> tuple[GradeShare, ...]:
    """How many values have each grade of `bands`, the highest grade first; raise ValueError without values."""
    grades = [arithmetic.find_band(value, bands, bands[-1][1]) for value in _sorted(values)]
    return tuple(
        GradeShare(
            grade=grade, bound=bound, count=grades.count(grade), share=Decimal(grades.count(grade)) / len(grades)
        )
        for bound, grade in bands
    )


def propose_cutoffs(values: Sequence[Decimal]) -> Bands:
    """Whole cut-offs that let the shares of SHARES reach each grade; raise ValueError without values.

    A cut-off is the lowest whole number that no more values reach than the share, rounded up to whole servers. Equal
    values stay together below it. No cut-off is above 100.
    """
    best = _sorted(values)[::-1]
    bounds = [(_find_cutoff(best, share), grade) for share, grade in SHARES]
    return (*bounds, (Decimal(0), LOWEST))


def compute_percentile(value: Decimal, values: Sequence[Decimal]) -> int:
    """The whole per cent of a corpus that a value surpasses, where equal values count half; ValueError without any."""
    ordered = _sorted(values)
    below = sum(other < value for other in ordered)
    equal = sum(other == value for other in ordered)
    return int((below + equal * _HALF) * 100 / len(ordered))


def make_document(table: CalibrationTable, bands: Bands) -> Mapping[str, Json]:
    """The table as JSON values, with its distribution under the published `bands`."""
    figures = describe_distribution(table.values)
    return {
        "hallmark_calibration": FORMAT,
        "corpus": table.corpus,
        "rubric": f"{table.rubric}@{table.version}",
        "ruleset": table.ruleset,
        "run": table.run,
        "as_of": table.as_of.isoformat(),
        "count": figures.count,
        "mean": _to_json(figures.mean),
        "deviation": _to_json(figures.deviation),
        "deciles": [_to_json(value) for value in figures.deciles],
        "bins": list(figures.bins),
        "published": [_share_to_json(share) for share in count_grades(table.values, bands)],
        "proposed": [_share_to_json(share) for share in count_grades(table.values, table.cutoffs)],
        "values": [_to_json(value) for value in _sorted(table.values)],
    }


def _sorted(values: Sequence[Decimal]) -> list[Decimal]:
    if not values:
        raise ValueError("expected at least one value")
    return sorted(values)


def _find_quantile(ordered: Sequence[Decimal], tenth: int) -> Decimal:
    """The smallest value that this many tenths of the values do not exceed."""
    return ordered[max(1, -(-len(ordered) * tenth // _TENTHS)) - 1]


def _count_bins(values: Sequence[Decimal]) -> tuple[int, ...]:
    last = int(_TOP) // BIN_WIDTH - 1
    found = [min(last, int(value) // BIN_WIDTH) for value in values]
    return tuple(found.count(number) for number in range(last + 1))


def _find_cutoff(best: Sequence[Decimal], share: Decimal) -> Decimal:
    allowed = int((share * len(best)).to_integral_value(ROUND_CEILING))
    if allowed >= len(best):
        return Decimal(0)
    return min(_TOP, best[allowed].to_integral_value(ROUND_FLOOR) + 1)


def _share_to_json(share: GradeShare) -> dict[str, Json]:
    return {
        "grade": share.grade,
        "from": _to_json(share.bound),
        "count": share.count,
        "share": _to_json(share.share),
    }


def _to_json(value: Decimal) -> int | float:
    """A JSON number with at most four decimals; whole ones without a fraction."""
    return int(value) if value == value.to_integral_value() else float(round(value, 4))
