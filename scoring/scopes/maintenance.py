"""Maintenance adjusted for project scale: what can be expected of a project of this size, in points of 0 to 10.

A lone maintainer's finished tool may rest for half a year; a project of fifty people that rests so long is in trouble.
The scale of a project decides how much time passes before points are lost, and how soon all are gone:

    scale  = mean of ln(1 + x) / ln(1 + top), each at most 1; tops: 50 contributors, 5,000 stars, 500 issues a year
    grace  = grace of a small project - scale * (grace of a small - grace of a large project);  limit in the same way
    points = 10 up to grace days, 0 from limit days on, linear between

The inputs come from the repository, when that evidence is collected. Why these numbers: docs/decisions/0023.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from msgspec import Struct

from scoring.results import arithmetic, weighting
from scoring.results.outcome import NotMeasured

_TOPS: Final = {"contributors": 50, "stars": 5000, "issues": 500}


class ProjectSize(Struct, frozen=True, kw_only=True):
    """The size of a project: committers, stars, and issues and pull requests opened within the last year."""

    contributors: int
    stars: int
    issues: int


class GracePeriod(Struct, frozen=True):
    """Days without loss and days until no points are left, for the smallest and for the largest projects."""

    grace_small: int
    grace_large: int
    limit_small: int
    limit_large: int


ACTIVITY: Final = GracePeriod(180, 60, 730, 365)
"""Days since the last commit by a person."""

RELEASES: Final = GracePeriod(365, 120, 1095, 545)
"""Days since the last release."""

RESPONSE: Final = GracePeriod(30, 7, 180, 60)
"""Median days from an issue or request by somebody else to the first answer by a maintainer."""


def compute_scale(project: ProjectSize) -> Decimal:
    """The size of a project from 0 (one person, no stars) to 1."""
    parts = [_share(getattr(project, name), top) for name, top in _TOPS.items()]
    return arithmetic.round_to_quantum(sum(parts, Decimal(0)) / len(parts))


def compute_points(
    days: int | None, patience: GracePeriod, project: ProjectSize, *, archived: bool = False
) -> Decimal | NotMeasured:
    """Points for a time span; NotMeasured without a span, always 0 for an archived project."""
    if archived:
        return Decimal(0)
    if days is None:
        return NotMeasured("nothing_to_check", "there is no such event")
    size = compute_scale(project)
    grace = patience.grace_small - size * (patience.grace_small - patience.grace_large)
    limit = patience.limit_small - size * (patience.limit_small - patience.limit_large)
    left = arithmetic.clamp_value((limit - days) / (limit - grace), Decimal(0), Decimal(1))
    return arithmetic.normalize_decimal(arithmetic.round_to_quantum(left * weighting.FULL_POINTS))


def _share(value: int, top: int) -> Decimal:
    return min(Decimal(1), Decimal(1 + max(0, value)).ln() / Decimal(1 + top).ln())
