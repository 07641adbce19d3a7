"""Checks a weighted receipt of which some components rest on evidence that is not public.

Those components are taken as published, all others are recomputed; weights, dimensions and score follow from both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from itertools import chain

from msgspec.structs import replace

from publish.datasets.format.columns import Row
from publish.datasets.rows.receipt_lines import format_decimal
from publish.datasets.verification.receipt_matching import Mismatch, Place, ReceiptRows, compare_lines, compare_part
from publish.datasets.verification.receipt_sums import find_wrong_sum
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore


def splice_receipt(
    published: ReceiptRows, mine: ReceiptRows, open_parts: Collection[Place]
) -> tuple[Mismatch | None, list[tuple[str, str]]]:
    """The first mismatch of the published receipt, if any, and the components that were taken as published."""
    taken: list[tuple[str, str]] = []
    ours, theirs = mine.by_part, published.by_part
    our_lines, their_lines = mine.places, published.places
    if set(ours) != set(theirs):
        odd = min(set(ours) ^ set(theirs), key=str)
        return (f"{odd[0]}.{odd[1]}", "the parts of the methodology", "others"), taken
    for place, row in ours.items():
        if place[1] is None:
            continue
        wrong = next(
            chain(
                _but_weight(compare_part(place, row, theirs[place])),
                compare_lines(place, our_lines.get(place, ()), their_lines.get(place, ())),
            ),
            None,
        )
        if wrong is not None and place not in open_parts:
            return wrong, taken
        if wrong is not None:
            taken.append((str(place[0]), str(place[1])))
    return next(chain(_sum(published), _weighed(published, mine)), None), taken


def _sum(published: ReceiptRows) -> Iterator[Mismatch]:
    if wrong := find_wrong_sum(published):
        yield wrong


def _but_weight(found: Iterator[Mismatch]) -> Iterator[Mismatch]:
    """Effective weights depend on all components and are checked in `_weighed`."""
    return (wrong for wrong in found if not wrong[0].endswith(" effective_weight"))


def _weighed(published: ReceiptRows, mine: ReceiptRows) -> Iterator[Mismatch]:
    """Values that do not follow from the published components and the base weights of the rubric."""
    dimensions = weighting.with_effective_weights([_dimension(row, published, mine) for row in _dimensions(mine)])
    by_part = published.by_part
    for part in dimensions:
        expected = {
            "result": None if isinstance(part.result, NotMeasured) else format_decimal(part.result),
            "status": part.status,
            "effective_weight": format_decimal(part.effective_weight),
        }
        yield from _of(by_part[part.name, None], expected, part.name)
        for component in part.components:
            weight = {"effective_weight": format_decimal(component.effective_weight)}
            yield from _of(by_part[part.name, component.name], weight, f"{part.name}.{component.name}")
    score = weighting.compute_overall(dimensions)
    floor, ceiling = weighting.compute_bounds(dimensions)
    whole = {
        "score": None if score is None or _is_withheld(published, mine) else format_decimal(score),
        "coverage": format_decimal(weighting.compute_coverage(dimensions)),
        "floor": format_decimal(floor),
        "ceiling": format_decimal(ceiling),
        "grade": mine.card["grade"],
    }
    yield from _of(published.card, whole, "")


def _is_withheld(published: ReceiptRows, mine: ReceiptRows) -> bool:
    """Whether both receipts have no score for the same reason."""
    return mine.card["not_measured"] is not None and mine.card["not_measured"] == published.card["not_measured"]


def _of(row: Row, expected: Mapping[str, str | None], at: str) -> Iterator[Mismatch]:
    for name, value in expected.items():
        if row[name] != value:
            yield f"{at} {name}".strip(), value, row[name]


def _dimensions(receipt: ReceiptRows) -> list[Row]:
    return [row for row in receipt.parts if row["component"] is None]


def _dimension(row: Row, published: ReceiptRows, mine: ReceiptRows) -> DimensionScore:
    """A dimension of the published components, under the base weights of the methodology."""
    theirs = published.by_part
    names = [part["component"] for part in mine.parts if part["dimension"] == row["dimension"] and part["component"]]
    base = {part["component"]: part["base_weight"] for part in mine.parts if part["dimension"] == row["dimension"]}
    components = weighting.with_effective_weights(
        [replace(_component(theirs[row["dimension"], name]), base_weight=Decimal(base[name])) for name in names]
    )
    return DimensionScore(
        name=row["dimension"],
        base_weight=Decimal(row["base_weight"]),
        effective_weight=Decimal(0),
        result=weighting.compute_dimension_result(components),
        status=weighting.derive_status(components),
        components=components,
    )


def _component(row: Row) -> ComponentScore:
    result = row["result"]
    return ComponentScore(
        name=row["component"],
        base_weight=Decimal(row["base_weight"]),
        effective_weight=Decimal(0),
        result=NotMeasured(row["not_measured"] or "", row["detail"] or "") if result is None else Decimal(result),
        checked=row["checked"] or 0,
        floor=Decimal(row["floor"]),
        ceiling=Decimal(row["ceiling"]),
    )
