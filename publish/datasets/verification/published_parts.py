"""Reads the dimensions and components of a published receipt back from its rows."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from publish.datasets.format.columns import Row
from publish.datasets.verification.receipt_matching import Place, ReceiptRows
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line


def read_component(receipt: ReceiptRows, place: Place, base_weight: Decimal | None = None) -> ComponentScore:
    """The component at a place with its lines, under the published base weight if no other is given."""
    row = receipt.by_part[place]
    result = row["result"]
    return ComponentScore(
        name=row["component"],
        base_weight=Decimal(row["base_weight"]) if base_weight is None else base_weight,
        effective_weight=Decimal(0),
        result=NotMeasured(row["not_measured"] or "", row["detail"] or "") if result is None else Decimal(result),
        checked=row["checked"] or 0,
        lines=tuple(map(read_line, receipt.places.get(place, ()))),
        floor=Decimal(row["floor"]),
        ceiling=Decimal(row["ceiling"]),
    )


def read_line(row: Row) -> Line:
    """A line as published."""
    return Line(
        cites=row["cites"],
        points=Decimal(row["points"]),
        why=row["why"],
        rule=row["rule"],
        at=row["at"],
        severity=row["severity"],
        evidence=row["evidence"],
        checked=row["checked"] or 0,
    )


def build_dimension(name: str, base_weight: Decimal, parts: Iterable[ComponentScore]) -> DimensionScore:
    """A dimension whose result, status and weights follow from its components."""
    components = weighting.with_effective_weights(tuple(parts))
    return DimensionScore(
        name=name,
        base_weight=base_weight,
        effective_weight=Decimal(0),
        result=weighting.compute_dimension_result(components),
        status=weighting.derive_status([part for part in components if not weighting.is_inapplicable(part)]),
        components=components,
    )


def read_dimensions(receipt: ReceiptRows) -> list[DimensionScore]:
    """All dimensions of a receipt, made from its components."""
    names = [(row["dimension"], Decimal(row["base_weight"])) for row in receipt.parts if row["component"] is None]
    return [
        build_dimension(
            name,
            weight,
            (read_component(receipt, place) for place in receipt.by_part if place[0] == name and place[1] is not None),
        )
        for name, weight in names
    ]
