"""Scorecards: encoded receipts of one run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from sqlalchemy import Connection, Row, select
from zstandard import ZstdCompressor, ZstdDecompressor

from evidence.model import ServerId
from evidence.store.blobs import new_compressor, pack, unpack
from evidence.store.bulk import batches, insert
from evidence.store.keys import known_server_keys, run_key, server_keys
from evidence.store.models import SCORECARD, SERVER
from evidence.store.progress import mark_done
from evidence.store.rows import Stage, StoredCard

_COLUMNS = ("run_key", "server_key", "rubric", "version", "score", "grade", "codec", "size", "body")


def put_scorecards(
    connection: Connection, run_id: str, cards: Sequence[StoredCard], *, done: Sequence[ServerId], at: datetime
) -> None:
    """Store scorecards and mark the score stage of `done`. The first card of a rubric version stays."""
    run = run_key(connection, run_id)
    servers = server_keys(connection, {*(card.server for card in cards), *done})
    compressor = new_compressor()
    rows = [_row(card, run, servers[card.server], compressor) for card in cards]
    insert(connection, SCORECARD, _COLUMNS, rows, unique=["run_key", "server_key", "rubric", "version"])
    mark_done(connection, run, Stage.SCORE, (servers[server] for server in done), at)


def read_scorecards(
    connection: Connection,
    run_id: str,
    *,
    servers: Sequence[ServerId] | None,
    rubric: str | None,
    version: int | None,
) -> list[StoredCard]:
    """Scorecards of a run, sorted by server, rubric and version."""
    query = select(SERVER.c.id.label("server_id"), SCORECARD).join(SERVER, SERVER.c.key == SCORECARD.c.server_key)
    query = query.where(SCORECARD.c.run_key == run_key(connection, run_id))
    if rubric is not None:
        query = query.where(SCORECARD.c.rubric == rubric)
    if version is not None:
        query = query.where(SCORECARD.c.version == version)
    if servers is None:
        rows = list(connection.execute(query))
    else:
        keys = sorted(known_server_keys(connection, servers).values())
        rows = [
            row for batch in batches(keys) for row in connection.execute(query.where(SCORECARD.c.server_key.in_(batch)))
        ]
    decompressor = ZstdDecompressor()
    return sorted((_card(row, decompressor) for row in rows), key=lambda card: (card.server, card.rubric, card.version))


def _row(card: StoredCard, run: int, server: int, compressor: ZstdCompressor) -> tuple[object, ...]:
    score = None if card.score is None else str(card.score)
    return (run, server, card.rubric, card.version, score, card.grade, *pack(card.body, compressor))


def _card(row: Row[tuple[object, ...]], decompressor: ZstdDecompressor) -> StoredCard:
    name = f"scorecard {row.server_id} {row.rubric}@{row.version}"
    return StoredCard(
        server=row.server_id,
        rubric=row.rubric,
        version=row.version,
        score=None if row.score is None else Decimal(row.score),
        grade=row.grade,
        body=unpack(row.codec, row.size, row.body, name=name, decompressor=decompressor),
    )
