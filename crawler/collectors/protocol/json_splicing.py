"""Builds JSON texts around received bytes, which stay as they are; everything else is compact JSON of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import orjson

from evidence.canonical import Json


def encode_json(value: Json) -> bytes:
    """The compact JSON of a value; lone surrogates are replaced."""
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate from the server
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def splice_object(members: Mapping[str, bytes]) -> bytes:
    """A JSON object whose values are JSON texts; the names are our own."""
    return orjson.dumps({name: orjson.Fragment(value) for name, value in members.items()})


def splice_members(members: Iterable[tuple[str, bytes]]) -> bytes:
    """The same of names and values, which may repeat a name."""
    return b"{" + b",".join(encode_json(name) + b":" + value for name, value in members) + b"}"


def splice_array(values: Iterable[bytes]) -> bytes:
    """A JSON array whose elements are JSON texts."""
    return b"[" + b",".join(values) + b"]"
