"""Templates of receipts: receipts without the parts that differ in every run, the date and the evidence digests.

A receipt is canonical JSON: `as_of` is its first member, and `evidence` its only member of this name that is an object.
A receipt that filling its template would not reproduce byte by byte is stored whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from evidence.store.errors import CorruptBlob
from evidence.store.sql.json_columns import to_json

_PLACEHOLDER: Final = b',"evidence":{}'


class TemplateValues(Struct, frozen=True):
    """The parts of a receipt that its template leaves out."""

    date: bytes
    evidence: bytes

    @staticmethod
    def of(as_of: datetime, digests: Mapping[str, str]) -> TemplateValues:
        """The values for a run's `as_of` and the digests of a server's records by kind."""
        listed = to_json(dict(sorted(digests.items())))
        date = b'{"as_of":"%s"' % as_of.isoformat().encode("ascii")
        return TemplateValues(date, b',"evidence":' + listed.encode("ascii"))


def cut_template(body: bytes, values: TemplateValues) -> bytes | None:
    """The template of a body; None where filling it would not reproduce the body."""
    if not body.startswith(values.date):
        return None
    before, found, after = body[len(values.date) :].partition(values.evidence)
    template = before + _PLACEHOLDER + after
    return template if found and fill_template(template, values) == body else None


def fill_template(template: bytes, values: TemplateValues) -> bytes:
    """The body of a template with its values; raise CorruptBlob when the template has no place for the evidence."""
    before, placeholder, after = template.partition(_PLACEHOLDER)
    if not placeholder:
        raise CorruptBlob("a scorecard has no place for its evidence")
    return values.date + before + values.evidence + after
