"""Adaptive weighting: adds up the measured components to dimensions and the measured dimensions to a score."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final, TypeAlias, TypeVar

from msgspec.structs import replace

from evidence.model import Reason
from scoring.results import arithmetic
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line

FULL_POINTS: Final = Decimal(10)
"""Components and dimensions are on a scale of 0 to 10."""

MEASURED: Final = "measured"
PARTIAL: Final = "partial"
NOT_TESTABLE: Final = "not_testable"

NOT_APPLICABLE: Final = "not_applicable"
GUARANTEED: Final = "guaranteed"
"""Fact `formula` of a scorecard whose value is what the evidence guarantees (`compute_guaranteed`)."""
EXEMPT: Final = frozenset({NOT_APPLICABLE, Reason.COLLECTOR_OFFLINE.value})
"""Reasons by which a component gives its weight away: it has no subject, or this installation had no network."""

_OVERALL: Final = Decimal(10)  # from the dimensions' scale to 0..100

Part = TypeVar("Part", DimensionScore, ComponentScore)


def compute_component_result(lines: Sequence[Line]) -> Decimal:
    """Ten plus the (negative) points of the lines."""
    return arithmetic.normalize_decimal(arithmetic.add_points(FULL_POINTS, (line.points for line in lines)))


def compute_dimension_result(components: Sequence[ComponentScore]) -> Decimal | NotMeasured:
    """Mean of the measured components by base weight; NotMeasured with the first reason when there is none."""
    result = arithmetic.weighted_mean(
        (part.result, part.base_weight) for part in components if isinstance(part.result, Decimal)
    )
    if result is not None:
        return arithmetic.normalize_decimal(result)
    reasons = [part.result for part in components if isinstance(part.result, NotMeasured)]
    return reasons[0] if reasons else NotMeasured("not_collected")


def derive_status(components: Sequence[ComponentScore]) -> str:
    """`measured` when every component is, `partial` when some are, `not_testable` when none is."""
    measured = sum(isinstance(part.result, Decimal) for part in components)
    if not measured:
        return NOT_TESTABLE
    return MEASURED if measured == len(components) else PARTIAL


def compute_overall(dimensions: Sequence[DimensionScore]) -> Decimal | None:
    """Mean of the measured dimensions by base weight on 0..100, rounded once, half up; None when none is measured."""
    result = arithmetic.weighted_mean(
        (part.result, part.base_weight) for part in dimensions if isinstance(part.result, Decimal)
    )
    return None if result is None else arithmetic.round_half_up(result * _OVERALL)


def with_effective_weights(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Dimensions, or components of one dimension, with `effective = base / sum of the measured base weights`."""
    measured = {part.name for part in parts if isinstance(part.result, Decimal)}
    weights = arithmetic.redistribute_weights({part.name: part.base_weight for part in parts}, measured)
    return tuple(replace(part, effective_weight=weights[part.name]) for part in parts)


def compute_coverage(dimensions: Sequence[DimensionScore]) -> Decimal:
    """Share of the base weight that was measured, 0 to 1: one less the distance from floor to ceiling."""
    if not dimensions:
        return Decimal(0)
    low, high = _bounds(dimensions)
    return arithmetic.normalize_decimal(arithmetic.round_to_quantum(1 - (high - low) / FULL_POINTS))


def compute_bounds(dimensions: Sequence[DimensionScore]) -> tuple[Decimal, Decimal]:
    """Overall score with everything unmeasured at 0, and at full; rounded like the score."""
    low, high = _bounds(dimensions)
    return arithmetic.round_half_up(low * _OVERALL), arithmetic.round_half_up(high * _OVERALL)


def compute_guaranteed(dimensions: Sequence[DimensionScore]) -> tuple[Decimal, Decimal]:
    """Points of 100 that the evidence guarantees, and those with everything unmeasured at full; exact.

    Parts that do not apply give their weight to the others. (0, 100) when no part applies.
    """
    return combine_bounds(list_bounds(dimensions))


Bounded: TypeAlias = tuple[DimensionScore, Decimal, Decimal]
"""A dimension with its guaranteed and possible result, 0 to 10."""


def list_bounds(dimensions: Sequence[DimensionScore]) -> list[Bounded]:
    """The dimensions of which a part applies to the server."""
    return [(part, *bounds) for part in dimensions if (bounds := bound_dimension(part)) is not None]


def combine_bounds(bounded: Sequence[Bounded]) -> tuple[Decimal, Decimal]:
    """What `compute_guaranteed` gives for the dimensions with these bounds."""
    low = arithmetic.weighted_mean((low, part.base_weight) for part, low, _ in bounded)
    high = arithmetic.weighted_mean((high, part.base_weight) for part, _, high in bounded)
    return (low or Decimal(0)) * _OVERALL, (FULL_POINTS if high is None else high) * _OVERALL


def compute_guaranteed_coverage(dimensions: Sequence[DimensionScore]) -> Decimal:
    """Share of the weight of what applies to the server that was measured, 0 to 1.

    What this installation could not reach gives its weight away in the value, and is unmeasured here.
    """
    unmeasured = [(share, part.base_weight) for part in dimensions if (share := _unmeasured_share(part)) is not None]
    share = arithmetic.weighted_mean(unmeasured)
    return Decimal(0) if share is None else arithmetic.normalize_decimal(arithmetic.round_to_quantum(1 - share))


def _unmeasured_share(dimension: DimensionScore) -> Decimal | None:
    """0 to 1; None when no component has a subject on the server."""
    return arithmetic.weighted_mean(
        (Decimal(1) if is_inapplicable(part) else (part.ceiling - part.floor) / FULL_POINTS, part.base_weight)
        for part in dimension.components
        if not (isinstance(part.result, NotMeasured) and part.result.reason == NOT_APPLICABLE)
    )


def bound_dimension(dimension: DimensionScore) -> tuple[Decimal, Decimal] | None:
    """Guaranteed and possible result, 0 to 10, over the components that apply; None when none does."""
    parts = [part for part in dimension.components if not is_inapplicable(part)]
    low = arithmetic.weighted_mean((part.floor, part.base_weight) for part in parts)
    high = arithmetic.weighted_mean((part.ceiling, part.base_weight) for part in parts)
    return None if low is None or high is None else (low, high)


def is_applicable(dimension: DimensionScore) -> bool:
    """Whether `bound_dimension` has bounds: a component with weight applies."""
    return any(part.base_weight and not is_inapplicable(part) for part in dimension.components)


def is_inapplicable(part: ComponentScore) -> bool:
    """Whether a component has no subject on this server, as opposed to evidence that could not be collected."""
    return isinstance(part.result, NotMeasured) and part.result.reason in EXEMPT


def recompute_dimension(dimension: DimensionScore) -> DimensionScore:
    """Recompute the results of a dimension and of its components from their lines."""
    components = tuple(
        part if isinstance(part.result, NotMeasured) else replace(part, result=compute_component_result(part.lines))
        for part in dimension.components
    )
    return replace(dimension, components=components, result=compute_dimension_result(components))


def _bounds(dimensions: Sequence[DimensionScore]) -> tuple[Decimal, Decimal]:
    ends = [(*_dimension_bounds(part), part.base_weight) for part in dimensions]
    low = arithmetic.weighted_mean((low, weight) for low, _, weight in ends)
    high = arithmetic.weighted_mean((high, weight) for _, high, weight in ends)
    return low or Decimal(0), FULL_POINTS if high is None else high


def _dimension_bounds(dimension: DimensionScore) -> tuple[Decimal, Decimal]:
    if not dimension.components:
        return (Decimal(0), FULL_POINTS) if isinstance(dimension.result, NotMeasured) else (dimension.result,) * 2
    low = arithmetic.weighted_mean((part.floor, part.base_weight) for part in dimension.components)
    high = arithmetic.weighted_mean((part.ceiling, part.base_weight) for part in dimension.components)
    return low or Decimal(0), FULL_POINTS if high is None else high
