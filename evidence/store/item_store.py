"""The part of the Store that knows the items of a run: which server is in which stage, and who works on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from evidence.model import ServerId
from evidence.store import leasing, progress, turns
from evidence.store.database import Database
from evidence.store.rows import Failure, Progress, Stage

NOBODY_BEGINS: Mapping[ServerId, Stage] = {}
AT_ONCE: Mapping[ServerId, datetime] = {}


class ItemStore:
    """Plans, leases and progress. `now` is asked of PostgreSQL itself; SQLite takes the caller's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def plan(
        self,
        run_id: str,
        servers: Sequence[ServerId],
        at: datetime,
        *,
        first: Mapping[ServerId, Stage] = NOBODY_BEGINS,
        starts: Mapping[ServerId, datetime] = AT_ONCE,
        carried: Collection[ServerId] = frozenset(),
    ) -> None:
        """Fix the servers of a run and move it to `planned`; a planned run keeps its plan.

        `first` is the part of collecting that a server begins with, where a fleet collects in parts, and `starts` when
        it may begin. `carried` servers are collected at once: their last evidence, whatever its age, is this run's.
        """
        with self._database.writing() as connection:
            chosen = set(carried)
            if progress.plan(connection, run_id, servers, at, first=first, starts=starts, carried=chosen):
                turns.carry(connection, run_id, sorted(chosen), at)

    def last_turns(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, datetime]:
        """When each server was collected last, in a run before this one and not by carrying; never, if left out."""
        with self._database.reading() as connection:
            return turns.last_turns(connection, run_id, servers)

    def carried(self, run_id: str) -> list[ServerId]:
        """Servers of a run that keep their last evidence because it is not their turn; sorted."""
        with self._database.reading() as connection:
            return turns.carried(connection, run_id)

    def reached(self, run_id: str, number: int) -> datetime | None:
        """When so many of the servers whose turn it was were scored; None when they are not."""
        with self._database.reading() as connection:
            return turns.reached(connection, run_id, number)

    def held(self, run_id: str) -> int:
        """How many servers somebody works on, in any stage."""
        with self._database.reading() as connection:
            return turns.held(connection, run_id)

    def put_off(self, run_id: str, reasons: Collection[str]) -> dict[ServerId, str]:
        """Servers that were put back for one of the reasons and not collected since, with the reason."""
        with self._database.reading() as connection:
            return turns.put_off(connection, run_id, reasons)

    def visits(self, servers: Sequence[ServerId], since: datetime) -> dict[ServerId, int]:
        """How often servers were visited between runs or tried in vain since a moment, of those that were."""
        with self._database.reading() as connection:
            return turns.visits(connection, servers, since)

    def planned(self, run_id: str) -> list[ServerId]:
        """Every planned server of a run, whatever has become of it; sorted."""
        with self._database.reading() as connection:
            return progress.planned(connection, run_id)

    def pending(self, run_id: str, stage: Stage, servers: Sequence[ServerId] | None = None) -> list[ServerId]:
        """Planned servers, all or of the given ones, that have not passed a stage; sorted."""
        with self._database.reading() as connection:
            return progress.pending(connection, run_id, stage, servers)

    def lease(
        self, run_id: str, stage: Stage, worker: str, *, limit: int, ttl: timedelta, now: datetime, tried: int = 0
    ) -> list[ServerId]:
        """Take up to `limit` servers to work on for `ttl`; nobody else gets them before.

        Only those that were handed out `tried` times before without an end. Scoring is offered what is collected, and
        not what failed three times.
        """
        with self._database.writing() as connection:
            return leasing.lease(connection, run_id, stage, worker, limit=limit, ttl=ttl, now=now, tried=tried)

    def renew(
        self, run_id: str, stage: Stage, worker: str, servers: Collection[ServerId], *, ttl: timedelta, now: datetime
    ) -> list[ServerId]:
        """Hold for another `ttl` what a worker still holds of these servers; which those are."""
        with self._database.writing() as connection:
            return leasing.renew(connection, run_id, stage, worker, servers, ttl=ttl, now=now)

    def release(self, run_id: str, stage: Stage, worker: str) -> None:
        """Give back every lease of a worker, as if they had not been handed out."""
        with self._database.writing() as connection:
            leasing.release(connection, run_id, stage, worker)

    def put_back(
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
            return leasing.put_back(connection, run_id, stage, servers, delay=delay, why=why, most=most, now=now)

    def lost(self, run_id: str, stage: Stage, now: datetime, *, tries: int = leasing.TRIES) -> list[ServerId]:
        """Servers that were handed out so often without an end, and are held by nobody: who looked at them died."""
        with self._database.reading() as connection:
            return leasing.lost(connection, run_id, stage, now, tries)

    def holders(self, run_id: str) -> list[str]:
        """Who holds servers of a run, in any stage."""
        with self._database.reading() as connection:
            return leasing.holders(connection, run_id)

    def reap(self, run_id: str, now: datetime, *, gone: Collection[str] = (), most: int = 1_000) -> Mapping[Stage, int]:
        """Free what is held by those who are `gone` or do not renew their leases; how many by stage.

        Each `most` of them are a transaction of their own.
        """
        freed: Counter[Stage] = Counter()
        while True:
            with self._database.writing() as connection:
                found = leasing.reap(connection, run_id, now, most, gone)
            freed.update(found)
            if sum(found.values()) < most:
                return dict(freed)

    def due(self, run_id: str, now: datetime, *, most: int = 10_000) -> Mapping[Stage, int]:
        """How many servers wait for somebody to work on them now, by stage, counted up to `most`; no entry for none."""
        with self._database.reading() as connection:
            return leasing.due(connection, run_id, now, most)

    def fail(self, run_id: str, server: ServerId, stage: Stage, error: str) -> int:
        """Count a failed attempt and give the server back; the number of attempts so far."""
        with self._database.writing() as connection:
            return progress.fail(connection, run_id, server, stage, error)

    def failures(self, run_id: str) -> list[Failure]:
        """Servers that were tried without success, with their attempts and last error."""
        with self._database.reading() as connection:
            return progress.failures(connection, run_id)

    def progress(self, run_id: str) -> Progress:
        """Counts of a run."""
        with self._database.reading() as connection:
            return progress.progress(connection, run_id)
