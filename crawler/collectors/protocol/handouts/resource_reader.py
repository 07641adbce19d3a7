"""Reads a few of the resources that a server lists, as a client does that shows them to a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from crawler.collectors.protocol.handouts.handouts_body import bounded_texts, read_resource_texts
from crawler.collectors.protocol.session.absence_reasons import explain_reply
from crawler.collectors.protocol.session.dialogue import Dialogue
from crawler.collectors.protocol.trials.result_forms import list_meta_keys
from crawler.mcp.channel import Era
from crawler.mcp.transcript import TOO_MANY_REQUESTS, Reply
from evidence.canonical import Json, NotJson, parse_json
from evidence.json_members import array_or_empty, object_or_empty, objects_in
from evidence.kinds.handouts import MAX_RESOURCE_BYTES, MAX_RESOURCES

METHOD: Final = "resources/read"
_SECONDS: Final = 8.0
_TOTAL_SECONDS: Final = 10.0  # seconds after which no further resource is requested
_LONGEST_URI: Final = 2_000
_LONGEST_WHY: Final = 200
_BINARY_TYPES: Final = ("image/", "audio/", "video/", "font/", "application/zip", "application/pdf")


class WantedResource(Struct, frozen=True):
    """One listed resource to read: its place in the list and its address."""

    index: int
    uri: str


class ReadResources(Struct, frozen=True):
    """What was read: the rows of the handouts, and the rows of `read` (evidence/kinds/exchanges.py)."""

    handouts: list[dict[str, Json]]
    meta_keys: list[dict[str, Json]]


def choose_resources(pages: Iterable[bytes]) -> tuple[Sequence[WantedResource], int]:
    """The resources to read, in the order of the list, and how many are left out. Declared texts go first.

    Templates are in another list and are never filled in.
    """
    listed = list(_listed(pages))
    textual = [one for one, is_text in listed if is_text]
    rest = [one for one, is_text in listed if not is_text]
    picked = sorted([*textual, *rest][:MAX_RESOURCES], key=lambda one: one.index)
    return picked, len(listed) - len(picked)


async def read_resources(dialogue: Dialogue, era: Era, wanted: Sequence[WantedResource]) -> ReadResources:
    """One handout per requested resource; the first request without an answer ends the reading.

    Like calls of tools these requests have a bound of their own, so that a full probe asks as many questions as before.
    """
    tick = asyncio.get_running_loop().time
    ends = tick() + _TOTAL_SECONDS
    read = ReadResources([], [])
    for one in wanted:
        if tick() >= ends:
            break
        since = len(dialogue.transcript.exchanges)
        reply = await dialogue.turn_page(METHOD, {"uri": one.uri}, era, seconds=_SECONDS)
        dialogue.transcript.forget(since)
        read.handouts.append({"uri": one.uri, "index": one.index, **_read(reply)})
        if keys := _list_meta_keys(reply):
            read.meta_keys.append({"connection": dialogue.link(era), "uri": one.uri, "keys": keys})
        if reply.answer is None or reply.status == TOO_MANY_REQUESTS:
            break
    return read


def _list_meta_keys(reply: Reply) -> list[Json]:
    """The keys of `_meta` in a result and in each of its contents."""
    result = object_or_empty(reply.result.value if reply.result else None)
    parts = (result, *objects_in(result.get("contents")))
    return [*list_meta_keys(*(part.get("_meta") for part in parts))]


def _read(reply: Reply) -> dict[str, Json]:
    result = reply.result.value if reply.result else None
    if isinstance(result, Mapping) and isinstance(result.get("contents"), list):
        texts, binary = read_resource_texts(result)
        return {**bounded_texts(texts, binary, limit=MAX_RESOURCE_BYTES), "why": ""}
    return {"text": "", "whole": True, "binary": 0, "why": _why(reply)[:_LONGEST_WHY]}


def _why(reply: Reply) -> str:
    if reply.result:
        return "the result has no contents"
    if (
        reply.answer is not None
        and (reply.status or 200) < 500
        and reply.status not in {401, 402, 403, TOO_MANY_REQUESTS}
    ):
        return f"code {reply.answer.code}"
    absent = explain_reply(reply, METHOD)
    return absent.reason.value


def _listed(pages: Iterable[bytes]) -> Iterator[tuple[WantedResource, bool]]:
    """Every listed resource with an address, once, and whether it may be text."""
    seen: set[str] = set()
    index = -1
    for page in pages:
        for item in _items(page):
            index += 1
            uri = item.get("uri") if isinstance(item, Mapping) else None
            if not isinstance(uri, str) or not 0 < len(uri) <= _LONGEST_URI or uri in seen or not _is_sendable(uri):
                continue
            seen.add(uri)
            kind = item.get("mimeType") if isinstance(item, Mapping) else None
            yield WantedResource(index, uri), not (isinstance(kind, str) and kind.lower().startswith(_BINARY_TYPES))


def _items(page: bytes) -> Sequence[Json]:
    try:
        result = parse_json(page)
    except NotJson:
        return []
    return array_or_empty(object_or_empty(result).get("resources"))


def _is_sendable(uri: str) -> bool:
    try:
        uri.encode()
    except UnicodeEncodeError:
        return False
    return True
