"""Tolerant readers of values in answers: an invalid, huge or unprintable value is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use

LONGEST: Final = 300
_LONGEST_URL: Final = 2048
_MOST: Final = 2**53
_UNSPEAKABLE: Final = compile_on_use("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TIME: Final = compile_on_use(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")


def as_object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def as_list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def list_objects(value: Json) -> Sequence[Mapping[str, Json]]:
    return [item for item in as_list(value) if isinstance(item, Mapping)]


def list_nodes(connection: Json) -> Sequence[Mapping[str, Json]]:
    return list_objects(as_object(connection).get("nodes"))


def as_text(value: Json, longest: int = LONGEST) -> str | None:
    """A text without control characters; None for an empty or overlong one."""
    fits = isinstance(value, str) and 0 < len(value) <= longest and not _UNSPEAKABLE.search(value)
    return value if fits and isinstance(value, str) else None


def as_flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def as_count(value: Json) -> int | None:
    """A non-negative integer that JSON represents exactly."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def as_timestamp(value: Json) -> str | None:
    """An RFC 3339 time as it was written; None for anything else."""
    stated = as_text(value)
    return stated if stated and as_datetime(stated) is not None else None


def as_datetime(value: Json) -> datetime | None:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value)
    except (ValueError, OverflowError):
        return None


def timestamp_sort_key(stated: str) -> float:
    """A key that sorts times in different notations."""
    at = as_datetime(stated)
    return at.timestamp() if at is not None else 0.0


def as_website_url(value: Json) -> str | None:
    """An http(s) URL without user name, password, query and fragment."""
    stated = as_text(value, _LONGEST_URL)
    if not stated:
        return None
    try:
        parts = urlsplit(stated.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not host:
        return None
    return urlunsplit((parts.scheme, f"{host}:{port}" if port else host, parts.path, "", ""))
