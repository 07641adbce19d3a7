"""Values as JSON answers: what may be kept by everybody, and what may not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import orjson
from starlette.responses import Response

from evidence.derive.secret_scrubbing import scrub_text
from publish.web.context import CACHE_PUBLIC

MEDIA_TYPE: Final = "application/json"
_KEPT: Final = 100_000
_NOTHING: Final[Mapping[str, str]] = {}


def json_response(
    value: Any, *, status: int = 200, headers: Mapping[str, str] = _NOTHING, keep: bool = False
) -> Response:
    """A JSON value as the answer; with `keep` it follows from published content alone, and caches may have it."""
    return bytes_response(encode_json(value), status=status, headers=headers, keep=keep)


def bytes_response(
    body: bytes, *, status: int = 200, headers: Mapping[str, str] = _NOTHING, keep: bool = False
) -> Response:
    """JSON that is encoded already."""
    caching = {"Cache-Control": CACHE_PUBLIC} if keep else {}
    return Response(body, status, {**caching, **headers}, MEDIA_TYPE)


def encode_json(value: Any) -> bytes:
    """A value as JSON; what the fast encoder refuses, great integers and lone surrogates of strangers, is escaped."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def format_decimal(number: Decimal) -> str:
    """A decimal as the API writes it: exact, as a string."""
    return format(number, "f")


@lru_cache(1_000)
def format_time(at: datetime) -> str:
    """A time in UTC as the API writes it, such as 2026-03-01T03:00:00+00:00."""
    return at.astimezone(UTC).isoformat()


@lru_cache(_KEPT)
def mask_secrets(text: str) -> str:
    """A short text of a stranger, its name or address, without what looks like a secret."""
    return scrub_text(text)
