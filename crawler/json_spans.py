"""Splits a JSON text into the byte spans of its entries, so that each is kept exactly as received.

The scan considers strings, brackets, commas and colons only and does not recurse. An invalid entry does not affect the
others; the text as a whole must be balanced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from evidence.canonical import NotJson

MAX_ITEMS: Final = 1_000_000

_Item: TypeAlias = tuple[int | None, int, int]
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[][{},:"]', re.DOTALL)
_BLANK: Final = b" \t\r\n"
_OPEN: Final = frozenset(b"[{")
_CLOSE: Final = frozenset(b"]}")


def split_elements(text: bytes, *, limit: int = MAX_ITEMS) -> list[bytes]:
    """The bytes of each element of a JSON array; raise NotJson when it is not balanced or has more than `limit`."""
    body = text.strip(_BLANK)
    if not body.startswith(b"["):
        raise NotJson("expected an array")
    return [body[start:end].strip(_BLANK) for _, start, end in _bounded(_items(body), limit)]


def split_members(text: bytes) -> list[tuple[str, bytes]]:
    """The name and the value's bytes of each member of a JSON object; raise NotJson when it is not balanced."""
    body = text.strip(_BLANK)
    if not body.startswith(b"{"):
        raise NotJson("expected an object")
    return [_member(body, colon, start, end) for colon, start, end in _bounded(_items(body), MAX_ITEMS)]


def _bounded(items: Iterator[_Item], limit: int) -> Iterator[_Item]:
    for count, item in enumerate(items, start=1):
        if count > limit:
            raise NotJson(f"more than {limit} elements")
        yield item


def _member(body: bytes, colon: int | None, start: int, end: int) -> tuple[str, bytes]:
    if colon is None:
        raise NotJson(f"expected a member name and a colon at byte {start}")
    try:
        name = json.loads(body[start:colon])
    except ValueError as error:
        raise NotJson(f"expected a member name at byte {start}: {error}") from error
    if not isinstance(name, str):
        raise NotJson(f"expected a member name at byte {start}")
    return name, body[colon + 1 : end].strip(_BLANK)


def _items(body: bytes) -> Iterator[_Item]:
    """(position of the first colon, start, end) of each item directly inside the outermost brackets."""
    depth, start, colon = 0, 1, None
    for token in _TOKEN.finditer(body):
        byte = body[token.start()]
        if byte in _OPEN:
            depth += 1
        elif byte in _CLOSE:
            depth -= 1
            if depth == 0:
                yield from _last(body, colon, start, token.start())
                return
        elif byte == ord('"') and token.end() - token.start() == 1:
            raise NotJson(f"a string that starts at byte {token.start()} does not end")
        elif depth == 1 and byte == ord(":") and colon is None:
            colon = token.start()
        elif depth == 1 and byte == ord(","):
            yield colon, start, token.start()
            start, colon = token.end(), None
    raise NotJson("the text ends inside a bracket")


def _last(body: bytes, colon: int | None, start: int, end: int) -> Iterator[_Item]:
    if body[end + 1 :].strip(_BLANK):
        raise NotJson(f"more text after the end, at byte {end + 1}")
    if start > 1 or body[start:end].strip(_BLANK):
        yield colon, start, end
