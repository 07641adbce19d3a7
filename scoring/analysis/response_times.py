"""How long the issues and requests of others wait for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from evidence.kinds.repository import Threads
from scoring.engine.rule import Answer
from scoring.results import weighting
from scoring.results.outcome import Inapplicable, PartialFailure
from scoring.scopes import maintenance

_DAY: Final = 86_400
_FEWEST: Final = 3
"""Fewer say nothing: the only one may be of yesterday."""


def judge_response_times(threads: Threads | None, size: maintenance.ProjectSize) -> Iterator[Answer]:
    """What is bad about the answers in a project of a size; raise Inapplicable for too few threads."""
    if threads is None or threads.sampled < _FEWEST:
        raise Inapplicable("others opened too few")
    if threads.unanswered * 2 > threads.sampled:
        yield f"{threads.unanswered} of {threads.sampled} have no answer"
    elif threads.median_response_s is not None:
        days = threads.median_response_s // _DAY
        left = maintenance.compute_points(days, maintenance.RESPONSE, size)
        if isinstance(left, Decimal) and left < weighting.FULL_POINTS:
            yield PartialFailure(f"half of them waited {days} days or longer", 1 - left / weighting.FULL_POINTS)
