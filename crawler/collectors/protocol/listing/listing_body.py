"""The body of a listing record: results and errors are spliced in byte for byte, the rest is canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from crawler.collectors.protocol.listing.list_walker import ListResult
from crawler.collectors.protocol.session.handshake import Opened
from evidence.canonical import Json
from evidence.model import Target

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def listing_body(target: Target, opened: Opened, sandbox: str, lists: Mapping[str, ListResult]) -> bytes:
    """The bytes of schema 1 (evidence/kinds/listing.py)."""
    about = {"type": target.type.value, "identifier": target.identifier, "version": target.version}
    parts = {
        "target": _own(about),
        "transport": _own(opened.dialogue.channel.transport),
        "era": _own(opened.era.value),
        "protocolVersion": _own(opened.version),
        "sandbox": _own(sandbox),
        "opening": opened.answer.span,
        "lists": _object({name: _list(walk) for name, walk in lists.items()}),
    }
    return _object(parts)


def _list(walk: ListResult) -> bytes:
    error = walk.error if isinstance(walk.error, bytes) else _own(walk.error)
    pages = b"[" + b",".join(walk.pages) + b"]"
    return _object({"declared": _own(walk.declared), "end": _own(walk.end.value), "error": error, "pages": pages})


def _object(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(_own(name) + b":" + value for name, value in members.items()) + b"}"


def _own(value: Json) -> bytes:
    return _ENCODER.encode(value).encode("utf-8", "replace")
