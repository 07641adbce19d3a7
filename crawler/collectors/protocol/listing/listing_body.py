"""The body of a listing record: results and errors are spliced in byte for byte, the rest is canonical JSON."""

from __future__ import annotations

from collections.abc import Mapping

from crawler.collectors.protocol.json_splicing import encode_json, splice_array, splice_object
from crawler.collectors.protocol.listing.list_walker import ListResult
from crawler.collectors.protocol.session.handshake import Opened
from evidence.model import Target


def listing_body(target: Target, opened: Opened, sandbox: str, lists: Mapping[str, ListResult]) -> bytes:
    """The bytes of schema 1 (evidence/kinds/listing.py)."""
    about = {"type": target.type.value, "identifier": target.identifier, "version": target.version}
    parts = {
        "target": encode_json(about),
        "transport": encode_json(opened.dialogue.channel.transport),
        "era": encode_json(opened.era.value),
        "protocolVersion": encode_json(opened.version),
        "sandbox": encode_json(sandbox),
        "opening": opened.answer.span,
        "lists": splice_object({name: _list(walk) for name, walk in lists.items()}),
    }
    return splice_object(parts)


def _list(walk: ListResult) -> bytes:
    error = walk.error if isinstance(walk.error, bytes) else encode_json(walk.error)
    pages = splice_array(walk.pages)
    return splice_object(
        {"declared": encode_json(walk.declared), "end": encode_json(walk.end.value), "error": error, "pages": pages}
    )
