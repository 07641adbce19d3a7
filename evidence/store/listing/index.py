"""The board: lists, the dashboard's numbers and histories of what was published, fast at any size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from sqlalchemy import Connection, func, select

from evidence.canonical import Json
from evidence.model import Server, ServerId
from evidence.store.database import Database
from evidence.store.listing import hidden_servers, queries
from evidence.store.listing.edition_writer import EditionWriter
from evidence.store.listing.published_edition import SHOWN_EDITION, edition_is_public, find_published_edition
from evidence.store.listing.queries import Edition
from evidence.store.listing.score_history import read_history, read_scores
from evidence.store.listing.values import HistoryPoint, ListedServer, ListingPage, ListingQuery
from evidence.store.runs.retests import RetestState
from evidence.store.runs.run_states import list_published
from evidence.store.sql.json_columns import object_from_json
from evidence.store.tables.community import DISPUTE, DISPUTE_ACT
from evidence.store.tables.core import DISCLOSURE, OPT_OUT, RETEST, RUN
from evidence.store.tables.listing import LISTING_EDITION, LISTING_HIDDEN
from evidence.store.values import RunRow

MOST: Final = 200
"""Servers on one page at most."""

_CHANGES: Final = select(
    SHOWN_EDITION,
    select(func.max(DISCLOSURE.c.key)).scalar_subquery(),
    select(func.max(OPT_OUT.c.key)).scalar_subquery(),
    select(func.count(OPT_OUT.c.revoked_at)).scalar_subquery(),
    select(func.count()).select_from(LISTING_HIDDEN).scalar_subquery(),
    select(func.sum(LISTING_HIDDEN.c.server_key)).scalar_subquery(),
    select(func.max(RETEST.c.key)).scalar_subquery(),
    select(func.max(DISPUTE.c.key)).scalar_subquery(),
    select(func.max(DISPUTE_ACT.c.key)).scalar_subquery(),
    select(func.count()).where(RETEST.c.state == RetestState.WAITING.value).scalar_subquery(),
    select(func.count()).where(RETEST.c.state == RetestState.RUNNING.value).scalar_subquery(),
)
"""Numbers of which one differs after every change of what is shown."""


class ListingIndex:
    """The listing index of one database. All its rows are public: the writer has to ensure that."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._edition: Edition | None = None

    def write_edition(self, run: str) -> EditionWriter:
        """A new edition, of a run: see `put`, for callers that are handed the servers one by one."""
        return EditionWriter(self._database, run)

    def write_listing(self, run: str, rows: Iterable[ListedServer], front: Callable[[], bytes]) -> None:
        """Show the servers of a run instead of those shown now, all at once: as soon as the run is published.

        They come in the order of their ids; `front` is asked for the dashboard's numbers when all of them were read.
        Those of a newer run stay. May be repeated, interrupted, and done by several processes at once.
        """
        posting = self.write_edition(run)
        for listed in rows:
            posting.add(listed)
        posting.finish(front())

    def read_page(self, query: ListingQuery, after: str | None = None, limit: int = 50) -> ListingPage:
        """A page of a list from a cursor on; raise BadCursor or UnknownRubric. Empty when nothing was published."""
        size = max(1, min(limit, MOST))
        with self._database.reading() as connection:
            edition = self._shown(connection)
            if edition is None:
                return ListingPage()
            return queries.read_page(connection, edition, query, after, size)

    def find_server(self, server: ServerId) -> ListedServer | None:
        """One server; None when it is not shown: unknown, withheld, or it asked not to be looked at."""
        with self._database.reading() as connection:
            return queries.find_listed(connection, server)

    def list_indexable(self, prefix: str = "srv_") -> list[tuple[ServerId, datetime]]:
        """Id and date of servers whose pages may be indexed and whose ids begin so, in the order of ids."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return [] if edition is None else queries.read_indexed(connection, edition, prefix)

    def read_dashboard(self, run: str | None = None) -> tuple[str, dict[str, Json]] | None:
        """The dashboard's numbers of a run, or of the newest: its id, and what `put` was given. None without any."""
        with self._database.reading() as connection:
            query = (
                select(RUN.c.id, LISTING_EDITION.c.front)
                .join(RUN, RUN.c.key == LISTING_EDITION.c.run_key)
                .where(edition_is_public())
            )
            if run is not None:
                query = query.where(RUN.c.id == run)
            row = connection.execute(query.order_by(RUN.c.id.desc(), LISTING_EDITION.c.key.desc()).limit(1)).first()
            if row is None:
                return None
            told = hidden_servers.without_hidden(connection, object_from_json(row[1]))
            assert isinstance(told, dict)  # as it was put
            return row[0], told

    def list_rubrics(self) -> tuple[tuple[str, int], ...]:
        """The rubric versions that servers shown are scored with, sorted."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return () if edition is None else tuple(sorted(edition.rubrics))

    def find_newest_run(self) -> str | None:
        """The run that is shown, None when nothing was published."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return None if edition is None else edition.run

    def list_published_runs(self) -> tuple[RunRow, ...]:
        """The published runs, re-tests left out, newest first."""
        with self._database.reading() as connection:
            return tuple(list_published(connection))

    def read_history(self, server: ServerId, rubric: str | None = None) -> tuple[HistoryPoint, ...]:
        """The scores of a server in published runs and finished re-tests, oldest first; () where `find` finds none."""
        with self._database.reading() as connection:
            if not queries.is_listed(connection, server):
                return ()
            return read_history(connection, server, rubric)

    def read_scores(
        self, run: str, servers: Sequence[ServerId], rubric: str
    ) -> dict[ServerId, tuple[int, Decimal | None] | None]:
        """Version and score by the newest version of a rubric in a run, of those servers that the run scored at all."""
        with self._database.reading() as connection:
            return read_scores(connection, run, servers, rubric)

    def read_all_servers(self) -> Iterator[Server]:
        """Every server of the run that is shown, hidden ones too, in the order of ids and read in batches."""
        after = -1
        while True:
            with self._database.reading() as connection:
                edition = self._shown(connection)
                batch = [] if edition is None else queries.read_servers(connection, edition, after)
            if not batch:
                return
            yield from (server for _, server in batch)
            after = batch[-1][0]

    def set_hidden_servers(self, servers: Iterable[ServerId]) -> None:
        """Hide exactly these servers from now on; ids that are not stored are ignored."""
        with self._database.writing() as connection:
            hidden_servers.set_hidden_servers(connection, servers)

    def read_revision(self) -> str:
        """A text that changes with every change of public data, by any process."""
        with self._database.reading() as connection:
            counts = connection.execute(_CHANGES).one()
        return "-".join(str(number or 0) for number in counts)

    def _shown(self, connection: Connection) -> Edition | None:
        found = find_published_edition(connection)
        if found is None:
            return None
        known = self._edition  # that of another thread is as good
        if known is None or (known.key, known.hides) != found:
            self._edition = known = queries.read_edition(connection, *found)
        return known
