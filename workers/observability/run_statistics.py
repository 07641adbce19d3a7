"""Statistics of runs from the database: stages, leases, retries and outcomes, by bounded read-only queries.

Only one run is read in detail. Its items are one range of an index. Its records, ten times as many, are counted at most
once a minute while it runs and once when it is finished, so the cost does not grow with the number of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection, Select, and_, case, func, literal, null, or_, select, text, union_all
from sqlalchemy.engine import make_url
from sqlalchemy.sql import ColumnElement

from evidence.kinds import listing
from evidence.model import Reason, Trigger
from evidence.store import (
    NotMigrated,
    PublicationProgress,
    RegistryWalk,
    RunRow,
    RunState,
    Stage,
    Store,
    StoreUnavailable,
)
from evidence.store.database import Database
from evidence.store.leases.leasing import NEVER_DUE
from evidence.store.runs.record_counts import count_absence_details, count_records
from evidence.store.tables.core import DROPPED_ITEM, RUN, RUN_ITEM
from evidence.store.values import FINAL_STATES
from publish.views.outages import describe_outage
from publish.views.runs import OWN_FAILURES
from workers.clock import Clock

OBSERVED_LABEL: Final = "observed"
"""The outcome of a record with a body; every other outcome is a reason."""

RATE_WINDOW: Final = timedelta(minutes=5)
MAX_UNFINISHED: Final = 20

_OUTCOMES_EVERY: Final = timedelta(minutes=1)
_CONNECT_SECONDS: Final = 3
_STATEMENT_MILLISECONDS: Final = 10_000


class StageStatistics(Struct, frozen=True, kw_only=True):
    """One stage of a run. `rate` is servers per second within RATE_WINDOW, `eta` the remaining seconds, or None.

    `due` counts open servers that may be worked on now, `held` and `expired` leases on open servers,
    `retries` all failed attempts, `failing` open servers with a failed attempt that are due, `later` open servers that
    are not due yet, and `carried` servers without a turn. `latest` is when a server that is still counted was done.
    """

    stage: Stage
    planned: int = 0
    done: int = 0
    held: int = 0
    expired: int = 0
    retries: int = 0
    failing: int = 0
    rate: float | None = None
    later: int = 0
    carried: int = 0
    due: int = 0
    latest: datetime | None = None

    @property
    def eta(self) -> float | None:
        return (self.planned - self.done) / self.rate if self.rate else None

    @property
    def seconds_left(self) -> float:
        """Due work divided by the rate, for autoscaling; at least one server per RATE_WINDOW is assumed as the rate."""
        return self.due / max(self.rate or 0.0, 1 / RATE_WINDOW.total_seconds())


class RunStatistics(Struct, frozen=True, kw_only=True):
    """One run in detail. `outcomes` counts records by kind and by `observed` or the reason of absence.

    `not_asked` counts servers without a listing that were not asked for it, by what kept us from asking. `publication`
    has no parts while the run is not being published.
    """

    row: RunRow
    stages: tuple[StageStatistics, ...]
    outcomes: Mapping[tuple[str, str], int]
    not_asked: Mapping[str, int] = field(default_factory=dict)
    publication: PublicationProgress = field(default_factory=PublicationProgress)

    @property
    def carried(self) -> int:
        """Servers that keep their last evidence in this run."""
        return max((stage.carried for stage in self.stages), default=0)

    @property
    def own_failure_share(self) -> float | None:
        total = sum(self.outcomes.values())
        ours = sum(count for (_, outcome), count in self.outcomes.items() if outcome in OWN_FAILURES)
        return ours / total if total else None

    @property
    def outage(self) -> str:
        """What was not collected while Hallmark was offline; empty without an outage."""
        return describe_outage(self.outcomes)


class StoreStatistics(Struct, frozen=True, kw_only=True):
    """Statistics of the database. `shown` is an unfinished run, else the one published last.

    `has_due` says whether the nightly run that is due exists, in any state, and `failed_walks` has the registries that
    could not be read, by unfinished nightly run.
    """

    shown: RunStatistics | None
    has_due: bool
    unfinished: tuple[RunRow, ...]
    published: RunRow | None
    nightly: RunRow | None
    size: int
    failed_walks: Mapping[str, Sequence[RegistryWalk]] = field(default_factory=dict)

    @property
    def working_nights(self) -> tuple[RunRow, ...]:
        """The nightly runs that workers have to work on."""
        return tuple(row for row in self.unfinished if row.run.trigger is Trigger.NIGHTLY and row.state.is_working)


class _Counted(Struct, frozen=True):
    """The counts of a run's records."""

    outcomes: Mapping[tuple[str, str], int]
    not_asked: Mapping[str, int]


class StoreStatisticsReader:
    """Reads statistics from one database. Threads may not share it."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._database = Database(bound_queries(url))
        self._store = Store(self._database)
        self._clock = clock
        self._counted: dict[str, tuple[datetime, bool, _Counted]] = {}

    def close(self) -> None:
        self._store.close()

    def is_available(self) -> bool:
        """True when the database answers and has our tables."""
        try:
            with self._database.reading() as connection:
                connection.execute(select(RUN.c.key).limit(1))
        except (StoreUnavailable, NotMigrated):
            return False
        return True

    def read_statistics(self, due: str) -> StoreStatistics:
        """The statistics now; `due` is the id of the run that should exist. Raise StoreUnavailable or NotMigrated."""
        with self._database.reading() as connection:
            open_runs = _unfinished(connection)
            published = _ids(connection, RUN.c.state == RunState.PUBLISHED.value, 1)
            is_nightly = RUN.c.trigger == Trigger.NIGHTLY.value
            nightly = _ids(connection, and_(RUN.c.state == RunState.PUBLISHED.value, is_nightly), 1)
            size = _size(connection)
        unfinished = [row for run in open_runs if (row := self._store.find_run(run))]
        last = self._store.find_run(published[0]) if published else None
        shown = _shown(unfinished, last)
        return StoreStatistics(
            shown=None if shown is None else self._closely(shown),
            has_due=self._store.find_run(due) is not None,
            unfinished=tuple(unfinished),
            published=last,
            nightly=self._store.find_run(nightly[0]) if nightly else None,
            size=size,
            failed_walks={
                row.run.id: walks
                for row in unfinished
                if row.run.trigger is Trigger.NIGHTLY
                and (walks := [walk for walk in self._store.list_walks(row.run.id) if walk.error])
            },
        )

    def _closely(self, row: RunRow) -> RunStatistics:
        now = self._clock.wall()
        with self._database.reading() as connection:
            key = connection.execute(select(RUN.c.key).where(RUN.c.id == row.run.id)).scalar_one()
            stages = _stages(connection, key, row, now)
            counted = self._count(connection, key, row, now)
        publication = self._store.publication.read_progress(row.run.id)
        return RunStatistics(
            row=row, stages=stages, outcomes=counted.outcomes, not_asked=counted.not_asked, publication=publication
        )

    def _count(self, connection: Connection, key: int, row: RunRow, now: datetime) -> _Counted:
        """Counts of records, cached for _OUTCOMES_EVERY, or for ever when the run is finished."""
        at, final, counted = self._counted.get(row.run.id, (now - _OUTCOMES_EVERY, False, _Counted({}, {})))
        if not final and (row.state.is_final or now - at >= _OUTCOMES_EVERY):
            counted = _count_outcomes(connection, key)
            self._counted = {row.run.id: (now, row.state.is_final, counted)}
        return counted


def bound_queries(url: str) -> str:
    """The URL of the same database, on PostgreSQL read-only and with time limits for connecting and for statements."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return url
    options = f"-c statement_timeout={_STATEMENT_MILLISECONDS} -c default_transaction_read_only=on"
    before = parsed.query.get("options")
    query = {"connect_timeout": str(_CONNECT_SECONDS), "options": f"{before} {options}" if before else options}
    return parsed.update_query_dict(query).render_as_string(hide_password=False)


def _ids(connection: Connection, which: ColumnElement[bool], limit: int) -> list[str]:
    return list(connection.scalars(select(RUN.c.id).where(which).order_by(RUN.c.id.desc()).limit(limit)))


def _unfinished(connection: Connection) -> list[str]:
    """Nightly runs first, because there may be any number of re-tests; each group newest first."""
    order = (case((RUN.c.trigger == Trigger.NIGHTLY.value, 0), else_=1), RUN.c.id.desc())
    query = select(RUN.c.id).where(RUN.c.state.not_in(FINAL_STATES)).order_by(*order)
    return list(connection.scalars(query.limit(MAX_UNFINISHED)))


def _shown(unfinished: list[RunRow], published: RunRow | None) -> RunRow | None:
    """An unfinished nightly run, any other unfinished run, or the run published last."""
    nightly = [row for row in unfinished if row.run.trigger is Trigger.NIGHTLY]
    return next(iter(nightly or unfinished), published)


def _stages(connection: Connection, key: int, row: RunRow, now: datetime) -> tuple[StageStatistics, ...]:
    seconds = RATE_WINDOW.total_seconds()
    if row.planned_at is not None:
        seconds = max(1.0, min(seconds, (now - row.planned_at).total_seconds()))
    found: dict[str, StageStatistics] = {}
    # One statement, so that an item which is being dropped is counted once.
    for counted in connection.execute(union_all(_count_items(key, now, seconds), _count_dropped(key))):
        stage = found.get(counted.stage, StageStatistics(stage=Stage(counted.stage)))
        found[counted.stage] = replace(
            stage,
            planned=stage.planned + counted.planned,
            done=stage.done + counted.done,
            held=stage.held + counted.held,
            expired=stage.expired + counted.expired,
            retries=stage.retries + counted.retries,
            failing=stage.failing + counted.failing,
            rate=stage.rate if row.state.is_final or not counted.recent else counted.recent / seconds,
            later=stage.later + counted.later,
            carried=stage.carried + counted.carried,
            due=stage.due + counted.due,
            latest=None if row.state.is_final else counted.latest or stage.latest,
        )
    return tuple(found[stage.value] for stage in Stage if stage.value in found)


def _count_items(key: int, now: datetime, seconds: float) -> Select[Any]:
    """Counts of the items that a run has, by stage; `recent` are those done in the last `seconds`."""
    is_open = RUN_ITEM.c.done_at.is_(None)
    may_be_tried = or_(RUN_ITEM.c.not_before.is_(None), RUN_ITEM.c.not_before <= now)
    query = select(
        RUN_ITEM.c.stage,
        func.count().label("planned"),
        func.count(RUN_ITEM.c.done_at).label("done"),
        _how_many(RUN_ITEM.c.done_at >= now - timedelta(seconds=seconds)).label("recent"),
        _how_many(and_(is_open, RUN_ITEM.c.leased_until > now)).label("held"),
        _how_many(and_(is_open, RUN_ITEM.c.leased_until <= now)).label("expired"),
        func.sum(RUN_ITEM.c.attempts).label("retries"),
        _how_many(and_(is_open, RUN_ITEM.c.attempts > 0, may_be_tried)).label("failing"),
        _how_many(and_(is_open, RUN_ITEM.c.not_before > now, RUN_ITEM.c.not_before < NEVER_DUE)).label("later"),
        _how_many(RUN_ITEM.c.carried.is_(True)).label("carried"),
        _how_many(and_(is_open, may_be_tried)).label("due"),
        func.max(RUN_ITEM.c.done_at).label("latest"),
    )
    return query.where(RUN_ITEM.c.run_key == key).group_by(RUN_ITEM.c.stage)


def _count_dropped(key: int) -> Select[Any]:
    """Counts of the items that a run had, in the columns of `_count_items`."""
    dropped, nothing = DROPPED_ITEM.c, literal(0)
    carried = case((dropped.carried, dropped.planned), else_=0)
    first = (dropped.stage, dropped.planned, dropped.done, nothing, nothing, nothing, dropped.attempts)
    return select(*first, nothing, nothing, carried, nothing, null()).where(dropped.run_key == key)


def _how_many(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def _count_outcomes(connection: Connection, key: int) -> _Counted:
    counted = count_records(connection, key)
    not_asked = Reason.NOT_COLLECTED
    return _Counted(
        {(kind, reason or OBSERVED_LABEL): count for (kind, reason), count in counted.items()},
        count_absence_details(connection, key, listing.KIND, not_asked)
        if (listing.KIND, not_asked.value) in counted
        else {},
    )


def _size(connection: Connection) -> int:
    """Bytes of the whole database."""
    if connection.dialect.name == "sqlite":
        pages = connection.execute(text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
        return int(pages.scalar_one())
    return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
