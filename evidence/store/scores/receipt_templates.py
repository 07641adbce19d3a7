"""Receipts with holes where every night says something else: the date, and the digests of the evidence listed.

A receipt is canonical JSON: `as_of` is its first member, and `evidence` its only member of this name that is an object.
Whether a hole was cut right is not a question of that, though: what cannot be filled again to the byte is not cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from evidence.store.errors import CorruptBlob
from evidence.store.sql.json_columns import to_json

_HOLE: Final = b',"evidence":{}'


@dataclass(frozen=True, slots=True)
class TemplateValues:
    """What stood in the holes of a receipt."""

    date: bytes
    evidence: bytes

    @staticmethod
    def of(as_of: datetime, digests: Mapping[str, str]) -> TemplateValues:
        """The filling of a run's moment and the digests of a server's records by kind."""
        listed = to_json(dict(sorted(digests.items())))
        return TemplateValues(
            b'{"as_of":"%s"' % as_of.isoformat().encode("ascii"), b',"evidence":' + listed.encode("ascii")
        )


def cut_template(body: bytes, filling: TemplateValues) -> bytes | None:
    """The body without its filling; None where filling it in would not give the same body."""
    if not body.startswith(filling.date):
        return None
    before, found, after = body[len(filling.date) :].partition(filling.evidence)
    cut_out = before + _HOLE + after
    return cut_out if found and fill_template(cut_out, filling) == body else None


def fill_template(cut_out: bytes, filling: TemplateValues) -> bytes:
    """The body that a filling belongs to; raise CorruptBlob where there is no hole."""
    before, hole, after = cut_out.partition(_HOLE)
    if not hole:
        raise CorruptBlob("a scorecard has no place for its evidence")
    return filling.date + before + filling.evidence + after
