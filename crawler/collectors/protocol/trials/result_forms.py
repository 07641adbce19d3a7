"""The form of a tool's result: members, types and words of the protocol, without anything that the tool said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from crawler.secret_masking import mask_secrets
from evidence.canonical import Json

_MAX_PARTS: Final = 16
_MAX_LEVELS: Final = 6
_MAX_KEY: Final = 80
_META: Final = "_meta"
_STRUCTURED: Final = "structuredContent"
# Members that a published schema defines for a result or a content block; the names of others are the tool's words.
_MEMBERS: Final = frozenset(
    {"content", "isError", "resultType"}
    | {"type", "text", "data", "mimeType", "resource", "uri", "blob", "annotations"}
    | {"name", "title", "description", "size", "icons", "src", "sizes", "theme"}
    | {"audience", "priority", "lastModified"}
)
_ENUMERATED: Final = frozenset({"type", "resultType", "theme", "audience"})
_WORD: Final = re.compile(r"[a-z][a-z_]{0,23}")
_DIGITS: Final = re.compile(r"[0-9]+")


def describe_form(result: Json) -> Json:
    """The result with neutral values in place of its own.

    Texts become "", numbers 0, 2 or 2.5 (a share, an integer, another number), and of structured content only the type
    is kept. Equal parts of an array are kept once, in a stable order, so that the form does not depend on how much a
    tool found. A member that no schema defines is left out, and of `_meta` only the keys are kept.
    """
    if not isinstance(result, Mapping):
        return _type_of(result)
    form = _members_of(result, 0)
    return {**form, _STRUCTURED: _type_of(result[_STRUCTURED])} if _STRUCTURED in result else form


def _neutral(value: Json, name: str, level: int) -> Json:
    if isinstance(value, Mapping):
        return _members_of(value, level) if level < _MAX_LEVELS else {}
    if isinstance(value, list):
        return _distinct(_neutral(part, name, level + 1) for part in value) if level < _MAX_LEVELS else []
    if isinstance(value, str) and name in _ENUMERATED:
        return value if _WORD.fullmatch(value) else "?"
    return _number(value) if isinstance(value, int | float) and not isinstance(value, bool) else _type_of(value)


def _members_of(value: Mapping[str, Json], level: int) -> dict[str, Json]:
    form = {name: _neutral(part, name, level + 1) for name, part in value.items() if name in _MEMBERS}
    return {**form, _META: _keys_of(value[_META])} if _META in value else form


def _distinct(parts: Iterable[Json]) -> list[Json]:
    known: dict[str, Json] = {}
    for part in parts:
        known.setdefault(json.dumps(part, sort_keys=True), part)
        if len(known) == _MAX_PARTS:
            break
    return [known[text] for text in sorted(known)]


def list_meta_keys(*metas: Json) -> list[str]:
    """The distinct keys of some `_meta`, at most 16, with each number as 0.

    A key of more than 80 characters, or with a secret, is left out. A `_meta` that is not an object has no keys.
    """
    kept = (key for meta in metas if isinstance(meta, Mapping) for key in meta if len(key) <= _MAX_KEY)
    return sorted({_DIGITS.sub("0", key) for key in kept if mask_secrets(key) == key})[:_MAX_PARTS]


def _keys_of(meta: Json) -> Json:
    return dict.fromkeys(list_meta_keys(meta)) if isinstance(meta, Mapping) else _type_of(meta)


def _number(value: float) -> int | float:
    if 0 <= value <= 1:
        return 0
    return 2 if isinstance(value, int) or value.is_integer() else 2.5


def _type_of(value: Json) -> Json:
    """An empty value of the same JSON type."""
    if isinstance(value, Mapping):
        return {}
    if isinstance(value, list):
        return []
    if isinstance(value, str):
        return ""
    return value if value is None or isinstance(value, bool) else 0
