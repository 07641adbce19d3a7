"""When a night is not fit to be published: what is missing from it says more of Hallmark than of the servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evidence.kinds import listing
from evidence.store import RunProgress, Stage, StageFailure
from publish.views.runs import OWN_FAILURES
from workers.settings.environment import Settings


def find_withholding_reason(progress: RunProgress, failures: Sequence[StageFailure], settings: Settings) -> str:
    """Why this night is withheld, for people; empty when it may be published.

    Counted are listings that are absent through a failure of ours, and servers whose scoring failed, each as a share of
    the servers whose turn it was. What was not looked at in time is no failure: the manifest says how many those are.
    """
    unseen = {
        reason: number
        for (kind, reason), number in progress.absent.items()
        if kind == listing.KIND and reason in OWN_FAILURES
    }
    unscored = Counter(_name(failure.last_error) for failure in failures if failure.stage is Stage.SCORE)
    found = [
        _share(
            unseen, progress.scheduled_count, settings.own_failure_bound, "have no listing through a failure of ours"
        ),
        _share(unscored, progress.scheduled_count, settings.scoring_failure_bound, "could not be scored"),
    ]
    return "; ".join(text for text in found if text)


def _share(numbers: Mapping[str, int], of: int, bound: float, what: str) -> str:
    total = sum(numbers.values())
    if total <= bound * of:
        return ""
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(numbers.items(), key=_most_first))
    return f"{total} of {of} servers ({total / max(of, 1):.1%}, at most {bound:.1%} allowed) {what}: {reasons}"


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _name(error: str) -> str:
    """The name of an exception, of which the rest may hold what a server said."""
    name = error.partition(":")[0]
    return name if name.isidentifier() else "error"
