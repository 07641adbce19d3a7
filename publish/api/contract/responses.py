"""JSON responses and their caching."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
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
    """A JSON response; with `keep` it depends on published content alone and may be cached."""
    return bytes_response(encode_json(value), status=status, headers=headers, keep=keep)


def bytes_response(
    body: bytes, *, status: int = 200, headers: Mapping[str, str] = _NOTHING, keep: bool = False
) -> Response:
    """A response of encoded JSON."""
    caching = {"Cache-Control": CACHE_PUBLIC} if keep else {}
    return Response(body, status, {**caching, **headers}, MEDIA_TYPE)


def encode_json(value: Any) -> bytes:
    """A value as JSON; large integers and lone surrogates, which orjson refuses, are encoded by `json`."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


@lru_cache(1_000)
def format_time(at: datetime) -> str:
    """A time in UTC as the API writes it, such as 2026-03-01T03:00:00+00:00."""
    return at.astimezone(UTC).isoformat()


@lru_cache(_KEPT)
def mask_secrets(text: str) -> str:
    """A short untrusted text, such as a name or address, with apparent secrets masked; cached."""
    return scrub_text(text)
