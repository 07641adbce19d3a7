"""The whole at one moment: what the database and the broker say, or that one of them is away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from evidence.store import NotMigrated, StoreUnavailable
from workers import schedule
from workers.clock import Clock
from workers.coordination.broker_statistics import BrokerReader, BrokerStatistics, BrokerUnavailable, make_worker_query
from workers.observability.run_statistics import StoreStatistics, StoreStatisticsReader
from workers.settings.environment import Settings

EMBEDDED_REASON: Final = "embedded: runs work by themselves, without a broker or workers"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Could not be asked. `why` holds no address and no secret."""

    why: str


@dataclass(frozen=True, slots=True)
class NotInstalled:
    """Not part of this installation."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemStatus:
    """One look. `due` is when the newest nightly run was due; `late` seconds since then without it, 0 with it."""

    at: datetime
    standing: StoreStatistics | Unavailable
    waiting: BrokerStatistics | Unavailable | NotInstalled
    due: datetime
    late: float


class StatusReader:
    """Looks at one installation; nothing is opened before it is asked. Threads may not share it."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._standings = StoreStatisticsReader(settings.store_url, clock)
        self._broker = None if is_embedded(settings) else _broker(settings, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._standings.close()
        if self._broker is not None:
            self._broker.close()

    def answering(self) -> dict[str, bool]:
        """Who answers of those that are needed, by name."""
        found = {"database": self._standings.answers()}
        return found if self._broker is None else {**found, "broker": self._broker.answers()}

    def look(self) -> SystemStatus:
        """Everything that can be seen now; never raises because something is away."""
        due = schedule.find_due_slot(self._settings, self._clock.now())
        standing = self._standing(due)
        return SystemStatus(
            at=self._clock.wall(),
            standing=standing,
            waiting=self._waiting(),
            due=due,
            late=0.0 if self._broker is None else _late(standing, due, self._clock.now()),
        )

    def _standing(self, due: datetime) -> StoreStatistics | Unavailable:
        try:
            return self._standings.look(schedule.make_nightly_run_id(due))
        except NotMigrated:
            return Unavailable("the database has no tables of ours yet; a worker or beat makes them when it starts")
        except StoreUnavailable:
            return Unavailable("the database did not answer")

    def _waiting(self) -> BrokerStatistics | Unavailable | NotInstalled:
        if self._broker is None:
            return NotInstalled(EMBEDDED_REASON)
        try:
            return self._broker.look()
        except BrokerUnavailable as away:
            return Unavailable(str(away))


def is_embedded(settings: Settings) -> bool:
    """True on SQLite, which the Celery mode does not use."""
    return settings.store_url.startswith("sqlite")


def _late(standing: StoreStatistics | Unavailable, due: datetime, now: datetime) -> float:
    """Seconds since a nightly run was due that does not exist; nothing is known while the database is away."""
    if isinstance(standing, Unavailable) or standing.has_due:
        return 0.0
    return (now - due).total_seconds()


def _broker(settings: Settings, clock: Clock) -> BrokerReader:
    from workers.celery_app import app  # noqa: PLC0415  the embedded mode needs no Celery

    return BrokerReader(settings.redis_url.get_secret_value(), clock, make_worker_query(app))
