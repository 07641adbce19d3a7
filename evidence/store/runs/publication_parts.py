"""The parts in which a run is published: begun once, then leased and finished one by one by any number of workers.

A part has its own share of the servers, in the order of their ids. Its lines of the listing index and its counts are
written in one transaction, so a part that is repeated, by a killed worker's successor or by two workers at once, is
written once. Nothing of the run changes meanwhile: open items are not leased, and results of earlier leases are
refused. A change of the run's state drops its parts, also the one that publishes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from evidence.model import ServerId
from evidence.store.errors import IllegalRunChange
from evidence.store.leases.progress import list_planned_servers
from evidence.store.listing.edition_writer import begin_edition, complete_edition, number_servers, write_servers
from evidence.store.listing.values import ListedServer
from evidence.store.runs.operator_actions import describe_refusal, read_database_time
from evidence.store.sql.bulk_insert import insert_rows
from evidence.store.sql.json_columns import from_json, to_json
from evidence.store.sql.row_keys import find_run_key, find_server_ids, find_server_keys
from evidence.store.tables.core import IS_LEASED_OUT, PUBLICATION_PART, RELEASED_LEASE, RUN, RUN_ITEM
from evidence.store.transactions import DatabaseAccess
from evidence.store.values import PublicationProgress, RunAction, RunState

_PART: Final = PUBLICATION_PART.c
_READ: Final = 10
_COLUMNS: Final = ("run_key", "number", "edition", "first", "servers")


class PublicationPart(Struct, frozen=True):
    """A leased part of a run: its servers, and the place of the first of them in the listing index."""

    run: str
    number: int
    token: int
    edition: int
    first: int
    servers: Sequence[ServerId]


class PublicationParts(DatabaseAccess):
    """The parts of all runs that are being published."""

    def begin(self, run_id: str, size: int, at: datetime) -> None:
        """Divide the planned servers of a run into parts of `size`, unless that was done.

        Of findings, exports of the run show the reviews until `at`, whenever they are made.
        On SQLite, which serves one machine, leases of an earlier process are released. Raises IllegalRunChange for a
        run that cannot be published in its state.
        """
        with self._database.writing() as connection:
            run = find_run_key(connection, run_id)
            state = RunState(
                connection.execute(select(RUN.c.state).where(RUN.c.key == run).with_for_update()).scalar_one()
            )
            if RunState.PUBLISHED not in state.next:
                raise IllegalRunChange(describe_refusal(run_id, state, RunAction.PUBLISHED))
            if _read_progress(connection, run).parts:
                if self._database.is_sqlite:
                    connection.execute(update(PUBLICATION_PART).where(_PART.run_key == run).values(leased_until=None))
                return
            servers = list_planned_servers(connection, run_id)
            keys, edition = find_server_keys(connection, servers), begin_edition(connection, run)
            rows = [
                (run, number, edition, first, to_json([keys[each] for each in servers[first : first + size]]).encode())
                for number, first in enumerate(range(0, len(servers), size))
            ]
            insert_rows(connection, PUBLICATION_PART, _COLUMNS, rows, unique=("run_key", "number"))
            connection.execute(update(RUN).where(RUN.c.key == run).values(reviews_until=at))
            _refuse_late_results(connection, run)

    def lease(self, run_id: str, *, ttl: timedelta, now: datetime) -> PublicationPart | None:
        """Lease the next part that is neither done nor leased; None if there is none."""
        with self._database.writing() as connection:
            run, moment = find_run_key(connection, run_id), read_database_time(connection, now)
            is_free = or_(_PART.leased_until.is_(None), _PART.leased_until <= moment)
            free = select(_PART.number).where(_PART.run_key == run, _PART.counts.is_(None), is_free)
            query = free.order_by(_PART.number).limit(1).with_for_update(skip_locked=True)
            if (number := connection.scalar(query)) is None:
                return None
            part = (_PART.run_key == run, _PART.number == number)
            values = {"leased_until": moment + ttl, "token": _PART.token + 1}
            leased = update(PUBLICATION_PART).where(*part).values(values)
            row = connection.execute(leased.returning(_PART.token, _PART.edition, _PART.first, _PART.servers)).one()
            keys = from_json(row.servers)
            ids = find_server_ids(connection, keys)
        return PublicationPart(run_id, number, row.token, row.edition, row.first, [ids[key] for key in keys])

    def renew(self, part: PublicationPart, *, ttl: timedelta, now: datetime) -> bool:
        """Extend the lease of a part to `ttl` from now; False if it was lost or the part is done."""
        with self._database.writing() as connection:
            values = {"leased_until": read_database_time(connection, now) + ttl}
            renewed = update(PUBLICATION_PART).where(*_is_held(connection, part)).values(values)
            return bool(connection.execute(renewed).rowcount)

    def finish(self, part: PublicationPart, listed: Sequence[ListedServer], counts: bytes) -> bool:
        """Write the listed servers and counts of a part; False, and nothing is written, if its lease was lost."""
        numbers = number_servers(self._database, part.edition, listed)
        with self._database.writing() as connection:
            values = {"counts": counts, "leased_until": None}
            finished = update(PUBLICATION_PART).where(*_is_held(connection, part)).values(values)
            if not connection.execute(finished).rowcount:
                return False
            write_servers(connection, part.edition, part.first, listed, numbers)
        return True

    def read_progress(self, run_id: str) -> PublicationProgress:
        """How many parts of a run are done; a run that is not being published has no parts."""
        with self._database.reading() as connection:
            return _read_progress(connection, find_run_key(connection, run_id))

    def read_counts(self, run_id: str) -> Iterator[bytes]:
        """The counts of the finished parts of a run in their order, read a few at a time by one statement."""
        with self._database.streaming() as connection:
            done = (_PART.run_key == find_run_key(connection, run_id), _PART.counts.is_not(None))
            query = select(_PART.counts).where(*done).order_by(_PART.number)
            yield from connection.scalars(query, execution_options={"yield_per": _READ})

    def find_edition(self, run_id: str) -> int | None:
        """The edition of the listing index that the parts of a run write; None if it is not being published."""
        with self._database.reading() as connection:
            of_run = _PART.run_key == find_run_key(connection, run_id)
            return connection.scalar(select(_PART.edition).where(of_run).limit(1))

    def complete_listing(self, edition: int, front: bytes) -> None:
        """Complete the edition that the parts of a run have written; `front` has the dashboard's numbers."""
        complete_edition(self._database, edition, front)


def _is_held(connection: Connection, part: PublicationPart) -> tuple[ColumnElement[bool], ...]:
    """Selects a part unless it is done, or was leased again since."""
    return (
        _PART.run_key == find_run_key(connection, part.run),
        *(_PART.number == part.number, _PART.edition == part.edition, _PART.token == part.token),
        _PART.counts.is_(None),
    )


def _read_progress(connection: Connection, run: int) -> PublicationProgress:
    query = select(func.count(), func.count(_PART.counts)).where(_PART.run_key == run)
    parts, done = connection.execute(query).one()
    return PublicationProgress(parts=parts, done=done)


def _refuse_late_results(connection: Connection, run: int) -> None:
    """End the leases of open items and give all open items new tokens, so that results of earlier ones are refused."""
    of_run = RUN_ITEM.c.run_key == run
    connection.execute(update(RUN_ITEM).where(of_run, IS_LEASED_OUT).values(RELEASED_LEASE))
    connection.execute(update(RUN_ITEM).where(of_run, RUN_ITEM.c.done_at.is_(None)).values(token=RUN_ITEM.c.token + 1))
