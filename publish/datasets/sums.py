"""A receipt added up from its own lines, as far as that goes without knowing its evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from publish.datasets.matching import WHOLE, Receipt, Wrong
from publish.datasets.sheets import decimal
from scoring import arithmetic, catalogue, weighing
from scoring.receipt import START


def wrong_sum(receipt: Receipt) -> Wrong | None:
    """Where a receipt does not add up; None when it does."""
    return next(_wrong(receipt), None)


def _wrong(receipt: Receipt) -> Iterator[Wrong]:
    yield from _wrong_components(receipt)
    score = receipt.card["score"]
    if score is None:
        if receipt.card["not_measured"] is None:
            yield "not_measured", "a reason where there is no score", None
        return
    total = sum((Decimal(line["points"]) for line in receipt.places.get(WHOLE, ())), _start(receipt))
    if decimal(arithmetic.plain(total)) != decimal(arithmetic.plain(Decimal(score))):
        yield "score", f"{decimal(total)}, the sum of its lines", score
    yield from _wrong_grade(receipt, Decimal(score))


def _start(receipt: Receipt) -> Decimal:
    """The points that it starts with: of a weighted receipt none, since its lines are what its parts bring."""
    try:
        return Decimal(str(facts(receipt).get(START, "0")))
    except InvalidOperation:
        return Decimal(0)


def facts(receipt: Receipt) -> dict[str, Any]:
    """The figures of a receipt; empty when they are no JSON object."""
    try:
        found = json.loads(receipt.card["facts"])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _wrong_components(receipt: Receipt) -> Iterator[Wrong]:
    """Components whose lines do not give their result: ten plus the points."""
    places = receipt.places
    for place, row in receipt.by_part.items():
        if place[1] is None or row["result"] is None:
            continue
        total = sum((Decimal(line["points"]) for line in places.get(place, ())), weighing.FULL)
        if decimal(arithmetic.plain(total)) != row["result"]:
            yield f"{place[0]}.{place[1]} result", f"{decimal(total)}, the sum of its lines", row["result"]


def _wrong_grade(receipt: Receipt, score: Decimal) -> Iterator[Wrong]:
    known = {rubric.name: rubric for rubric in catalogue.rubrics()}.get(receipt.name)
    grade = receipt.card["grade"]
    if known is None or not known.bands or grade is None:
        return
    worst = {name for _, name in known.bands}
    expected = arithmetic.band(score, known.bands, "")
    if (expected and grade != expected) or (not expected and grade in worst):
        yield "grade", expected or "the lowest one", grade
