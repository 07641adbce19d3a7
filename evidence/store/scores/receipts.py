"""Stored receipts, shared by runs: templates without date and evidence, stored once by their digest.

A receipt that differs little from that of an earlier run, for example in a count of days, is compressed with that one
as the dictionary. A dictionary receipt is always compressed without one, so that there are no chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection, Row, bindparam, select, update

from evidence.model import ServerId
from evidence.store.blobs import compress_body, decompress_body, new_compressor
from evidence.store.errors import CorruptBlob
from evidence.store.scores.receipt_templates import TemplateValues, cut_template, fill_template
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.json_columns import to_json
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.tables.evidence import RECEIPT
from evidence.store.values import StoredScorecard
from evidence.zstd import ZstdDict

_COLUMNS: Final = ("digest", "rubric", "version", "score", "grade", "is_open", "codec", "size", "body", "base_key")

_LEVEL: Final = 3

_BY_KEY: Final = select(RECEIPT).where(matches_any(RECEIPT.c.key))
_OF_RUBRIC: Final = _BY_KEY.where(RECEIPT.c.rubric == bindparam("rubric"))
_OF_VERSION: Final = _OF_RUBRIC.where(RECEIPT.c.version == bindparam("version"))
_VERSIONS: Final = select(RECEIPT.c.key, RECEIPT.c.rubric, RECEIPT.c.version).where(matches_any(RECEIPT.c.key))
_TEMPLATES: Final = _VERSIONS.add_columns(RECEIPT.c.is_open)

_MIN_BASE: Final = 8
"""Bytes that Zstandard demands of a dictionary."""

# A base is used only if it halves the size, so that no base is kept for a receipt that differs too much.
_MIN_GAIN: Final = 2


class Receipt(Struct, frozen=True, kw_only=True, dict=True):
    """One receipt; `body` is a template if `is_open`."""

    rubric: str
    version: int
    score: str | None
    grade: str | None
    is_open: bool
    body: bytes

    @staticmethod
    def of(card: StoredScorecard, values: TemplateValues) -> Receipt:
        """The receipt of a card, as a template where its body holds these values."""
        template = cut_template(card.body, values)
        return Receipt(
            rubric=card.rubric,
            version=card.version,
            score=None if card.score is None else str(card.score),
            grade=card.grade,
            is_open=template is not None,
            body=card.body if template is None else template,
        )

    @cached_property
    def digest(self) -> bytes:
        head = to_json([self.rubric, self.version, self.score, self.grade, self.is_open])
        return sha256(head.encode("ascii") + b"\n" + self.body).digest()

    def card(self, server: ServerId, values: TemplateValues) -> StoredScorecard:
        """The scorecard of a server in the run that these values belong to."""
        return StoredScorecard(
            server=server,
            rubric=self.rubric,
            version=self.version,
            score=None if self.score is None else Decimal(self.score),
            grade=self.grade,
            body=fill_template(self.body, values) if self.is_open else self.body,
        )


def put_receipts(connection: Connection, receipts: Iterable[Receipt], similar: Mapping[bytes, int]) -> None:
    """Store new receipts. `similar` maps digests of them to the keys of earlier receipts that may resemble them."""
    bases = _bases(connection, similar.values())
    bodies = _read_bases(connection, bases.values())
    compressor = new_compressor()
    rows = []
    for receipt in receipts:
        base = bases.get(similar.get(receipt.digest, 0))
        if base is not None and (base not in bodies or len(bodies[base].body) < _MIN_BASE):
            base = None
        codec, size, packed = compress_body(receipt.body, compressor)
        if base is not None:
            by_base = compress_body(receipt.body, new_compressor(_dictionary(bodies[base].body), level=_LEVEL))
            if len(by_base[2]) * _MIN_GAIN <= len(packed):
                codec, size, packed = by_base
            else:
                base = None
        head = tuple(getattr(receipt, name) for name in _COLUMNS[:6])
        rows.append((*head, codec, size, packed, base))
    insert_rows(connection, RECEIPT, _COLUMNS, rows, unique=["digest"])


def mend_receipts(connection: Connection, receipts: Iterable[Receipt]) -> int:
    """Write those of the receipts again that are stored and cannot be read; return how many."""
    known = {receipt.digest: receipt for receipt in receipts}
    damaged: list[Row[Any]] = []
    for batch in split_batches(sorted(known)):
        for row in connection.execute(select(RECEIPT).where(RECEIPT.c.digest.in_(batch))).all():
            try:
                open_receipts(connection, [row])
            except CorruptBlob:
                damaged.append(row)
    for row in damaged:
        codec, size, packed = compress_body(known[row.digest].body, new_compressor())
        values = {"codec": codec, "size": size, "body": packed, "base_key": None}
        connection.execute(update(RECEIPT).where(RECEIPT.c.key == row.key).values(values))
    return len(damaged)


def find_receipts(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    """The keys of the stored digests."""
    keys: dict[bytes, int] = {}
    for batch in split_batches(digests):
        query = select(RECEIPT.c.digest, RECEIPT.c.key).where(RECEIPT.c.digest.in_(batch))
        keys |= dict(connection.execute(query).all())
    return keys


def read_receipts(
    connection: Connection, keys: Iterable[int], *, rubric: str | None = None, version: int | None = None
) -> dict[int, Receipt]:
    """Receipts by key, of a rubric or a version of it or all; raise CorruptBlob if one does not match its digest."""
    query = _BY_KEY if rubric is None else _OF_RUBRIC if version is None else _OF_VERSION
    wanted = {name: value for name, value in (("rubric", rubric), ("version", version)) if value is not None}
    found: dict[int, Receipt] = {}
    for batch in split_batches(sorted(set(keys))):
        found |= open_receipts(connection, connection.execute(query, {KEYS: batch, **wanted}).all())
    return found


def open_receipts(connection: Connection, rows: Sequence[Row[Any]]) -> dict[int, Receipt]:
    """The receipts of some rows by key, each checked against its digest."""
    bases = {row.base_key for row in rows if row.base_key is not None}
    known = read_receipts(connection, bases) if bases else {}
    found: dict[int, Receipt] = {}
    for row in rows:
        base = known.get(row.base_key)
        found[row.key] = _open(row, None if base is None else _dictionary(base.body))
    return found


def _open(row: Row[Any], dictionary: ZstdDict | None) -> Receipt:
    name = f"scorecard {row.key} {row.rubric}@{row.version}"
    receipt = Receipt(
        rubric=row.rubric,
        version=row.version,
        score=row.score,
        grade=row.grade,
        is_open=row.is_open,
        body=decompress_body(row.codec, row.size, row.body, name=name, dictionary=dictionary),
    )
    if receipt.digest != row.digest:
        raise CorruptBlob(f"{name} does not match its digest {row.digest.hex()}")
    return receipt


def read_rubric_versions(connection: Connection, keys: Iterable[int]) -> dict[int, tuple[str, int]]:
    """Rubric and version of receipts by key, without reading any body."""
    found: dict[int, tuple[str, int]] = {}
    for batch in split_batches(sorted(set(keys))):
        rows = connection.execute(_VERSIONS, {KEYS: batch})
        found |= {key: (rubric, version) for key, rubric, version in rows}
    return found


def read_keepable_versions(connection: Connection, keys: Iterable[int]) -> dict[int, tuple[tuple[str, int], bool]]:
    """Rubric and version of receipts by key, and whether they are stored as templates."""
    found: dict[int, tuple[tuple[str, int], bool]] = {}
    for batch in split_batches(sorted(set(keys))):
        rows = connection.execute(_TEMPLATES, {KEYS: batch})
        found |= {key: ((rubric, version), is_open) for key, rubric, version, is_open in rows}
    return found


def _bases(connection: Connection, keys: Iterable[int]) -> dict[int, int]:
    """The dictionary receipt of each receipt, by key: its base if it has one, otherwise itself."""
    found: dict[int, int] = {}
    for batch in split_batches(sorted(set(keys))):
        query = select(RECEIPT.c.key, RECEIPT.c.base_key).where(RECEIPT.c.key.in_(batch))
        found |= {key: key if base is None else base for key, base in connection.execute(query)}
    return found


def _read_bases(connection: Connection, keys: Iterable[int]) -> dict[int, Receipt]:
    """The dictionary receipts by key; none when one of them is damaged, since they only save bytes."""
    try:
        return read_receipts(connection, keys)
    except CorruptBlob:
        return {}


def _dictionary(base: bytes) -> ZstdDict:
    return ZstdDict(base, is_raw=True)
