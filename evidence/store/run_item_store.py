"""The part of the Store that knows the items of a run: which server is in which stage, and who works on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from evidence.model import ServerId
from evidence.store import host_schedule
from evidence.store.database import Database
from evidence.store.leases import leasing, progress
from evidence.store.values import RunProgress, Stage, StageFailure

NO_NEXT_STAGES: Mapping[ServerId, Stage] = {}
NO_START_DELAYS: Mapping[ServerId, datetime] = {}


class RunItemStore:
    """Plans, leases and progress. `now` is asked of PostgreSQL itself; SQLite takes the caller's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def plan_run(
        self,
        run_id: str,
        servers: Sequence[ServerId],
        at: datetime,
        *,
        first: Mapping[ServerId, Stage] = NO_NEXT_STAGES,
        starts: Mapping[ServerId, datetime] = NO_START_DELAYS,
        carried: Collection[ServerId] = frozenset(),
    ) -> None:
        """Fix the servers of a run and move it to `planned`; a planned run keeps its plan.

        `first` is the part of collecting that a server begins with, where a fleet collects in parts, and `starts` when
        it may begin. `carried` servers are collected at once: their last evidence, whatever its age, is this run's.
        """
        with self._database.writing() as connection:
            chosen = set(carried)
            if progress.plan_run(connection, run_id, servers, at, first=first, starts=starts, carried=chosen):
                host_schedule.carry_evidence_forward(connection, run_id, sorted(chosen), at)

    def read_last_collection_times(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, datetime]:
        """When each server was collected last, in a run before this one and not by carrying; never, if left out."""
        with self._database.reading() as connection:
            return host_schedule.read_last_collection_times(connection, run_id, servers)

    def list_carried_servers(self, run_id: str) -> list[ServerId]:
        """Servers of a run that keep their last evidence because it is not their turn; sorted."""
        with self._database.reading() as connection:
            return host_schedule.list_carried_servers(connection, run_id)

    def find_progress_time(self, run_id: str, number: int) -> datetime | None:
        """When so many of the servers whose turn it was were scored; None when they are not."""
        with self._database.reading() as connection:
            return host_schedule.find_progress_time(connection, run_id, number)

    def count_held_items(self, run_id: str) -> int:
        """How many servers are leased, in any stage."""
        with self._database.reading() as connection:
            return host_schedule.count_held_items(connection, run_id)

    def list_postponed_servers(self, run_id: str, reasons: Collection[str]) -> dict[ServerId, str]:
        """Servers that were put back for one of the reasons and not collected since, with the reason."""
        with self._database.reading() as connection:
            return host_schedule.list_postponed_servers(connection, run_id, reasons)

    def count_probes_without_evidence(self, servers: Sequence[ServerId], since: datetime) -> dict[ServerId, int]:
        """How often servers were visited between runs or tried in vain since a moment, of those that were."""
        with self._database.reading() as connection:
            return host_schedule.count_probes_without_evidence(connection, servers, since)

    def list_planned_servers(self, run_id: str) -> list[ServerId]:
        """Every planned server of a run, whatever has become of it; sorted."""
        with self._database.reading() as connection:
            return progress.list_planned_servers(connection, run_id)

    def list_pending_servers(
        self, run_id: str, stage: Stage, servers: Sequence[ServerId] | None = None
    ) -> list[ServerId]:
        """Planned servers, all or of the given ones, that have not passed a stage; sorted."""
        with self._database.reading() as connection:
            return progress.list_pending_servers(connection, run_id, stage, servers)

    def lease_servers(
        self, run_id: str, stage: Stage, worker: str, *, limit: int, ttl: timedelta, now: datetime, tried: int = 0
    ) -> list[ServerId]:
        """Lease up to `limit` servers for `ttl`.

        Only those that were handed out `tried` times before without an end. Scoring is offered what is collected, and
        not what failed three times.
        """
        with self._database.writing() as connection:
            return leasing.lease_servers(connection, run_id, stage, worker, limit=limit, ttl=ttl, now=now, tried=tried)

    def renew_leases(
        self, run_id: str, stage: Stage, worker: str, servers: Collection[ServerId], *, ttl: timedelta, now: datetime
    ) -> list[ServerId]:
        """Hold for another `ttl` what a worker still holds of these servers; which those are."""
        with self._database.writing() as connection:
            return leasing.renew_leases(connection, run_id, stage, worker, servers, ttl=ttl, now=now)

    def release_leases(self, run_id: str, stage: Stage, worker: str) -> None:
        """Give back every lease of a worker, as if they had not been handed out."""
        with self._database.writing() as connection:
            leasing.release_leases(connection, run_id, stage, worker)

    def postpone_servers(
        self,
        run_id: str,
        stage: Stage,
        servers: Sequence[ServerId],
        *,
        delay: timedelta,
        why: str,
        most: int,
        now: datetime,
    ) -> list[ServerId]:
        """Give back servers until `delay` has passed, but none more than `most` times; those that were given back."""
        with self._database.writing() as connection:
            return leasing.postpone_servers(
                connection, run_id, stage, servers, delay=delay, why=why, most=most, now=now
            )

    def list_crash_suspects(
        self, run_id: str, stage: Stage, now: datetime, *, tries: int = leasing.MAX_TRIES
    ) -> list[ServerId]:
        """Servers without a lease that were leased so often without a result: their workers died."""
        with self._database.reading() as connection:
            return leasing.list_crash_suspects(connection, run_id, stage, now, tries)

    def list_lease_holders(self, run_id: str) -> list[str]:
        """Who holds servers of a run, in any stage."""
        with self._database.reading() as connection:
            return leasing.list_lease_holders(connection, run_id)

    def release_expired_leases(
        self, run_id: str, now: datetime, *, gone: Collection[str] = (), most: int = 1_000
    ) -> Mapping[Stage, int]:
        """Free what is held by those who are `gone` or do not renew their leases; how many by stage.

        Each `most` of them are a transaction of their own.
        """
        freed: Counter[Stage] = Counter()
        while True:
            with self._database.writing() as connection:
                found = leasing.release_expired_leases(connection, run_id, now, most, gone)
            freed.update(found)
            if sum(found.values()) < most:
                return dict(freed)

    def count_due_servers(self, run_id: str, now: datetime, *, most: int = 10_000) -> Mapping[Stage, int]:
        """How many servers wait for a worker now, by stage, counted up to `most`; no entry for none."""
        with self._database.reading() as connection:
            return leasing.count_due_servers(connection, run_id, now, most)

    def record_failure(self, run_id: str, server: ServerId, stage: Stage, error: str) -> int:
        """Count a failed attempt and give the server back; the number of attempts so far."""
        with self._database.writing() as connection:
            return progress.record_failure(connection, run_id, server, stage, error)

    def list_failures(self, run_id: str) -> list[StageFailure]:
        """Servers that were tried without success, with their attempts and last error."""
        with self._database.reading() as connection:
            return progress.list_failures(connection, run_id)

    def read_progress(self, run_id: str) -> RunProgress:
        """Counts of a run."""
        with self._database.reading() as connection:
            return progress.read_progress(connection, run_id)
