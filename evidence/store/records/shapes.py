"""Shapes of record sets: kinds, schemas, collectors, and the reasons of absent payloads.

Most servers of a run have one of a few shapes, so a shape is stored once and record sets hold its key.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TypeAlias

from msgspec import Struct
from sqlalchemy import Connection, select

from evidence.model import Absent, Observed, Reason, Record
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.json_columns import to_json
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.known_rows import keep_rows, recall_rows
from evidence.store.tables.evidence import PART, SHAPE

_COLUMNS = ("shape_key", "kind", "schema", "collector", "collector_version", "reason", "detail")
_PARTS = select(PART).where(matches_any(PART.c.shape_key)).order_by(PART.c.kind)


class ShapePart(Struct, frozen=True, order=True):
    """One kind of a shape; `absent` is None where there is a payload."""

    kind: str
    schema: int
    collector: str
    collector_version: int
    absent: Absent | None

    @staticmethod
    def of(record: Record) -> ShapePart:
        absent = None if isinstance(record.content, Observed) else record.content
        return ShapePart(record.kind, record.schema, record.collector, record.collector_version, absent)


Shape: TypeAlias = tuple[ShapePart, ...]
"""One part for each kind, in the order of kinds."""


def put_shapes(connection: Connection, shapes: Iterable[Shape]) -> dict[Shape, int]:
    """Store new shapes; return the keys of all."""
    digests = {_digest(shape): shape for shape in shapes}
    keys = _find(connection, digests)
    if missing := [digest for digest in digests if digests[digest] not in keys]:
        insert_rows(connection, SHAPE, ("digest",), [(digest,) for digest in missing], unique=["digest"])
        keys |= (new := _find(connection, {digest: digests[digest] for digest in missing}))
        rows = [_row(key, part) for shape, key in new.items() for part in shape]
        insert_rows(connection, PART, _COLUMNS, rows, unique=["shape_key", "kind"])
    return keys


def read_shapes(connection: Connection, keys: Iterable[int]) -> dict[int, Shape]:
    """Shapes by key; a shape without parts is left out."""
    wanted, known = set(keys), recall_rows(connection, SHAPE.name)
    parts: dict[int, list[ShapePart]] = {}
    for batch in split_batches(sorted(wanted - known.keys())):
        for row in connection.execute(_PARTS, {KEYS: batch}):
            absent = None if row.reason is None else Absent(Reason(row.reason), row.detail)
            part = ShapePart(row.kind, row.schema, row.collector, row.collector_version, absent)
            parts.setdefault(row.shape_key, []).append(part)
    read = {key: tuple(found) for key, found in parts.items()}
    keep_rows(connection, SHAPE.name, read)
    return {**{key: known[key] for key in wanted & known.keys()}, **read}


def _find(connection: Connection, digests: dict[bytes, Shape]) -> dict[Shape, int]:
    found: dict[Shape, int] = {}
    for batch in split_batches(list(digests)):
        query = select(SHAPE.c.digest, SHAPE.c.key).where(SHAPE.c.digest.in_(batch))
        found |= {digests[digest]: key for digest, key in connection.execute(query)}
    return found


def _digest(shape: Shape) -> bytes:
    return sha256(to_json([_row(0, part)[1:] for part in shape]).encode("ascii")).digest()


def _row(key: int, part: ShapePart) -> tuple[int, str, int, str, int, str | None, str | None]:
    reason, detail = (part.absent.reason.value, part.absent.detail) if part.absent else (None, None)
    return key, part.kind, part.schema, part.collector, part.collector_version, reason, detail
