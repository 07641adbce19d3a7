"""Which evidence bodies are published, and in what form: by kind, by licence, and without private parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from evidence.canonical import canonical_digest, canonical_json, sha256
from evidence.derive.secret_scrubbing import scrub_body, scrub_text
from evidence.kinds import exchanges, source
from evidence.kinds.traits import traits
from evidence.model import Absent, Observed, Record
from publish.handed_out_texts import has_handed_out_texts
from publish.private_answers import has_private_answer
from publish.views.evidence.project_facts import find_licence

LICENCES: Final[Mapping[str, str]] = {kind: declared.licence for kind, declared in traits().items() if declared.licence}
"""The licence note of each kind. Bodies of a kind without a note are not published."""

OPEN_LICENCES: Final = frozenset(
    {
        *("0BSD", "AFL-3.0", "AGPL-3.0", "AGPL-3.0-only", "AGPL-3.0-or-later", "Apache-2.0", "Artistic-2.0"),
        *("BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear", "BSL-1.0", "CC-BY-4.0", "CC0-1.0"),
        *("ECL-2.0", "EPL-1.0", "EPL-2.0", "EUPL-1.1", "EUPL-1.2", "GPL-2.0", "GPL-2.0-only", "GPL-2.0-or-later"),
        *("GPL-3.0", "GPL-3.0-only", "GPL-3.0-or-later", "ISC", "LGPL-2.1", "LGPL-2.1-only", "LGPL-2.1-or-later"),
        *("LGPL-3.0", "LGPL-3.0-only", "LGPL-3.0-or-later", "MIT", "MIT-0", "MPL-2.0", "MS-PL", "NCSA", "PostgreSQL"),
        *("Unlicense", "UPL-1.0", "Vim", "WTFPL", "Zlib"),
    }
)
"""Licences (SPDX) that allow redistribution of quotations from a project's files."""

NO_LICENCE: Final = "no licence is known that lets quotations from its files be passed on"
MASKED: Final = "something in it looks like a secret and is masked"
PRIVATE: Final = "an answer that may be an undisclosed weakness is left out"
HANDED_OUT: Final = "texts that the server handed out are left out, which no rule reads"

_SHORT_SESSION: Final = "a short session id"


class BodyState(StrEnum):
    """How a body is published."""

    WHOLE = "whole"
    REDACTED = "redacted"
    WITHHELD = "withheld"
    NONE = "none"


class PublishedBody(Struct, frozen=True):
    """A body as it is published. `content` is None if it is withheld or absent; receipts cite `digest`."""

    state: BodyState
    digest: str
    canonical: str | None = None
    why: str | None = None
    content: bytes | None = None
    size: int | None = None


def publish_bodies(records: Mapping[str, Record]) -> dict[str, PublishedBody]:
    """The published bodies of one server's public records, by kind.

    A redacted body has its own digest: the digest of the original would allow guessing the redacted part.
    """
    may_quote = find_licence(records) in OPEN_LICENCES
    return {kind: _body(record, may_quote=may_quote) for kind, record in sorted(records.items())}


def _body(record: Record, *, may_quote: bool) -> PublishedBody:
    content = record.content
    if not isinstance(content, Observed):
        return PublishedBody(BodyState.NONE, Absent(content.reason, scrub_text(content.detail)).digest)
    if record.kind not in LICENCES or (record.kind == source.KIND and not may_quote):
        return PublishedBody(BodyState.WITHHELD, content.digest, content.canonical, NO_LICENCE, size=len(content.body))
    clean = scrub_body(_without_sessions(content.body) if record.kind == exchanges.KIND else content.body)
    why = MASKED if clean != content.body else _find_left_out(record, content.body)
    if why is None:
        return PublishedBody(BodyState.WHOLE, content.digest, content.canonical, None, content.body, len(content.body))
    digest = content.digest if clean == content.body else sha256(clean)
    return PublishedBody(BodyState.REDACTED, digest, canonical_digest(clean), why, clean, len(clean))


def _find_left_out(record: Record, body: bytes) -> str | None:
    """Why a public body is not the whole one, although nothing in it is masked."""
    if record.kind == exchanges.KIND:
        return HANDED_OUT if has_handed_out_texts(body) else None
    return PRIVATE if has_private_answer(record) else None


def _without_sessions(body: bytes) -> bytes:
    """A transcript without short session ids, which are not replaced when it is recorded."""
    if b'"mcp-session-id"' not in body:
        return body
    document = json.loads(body)
    changed = False
    for exchange in document.get("exchanges", ()):
        for headers in (exchange.get("headers"), exchange.get("sent", {}).get("headers")):
            value = headers.get("mcp-session-id") if isinstance(headers, dict) else None
            if isinstance(value, str) and not (value.startswith("session ") or value == "another session"):
                headers["mcp-session-id"], changed = _SHORT_SESSION, True
    return canonical_json(document) if changed else body
