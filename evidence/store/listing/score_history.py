"""Score histories of servers, read from receipts: one key lookup for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, case, or_, select

from evidence.model import ServerId, Trigger
from evidence.store.listing.values import HistoryPoint
from evidence.store.scores.receipt_templates import TemplateValues
from evidence.store.scores.receipts import open_receipts
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.json_columns import from_json
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.packing import unpack_numbers
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.evidence import RECEIPT, SCORING
from evidence.store.tables.listing import LISTING_WITHHELD
from evidence.store.values import RunState, StoredScorecard

_IS_PUBLIC: Final = or_(RUN.c.state == RunState.PUBLISHED.value, RUN.c.state == RunState.DONE.value)
"""A published nightly or local run, or a finished re-test. SQLAlchemy would expand the list of an IN each time."""


class ScorecardWithScores(Struct, frozen=True):
    """A scorecard, and the scores of the newest public runs under its rubric version, oldest first."""

    card: StoredScorecard
    scores: tuple[Decimal | None, ...]


def read_history(connection: Connection, server: ServerId, rubric: str | None) -> tuple[HistoryPoint, ...]:
    """Every score of a server in published runs and finished re-tests, oldest first; of one rubric or all."""
    runs = connection.execute(_RUNS, {"id": server}).all()
    scores = _read_receipt_scores(connection, {key for run in runs for key in unpack_numbers(run.receipts)}, rubric)
    return tuple(
        _point(run, score)
        for run in runs
        for score in sorted(
            (scores[key] for key in unpack_numbers(run.receipts) if key in scores),
            key=lambda row: (row.rubric, row.version),
        )
    )


def read_newest_scores(
    connection: Connection, server: ServerId, rubric: str, version: int, limit: int
) -> tuple[Decimal | None, ...]:
    """The scores of the newest public runs of a server by one rubric version, oldest first; without a score None."""
    keys = [unpack_numbers(run.receipts) for run in _list_newest(connection, server, limit)]
    scores = _read_receipt_scores(connection, {key for some in keys for key in some}, rubric)
    return _select_scores(scores, keys, version)


def find_newest_scorecard(
    connection: Connection, run: str, server: ServerId, rubric: str, limit: int
) -> ScorecardWithScores | None:
    """A server's scorecard under the newest version of a rubric in one of its newest public runs, and their scores.

    The receipt may lack the evidence digests.
    """
    runs = _list_newest(connection, server, limit)
    shown = next((one for one in runs if one.id == run), None)
    if shown is None:
        return None
    keys = [unpack_numbers(one.receipts) for one in runs]
    of_run = unpack_numbers(shown.receipts)
    wanted = {KEYS: sorted({key for some in keys for key in some}), "bodies": of_run, "rubric": rubric}
    rows: dict[int, Any] = {row.key: row for row in connection.execute(_RECEIPTS_AND_SCORES, wanted)}
    newest = max((rows[key] for key in of_run if key in rows), key=lambda row: row.version, default=None)
    if newest is None:
        return None
    receipt = open_receipts(connection, [newest])[newest.key]
    return ScorecardWithScores(
        receipt.card(server, TemplateValues.of(shown.as_of, {})), _select_scores(rows, keys, newest.version)
    )


def _list_newest(connection: Connection, server: ServerId, limit: int) -> Sequence[Row[Any]]:
    return connection.execute(_NEWEST_RECEIPTS, {"id": server, "limit": limit}).all()[::-1]


def _select_scores(
    scores: Mapping[int, Any], keys: Sequence[Sequence[int]], version: int
) -> tuple[Decimal | None, ...]:
    found = (scores[key] for some in keys for key in some if key in scores)
    return tuple(_number(score.score) for score in found if score.version == version)


def read_scores(
    connection: Connection, run: str, servers: Sequence[ServerId], rubric: str
) -> dict[ServerId, tuple[int, Decimal | None] | None]:
    """Version and score of the newest version of a rubric in a run, for each server that the run scored."""
    found: dict[ServerId, tuple[int, Decimal | None] | None] = {}
    for batch in split_batches(servers):
        query = _scored(SERVER.c.id, SCORING.c.receipts).where(RUN.c.id == run, SERVER.c.id.in_(batch))
        rows = [(server, unpack_numbers(packed)) for server, packed in connection.execute(query)]
        scores = _read_receipt_scores(connection, {key for _, keys in rows for key in keys}, rubric)
        for server, keys in rows:
            of = [scores[key] for key in keys if key in scores]
            newest = max(of, key=lambda score: score.version, default=None)
            found[server] = None if newest is None else (newest.version, _number(newest.score))
    return found


def _scored(*columns: ColumnElement[Any]) -> Select[Any]:
    """Columns of scorings that may be public."""
    withheld = select(LISTING_WITHHELD.c.run_key).where(
        LISTING_WITHHELD.c.run_key == SCORING.c.run_key, LISTING_WITHHELD.c.server_key == SCORING.c.server_key
    )
    return (
        select(*columns)
        .join_from(SCORING, RUN, SCORING.c.run_key == RUN.c.key)
        .join(SERVER, SERVER.c.key == SCORING.c.server_key)
        .where(~withheld.correlate(SCORING).exists())
    )


_RUNS: Final = (
    _scored(RUN.c.id, RUN.c.as_of, RUN.c.trigger, RUN.c.pins, SCORING.c.receipts)
    .where(SERVER.c.id == bindparam("id"), _IS_PUBLIC)
    .order_by(RUN.c.id)
)
_NEWEST_RECEIPTS: Final = (
    _scored(RUN.c.id, RUN.c.as_of, SCORING.c.receipts)
    .where(SERVER.c.id == bindparam("id"), _IS_PUBLIC)
    .order_by(RUN.c.id.desc())
    .limit(bindparam("limit"))
)
_SCORES: Final = select(RECEIPT.c.key, RECEIPT.c.rubric, RECEIPT.c.version, RECEIPT.c.score, RECEIPT.c.grade).where(
    matches_any(RECEIPT.c.key)
)
_RECEIPTS_AND_SCORES: Final = select(
    *(column for column in RECEIPT.c if column is not RECEIPT.c.body),
    case((matches_any(RECEIPT.c.key, "bodies"), RECEIPT.c.body)).label("body"),
).where(matches_any(RECEIPT.c.key), RECEIPT.c.rubric == bindparam("rubric"))
_RUBRIC_SCORES: Final = _SCORES.where(RECEIPT.c.rubric == bindparam("rubric"))


def _read_receipt_scores(connection: Connection, keys: set[int], rubric: str | None) -> Mapping[int, Any]:
    query, of = (_SCORES, {}) if rubric is None else (_RUBRIC_SCORES, {"rubric": rubric})
    rows = (row for batch in split_batches(sorted(keys)) for row in connection.execute(query, {KEYS: batch, **of}))
    return {row.key: row for row in rows}


def _point(run: Any, score: Any) -> HistoryPoint:
    return HistoryPoint(
        run=run.id,
        as_of=run.as_of,
        trigger=Trigger(run.trigger),
        rubric=score.rubric,
        version=score.version,
        score=_number(score.score),
        grade=score.grade,
        **_pins(run.pins),
    )


@lru_cache(1_000)
def _pins(text: str) -> dict[str, Any]:
    """Cached, since runs have few different pins."""
    return {"pins": sha256(text.encode("ascii")).hexdigest(), "pinned": from_json(text)}


def _number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
