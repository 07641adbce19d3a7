"""The body of a listing record: results and errors are spliced in byte for byte, the rest is canonical JSON."""

from __future__ import annotations

from collections.abc import Mapping

from crawler.collectors.protocol.json_splicing import JsonText, Spliced, encode_json
from crawler.collectors.protocol.listing.list_walker import ListResult
from crawler.collectors.protocol.session.handshake import Opened
from evidence.canonical import Json
from evidence.model import Target


def listing_body(
    target: Target,
    opened: Opened,
    sandbox: str,
    lists: Mapping[str, ListResult],
    installed: Mapping[str, Json] | None = None,
) -> bytes:
    """The bytes of schema 1 (evidence/kinds/listing.py)."""
    about = {"type": target.type.value, "identifier": target.identifier, "version": target.version}
    return encode_json(
        {
            "target": about,
            "transport": opened.dialogue.channel.transport,
            "era": opened.era.value,
            "protocolVersion": opened.version,
            "sandbox": sandbox,
            **({"installed": installed} if installed else {}),
            "opening": JsonText(opened.answer.span),
            "lists": {name: _list(walk) for name, walk in lists.items()},
        }
    )


def _list(walk: ListResult) -> Mapping[str, Spliced]:
    error = JsonText(walk.error) if isinstance(walk.error, bytes) else walk.error
    pages = [JsonText(page) for page in walk.pages]
    return {"declared": walk.declared, "end": walk.end.value, "error": error, "pages": pages}
