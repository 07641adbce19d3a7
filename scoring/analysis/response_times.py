"""Response times to the issues and pull requests of outsiders."""

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
"""With fewer threads the median means nothing: the only thread may be one day old."""


def judge_response_times(threads: Threads | None, size: maintenance.ProjectSize) -> Iterator[Answer]:
    """Judges response times relative to the project's size; raise Inapplicable for fewer than _FEWEST threads."""
    if threads is None or threads.sampled < _FEWEST:
        raise Inapplicable("other users opened too few")
    if threads.unanswered * 2 > threads.sampled:
        verb = "has" if threads.unanswered == 1 else "have"
        yield f"{threads.unanswered} of {threads.sampled} {verb} no answer"
    elif threads.median_response_s is not None:
        days = threads.median_response_s // _DAY
        left = maintenance.compute_points(days, maintenance.RESPONSE, size)
        if isinstance(left, Decimal) and left < weighting.FULL_POINTS:
            unit = "day" if days == 1 else "days"
            yield PartialFailure(f"half of them waited {days} {unit} or longer", 1 - left / weighting.FULL_POINTS)
