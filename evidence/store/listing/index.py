"""The listing index: pages of lists, the dashboard's numbers and score histories of published runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Connection, ScalarSelect, func, select

from evidence.canonical import Json
from evidence.model import ServerId
from evidence.store.database import Database
from evidence.store.errors import BadCursor
from evidence.store.listing import hidden_servers, queries
from evidence.store.listing.edition_writer import EditionWriter
from evidence.store.listing.matched_words import MatchedWords, read_matches
from evidence.store.listing.published_edition import SHOWN_EDITION, edition_is_public, find_published_edition
from evidence.store.listing.queries import Edition
from evidence.store.listing.relevance import read_relevant
from evidence.store.listing.score_history import (
    find_newest_scorecard,
    read_history,
    read_newest_scores,
    read_scores,
)
from evidence.store.listing.search_words import parse_search_terms
from evidence.store.listing.shown_server import find_shown, is_shown
from evidence.store.listing.values import HistoryPoint, ListedServer, ListingPage, ListingQuery
from evidence.store.runs.retests import RetestState
from evidence.store.runs.run_states import list_published
from evidence.store.sql.json_columns import object_from_json
from evidence.store.tables.community import DISPUTE, DISPUTE_ACT
from evidence.store.tables.core import DISCLOSURE, OPT_OUT, RETEST, RUN
from evidence.store.tables.listing import LISTING_EDITION, LISTING_HIDDEN
from evidence.store.transactions import DatabaseAccess, read_method
from evidence.store.values import RunRow

MOST: Final = 200
"""The maximum of servers on a page."""

CHANGES: Final[tuple[ScalarSelect[Any], ...]] = (
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
"""Numbers of which at least one changes with every change of public data."""

_CHANGES: Final = select(*CHANGES)


class ListingIndex(DatabaseAccess):
    """The listing index of one database. All its rows are public; the writer must ensure that."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._edition: Edition | None = None

    def write_edition(self, run: str) -> EditionWriter:
        """Begin a new edition of a run, for callers that add servers one by one."""
        return EditionWriter(self._database, run)

    def write_listing(self, run: str, rows: Iterable[ListedServer], front: Callable[[], bytes]) -> None:
        """Replace the listed servers by those of a run, in one step, as soon as the run is published.

        `rows` are in the order of server ids; `front` returns the dashboard's numbers and is called after the last row.
        An edition of a newer run stays. May be repeated, interrupted, and run by several processes at once.
        """
        writer = self.write_edition(run)
        for listed in rows:
            writer.add(listed)
        writer.finish(front())

    def read_page(self, query: ListingQuery, after: str | None = None, limit: int = 50) -> ListingPage:
        """A page of a list from a cursor on, empty when no run is published; raise BadCursor or UnknownRubric."""
        size = max(1, min(limit, MOST))
        with self._database.reading() as connection:
            edition = self._shown(connection)
            if edition is None:
                return ListingPage()
            if query.sort == "relevance":
                if parse_search_terms(query.text):
                    if after is not None:
                        raise BadCursor("a list by relevance has one page: begin again without a cursor")
                    return read_relevant(connection, edition, query, size)
                query = replace(query, sort="rank")
            return queries.read_page(connection, edition, query, after, size)

    def read_matches(self, text: str, servers: Sequence[ServerId]) -> dict[ServerId, tuple[MatchedWords, ...]]:
        """The words of the texts of some servers that match a query, by server."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return {} if edition is None else read_matches(connection, edition.key, text, servers)

    def find_server(self, server: ServerId) -> ListedServer | None:
        """One listed server; None when it is unknown, withheld or opted out."""
        shown = self.find_shown(server)
        return None if shown is None else shown.listed

    find_shown = read_method(find_shown)

    def list_indexable(self, prefix: str = "srv_") -> list[tuple[ServerId, datetime]]:
        """Ids and dates of servers whose pages may be indexed and whose ids have a prefix, in the order of ids."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return [] if edition is None else queries.read_indexed(connection, edition, prefix)

    def read_dashboard(self, run: str | None = None) -> tuple[str, dict[str, Json]] | None:
        """The id and dashboard numbers (`front`) of a published run, by default the newest; None without one."""
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
            front = hidden_servers.remove_hidden(connection, object_from_json(row[1]))
            assert isinstance(front, dict)
            return row[0], front

    def list_rubrics(self) -> tuple[tuple[str, int], ...]:
        """The rubric versions of the listed scores, sorted."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return () if edition is None else tuple(sorted(edition.rubrics))

    def find_newest_run(self) -> str | None:
        """The id of the published run that is shown; None before the first."""
        with self._database.reading() as connection:
            edition = self._shown(connection)
            return None if edition is None else edition.run

    def list_published_runs(self) -> tuple[RunRow, ...]:
        """The published runs other than re-tests, newest first."""
        with self._database.reading() as connection:
            return tuple(list_published(connection))

    def read_history(self, server: ServerId, rubric: str | None = None) -> tuple[HistoryPoint, ...]:
        """The scores of a server in published runs and finished re-tests, oldest first; () for an unlisted server."""
        with self._database.reading() as connection:
            if not is_shown(connection, server):
                return ()
            return read_history(connection, server, rubric)

    find_newest_scorecard = read_method(find_newest_scorecard)

    read_newest_scores = read_method(read_newest_scores)

    def read_scores(
        self, run: str, servers: Sequence[ServerId], rubric: str
    ) -> dict[ServerId, tuple[int, Decimal | None] | None]:
        """Version and score of the newest version of a rubric in a run, for each server that the run scored."""
        with self._database.reading() as connection:
            return read_scores(connection, run, servers, rubric)

    def set_hidden_servers(self, servers: Iterable[ServerId]) -> None:
        """Hide exactly these servers and those named by opt-outs; ids that are not stored are ignored."""
        with self._database.writing() as connection:
            hidden_servers.set_hidden_servers(connection, servers)

    def read_revision(self) -> str:
        """A text that changes with every change of public data, by any process."""
        with self._database.reading() as connection:
            return join_revision(connection.execute(_CHANGES).one())

    def _shown(self, connection: Connection) -> Edition | None:
        found = find_published_edition(connection)
        if found is None:
            return None
        known = self._edition  # may be set by another thread
        if known is None or (known.key, known.hides) != found:
            self._edition = known = queries.read_edition(connection, *found)
        return known


def join_revision(values: Iterable[object]) -> str:
    """The text of a revision."""
    return "-".join(str(value or 0) for value in values)
