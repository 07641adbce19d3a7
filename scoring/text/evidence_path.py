"""Paths of things in the evidence: `tools/search/query`, readable, bounded and unambiguous."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from evidence.canonical import Json

MAX_SEGMENT: Final = 80

_ESCAPES: Final = {"~": "~0", "/": "~1", "@": "~2"}
_ESCAPED = re.compile("[~/@]")


def name_segments(names: Iterable[str]) -> Iterator[str]:
    """One path segment per name. An empty, cut or repeated name gets the suffix `@INDEX`, its index in the list."""
    names = list(names)
    repeated = Counter(names) if len(set(names)) < len(names) else {}
    for index, name in enumerate(names):
        plain = bool(name) and repeated.get(name, 1) == 1 and len(name) <= MAX_SEGMENT
        yield escape_segment(name) if plain else f"{escape_segment(name[:MAX_SEGMENT])}@{index}"


def escape_segment(name: str) -> str:
    """A name as one segment: `~`, `/` and `@` as ~0, ~1 and ~2, invisible characters made visible."""
    if name.isascii() and name.isidentifier():
        return name
    return make_visible(_ESCAPED.sub(lambda match: _ESCAPES[match[0]], name))


def unescape_segment(segment: str) -> str:
    """The name in a segment, without its `@INDEX`. Invisible characters stay in their visible form."""
    name = segment.partition("@")[0]
    return name.replace("~2", "@").replace("~1", "/").replace("~0", "~")


def unescape_path(path: str) -> str:
    """A path with the names in it as they are, for searching only: a name may hold the separator."""
    return path.replace("~2", "@").replace("~1", "/").replace("~0", "~")


def join_segments(*parts: str) -> str:
    """Join segments by `/` without empty segments."""
    return "/".join(filter(None, parts))


def make_visible(text: str) -> str:
    r"""Write control characters, bidirectional marks, lone surrogates and similar characters as \u{HEX}.

    Messages quote what servers send: such characters could reorder a page, drive a terminal, or break UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def clip_text(text: str, limit: int = MAX_SEGMENT) -> str:
    """Text for a message: visible and at most `limit` characters, cut with an ellipsis."""
    return make_visible(text if len(text) <= limit else text[: limit - 1] + "…")


def quote_text(text: str) -> str:
    """A word of the server in a message: clipped and between double quotes."""
    return f'"{clip_text(text)}"'


def show_value(value: Json) -> str:
    """A value of the server in a message: a string as it is, another value as JSON; clipped."""
    return clip_text(value if isinstance(value, str) else json.dumps(value))


def _visible(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return f"\\u{{{ord(character):x}}}"
