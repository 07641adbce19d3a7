"""Precision and recall of reported results, measured against labels."""

from __future__ import annotations

from typing import Any


def compute_rate(part: int, whole: int) -> float | None:
    """`part / whole`, rounded to four digits; None when `whole` is 0."""
    return round(part / whole, 4) if whole else None


def make_quality_row(*, right: int, reported: int, found: int, labelled: int) -> dict[str, Any]:
    """Precision is `right` of `reported` results, recall is `found` of `labelled` ones."""
    return {
        "precision": compute_rate(right, reported),
        "recall": compute_rate(found, labelled),
        "right": right,
        "wrong": reported - right,
        "missed": labelled - found,
    }


def format_rate(rate: float | None, digits: int = 1) -> str:
    return "-" if rate is None else f"{rate:.{digits}%}"
