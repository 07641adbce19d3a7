"""Removes answers from public bodies that may reveal an unknown vulnerability.

The shortened record has its own digest. The digest of the whole body is not published anywhere: a removed answer has
few possible values, and a reader of the rest could try them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from evidence.canonical import NotJson, parse_json
from evidence.kinds import access
from evidence.kinds.access import Access
from evidence.model import Observed, Record

_BOGUS: Final = "bogus"
_MEMBER: Final = b',"bogus":'


def remove_private_answers(record: Record) -> Record:
    """The record without the answer to an invalid token; the same record if it has none."""
    content = record.content
    if record.kind != access.KIND or not isinstance(content, Observed):
        return record
    try:
        seen = Access.parse(content.body)
    except NotJson:
        return record
    if seen.bogus is None:
        return record
    return replace(record, content=Observed(_without_bogus(content.body, seen)))


def has_private_answer(record: Record) -> bool:
    """Whether an access record is of a server that is asked with an invalid token: whose answer is left out."""
    content = record.content
    return record.kind == access.KIND and isinstance(content, Observed) and Access.parse(content.body).gate is not None


def cite_public_digests(body: bytes, changed: Iterable[tuple[Record, Record]]) -> bytes:
    """An encoded receipt that cites the public bodies of records instead of those that were observed."""
    for observed, public in changed:
        if observed.digest != public.digest:
            body = body.replace(observed.digest.encode(), public.digest.encode())
    return body


def _without_bogus(body: bytes, seen: Access) -> bytes:
    """The body with `null` for that answer; all other bytes are kept if possible."""
    wanted = {**seen.body, _BOGUS: None}
    start = body.rfind(_MEMBER)
    end = body.rfind(b',"cut":')
    if 0 < start < end:
        cut = body[: start + len(_MEMBER)] + b"null" + body[end:]
        try:
            if parse_json(cut) == wanted:
                return cut
        except NotJson:
            pass
    return json.dumps(wanted, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
