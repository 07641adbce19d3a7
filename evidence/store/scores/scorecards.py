"""Scorecards of runs. Receipts are shared by runs; a run adds one row of `scoring` for each server.

The row names the receipts and the evidence that they list, so that scorecards stay readable when records are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection, Row, bindparam, select

from evidence.model import ServerId
from evidence.store.blobs import find_digests
from evidence.store.errors import CorruptBlob
from evidence.store.leases.leasing import find_lost_leases
from evidence.store.leases.progress import mark_done
from evidence.store.records.record_sets import RecordContents, read_contents
from evidence.store.records.shapes import put_shapes, read_shapes
from evidence.store.scores import receipts
from evidence.store.scores.receipt_templates import TemplateValues
from evidence.store.scores.receipts import Receipt
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.packing import pack_numbers, unpack_numbers
from evidence.store.sql.row_keys import (
    find_dated_run,
    find_run_key,
    find_server_ids,
    find_server_keys,
)
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.evidence import SCORING
from evidence.store.values import NOTHING_KEPT, KeptReceipts, LeaseTokens, Stage, StoredScorecard

_COLUMNS: Final = ("run_key", "server_key", "shape_key", "blobs", "receipts")
_UNIQUE: Final = ("run_key", "server_key")
_SCORINGS: Final = (
    select(SCORING)
    .where(SCORING.c.run_key == bindparam("run"), matches_any(SCORING.c.server_key))
    .order_by(SCORING.c.server_key)
)
_NAMED_RUN, _NAMED_SERVER = RUN.alias("named_run"), SERVER.alias("named_server")
_SCORINGS_OF: Final = (
    select(SCORING, SERVER.c.id, RUN.c.as_of)
    .join(SERVER, SERVER.c.key == SCORING.c.server_key)
    .join(RUN, RUN.c.key == SCORING.c.run_key)
    .where(
        SCORING.c.run_key == select(_NAMED_RUN.c.key).where(_NAMED_RUN.c.id == bindparam("run")).scalar_subquery(),
        SCORING.c.server_key.in_(select(_NAMED_SERVER.c.key).where(matches_any(_NAMED_SERVER.c.id))),
    )
    .order_by(SERVER.c.id)
)
"""By id. The keys come from subqueries, so that SQLite finds the rows by them; it would read all of the run's rows to
join their servers."""

_AS_OF: Final = select(RUN.c.as_of).where(RUN.c.key == bindparam("run"))


class Scoring(Struct, frozen=True):
    """The receipts of one server in one run, by key, and the evidence that they list."""

    evidence: RecordContents
    receipts: tuple[int, ...]


def put_scorecards(
    connection: Connection,
    run_id: str,
    cards: Sequence[StoredScorecard],
    *,
    done: Sequence[ServerId] = (),
    kept: Mapping[ServerId, KeptReceipts] = NOTHING_KEPT,
    at: datetime,
    tokens: LeaseTokens | None = None,
) -> frozenset[ServerId]:
    """Store scorecards and mark the servers in `done` as scored. The first card of a rubric version stays.

    `kept` names receipts of earlier runs which the servers have in this run too. Nothing is stored of servers whose
    lease (`tokens`) was lost, or whose earlier run was reopened meanwhile and has no receipts of them; returns both.
    """
    lost = find_lost_leases(connection, run_id, Stage.SCORE, tokens)
    run = find_run_key(connection, run_id)
    kept = {server: receipts for server, receipts in kept.items() if server not in lost}
    servers = find_server_keys(connection, {*(card.server for card in cards), *kept, *done})
    found = _find_kept(connection, {servers[each]: kept[each] for each in kept})
    lost |= {server for server in kept if servers[server] not in found}
    by_server: dict[int, list[StoredScorecard]] = {server: [] for server in found}
    for card in cards:
        if card.server not in lost:
            by_server.setdefault(servers[card.server], []).append(card)
    _put_cards(connection, run, by_server, found)
    done = [server for server in done if server not in lost]
    mark_done(connection, run, Stage.SCORE, (servers[server] for server in done), at)
    return lost


def mend_scorecards(connection: Connection, run_id: str, cards: Sequence[StoredScorecard]) -> int:
    """Write the receipts of scorecards again that are stored and damaged, for every run that has them; return how many.

    Call it for scorecards that were made from evidence, before they are stored.
    """
    run, as_of = find_dated_run(connection, run_id)
    servers = find_server_keys(connection, {card.server for card in cards})
    contents = read_contents(connection, run, servers.values())
    fresh = {key: Scoring(contents.get(key, RecordContents((), ())), ()) for key in servers.values()}
    values = _template_values(connection, as_of, fresh)
    return receipts.mend_receipts(connection, [Receipt.of(card, values[servers[card.server]]) for card in cards])


def _put_cards(
    connection: Connection,
    run: int,
    cards: Mapping[int, Sequence[StoredScorecard]],
    kept: Mapping[int, Sequence[int]],
) -> None:
    """Store the scorecards and kept receipts of servers, by key, beside those that the run has of them."""
    contents = read_contents(connection, run, cards)
    fresh = {server: Scoring(contents.get(server, RecordContents((), ())), ()) for server in cards}
    written = _add(connection, run, fresh, cards, kept)
    stored = _read(connection, run, list(cards))
    others = [server for server, scoring in stored.items() if scoring.receipts != written[server]]
    if others:
        locked = _read(connection, run, others, lock=True)
        _add(connection, run, locked, {server: cards[server] for server in locked}, kept, update=["receipts"])


def _find_kept(connection: Connection, kept: Mapping[int, KeptReceipts]) -> dict[int, list[int]]:
    """The keys of kept receipts of servers, by key."""
    found: dict[int, list[int]] = {}
    for run in sorted({one.run for one in kept.values()}):
        of_run = [server for server, one in kept.items() if one.run == run]
        scorings = _read(connection, find_run_key(connection, run), of_run)
        names = receipts.read_rubric_versions(connection, {key for one in scorings.values() for key in one.receipts})
        found |= {
            server: [key for key in scoring.receipts if names[key] in kept[server].versions]
            for server, scoring in scorings.items()
        }
    return found


def read_scorecards(
    connection: Connection,
    run_id: str,
    *,
    servers: Sequence[ServerId] | None = None,
    rubric: str | None = None,
    version: int | None = None,
) -> list[StoredScorecard]:
    """Scorecards of a run, sorted by server, rubric and version."""
    found: list[StoredScorecard] = []
    for as_of, ids, scorings in _read_of_run(connection, run_id, servers):
        wanted = {key for scoring in scorings.values() for key in scoring.receipts}
        known = receipts.read_receipts(connection, wanted, rubric=rubric, version=version)
        if not known:
            continue
        values = _template_values(connection, as_of, scorings)
        found += [
            known[key].card(ids[server], values[server])
            for server, scoring in scorings.items()
            for key in scoring.receipts
            if key in known
        ]
    return sorted(found, key=lambda card: (card.server, card.rubric, card.version))


def list_receipt_versions(
    connection: Connection, run_id: str, servers: Sequence[ServerId]
) -> dict[ServerId, dict[tuple[str, int], bool]]:
    """The rubric versions that servers have receipts of in a run, and whether these can be kept by a later run.

    They can if they are templates, which hold neither date nor digests. No body is read.
    """
    found: dict[ServerId, dict[tuple[str, int], bool]] = {}
    for _, ids, scorings in _read_of_run(connection, run_id, servers):
        keys = {key for scoring in scorings.values() for key in scoring.receipts}
        known = receipts.read_keepable_versions(connection, keys)
        for server, scoring in scorings.items():
            found[ids[server]] = dict(known[key] for key in scoring.receipts)
    return found


def check_scorings(connection: Connection, run: int, servers: Sequence[int]) -> list[str]:
    """The problems of the scorings of these servers, by key, in one run; receipts are not read."""
    problems = []
    scorings = _read(connection, run, servers)
    known = find_digests(connection, {blob for scoring in scorings.values() for blob in scoring.evidence.blobs})
    names = receipts.read_rubric_versions(
        connection, {key for scoring in scorings.values() for key in scoring.receipts}
    )
    for server, scoring in scorings.items():
        name = f"scoring of server {server} in run {run}"
        try:
            scoring.evidence.digests(known)
        except CorruptBlob as error:
            problems.append(f"{name}: {error}")
        problems += [f"{name} has receipt {key}, which is not stored" for key in scoring.receipts if key not in names]
    return problems


def _add(
    connection: Connection,
    run: int,
    scorings: Mapping[int, Scoring],
    cards: Mapping[int, Sequence[StoredScorecard]],
    kept: Mapping[int, Sequence[int]],
    *,
    update: Sequence[str] = (),
) -> dict[int, tuple[int, ...]]:
    """Write scorings with the cards and kept receipts that they lack; return the receipts of each server."""
    known = receipts.read_rubric_versions(
        connection, {key for server, one in scorings.items() for key in (*one.receipts, *kept.get(server, ()))}
    )
    values = _template_values(connection, connection.execute(_AS_OF, {"run": run}).scalar_one(), scorings)
    new: dict[int, list[Receipt]] = {}
    old: dict[int, tuple[int, ...]] = {}
    for server, scoring in scorings.items():
        have = {known[key] for key in scoring.receipts if key in known}
        added = [key for key in kept.get(server, ()) if known[key] not in have]
        have.update(known[key] for key in added)
        old[server] = (*scoring.receipts, *added)
        for card in sorted(cards[server], key=lambda card: (card.rubric, card.version)):
            if (card.rubric, card.version) not in have:
                have.add((card.rubric, card.version))
                new.setdefault(server, []).append(Receipt.of(card, values[server]))
    keys = _put_receipts(connection, run, new)
    shapes = put_shapes(connection, {scoring.evidence.shape for scoring in scorings.values()})
    after = {server: (*old[server], *(keys[receipt.digest] for receipt in new.get(server, ()))) for server in scorings}
    rows = [
        (run, server, shapes[scoring.evidence.shape], pack_numbers(scoring.evidence.blobs), pack_numbers(after[server]))
        for server, scoring in scorings.items()
    ]
    insert_rows(connection, SCORING, _COLUMNS, rows, unique=_UNIQUE, update=update)
    return after


def _put_receipts(connection: Connection, run: int, wanted: Mapping[int, Sequence[Receipt]]) -> dict[bytes, int]:
    """Store the new receipts of servers, by key; return the keys of all by digest."""
    owners = {receipt.digest: (server, receipt) for server, found in wanted.items() for receipt in found}
    keys = receipts.find_receipts(connection, list(owners))
    missing = {digest: owner for digest, owner in owners.items() if digest not in keys}
    if not missing:
        return keys
    before = _newest_before(connection, run, {server for server, _ in missing.values()})
    names = receipts.read_rubric_versions(connection, {key for found in before.values() for key in found})
    named = {(server, names[key]): key for server, found in before.items() for key in found if key in names}
    similar = {
        digest: key
        for digest, (server, receipt) in missing.items()
        if (key := named.get((server, (receipt.rubric, receipt.version)))) is not None
    }
    receipts.put_receipts(connection, [receipt for _, receipt in missing.values()], similar)
    return keys | receipts.find_receipts(connection, list(missing))


def _newest_before(connection: Connection, run: int, servers: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """The receipts of servers, by key, in the newest earlier run that scored them."""
    run_id = select(RUN.c.id).where(RUN.c.key == run).scalar_subquery()
    scored = select(SCORING.c.run_key).where(SCORING.c.run_key == RUN.c.key, SCORING.c.server_key == SERVER.c.key)
    newest = select(RUN.c.key).where(RUN.c.id < run_id, scored.correlate(RUN, SERVER).scalar_subquery().is_not(None))
    key = newest.correlate(SERVER).order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    query = select(SCORING.c.server_key, SCORING.c.receipts).where(
        SCORING.c.server_key == SERVER.c.key, SCORING.c.run_key == key
    )
    found: dict[int, tuple[int, ...]] = {}
    for batch in split_batches(sorted(servers)):
        rows = connection.execute(query.where(SERVER.c.key.in_(batch)))
        found |= {server: tuple(unpack_numbers(packed)) for server, packed in rows}
    return found


def _read_of_run(
    connection: Connection, run_id: str, servers: Sequence[ServerId] | None
) -> Iterator[tuple[datetime, dict[int, ServerId], dict[int, Scoring]]]:
    """The moment of a run, and in batches the ids and scorings of servers, by key; raise UnknownRun."""
    if servers is not None:
        for batch in split_batches(sorted(set(servers))):
            rows = connection.execute(_SCORINGS_OF, {"run": run_id, KEYS: batch}).all()
            if rows:
                yield rows[0].as_of, {row.server_key: row.id for row in rows}, _decode(connection, rows)
            else:
                find_run_key(connection, run_id)
        if not servers:
            find_run_key(connection, run_id)
        return
    run, as_of = find_dated_run(connection, run_id)
    for keys in split_batches(connection.scalars(select(SCORING.c.server_key).where(SCORING.c.run_key == run)).all()):
        yield as_of, find_server_ids(connection, keys), _read(connection, run, keys)


def _read(connection: Connection, run: int, servers: Sequence[int], *, lock: bool = False) -> dict[int, Scoring]:
    query = _SCORINGS.with_for_update() if lock else _SCORINGS
    rows = [
        row
        for batch in split_batches(sorted(servers))
        for row in connection.execute(query, {"run": run, KEYS: batch}).all()
    ]
    return _decode(connection, rows)


def _decode(connection: Connection, rows: Sequence[Row[Any]]) -> dict[int, Scoring]:
    shapes = read_shapes(connection, (row.shape_key for row in rows))
    return {
        row.server_key: Scoring(
            RecordContents(shapes.get(row.shape_key, ()), tuple(unpack_numbers(row.blobs))),
            tuple(unpack_numbers(row.receipts)),
        )
        for row in rows
    }


def _template_values(
    connection: Connection, as_of: datetime, scorings: Mapping[int, Scoring]
) -> dict[int, TemplateValues]:
    """The values in the templates of each server's receipts."""
    blobs = find_digests(connection, {blob for scoring in scorings.values() for blob in scoring.evidence.blobs})
    return {server: TemplateValues.of(as_of, one.evidence.digests(blobs)) for server, one in scorings.items()}
