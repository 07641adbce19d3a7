"""Public status of runs: states, stages, outcomes and Hallmark's own failures, without notes of operators."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field

from evidence.kinds import listing
from evidence.model import Reason, Trigger
from evidence.store import RunAction, RunRow, RunState, Stage, Store
from publish.views.absence_advice import advise_on_absence
from publish.views.outages import describe_outage

OWN_FAILURES: Final = frozenset(
    {Reason.COLLECTOR_ERROR.value, Reason.COLLECTOR_OFFLINE.value, Reason.QUARANTINED.value}
)
"""Reasons that are failures of Hallmark, not of the server."""

SHOWN: Final = 14
"""Number of runs on the page: two weeks of nightly runs."""

_WHOLE: Final = (Trigger.NIGHTLY, Trigger.LOCAL)


class AbsenceCount(Struct, frozen=True):
    """Number of servers whose listing is absent for one reason. `ours` marks a limitation of Hallmark."""

    reason: str
    servers: int
    means: str
    ours: bool


class RunCounts(Struct, frozen=True, kw_only=True):
    """Progress of a run: planned servers, those that kept earlier evidence, and finished servers by stage.

    `outage` is a sentence about what was not collected while Hallmark was offline, empty without an outage.
    """

    planned: int
    carried: int
    stages: tuple[tuple[str, int], ...]
    outcomes: tuple[AbsenceCount, ...]
    outage: str = ""

    @property
    def scored(self) -> int:
        """Servers that have a scorecard."""
        return dict(self.stages).get(Stage.SCORE.value, 0)

    @property
    def own_failures(self) -> float | None:
        """Share of the due servers without a listing through a failure of Hallmark; None if none were due."""
        turned = self.planned - self.carried
        ours = sum(outcome.servers for outcome in self.outcomes if outcome.reason in OWN_FAILURES)
        return ours / turned if turned > 0 else None


class RunView(Struct, frozen=True, kw_only=True):
    """One run. `withheld` has time and reason of each refused publication, `thinned` the number of dropped probes."""

    id: str
    trigger: str
    state: RunState
    as_of: datetime
    planned_at: datetime | None
    published_at: datetime | None
    counts: RunCounts | None = None
    withheld: tuple[tuple[datetime, str], ...] = ()
    thinned: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)


def list_runs(store: Store, limit: int = SHOWN) -> tuple[RunView, ...]:
    """The newest runs over whole registries, newest first. Only published and active runs have counts."""
    return tuple(_night(store, row) for row in store.list_runs(limit, triggers=_WHOLE))


def _night(store: Store, row: RunRow) -> RunView:
    thinned = store.compaction.find_dropped_records(row.run.id)
    events = store.read_run_events(row.run.id)
    is_counted = row.state is RunState.PLANNED or store.find_snapshot(row.run.id) is not None
    return RunView(
        id=row.run.id,
        trigger=row.run.trigger.value,
        state=row.state,
        as_of=row.run.as_of,
        planned_at=row.planned_at,
        published_at=row.published_at,
        counts=read_run_counts(store, row.run.id) if is_counted else None,
        # Notes of operators are not public.
        withheld=tuple((event.at, event.note) for event in events if event.what is RunAction.WITHHELD),
        thinned=thinned.record_sets if thinned else 0,
        versions=row.run.pins,
    )


def read_run_counts(store: Store, run: str) -> RunCounts:
    """How far a run came: the counts in its manifest once it is published, else those of its work items now."""
    if (manifest := store.find_snapshot(run)) is not None:
        return _counts_of_manifest(manifest)
    progress = store.read_progress(run)
    absent = {reason: count for (kind, reason), count in progress.absent.items() if kind == listing.KIND}
    stages = tuple((stage.value, progress.done[stage]) for stage in Stage if stage in progress.done)
    return RunCounts(
        planned=progress.planned,
        carried=progress.carried,
        stages=stages,
        outcomes=tuple(_outcomes(absent)),
        outage=describe_outage(progress.absent),
    )


def _counts_of_manifest(manifest: bytes) -> RunCounts:
    """The counts at publication; they stay the same after retention drops the run's records."""
    counts = json.loads(manifest)["counts"]
    prefix = f"{listing.KIND}/"
    absent = {name.removeprefix(prefix): number for name, number in counts["absent"].items() if name.startswith(prefix)}
    stages = ((Stage.COLLECT.value, counts["collected"]), (Stage.SCORE.value, counts["scored"]))
    return RunCounts(
        planned=counts["planned"],
        carried=counts.get("carried", 0),
        stages=stages,
        outcomes=tuple(_outcomes(absent)),
        outage=describe_outage(dict(_by_kind_and_reason(counts["absent"]))),
    )


def _by_kind_and_reason(absent: Mapping[str, int]) -> Iterator[tuple[tuple[str, str], int]]:
    for name, number in absent.items():
        kind, _, reason = name.partition("/")
        yield (kind, reason), number


def _outcomes(absent: Mapping[str, int]) -> Iterator[AbsenceCount]:
    for reason, servers in sorted(absent.items(), key=_most_first):
        advice = advise_on_absence(Reason(reason))
        yield AbsenceCount(reason, servers, advice.means, advice.ours)


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def find_newest_published(found: Sequence[RunView]) -> RunView | None:
    """The newest run that was published."""
    return next((night for night in found if night.state is RunState.PUBLISHED), None)
