"""The board: lists, the dashboard's numbers and histories of what was published, fast at any size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from sqlalchemy import Connection, func, select

from evidence.canonical import Json
from evidence.model import Server, ServerId
from evidence.store import board_hiding, board_reading
from evidence.store.board_history import read_history, read_scores
from evidence.store.board_models import BOARD, BOARD_HIDDEN
from evidence.store.board_reading import Edition
from evidence.store.board_rows import BoardPage, BoardQuery, HistoryPoint, Listed
from evidence.store.board_shown import SHOWN_EDITION, find_shown, is_told
from evidence.store.board_writing import Posting
from evidence.store.database import Database
from evidence.store.mapping import to_object
from evidence.store.models import DISCLOSURE, OPT_OUT, RETEST, RUN
from evidence.store.people_models import DISPUTE, DISPUTE_ACT
from evidence.store.retests import RetestState
from evidence.store.rows import RunRow
from evidence.store.runs import list_published

MOST: Final = 200
"""Servers on one page at most."""

_CHANGES: Final = select(
    SHOWN_EDITION,
    select(func.max(DISCLOSURE.c.key)).scalar_subquery(),
    select(func.max(OPT_OUT.c.key)).scalar_subquery(),
    select(func.count(OPT_OUT.c.revoked_at)).scalar_subquery(),
    select(func.count()).select_from(BOARD_HIDDEN).scalar_subquery(),
    select(func.sum(BOARD_HIDDEN.c.server_key)).scalar_subquery(),
    select(func.max(RETEST.c.key)).scalar_subquery(),
    select(func.max(DISPUTE.c.key)).scalar_subquery(),
    select(func.max(DISPUTE_ACT.c.key)).scalar_subquery(),
    select(func.count()).where(RETEST.c.state == RetestState.WAITING.value).scalar_subquery(),
    select(func.count()).where(RETEST.c.state == RetestState.RUNNING.value).scalar_subquery(),
)
"""Numbers of which one differs after every change of what is shown."""


class Board:
    """The board of one database. Everything on it may be shown to anybody: whoever puts it there sees to that."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._edition: Edition | None = None

    def posting(self, run: str) -> Posting:
        """A new edition, of a run: see `put`, for callers that are handed the servers one by one."""
        return Posting(self._database, run)

    def put(self, run: str, rows: Iterable[Listed], front: Callable[[], bytes]) -> None:
        """Show the servers of a run instead of those shown now, all at once: as soon as the run is published.

        They come in the order of their ids; `front` is asked for the dashboard's numbers when all of them were read.
        Those of a newer run stay. May be repeated, interrupted, and done by several processes at once.
        """
        posting = self.posting(run)
        for listed in rows:
            posting.add(listed)
        posting.finish(front())

    def page(self, query: BoardQuery, after: str | None = None, limit: int = 50) -> BoardPage:
        """A page of a list from a cursor on; raise BadCursor or UnknownRubric. Empty when nothing was published."""
        size = max(1, min(limit, MOST))
        with self._database.reading() as connection:
            edition = self._shown(connection)
            if edition is None:
                return BoardPage()
            return board_reading.read_page(connection, edition, query, after, size)

    def find(self, server: ServerId) -> Listed | None:
        """One server; None when it is not shown: unknown, withheld, or it asked not to be looked at."""
        with self._database.reading() as connection:
            return board_reading.find_listed(connection, server)

    def indexed(self, prefix: str = "srv_") -> list[tuple[ServerId, datetime]]:
        """Id and date of servers whose pages may be indexed and whose ids begin so, in the order of ids."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return [] if edition is None else board_reading.read_indexed(connection, edition, prefix)

    def front(self, run: str | None = None) -> tuple[str, dict[str, Json]] | None:
        """The dashboard's numbers of a run, or of the newest: its id, and what `put` was given. None without any."""
        with self._database.reading() as connection:
            query = select(RUN.c.id, BOARD.c.front).join(RUN, RUN.c.key == BOARD.c.run_key).where(is_told())
            if run is not None:
                query = query.where(RUN.c.id == run)
            row = connection.execute(query.order_by(RUN.c.id.desc(), BOARD.c.key.desc()).limit(1)).first()
            if row is None:
                return None
            told = board_hiding.without_hidden(connection, to_object(row[1]))
            assert isinstance(told, dict)  # as it was put
            return row[0], told

    def rubrics(self) -> tuple[tuple[str, int], ...]:
        """The rubric versions that servers shown are scored with, sorted."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return () if edition is None else tuple(sorted(edition.rubrics))

    def newest(self) -> str | None:
        """The run that is shown, None when nothing was published."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return None if edition is None else edition.run

    def runs(self) -> tuple[RunRow, ...]:
        """The published runs, re-tests left out, newest first."""
        with self._database.reading() as connection:
            return tuple(list_published(connection))

    def history(self, server: ServerId, rubric: str | None = None) -> tuple[HistoryPoint, ...]:
        """What published runs and finished re-tests said of a server, oldest first; () where `find` says None."""
        with self._database.reading() as connection:
            if not board_reading.is_listed(connection, server):
                return ()
            return read_history(connection, server, rubric)

    def scores(
        self, run: str, servers: Sequence[ServerId], rubric: str
    ) -> dict[ServerId, tuple[int, Decimal | None] | None]:
        """Version and score by the newest version of a rubric in a run, of those servers that the run scored at all."""
        with self._database.reading() as connection:
            return read_scores(connection, run, servers, rubric)

    def everyone(self) -> Iterator[Server]:
        """Every server of the run that is shown, hidden ones too, in the order of ids and read in batches."""
        after = -1
        while True:
            with self._database.reading() as connection:
                edition = self._shown(connection)
                batch = [] if edition is None else board_reading.read_servers(connection, edition, after)
            if not batch:
                return
            yield from (server for _, server in batch)
            after = batch[-1][0]

    def hide(self, servers: Iterable[ServerId]) -> None:
        """Let exactly these servers be hidden from now on; those that are not stored are nobody's concern."""
        with self._database.writing() as connection:
            board_hiding.hide(connection, servers)

    def revision(self) -> str:
        """A text that is another one whenever something shown may have changed, whoever changed it."""
        with self._database.reading() as connection:
            counts = connection.execute(_CHANGES).one()
        return "-".join(str(number or 0) for number in counts)

    def _shown(self, connection: Connection) -> Edition | None:
        found = find_shown(connection)
        if found is None:
            return None
        known = self._edition  # that of another thread is as good
        if known is None or (known.key, known.hides) != found:
            self._edition = known = board_reading.read_edition(connection, *found)
        return known
