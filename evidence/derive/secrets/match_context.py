"""Detects false matches by their surroundings: inside longer Base64, or assigned to a public name."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import re2

_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_JOINTS: Final = frozenset(b"+/")
_BLOB: Final = 32
"""Base64 characters next to a match that make it part of an image or similar: no path has so long a segment."""

_PUBLIC_NAME: Final = (
    r"(?i)(?:[_\-.]|\b|[a-z])(?:id|ids|name|arn|ur[li]|file|path|dir|hash|digest|sha\d*|checksum|fingerprint|type|prefix|suffix|header"
    r"|(?:site|search)[_\-]?(?:only[_\-]?)?(?:api[_\-]?)?key|endpoint|expir(?:y|es|ation)|ttl|length|size|count|limit|regex|pattern|version|field|column|param|label|index|provider"
    r"|(?:progress|page|next|cancel|continuation)[_\-]?token|scope|format|kind|algorithm|alg|cookie|class|policy|rule|mode|ref|refs|store|manager|query|public|public[_\-]?key[_\-]?token|tokeni[sz]er)[\"'`\])]{0,3}\s{0,5}"
    r"(?:=>|:=|={1,3}|:|,|\()\s{0,5}[\"'`(]{0,2}$"
)
_KEEPING_NAME: Final = r"(?i)key|secret|passw|pwd|private|credential"
_PUBLIC_VALUE: Final = r"^(?:client-|pk_(?:live|test)_|pk-lf-|phc_|sb_publishable_|pub[_\-])"
"""Prefixes of keys that their providers document as public."""

_UUID: Final = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PLACE: Final = (
    r"(?i)^(?:arn:|urn:|https?:|file:|projects/|[./~]{1,2}[\w./\-]+$|/[\w./\-]+$)"
    r"|^[a-z]+(?:/[\w\-]+)+$|^[\w\-]+(?:\.[\w\-]+){2,}$"
)


_CUT: Final = re.compile(rb"(?:\\{1,4}[nrt]|\s){0,6}(?:\.{1,3}|\xe2\x80\xa6)\s?-----END|\.{3}|\xe2\x80\xa6")


def is_inside_blob(data: bytes, span: tuple[int, int]) -> bool:
    """Whether a match is part of longer Base64, which contains every short word sooner or later."""
    start, end = span
    if start and data[start - 1] in _JOINTS and _run(data[max(0, start - _BLOB) : start][::-1]) >= _BLOB:
        return True
    return end < len(data) and data[end] in _JOINTS and _run(data[end : end + _BLOB]) >= _BLOB


def is_cut(data: bytes, end: int) -> bool:
    """Whether dots after a match show that the rest of the value is left out."""
    return _CUT.match(data, end) is not None


def is_reference(before: str, value: str, *, of_service: bool = False) -> bool:
    """Whether the preceding name or the value itself shows that the value names or locates a secret and is not one.

    A UUID is the key of some services, and an identifier elsewhere.
    """
    if any(
        _compiled(one).search(text) for one, text in ((_PUBLIC_NAME, before), (_PLACE, value), (_PUBLIC_VALUE, value))
    ):
        return True
    return not of_service and bool(_compiled(_UUID).fullmatch(value)) and not _compiled(_KEEPING_NAME).search(before)


@cache
def _compiled(expression: str) -> re2._Regexp:
    return re2.compile(expression)


def _run(data: bytes) -> int:
    return next((at for at, letter in enumerate(data) if letter not in _BASE64), len(data))
