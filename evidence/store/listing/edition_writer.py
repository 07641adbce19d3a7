"""Writes an edition of the listing index in batches, each a short transaction, under a key that is not read yet.

Several processes may write parts of one edition: each part has its own places. The last transaction marks the edition
complete and drops editions that are no longer read. An edition is shown as soon as its run is published. A killed
process leaves an incomplete edition, which is never shown and which a later one drops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Column, ColumnElement, Connection, delete, func, insert, literal, select, text, union, update

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
from evidence.store.sql.json_columns import from_json, to_json
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


class EditionNumbers(Struct, dict=True):
    """The numbers of the filter groups, facets and rubric versions of an edition; they only grow."""

    kinds: dict[FilterGroup, int]
    facets: dict[str, int]
    rubrics: dict[tuple[str, int], int]

    @property
    def size(self) -> int:
        return len(self.kinds) + len(self.facets) + len(self.rubrics)

    def add(self, listed: ListedServer) -> None:
        self.kinds.setdefault(filter_group_of(listed), len(self.kinds))
        add_bits(self.facets, listed.facets)
        for score in listed.scores:
            self.rubrics.setdefault((score.rubric, score.version), FIRST_RUBRIC + len(self.rubrics))


class EditionWriter:
    """Writes one edition: `add` servers in the order of their ids, then `finish`.

    When another process completes a newer edition meanwhile, the rest of this one is not written.
    """

    def __init__(self, database: Database, run: str) -> None:
        self._database = database
        self._waiting: list[ListedServer] = []
        self._written = 0
        with database.writing() as connection:
            self._edition = begin_edition(connection, find_run_key(connection, run))

    def add(self, listed: ListedServer) -> None:
        self._waiting.append(listed)
        if len(self._waiting) == BATCH_SIZE:
            self._flush()

    def finish(self, front: bytes) -> None:
        """Complete the edition; `front` is a JSON object with the dashboard's numbers."""
        self._flush()
        complete_edition(self._database, self._edition, front)

    def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        numbers = number_servers(self._database, self._edition, batch)
        with self._database.writing() as connection:
            write_servers(connection, self._edition, self._written, batch, numbers)
        self._written += len(batch)


def begin_edition(connection: Connection, run_key: int) -> int:
    """Begin an edition; its key."""
    values = {"run_key": run_key, "ready": False, "servers": 0}
    texts = {"rubrics": "[]", "kinds": "[]", "facets": "[]", "front": b""}
    made = connection.execute(insert(LISTING_EDITION).values(values | texts).returning(LISTING_EDITION.c.key))
    return int(made.scalar_one())


def number_servers(database: Database, edition: int, batch: Sequence[ListedServer]) -> EditionNumbers:
    """The numbers of an edition with those that these servers need, which are added in a short transaction.

    Several processes may write parts of an edition: a number that one has added is the same for all.
    """
    edited = LISTING_EDITION.c
    with database.writing() as connection:
        query = select(edited.kinds, edited.facets, edited.rubrics).where(edited.key == edition)
        row = connection.execute(query.with_for_update(key_share=True)).first()
        numbers = _numbers_of("[]", "[]", "[]") if row is None else _numbers_of(*row)
        known = numbers.size
        for listed in batch:
            numbers.add(listed)
        if row is not None and numbers.size > known:
            kinds = FilterGroups(tuple((kind, 0) for kind in numbers.kinds))
            values = {
                "kinds": kinds.to_json(),
                "facets": to_json(list(numbers.facets)),
                "rubrics": to_json(list(numbers.rubrics)),
            }
            connection.execute(update(LISTING_EDITION).where(edited.key == edition).values(values))
    return numbers


def write_servers(
    connection: Connection, edition: int, first: int, batch: Sequence[ListedServer], numbers: EditionNumbers
) -> None:
    """Write servers, in the order of their ids, from a place on; nothing if the edition was dropped meanwhile."""
    if not batch or not _is_held(connection, edition):
        return
    keys = find_server_keys(connection, [listed.server.id for listed in batch])
    servers: list[bulk_insert.Row] = []
    orders: list[bulk_insert.Row] = []
    words: list[tuple[int, ServerWords]] = []
    for place, listed in enumerate(batch, first):
        server, kind = listed.server, numbers.kinds[filter_group_of(listed)]
        facets, key = add_bits(numbers.facets, listed.facets), keys[server.id]
        name = server.name[:_NAME].casefold()[:_NAME]
        servers.append((edition, place, key, name, listed.as_of, kind, facets, pack_server(listed)))
        orders.append((edition, BY_DATE, place, rank_date(listed.as_of), kind, facets, None, None))
        orders.append((edition, BY_ADDITION, place, rank_addition(key), kind, facets, None, None))
        for score in listed.scores:
            points = None if score.score is None else score_to_integer(score.score)
            sort = numbers.rubrics[score.rubric, score.version]
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


def complete_edition(database: Database, edition: int, front: bytes) -> None:
    """Complete an edition, unless it was completed or dropped; `front` is JSON with the dashboard's numbers."""
    with database.writing() as connection:
        # Before the edition is locked: a process that holds the lock may be waiting to drop it.
        _lock_completion(connection)
        is_ready = select(LISTING_EDITION.c.ready).where(LISTING_EDITION.c.key == edition)
        if _is_held(connection, edition) and not connection.scalar(is_ready):
            _complete(connection, edition, front)


def _numbers_of(kinds: str, facets: str, rubrics: str) -> EditionNumbers:
    groups = (kind for kind, _ in FilterGroups.from_json(kinds).counted)
    versions = ((rubric, version) for rubric, version in from_json(rubrics))
    return EditionNumbers(
        kinds={kind: number for number, kind in enumerate(groups)},
        facets={facet: number for number, facet in enumerate(from_json(facets))},
        rubrics={name: number for number, name in enumerate(versions, FIRST_RUBRIC)},
    )


def _is_held(connection: Connection, edition: int) -> bool:
    """Lock an edition against being dropped in this transaction; False when a newer one has replaced it."""
    held = (
        select(LISTING_EDITION.c.key).where(LISTING_EDITION.c.key == edition).with_for_update(read=True, key_share=True)
    )
    return connection.execute(held).first() is not None


def _lock_completion(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _COMPLETION})


def _complete(connection: Connection, edition: int, front: bytes) -> None:
    head = connection.execute(select(LISTING_EDITION).where(LISTING_EDITION.c.key == edition)).one()
    alike = _count_rows(connection, LISTING_SERVER.c.kind, LISTING_SERVER.c.edition == edition)
    scored = _count_rows(connection, LISTING_ORDER.c.sort, LISTING_ORDER.c.edition == edition)
    servers, numbers = sum(alike.values()), _numbers_of(head.kinds, head.facets, head.rubrics)
    _order_by_name(connection, edition)
    for sort in numbers.rubrics.values():
        if scored.get(sort, 0) < servers:
            _order_the_rest(connection, edition, sort)
    _withhold(connection, edition)
    kinds = FilterGroups(tuple((kind, alike.get(number, 0)) for kind, number in numbers.kinds.items()))
    values = {"ready": True, "servers": servers, "kinds": kinds.to_json(), "front": front}
    before = find_published_edition_key(connection)
    connection.execute(update(LISTING_EDITION).where(LISTING_EDITION.c.key == edition).values(values))
    after = find_published_edition_key(connection)
    coming = edition if not is_edition_published(connection, edition) else None
    _drop_others(connection, edition, {before, after, coming} - {None})
    if connection.dialect.name == "postgresql":
        # Otherwise the planner assumes that the new edition is empty until autovacuum runs.
        for name in (*(table.name for table in _ROWS), "listing_text"):
            connection.execute(text(f"ANALYZE {name}"))


def _count_rows(connection: Connection, by: Column[int], which: ColumnElement[bool]) -> dict[int, int]:
    return dict(connection.execute(select(by, func.count()).where(which).group_by(by)).all())


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
