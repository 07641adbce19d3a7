"""A server that failed in passing is looked at again later in the same night, before that is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from evidence.canonical import sha256
from evidence.kinds import listing, samples
from evidence.kinds.samples import Sample
from evidence.model import Absent, Reason, Record, Run, ServerId, Trigger
from evidence.store import RunRow, Stage
from workers.context import Context
from workers.settings.environment import Settings

TRIES_KEY: Final = "tries"
"""Member of a listing's observation: how often the server was visited that night, where that was more than once."""

TRANSIENT_REASONS: Final = frozenset(
    {Reason.TIMEOUT, Reason.UNREACHABLE, Reason.TLS_ERROR, Reason.RATE_LIMITED, Reason.COLLECTOR_ERROR}
)
"""Reasons that may be gone in twenty minutes; 5xx is `unreachable`."""

_JITTER: Final = 0.25


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a run looks again at most, after how long, and until when."""

    most: int
    after: timedelta
    until: datetime | None = None

    @classmethod
    def of(cls, row: RunRow, settings: Settings) -> RetryPolicy:
        """Those of a run: a night has time to wait, a run by hand only if it was asked to, a re-test none."""
        match row.run.trigger:
            case Trigger.NIGHTLY:
                until = None if row.planned_at is None else row.planned_at + settings.run_deadline
                return cls(settings.retries, settings.retry_after, until)
            case Trigger.LOCAL:
                return cls(1 if settings.local_retry_after else 0, settings.local_retry_after)
            case Trigger.RETEST:
                return cls(0, timedelta(0))

    def delay(self, servers: Iterable[ServerId], now: datetime) -> timedelta | None:
        """How long to wait before these are looked at again, which differs from group to group; None when too late."""
        chance = int(sha256("\0".join(servers).encode())[:8], 16) / 0xFFFFFFFF
        delay = self.after * (1 + _JITTER * (2 * chance - 1))
        return None if self.until is not None and now + delay > self.until else delay


def postpone_failed(
    ctx: Context, run: Run, stage: Stage, found: Mapping[ServerId, Sequence[Record]]
) -> Mapping[ServerId, Sequence[Record]]:
    """Put back who failed in passing, as long as the run looks again; the records of all others, to be stored.

    What was seen of those put back is kept as a visit, so that their samples tell of every try.
    """
    row = ctx.store.find_run(run.id)
    rules = RetryPolicy(0, timedelta(0)) if row is None else RetryPolicy.of(row, ctx.settings)
    if row is None or not rules.most:
        return found
    later: set[ServerId] = set()
    now = ctx.store.read_database_time(ctx.clock.wall())
    for reason, servers in group_transient_failures(found).items():
        if (delay := rules.delay(servers, now)) is not None:
            why, most = reason.value, rules.most
            later.update(ctx.store.postpone_servers(run.id, stage, servers, delay=delay, why=why, most=most, now=now))
    if later:
        ctx.store.put_probes([(server, _sample(found[server])) for server in sorted(later)], ctx.clock.now())
    kept = {server: records for server, records in found.items() if server not in later}
    visits = ctx.store.count_probes_without_evidence(list(kept), run.as_of)
    return {server: add_try_count(records, 1 + visits.get(server, 0)) for server, records in kept.items()}


def group_transient_failures(found: Mapping[ServerId, Iterable[Record]]) -> dict[Reason, list[ServerId]]:
    """By reason, the servers whose listing is absent for one that may be gone when they are looked at again."""
    failed: dict[Reason, list[ServerId]] = {}
    for server, records in found.items():
        for record in records:
            if (
                record.kind == listing.KIND
                and isinstance(record.content, Absent)
                and record.content.reason in TRANSIENT_REASONS
            ):
                failed.setdefault(record.content.reason, []).append(server)
    return failed


def _sample(records: Iterable[Record]) -> Sample | None:
    """What this try says of the server's stability; None when it says nothing."""
    for record in records:
        if record.kind == samples.KIND and (taken := samples.read_samples(record.observation)):
            newest, at = taken[-1], record.observed_at.replace(microsecond=0)
            return newest if newest.at == at else None
    return None


def add_try_count(records: Iterable[Record], tries: int) -> list[Record]:
    """The records of a server that was looked at so often; that it was more than once is told with its listing."""
    return [
        replace(record, observation={**record.observation, TRIES_KEY: tries})
        if tries > 1 and record.kind == listing.KIND
        else record
        for record in records
    ]
