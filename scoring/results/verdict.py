"""The verdict: the one value that a person sees first, read from a scorecard and made nowhere else."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from msgspec import Struct

from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard

CAP: Final = "cap."
"""Lines of a receipt that cap a score cite this and the id of the gate."""
SCORED: Final = "scored"
NOT_ENOUGH_EVIDENCE: Final = "not_enough_evidence"
COLLECTOR_FAILED: Final = "collector_failed"


class Verdict(Struct, frozen=True, kw_only=True):
    """`value` and `grade` are None below the published coverage; `status` then says why.

    `floor` and `ceiling` bound the value that complete evidence could give. `caps` are the reasons, in words, why the
    value is not higher than it is.
    """

    grade: str | None
    value: Decimal | None
    floor: Decimal
    ceiling: Decimal
    status: str
    caps: tuple[str, ...]
    coverage: Decimal


def read_verdict(card: Scorecard) -> Verdict:
    """The verdict of a scorecard of any rubric."""
    value = card.score if isinstance(card.score, Decimal) else None
    return Verdict(
        grade=card.grade,
        value=value,
        floor=card.floor,
        ceiling=card.ceiling,
        status=card.score.reason if isinstance(card.score, NotMeasured) else SCORED,
        caps=tuple(line.why for line in card.lines if line.cites.startswith(CAP)),
        coverage=card.coverage,
    )
