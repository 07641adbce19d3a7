"""Retries servers with a transient failure later in the same run, before the failure is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.canonical import sha256
from evidence.kinds import listing, samples
from evidence.kinds.samples import Sample
from evidence.model import Absent, Reason, Record, Run, ServerId, Trigger
from evidence.store import LeaseTokens, RunRow, Stage
from workers.context import Context
from workers.settings.environment import Settings

TRIES_KEY: Final = "tries"
"""Member of a listing's observation: number of probes in the run, where there was more than one."""

TRANSIENT_REASONS: Final = frozenset(
    {
        Reason.TIMEOUT,
        Reason.UNREACHABLE,
        Reason.TLS_ERROR,
        Reason.RATE_LIMITED,
        Reason.COLLECTOR_ERROR,
        Reason.COLLECTOR_OFFLINE,
    }
)
"""Reasons that may disappear within twenty minutes; a 5xx status is `unreachable`."""

_JITTER: Final = 0.25


class RetryPolicy(Struct, frozen=True):
    """How often a run retries a server, after which delay, and until when."""

    max_tries: int
    after: timedelta
    until: datetime | None = None

    @classmethod
    def for_run(cls, row: RunRow, settings: Settings) -> RetryPolicy:
        """A nightly run retries, a local run only if the settings ask for it, a re-test never."""
        match row.run.trigger:
            case Trigger.NIGHTLY:
                until = None if row.planned_at is None else row.planned_at + settings.run_deadline
                return cls(settings.retries, settings.retry_after, until)
            case Trigger.LOCAL:
                return cls(1 if settings.local_retry_after else 0, settings.local_retry_after)
            case Trigger.RETEST:
                return cls(0, timedelta(0))

    def delay(self, servers: Iterable[ServerId], now: datetime) -> timedelta | None:
        """The delay before the next try, with a jitter that follows from the servers; None when it is too late."""
        chance = int(sha256("\0".join(servers).encode())[:8], 16) / 0xFFFFFFFF
        delay = self.after * (1 + _JITTER * (2 * chance - 1))
        return None if self.until is not None and now + delay > self.until else delay


def postpone_failed(
    ctx: Context, run: Run, stage: Stage, found: Mapping[ServerId, Sequence[Record]], tokens: LeaseTokens
) -> Mapping[ServerId, Sequence[Record]]:
    """Postpone servers with a transient failure while the run retries; return the records of all others to be stored.

    Each failed try is stored as an availability sample.
    """
    row = ctx.store.find_run(run.id)
    policy = RetryPolicy(0, timedelta(0)) if row is None else RetryPolicy.for_run(row, ctx.settings)
    if row is None or not policy.max_tries:
        return found
    later: set[ServerId] = set()
    now = ctx.store.read_database_time(ctx.clock.wall())
    for reason, servers in group_transient_failures(found).items():
        if (delay := policy.delay(servers, now)) is not None:
            why, most = reason.value, policy.max_tries
            later.update(
                ctx.store.postpone_servers(
                    run.id, stage, servers, delay=delay, why=why, most=most, now=now, tokens=tokens
                )
            )
    if later:
        ctx.store.put_probes([(server, _sample(found[server])) for server in sorted(later)], ctx.clock.now())
    kept = {server: records for server, records in found.items() if server not in later}
    failed = ctx.store.count_probes_without_evidence(list(kept), run.as_of)
    return {server: add_try_count(records, 1 + failed.get(server, 0)) for server, records in kept.items()}


def group_transient_failures(found: Mapping[ServerId, Iterable[Record]]) -> dict[Reason, list[ServerId]]:
    """The servers whose listing is absent for a transient reason, by reason."""
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
    """The availability sample of this try; None when there is none."""
    for record in records:
        if record.kind == samples.KIND and (taken := samples.read_samples(record.observation)):
            newest, at = taken[-1], record.observed_at.replace(microsecond=0)
            return newest if newest.at == at else None
    return None


def add_try_count(records: Iterable[Record], tries: int) -> list[Record]:
    """The records of a server, with the number of tries in the listing's observation when it is more than one."""
    return [
        replace(record, observation={**record.observation, TRIES_KEY: tries})
        if tries > 1 and record.kind == listing.KIND
        else record
        for record in records
    ]
