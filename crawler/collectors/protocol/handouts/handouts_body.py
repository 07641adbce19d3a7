"""Texts of resources and tool results. Binary content is counted and not kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from evidence.canonical import Json
from evidence.derive.secret_scrubbing import scrub_text
from evidence.json_members import array_or_empty, object_or_empty, objects_in
from evidence.kinds.handouts import MAX_RESULT_BYTES
from evidence.model import Observed

_SCRUB_MARGIN: Final = 4 * 1024  # bytes beyond a cut that are scrubbed too, since a cut secret is not recognised
_MOST_STRINGS: Final = 2_000
_DEEPEST: Final = 32
_LONGEST_NAME: Final = 200


def tool_result_row(tool: str, index: int, result: Mapping[str, Json]) -> dict[str, Json]:
    """The row of a tool's result (evidence/kinds/handouts.py)."""
    items = array_or_empty(result.get("content"))
    texts = [text for item in items for text in _texts(item)]
    known = _cut("\n".join(texts), MAX_RESULT_BYTES + _SCRUB_MARGIN)
    more = (text for text in _strings(result.get("structuredContent")) if text not in known)
    binary = sum(_is_binary(item) for item in items)
    return {
        "tool": tool[:_LONGEST_NAME],
        "index": index,
        **bounded_texts((*texts, *more), binary, limit=MAX_RESULT_BYTES),
    }


def bounded_texts(texts: Iterable[str], binary: int, *, limit: int) -> dict[str, Json]:
    """The text members of a row: at most `limit` bytes of text, without secrets."""
    joined = "\n".join(texts)
    cut = _cut(joined, limit + _SCRUB_MARGIN)
    scrubbed = scrub_text(cut)
    margin = _SCRUB_MARGIN if len(cut) < len(joined) else 0
    text = _cut(scrubbed, min(limit, max(0, len(scrubbed.encode()) - margin)))
    return {"text": text, "whole": not margin and len(text) == len(scrubbed), "binary": binary}


def read_resource_texts(result: Json) -> tuple[list[str], int]:
    """The texts of a read resource, and how many of its contents are binary."""
    items = objects_in(object_or_empty(result).get("contents"))
    texts = [text for item in items if isinstance(text := item.get("text"), str)]
    return texts, sum("blob" in item for item in items)


def handouts_body(
    resources: Sequence[Mapping[str, Json]], results: Sequence[Mapping[str, Json]], *, unread: int, untried: str
) -> Observed:
    body = {"resources": resources, "unread": unread, "results": results, "untried": untried}
    return Observed(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def _texts(item: Json) -> Iterator[str]:
    """The text that a model reads of one content: its own, that of an embedded resource, the description of a linked
    one.
    """
    if not isinstance(item, Mapping):
        return
    inner = item.get("resource")
    found = (item.get("text"), inner.get("text") if isinstance(inner, Mapping) else None)
    described = (item.get(name) for name in ("title", "description")) if item.get("type") == "resource_link" else ()
    yield from (text for text in (*found, *described) if isinstance(text, str))


def _is_binary(item: Json) -> bool:
    if not isinstance(item, Mapping):
        return False
    inner = item.get("resource")
    return "data" in item or (isinstance(inner, Mapping) and "blob" in inner)


def _strings(value: Json) -> Iterator[str]:
    """Strings and keys of structured content, breadth first within bounds."""
    level, cut = [value], 0
    for _ in range(_DEEPEST):
        following: list[Json] = []
        for part in level:
            cut += 1
            if cut > _MOST_STRINGS:
                return
            if isinstance(part, str):
                yield part
            elif isinstance(part, Mapping):
                following += [each for pair in part.items() for each in pair]
            elif isinstance(part, list):
                following += part
        level = following


def _cut(text: str, limit: int) -> str:
    """The beginning of the text, at most `limit` bytes in UTF-8."""
    return text[:limit].encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
