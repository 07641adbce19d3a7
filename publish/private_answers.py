"""Removes answers from public bodies that may reveal an unknown vulnerability, or hand out content.

The shortened record has its own digest. The digest of the whole body is not published anywhere: a removed answer has
few possible values, and a reader of the rest could try them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from evidence.canonical import NotJson, parse_json
from evidence.kinds import access, exchanges
from evidence.kinds.access import Access
from evidence.model import Absent, Observed, Reason, Record
from publish.handed_out_texts import remove_handed_out_texts

_BOGUS: Final = "bogus"
_MEMBER: Final = b',"bogus":'


def remove_private_answers(record: Record) -> Record:
    """The record without the answer to an invalid token, and without handed-out texts; the same record if it has none.

    A transcript that cannot be read back is not published.
    """
    content = record.content
    if not isinstance(content, Observed) or record.kind not in {access.KIND, exchanges.KIND}:
        return record
    public = _public_access(content) if record.kind == access.KIND else _public_transcript(content)
    return record if public is content else replace(record, content=public)


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


def _public_access(content: Observed) -> Observed:
    try:
        seen = Access.parse(content.body)
    except NotJson:
        return content
    return content if seen.bogus is None else Observed(_without_bogus(content.body, seen))


def _public_transcript(content: Observed) -> Observed | Absent:
    try:
        body = remove_handed_out_texts(content.body)
    except NotJson:
        return Absent(Reason.COLLECTOR_ERROR, "the transcript cannot be read back")
    return content if body is content.body else Observed(body)


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
