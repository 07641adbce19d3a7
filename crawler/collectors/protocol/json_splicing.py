"""Builds JSON texts around received bytes, which stay as they are; everything else is compact JSON of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import orjson

from evidence.canonical import Json

JsonText: TypeAlias = orjson.Fragment
"""Bytes that are a JSON text already, as a value within other values."""

Spliced: TypeAlias = "Json | JsonText | Mapping[str, Spliced] | Sequence[Spliced]"


def encode_json(value: Spliced) -> bytes:
    """The compact JSON of a value; lone surrogates are replaced. One call for a whole body costs the least."""
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate from the server
        return _encode_tolerantly(value)


def _encode_tolerantly(value: Spliced) -> bytes:
    match value:
        case JsonText():
            return orjson.dumps(value)
        case Mapping():
            return splice_members((name, _encode_tolerantly(one)) for name, one in value.items())
        case list() | tuple():
            return splice_array(map(_encode_tolerantly, value))
        case _:
            return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def splice_object(members: Mapping[str, bytes]) -> bytes:
    """A JSON object whose values are JSON texts."""
    return encode_json({name: JsonText(value) for name, value in members.items()})


def splice_members(members: Iterable[tuple[str, bytes]]) -> bytes:
    """The same of names and values, which may repeat a name."""
    return b"{" + b",".join(encode_json(name) + b":" + value for name, value in members) + b"}"


def splice_array(values: Iterable[bytes]) -> bytes:
    """A JSON array whose elements are JSON texts."""
    return b"[" + b",".join(values) + b"]"
