"""The request that the client's process reads on stdin and the answer on its stdout: one JSON document each."""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import asdict

from evidence.canonical import Json, NotJson, canonical_json, parse_json
from evidence.model import Absent, Observed, Reason


class InteropRequest(Struct, frozen=True, kw_only=True):
    """One server to connect to. Times in seconds, memory in MiB; `gap` lies between two requests.

    `handle` is the socket that the process inherits for a launched server, which has no `url`. `handshake`: begin with
    `initialize`, not with the SDK's own first question.
    """

    url: str
    transport: str
    headers: tuple[tuple[str, str], ...]
    user_agent: str
    allow_private: bool
    gap: float
    wall: float
    cpu: int
    memory: int
    handle: int | None = None
    handshake: bool = False

    def to_json(self) -> bytes:
        """The request as JSON for stdin; headers may hold a secret, so they are never on a command line."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_json(data: bytes) -> InteropRequest:
        members = json.loads(data)
        return InteropRequest(**{**members, "headers": tuple((name, value) for name, value in members["headers"])})


def encode_answer(content: Mapping[str, Json] | Absent) -> bytes:
    if isinstance(content, Absent):
        return canonical_json({"absent": [content.reason.value, content.detail]})
    return canonical_json({"body": content})


def decode_answer(line: bytes) -> Observed | Absent:
    """The content of a line; Absent(collector_error) for an invalid line."""
    try:
        members = parse_json(line)
    except NotJson:
        return _NOTHING
    match members:
        case {"body": body}:
            return Observed(canonical_json(body))
        case {"absent": [str(reason), str(detail)]} if reason in set(Reason):
            return Absent(Reason(reason), detail)
    return _NOTHING


_NOTHING = Absent(Reason.COLLECTOR_ERROR, "the client's process gave no answer")
