"""Writes an edition of the listing index in batches, each a short transaction, under a key that is not read yet.

The last transaction marks the edition complete and drops editions that are no longer read. An edition is shown as soon
as its run is published. A killed process leaves an incomplete edition, which is never shown and which a later one
drops; of two processes that publish at once, each writes a whole edition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, literal, select, text, union, update

from evidence.store.database import Database
from evidence.store.listing.facet_bits import add_bits
from evidence.store.listing.published_edition import find_published_edition_key, is_edition_published
from evidence.store.listing.ranks import (
    BY_ADDITION,
    BY_DATE,
    BY_NAME,
    FIRST_RUBRIC,
    UNRANKED,
    rank_addition,
    rank_date,
    rank_score,
    score_to_integer,
)
from evidence.store.listing.search_words import ServerWords, split_server_words
from evidence.store.listing.server_packing import FilterGroup, FilterGroups, filter_group_of, pack_server
from evidence.store.listing.values import ListedServer
from evidence.store.listing.word_search import add_words, drop_words
from evidence.store.sql import bulk_insert
from evidence.store.sql.json_columns import to_json
from evidence.store.sql.row_keys import find_run_key, find_server_keys
from evidence.store.tables.core import RUN, RUN_ITEM
from evidence.store.tables.evidence import SCORING
from evidence.store.tables.listing import LISTING_EDITION, LISTING_ORDER, LISTING_SERVER, LISTING_WITHHELD
from evidence.store.values import Stage

BATCH_SIZE: Final = 500
_NAME: Final = 100
"""Characters of a name in the sort key."""

_COMPLETION: Final = 7_340_032_131
"""The advisory lock for completing editions on PostgreSQL; SQLite has one writer."""

_ROWS: Final = (LISTING_SERVER, LISTING_ORDER)
_SERVER_COLUMNS: Final = ("edition", "place", "server_key", "name", "seen", "kind", "facets", "body")
_ORDER_COLUMNS: Final = ("edition", "sort", "place", "rank", "kind", "facets", "grade", "score")


class EditionSuperseded(Exception):
    """Another process has completed a newer edition and dropped the one that is being written."""


class EditionWriter:
    """Writes one edition: `add` servers in the order of their ids, then `finish`.

    When another process completes a newer edition meanwhile, the rest of this one is not written.
    """

    def __init__(self, database: Database, run: str) -> None:
        self._database = database
        self._counts = EditionCounts()
        self._waiting: list[ListedServer] = []
        self._superseded = False
        with database.writing() as connection:
            self._edition = _begin(connection, run)

    def add(self, listed: ListedServer) -> None:
        self._waiting.append(listed)
        if len(self._waiting) == BATCH_SIZE:
            self._flush()

    def finish(self, front: bytes) -> None:
        """Complete the edition; `front` is a JSON object with the dashboard's numbers."""
        self._flush()
        self._write_unless_superseded(
            lambda connection: _complete(connection, self._edition, self._counts, front), exclusive=True
        )

    def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch:
            self._write_unless_superseded(lambda connection: _write(connection, self._edition, batch, self._counts))

    def _write_unless_superseded(self, write: Callable[[Connection], None], *, exclusive: bool = False) -> None:
        if self._superseded:
            return
        try:
            with self._database.writing() as connection:
                if exclusive:
                    # Before the edition is locked: a process that holds the lock may be waiting to drop it.
                    _lock_completion(connection)
                _hold(connection, self._edition)
                write(connection)
        except EditionSuperseded:
            self._superseded = True


@dataclass
class EditionCounts:
    """Counts of an edition while it is written; their size does not grow with the number of servers."""

    servers: int = 0
    kinds: dict[FilterGroup, int] = field(default_factory=dict)
    alike: Counter[int] = field(default_factory=Counter)
    facets: dict[str, int] = field(default_factory=dict)
    rubrics: dict[tuple[str, int], int] = field(default_factory=dict)
    scored: Counter[int] = field(default_factory=Counter)

    def kind(self, listed: ListedServer) -> int:
        """Count a server in its filter group; the number of the group."""
        number = self.kinds.setdefault(filter_group_of(listed), len(self.kinds))
        self.alike[number] += 1
        return number

    def sort(self, rubric: str, version: int) -> int:
        """Count a score of a rubric version; the number of its order."""
        number = self.rubrics.setdefault((rubric, version), FIRST_RUBRIC + len(self.rubrics))
        self.scored[number] += 1
        return number


def _begin(connection: Connection, run: str) -> int:
    values = {"run_key": find_run_key(connection, run), "ready": False, "servers": 0}
    texts = {"rubrics": "[]", "kinds": "[]", "facets": "[]", "front": b""}
    made = connection.execute(insert(LISTING_EDITION).values(values | texts).returning(LISTING_EDITION.c.key))
    return int(made.scalar_one())


def _hold(connection: Connection, edition: int) -> None:
    """Lock an edition against being dropped in this transaction; raise EditionSuperseded when it was dropped."""
    held = (
        select(LISTING_EDITION.c.key).where(LISTING_EDITION.c.key == edition).with_for_update(read=True, key_share=True)
    )
    if connection.execute(held).first() is None:
        raise EditionSuperseded


def _write(connection: Connection, edition: int, batch: Sequence[ListedServer], counts: EditionCounts) -> None:
    keys = find_server_keys(connection, [listed.server.id for listed in batch])
    servers: list[bulk_insert.Row] = []
    orders: list[bulk_insert.Row] = []
    words: list[tuple[int, ServerWords]] = []
    for listed in batch:
        place, kind = counts.servers, counts.kind(listed)
        facets = add_bits(counts.facets, listed.facets)
        counts.servers += 1
        server = listed.server
        name = server.name[:_NAME].casefold()[:_NAME]
        key = keys[server.id]
        servers.append((edition, place, key, name, listed.as_of, kind, facets, pack_server(listed)))
        orders.append((edition, BY_DATE, place, rank_date(listed.as_of), kind, facets, None, None))
        orders.append((edition, BY_ADDITION, place, rank_addition(key), kind, facets, None, None))
        for score in listed.scores:
            points = None if score.score is None else score_to_integer(score.score)
            sort = counts.sort(score.rubric, score.version)
            orders.append((edition, sort, place, rank_score(score), kind, facets, score.grade, points))
        words.append(
            (
                place,
                split_server_words((server.name, server.ref), listed.purpose, listed.tool_texts, listed.readme_texts),
            )
        )
    bulk_insert.insert_rows(connection, LISTING_SERVER, _SERVER_COLUMNS, servers, unique=("edition", "place"))
    bulk_insert.insert_rows(connection, LISTING_ORDER, _ORDER_COLUMNS, orders, unique=("edition", "sort", "place"))
    add_words(connection, edition, words)


def _lock_completion(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _COMPLETION})


def _complete(connection: Connection, edition: int, counts: EditionCounts, front: bytes) -> None:
    _order_by_name(connection, edition)
    for sort in counts.rubrics.values():
        if counts.scored[sort] < counts.servers:
            _order_the_rest(connection, edition, sort)
    _withhold(connection, edition)
    kinds = FilterGroups(tuple((kind, counts.alike[number]) for kind, number in counts.kinds.items()))
    values = {
        "ready": True,
        "servers": counts.servers,
        "rubrics": to_json(list(counts.rubrics)),
        "kinds": kinds.to_json(),
        "facets": to_json(list(counts.facets)),
        "front": front,
    }
    before = find_published_edition_key(connection)
    connection.execute(update(LISTING_EDITION).where(LISTING_EDITION.c.key == edition).values(values))
    after = find_published_edition_key(connection)
    coming = edition if not is_edition_published(connection, edition) else None
    _drop_others(connection, edition, {before, after, coming} - {None})
    if connection.dialect.name == "postgresql":
        # Otherwise the planner assumes that the new edition is empty until autovacuum runs.
        for name in (*(table.name for table in _ROWS), "listing_text"):
            connection.execute(text(f"ANALYZE {name}"))


def _order_by_name(connection: Connection, edition: int) -> None:
    server = LISTING_SERVER.c
    number = func.row_number().over(order_by=(server.name, server.place))
    numbered = select(server.edition, literal(BY_NAME), server.place, number, server.kind, server.facets)
    connection.execute(_order_from(numbered.where(server.edition == edition)))


def _order_the_rest(connection: Connection, edition: int, sort: int) -> None:
    """Add the servers without a score of a rubric version at the end of its order."""
    server, order = LISTING_SERVER.c, LISTING_ORDER.c
    ranked = select(order.place).where(order.edition == edition, order.sort == sort, order.place == server.place)
    rank = literal(UNRANKED, order.rank.type)
    rest = select(server.edition, literal(sort), server.place, rank, server.kind, server.facets)
    connection.execute(_order_from(rest.where(server.edition == edition, ~ranked.correlate(LISTING_SERVER).exists())))


def _withhold(connection: Connection, edition: int) -> None:
    """Record which servers of the run are not in the index: their results are not public."""
    run = connection.execute(select(LISTING_EDITION.c.run_key).where(LISTING_EDITION.c.key == edition)).scalar_one()
    connection.execute(delete(LISTING_WITHHELD).where(LISTING_WITHHELD.c.run_key == run))
    items = select(RUN_ITEM.c.server_key).where(RUN_ITEM.c.run_key == run, RUN_ITEM.c.stage == Stage.SCORE.value)
    planned = union(items, select(SCORING.c.server_key).where(SCORING.c.run_key == run)).subquery()
    listed = select(LISTING_SERVER.c.server_key).where(
        LISTING_SERVER.c.edition == edition, LISTING_SERVER.c.server_key == planned.c.server_key
    )
    others = select(literal(run), planned.c.server_key).where(~listed.correlate(planned).exists())
    connection.execute(insert(LISTING_WITHHELD).from_select(["run_key", "server_key"], others))


def _order_from(rows: Any) -> Any:
    return insert(LISTING_ORDER).from_select(["edition", "sort", "place", "rank", "kind", "facets"], rows)


def _drop_others(connection: Connection, edition: int, kept: set[int | None]) -> None:
    """Drop the rows of earlier editions, and whole editions that are incomplete or of the same run.

    The edition that was shown until now stays until the next completion, because readers may be using it. Editions of
    newer runs may still be written, so they stay too.
    """
    at = connection.execute(
        select(LISTING_EDITION.c.run_key, RUN.c.id).join(RUN).where(LISTING_EDITION.c.key == edition)
    ).one()
    earlier = (LISTING_EDITION.c.key <= edition, LISTING_EDITION.c.key.not_in(kept), RUN.c.id <= at.id)
    others = list(connection.scalars(select(LISTING_EDITION.c.key).join(RUN).where(*earlier)))
    replaced = LISTING_EDITION.c.key.in_(others) & (
        ~LISTING_EDITION.c.ready | ((LISTING_EDITION.c.run_key == at.run_key) & (LISTING_EDITION.c.key != edition))
    )
    connection.execute(delete(LISTING_EDITION).where(replaced))
    for table in _ROWS:
        connection.execute(delete(table).where(table.c.edition.in_(others)))
    drop_words(connection, others)
