"""Receipts as nights share them: without date and evidence, stored once by their digest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, Row, select
from zstandard import ZstdDecompressor

from evidence.model import ServerId
from evidence.store.blobs import new_compressor, pack, unpack
from evidence.store.bulk import batches, insert
from evidence.store.errors import CorruptBlob
from evidence.store.evidence_models import RECEIPT
from evidence.store.holes import Filling, cut, fill
from evidence.store.mapping import to_json
from evidence.store.rows import StoredCard

_COLUMNS: Final = ("digest", "rubric", "version", "score", "grade", "is_open", "codec", "size", "body")


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One receipt; `body` has holes if `is_open`."""

    rubric: str
    version: int
    score: str | None
    grade: str | None
    is_open: bool
    body: bytes

    @staticmethod
    def of(card: StoredCard, filling: Filling) -> Receipt:
        """The receipt of a card, with holes where its body holds this filling."""
        cut_out = cut(card.body, filling)
        return Receipt(
            rubric=card.rubric,
            version=card.version,
            score=None if card.score is None else str(card.score),
            grade=card.grade,
            is_open=cut_out is not None,
            body=card.body if cut_out is None else cut_out,
        )

    @cached_property
    def digest(self) -> bytes:
        """Tells it from every other one."""
        head = to_json([self.rubric, self.version, self.score, self.grade, self.is_open])
        return sha256(head.encode("ascii") + b"\n" + self.body).digest()

    def card(self, server: ServerId, filling: Filling) -> StoredCard:
        """The card of a server and a run whose filling this is."""
        return StoredCard(
            server=server,
            rubric=self.rubric,
            version=self.version,
            score=None if self.score is None else Decimal(self.score),
            grade=self.grade,
            body=fill(self.body, filling) if self.is_open else self.body,
        )


def put_receipts(connection: Connection, receipts: Iterable[Receipt]) -> dict[bytes, int]:
    """Store the receipts that are new; the key of every digest."""
    wanted = {receipt.digest: receipt for receipt in receipts}
    keys = _find(connection, list(wanted))
    missing = [receipt for digest, receipt in wanted.items() if digest not in keys]
    if missing:
        compressor = new_compressor()
        rows = [
            (each.digest, each.rubric, each.version, each.score, each.grade, each.is_open, *pack(each.body, compressor))
            for each in missing
        ]
        insert(connection, RECEIPT, _COLUMNS, rows, unique=["digest"])
        keys |= _find(connection, [receipt.digest for receipt in missing])
    return keys


def read_receipts(
    connection: Connection, keys: Iterable[int], *, rubric: str | None = None, version: int | None = None
) -> dict[int, Receipt]:
    """Receipts by key, of one rubric or one version or all; raise CorruptBlob when one does not match its digest."""
    query = select(RECEIPT)
    if rubric is not None:
        query = query.where(RECEIPT.c.rubric == rubric)
    if version is not None:
        query = query.where(RECEIPT.c.version == version)
    decompressor = ZstdDecompressor()
    found: dict[int, Receipt] = {}
    for batch in batches(sorted(set(keys))):
        for row in connection.execute(query.where(RECEIPT.c.key.in_(batch))):
            found[row.key] = open_receipt(row, decompressor)
    return found


def open_receipt(row: Row[tuple[object, ...]], decompressor: ZstdDecompressor | None = None) -> Receipt:
    """The receipt of one row, checked against its digest."""
    name = f"scorecard {row.key} {row.rubric}@{row.version}"
    body = unpack(row.codec, row.size, row.body, name=name, decompressor=decompressor)
    receipt = Receipt(
        rubric=row.rubric,
        version=row.version,
        score=row.score,
        grade=row.grade,
        is_open=row.is_open,
        body=body,
    )
    if receipt.digest != row.digest:
        raise CorruptBlob(f"{name} does not match its digest {row.digest.hex()}")
    return receipt


def names_of(connection: Connection, keys: Iterable[int]) -> dict[int, tuple[str, int]]:
    """Rubric and version of receipts by key, without reading any body."""
    found: dict[int, tuple[str, int]] = {}
    for batch in batches(sorted(set(keys))):
        query = select(RECEIPT.c.key, RECEIPT.c.rubric, RECEIPT.c.version).where(RECEIPT.c.key.in_(batch))
        found |= {key: (rubric, version) for key, rubric, version in connection.execute(query)}
    return found


def _find(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    keys: dict[bytes, int] = {}
    for batch in batches(digests):
        query = select(RECEIPT.c.digest, RECEIPT.c.key).where(RECEIPT.c.digest.in_(batch))
        keys |= dict(connection.execute(query).all())
    return keys
