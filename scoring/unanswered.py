"""How long the issues and requests of others wait for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from evidence.kinds.repository import Threads
from scoring import upkeep, weighing
from scoring.outcome import Inapplicable, Partly
from scoring.rule import Answer

_DAY: Final = 86_400
_FEWEST: Final = 3
"""Fewer say nothing: the only one may be of yesterday."""


def unanswered(threads: Threads | None, size: upkeep.Project) -> Iterator[Answer]:
    """What is bad about the answers in a project of a size; raise Inapplicable for too few threads."""
    if threads is None or threads.sampled < _FEWEST:
        raise Inapplicable("others opened too few")
    if threads.unanswered * 2 > threads.sampled:
        yield f"{threads.unanswered} of {threads.sampled} have no answer"
    elif threads.median_response_s is not None:
        days = threads.median_response_s // _DAY
        left = upkeep.points(days, upkeep.RESPONSE, size)
        if isinstance(left, Decimal) and left < weighing.FULL:
            yield Partly(f"half of them waited {days} days or longer", 1 - left / weighing.FULL)
