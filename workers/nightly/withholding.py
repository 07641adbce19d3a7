"""Decides whether a nightly run is withheld: too much is missing from it because of failures of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evidence.kinds import listing
from evidence.store import RunProgress, Stage, StageFailure
from publish.views.runs import OWN_FAILURES
from workers.settings.environment import Settings


def find_withholding_reason(progress: RunProgress, failures: Sequence[StageFailure], settings: Settings) -> str:
    """Why this run must be withheld, for people; empty when it may be published.

    Two shares of the scheduled servers are compared with their bounds: servers without a listing through a failure of
    ours, and servers whose scoring failed. Servers that were not collected in time are no failures; the manifest has
    their number.
    """
    unlisted = {
        reason: number
        for (kind, reason), number in progress.absent.items()
        if kind == listing.KIND and reason in OWN_FAILURES
    }
    unscored = Counter(_name(failure.last_error) for failure in failures if failure.stage is Stage.SCORE)
    scheduled, no_listing = progress.scheduled_count, "have no listing through a failure of ours"
    found = (
        _describe_excess(unlisted, scheduled, settings.own_failure_bound, no_listing),
        _describe_excess(unscored, scheduled, settings.scoring_failure_bound, "could not be scored"),
    )
    return "; ".join(filter(None, found))


def _describe_excess(numbers: Mapping[str, int], whole: int, bound: float, what: str) -> str:
    """Empty when the share is within the bound."""
    total = sum(numbers.values())
    if total <= bound * whole:
        return ""
    most_first = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    reasons = ", ".join(f"{number} {reason}" for reason, number in most_first)
    return f"{total} of {whole} servers ({total / max(whole, 1):.1%}, at most {bound:.1%} allowed) {what}: {reasons}"


def _name(error: str) -> str:
    """The name of an exception; the rest of the text may quote a server."""
    name = error.partition(":")[0]
    return name if name.isidentifier() else "error"
