"""Checks that a receipt equals the sum of its lines, without its evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from publish.datasets.rows.receipt_lines import format_decimal
from publish.datasets.verification.published_parts import read_dimensions
from publish.datasets.verification.receipt_matching import WHOLE_RECEIPT, Mismatch, ReceiptRows
from scoring.engine import catalogue
from scoring.receipt import FORMULA_FACT, START_FACT
from scoring.results import arithmetic, weighting
from scoring.results.verdict import CAP


def find_wrong_sum(receipt: ReceiptRows) -> Mismatch | None:
    """The first wrong sum of a receipt; None if all sums are right."""
    return next(_wrong(receipt), None)


def _wrong(receipt: ReceiptRows) -> Iterator[Mismatch]:
    yield from _wrong_components(receipt)
    if read_facts(receipt).get(FORMULA_FACT) == weighting.GUARANTEED:
        yield from _wrong_guarantees(receipt)
    score = receipt.card["score"]
    if score is None:
        if receipt.card["not_measured"] is None:
            yield "not_measured", "a reason where there is no score", None
        return
    total = sum((Decimal(line["points"]) for line in receipt.places.get(WHOLE_RECEIPT, ())), _start(receipt))
    if format_decimal(arithmetic.normalize_decimal(total)) != format_decimal(
        arithmetic.normalize_decimal(Decimal(score))
    ):
        yield "score", f"{format_decimal(total)}, the sum of its lines", score
    yield from _wrong_grade(receipt, Decimal(score))


def _wrong_guarantees(receipt: ReceiptRows) -> Iterator[Mismatch]:
    """Coverage, floor and caps that do not follow from the components and lines of a value that is guaranteed."""
    coverage = weighting.compute_guaranteed_coverage(read_dimensions(receipt))
    floor = receipt.card["score"] or "0"
    for name, expected in (("coverage", format_decimal(coverage)), ("floor", floor)):
        if receipt.card[name] != expected:
            yield name, expected, receipt.card[name]
    for line in receipt.places.get(WHOLE_RECEIPT, ()):
        if line["cites"].startswith(CAP) and Decimal(line["points"]) > 0:
            yield f"{line['cites']} points", "0 or less", line["points"]


def _start(receipt: ReceiptRows) -> Decimal:
    """The initial points of the sum; 0 for a weighted receipt."""
    try:
        return Decimal(str(read_facts(receipt).get(START_FACT, "0")))
    except InvalidOperation:
        return Decimal(0)


def read_facts(receipt: ReceiptRows) -> dict[str, Any]:
    """The facts of a receipt; empty if they are no JSON object."""
    try:
        found = json.loads(receipt.card["facts"])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _wrong_components(receipt: ReceiptRows) -> Iterator[Mismatch]:
    """Components whose result is not ten plus the points of their lines."""
    places = receipt.places
    for place, row in receipt.by_part.items():
        if place[1] is None or row["result"] is None:
            continue
        total = sum((Decimal(line["points"]) for line in places.get(place, ())), weighting.FULL_POINTS)
        if format_decimal(arithmetic.normalize_decimal(total)) != row["result"]:
            yield f"{place[0]}.{place[1]} result", f"{format_decimal(total)}, the sum of its lines", row["result"]


def _wrong_grade(receipt: ReceiptRows, score: Decimal) -> Iterator[Mismatch]:
    known = {rubric.name: rubric for rubric in catalogue.list_rubrics()}.get(receipt.name)
    grade = receipt.card["grade"]
    if known is None or not known.bands or grade is None:
        return
    worst = {name for _, name in known.bands}
    expected = arithmetic.find_band(score, known.bands, "")
    if (expected and grade != expected) or (not expected and grade in worst):
        yield "grade", expected or "the lowest one", grade
