"""The status of an installation: statistics of the database and of the broker, or that one is unavailable."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

from msgspec import Struct

from evidence.store import NotMigrated, StoreUnavailable
from workers import schedule
from workers.clock import Clock
from workers.coordination.broker_statistics import BrokerStatistics, BrokerUnavailable
from workers.observability.run_statistics import StoreStatistics, StoreStatisticsReader
from workers.runs.pins import digest_pins
from workers.settings.environment import Settings

if TYPE_CHECKING:
    from workers.coordination.broker_reader import BrokerReader

EMBEDDED_REASON: Final = "embedded: runs work by themselves, without a broker or workers"


class Unavailable(Struct, frozen=True):
    """A part that did not answer. `why` contains no address and no secret."""

    why: str


class NotInstalled(Struct, frozen=True):
    """A part that this installation does not have."""

    why: str


class SystemStatus(Struct, frozen=True, kw_only=True):
    """`due` is when the newest nightly run was due; `overdue` the seconds since then if it is missing, else 0.

    `is_overdue` is true when it should have been planned meanwhile.
    """

    at: datetime
    store: StoreStatistics | Unavailable
    broker: BrokerStatistics | Unavailable | NotInstalled
    due: datetime
    overdue: float
    is_overdue: bool = False


class StatusReader:
    """Reads the status of one installation; connections open on the first read. Threads may not share it."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._store_reader = StoreStatisticsReader(settings.store_url, clock)
        self._broker = None if is_embedded(settings) else _broker(settings, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._store_reader.close()
        if self._broker is not None:
            self._broker.close()

    def check_availability(self) -> dict[str, bool]:
        """Whether each needed part answers, by name."""
        found = {"database": self._store_reader.is_available()}
        return found if self._broker is None else {**found, "broker": self._broker.is_available()}

    def read_status(self) -> SystemStatus:
        """The status now; an unavailable part is in the result and raises nothing."""
        due = schedule.find_due_slot(self._settings, self._clock.now())
        store = self._store(due)
        overdue = 0.0 if self._broker is None else _late(store, due, self._clock.now())
        return SystemStatus(
            at=self._clock.wall(),
            store=store,
            broker=self._broker_status(store),
            due=due,
            overdue=overdue,
            is_overdue=overdue > self._settings.plan_every.total_seconds(),
        )

    def _store(self, due: datetime) -> StoreStatistics | Unavailable:
        try:
            return self._store_reader.read_statistics(schedule.make_nightly_run_id(due))
        except NotMigrated:
            return Unavailable("the database has no tables of ours yet; a worker or beat makes them when it starts")
        except StoreUnavailable:
            return Unavailable("the database did not answer")

    def _broker_status(self, store: StoreStatistics | Unavailable) -> BrokerStatistics | Unavailable | NotInstalled:
        if self._broker is None:
            return NotInstalled(EMBEDDED_REASON)
        try:
            return self._broker.read_statistics(_list_versions(store))
        except BrokerUnavailable as error:
            return Unavailable(str(error))


def _list_versions(store: StoreStatistics | Unavailable) -> frozenset[str]:
    """The versions of the unfinished runs, which have parts of the queues also when they have no worker."""
    if isinstance(store, Unavailable):
        return frozenset()
    return frozenset(digest_pins(row.run.pins) for row in store.unfinished)


def is_embedded(settings: Settings) -> bool:
    """True on SQLite, which is not used with Celery."""
    return settings.store_url.startswith("sqlite")


def _late(store: StoreStatistics | Unavailable, due: datetime, now: datetime) -> float:
    """Seconds since a missing nightly run was due; 0 while the database is unavailable."""
    if isinstance(store, Unavailable) or store.has_due:
        return 0.0
    return (now - due).total_seconds()


def _broker(settings: Settings, clock: Clock) -> BrokerReader:
    from workers.celery_app import app  # noqa: PLC0415  the embedded mode needs no Celery
    from workers.coordination.broker_reader import BrokerReader, make_worker_query  # noqa: PLC0415

    return BrokerReader(settings.redis_url.reveal(), clock, make_worker_query(app))
