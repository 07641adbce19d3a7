"""Scorecards of one run. What they say is shared by all nights; a night writes one row a server.

A row of `scoring` names the receipts and the evidence that they list, so that it stays readable whatever becomes of
the records themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, select

from evidence.model import ServerId
from evidence.store.blobs import find_digests
from evidence.store.errors import CorruptBlob
from evidence.store.leases.progress import mark_done
from evidence.store.records.shapes import put_shapes, read_shapes
from evidence.store.records.visits import VisitContents, read_contents
from evidence.store.scores import receipts
from evidence.store.scores.receipt_templates import TemplateValues
from evidence.store.scores.receipts import Receipt
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.key_sets import KEYS, among
from evidence.store.sql.packing import pack_numbers, unpack_numbers
from evidence.store.sql.row_keys import (
    dated_run,
    find_known_server_keys,
    find_run_key,
    find_server_ids,
    find_server_keys,
)
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.evidence import SCORING
from evidence.store.values import Stage, StoredScorecard

_COLUMNS: Final = ("run_key", "server_key", "shape_key", "blobs", "receipts")
_UNIQUE: Final = ("run_key", "server_key")
_SCORINGS: Final = (
    select(SCORING)
    .where(SCORING.c.run_key == bindparam("run"), among(SCORING.c.server_key))
    .order_by(SCORING.c.server_key)
)
_AS_OF: Final = select(RUN.c.as_of).where(RUN.c.key == bindparam("run"))


@dataclass(frozen=True, slots=True)
class Scoring:
    """The receipts of one server in one run, by key, and the evidence that they list."""

    evidence: VisitContents
    receipts: tuple[int, ...]


def put_scorecards(
    connection: Connection, run_id: str, cards: Sequence[StoredScorecard], *, done: Sequence[ServerId], at: datetime
) -> None:
    """Store scorecards and mark the score stage of `done`. The first card of a rubric version stays."""
    run = find_run_key(connection, run_id)
    servers = find_server_keys(connection, {*(card.server for card in cards), *done})
    by_server: dict[int, list[StoredScorecard]] = {}
    for card in cards:
        by_server.setdefault(servers[card.server], []).append(card)
    put_receipts_of_run(connection, run, by_server)
    mark_done(connection, run, Stage.SCORE, (servers[server] for server in done), at)


def put_receipts_of_run(connection: Connection, run: int, cards: Mapping[int, Sequence[StoredScorecard]]) -> None:
    """Store the scorecards of servers, by key, beside those that the run may have of them already."""
    visited = read_contents(connection, run, cards)
    fresh = {server: Scoring(visited.get(server, VisitContents((), ())), ()) for server in cards}
    written = _add(connection, run, fresh, cards)
    stored = _read(connection, run, list(cards))
    others = [server for server, scoring in stored.items() if scoring.receipts != written[server]]
    if others:
        locked = _read(connection, run, others, lock=True)
        _add(connection, run, locked, {server: cards[server] for server in locked}, update=["receipts"])


def read_scorecards(
    connection: Connection,
    run_id: str,
    *,
    servers: Sequence[ServerId] | None,
    rubric: str | None,
    version: int | None,
) -> list[StoredScorecard]:
    """Scorecards of a run, sorted by server, rubric and version."""
    run, as_of = dated_run(connection, run_id)
    known_ids = (
        {} if servers is None else {key: one for one, key in find_known_server_keys(connection, servers).items()}
    )
    keys = None if servers is None else sorted(known_ids)
    found: list[StoredScorecard] = []
    for scorings in _in_batches(connection, run, keys):
        wanted = {key for scoring in scorings.values() for key in scoring.receipts}
        known = receipts.read_receipts(connection, wanted, rubric=rubric, version=version)
        if not known:
            continue
        fillings = _filled(connection, as_of, {server: scoring.evidence for server, scoring in scorings.items()})
        ids = known_ids or find_server_ids(connection, scorings)
        found += [
            known[key].card(ids[server], fillings[server])
            for server, scoring in scorings.items()
            for key in scoring.receipts
            if key in known
        ]
    return sorted(found, key=lambda card: (card.server, card.rubric, card.version))


def check_scorings(connection: Connection, run: int, servers: Sequence[int]) -> list[str]:
    """What is wrong with the scorings of these servers, by key, in one run; their receipts are not read."""
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
    update: Sequence[str] = (),
) -> dict[int, tuple[int, ...]]:
    """Write scorings with the cards of rubric versions that they have none of; the receipts of each server then."""
    known = receipts.read_rubric_versions(
        connection, {key for scoring in scorings.values() for key in scoring.receipts}
    )
    fillings = _fillings(connection, run, {server: scoring.evidence for server, scoring in scorings.items()})
    new: dict[int, list[Receipt]] = {}
    for server, scoring in scorings.items():
        have = {known[key] for key in scoring.receipts if key in known}
        for card in sorted(cards[server], key=lambda card: (card.rubric, card.version)):
            if (card.rubric, card.version) not in have:
                have.add((card.rubric, card.version))
                new.setdefault(server, []).append(Receipt.of(card, fillings[server]))
    keys = _put_receipts(connection, run, new)
    shapes = put_shapes(connection, {scoring.evidence.shape for scoring in scorings.values()})
    after = {
        server: (*scoring.receipts, *(keys[receipt.digest] for receipt in new.get(server, ())))
        for server, scoring in scorings.items()
    }
    rows = [
        (run, server, shapes[scoring.evidence.shape], pack_numbers(scoring.evidence.blobs), pack_numbers(after[server]))
        for server, scoring in scorings.items()
    ]
    insert_rows(connection, SCORING, _COLUMNS, rows, unique=_UNIQUE, update=update)
    return after


def _put_receipts(connection: Connection, run: int, wanted: Mapping[int, Sequence[Receipt]]) -> dict[bytes, int]:
    """Store the receipts of servers, by key, that are new; the keys of all."""
    owners = {receipt.digest: (server, receipt) for server, found in wanted.items() for receipt in found}
    keys = receipts.find_receipts(connection, list(owners))
    missing = {digest: owner for digest, owner in owners.items() if digest not in keys}
    if not missing:
        return keys
    before = _newest_before(connection, run, {server for server, _ in missing.values()})
    names = receipts.read_rubric_versions(connection, {key for found in before.values() for key in found})
    named = {(server, names[key]): key for server, found in before.items() for key in found if key in names}
    alike = {
        digest: key
        for digest, (server, receipt) in missing.items()
        if (key := named.get((server, (receipt.rubric, receipt.version)))) is not None
    }
    receipts.put_receipts(connection, [receipt for _, receipt in missing.values()], alike)
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


def _in_batches(connection: Connection, run: int, keys: Sequence[int] | None) -> Iterator[dict[int, Scoring]]:
    """The scorings of a run, of some servers or all."""
    if keys is None:
        keys = list(connection.scalars(select(SCORING.c.server_key).where(SCORING.c.run_key == run)))
    for batch in split_batches(keys):
        yield _read(connection, run, batch)


def _read(connection: Connection, run: int, servers: Sequence[int], *, lock: bool = False) -> dict[int, Scoring]:
    query = _SCORINGS.with_for_update() if lock else _SCORINGS
    rows = [
        row
        for batch in split_batches(sorted(servers))
        for row in connection.execute(query, {"run": run, KEYS: batch}).all()
    ]
    shapes = read_shapes(connection, (row.shape_key for row in rows))
    return {
        row.server_key: Scoring(
            VisitContents(shapes.get(row.shape_key, ()), tuple(unpack_numbers(row.blobs))),
            tuple(unpack_numbers(row.receipts)),
        )
        for row in rows
    }


def _fillings(connection: Connection, run: int, evidence: Mapping[int, VisitContents]) -> dict[int, TemplateValues]:
    """What stands in the holes of each server's receipts."""
    return _filled(connection, connection.execute(_AS_OF, {"run": run}).scalar_one(), evidence)


def _filled(
    connection: Connection, as_of: datetime, evidence: Mapping[int, VisitContents]
) -> dict[int, TemplateValues]:
    blobs = find_digests(connection, {blob for contents in evidence.values() for blob in contents.blobs})
    return {server: TemplateValues.of(as_of, contents.digests(blobs)) for server, contents in evidence.items()}
