"""The questions of a full probe as data: requests with chosen headers and bodies, and names that cannot exist.

Every invented value here is the one in the record; random ones are sent instead (`random_names`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from typing import Final, TypeAlias

from msgspec import Struct

from crawler.collectors.protocol.listing.list_walker import LIST_METHODS, is_capability_declared
from crawler.mcp.channel import Era
from evidence.canonical import Json

UNKNOWN_NAME: Final = "hallmark_probe_nonexistent_4f1c9a"
OTHER_UNKNOWN_NAME: Final = "hallmark_probe_other_4f1c9a"
UNKNOWN_URI: Final = "hallmark-probe://nonexistent/4f1c9a"
UNKNOWN_CURSOR: Final = "hallmark-probe-4f1c9a"
UNKNOWN_METHOD: Final = "hallmark/unknown"
UNKNOWN_SESSION: Final = "hallmark-fake-session-4f1c9a0000000000"
FOREIGN_HOST: Final = "hallmark-probe.invalid"
FOREIGN_ORIGIN: Final = f"https://{FOREIGN_HOST}"
UNKNOWN_VERSION: Final = "1900-01-01"
TEXT_ID: Final = "hallmark-id"

MALFORMED: Final = "malformed"
"""The only step whose request is no JSON text."""

_LISTED: Final = ("tools", "resources", "prompts")

Headers: TypeAlias = tuple[tuple[str, str], ...]
Number: TypeAlias = Callable[[], int]
"""Hands out the ids of requests."""


class Risk(IntEnum):
    """How likely a question disturbs a server: the probe asks in this order.

    Before those of another risk, after each RISKY question, and after a sign of harm, a fresh client opens the server
    to see whether it still serves.
    """

    COMMON = 0  # what every client sends
    UNUSUAL = 1  # well-formed, about names that do not exist, or with headers that differ
    RISKY = 2  # methods and versions that a server may not know, streams and texts that it may not expect


_RISKY_STEPS: Final = frozenset(
    {MALFORMED, "batch", "discover", "unknown-method", "get", "delete", "listen", "initialize-unknown"}
    | {"removed-ping", "removed-logging", "removed-subscribe"}
    | {"initialize-2024-11-05", "initialize-2025-03-26", "initialize-2025-06-18"}
    | {"list-tools-undeclared", "list-resources-undeclared", "list-prompts-undeclared"}
)
"""Steps that made released SDK versions fall (docs/version-matrix.md), and steps of the same nature."""

_COMMON_STEPS: Final = frozenset(
    {"ping", "list-tools", "list-tools-again", "list-tools-elsewhere", "initialized", "stream", "end"}
)


def find_risk(step: str) -> Risk:
    """The risk of a step; that of one which is not known here is UNUSUAL."""
    if step in _RISKY_STEPS:
        return Risk.RISKY
    return Risk.COMMON if step in _COMMON_STEPS else Risk.UNUSUAL


class Inquiry(Struct, frozen=True, kw_only=True):
    """One request as it is sent. Without `headers` the channel's own are sent; stdio has none.

    `again`: a well-formed question, which may be repeated after a transient failure.
    """

    step: str
    verb: str = "POST"
    label: str = ""
    body: bytes = b""
    headers: Headers | None = None
    again: bool = False

    @property
    def risk(self) -> Risk:
        return find_risk(self.step)


class ServerFacts(Struct, frozen=True, kw_only=True):
    """What is known of a server when the inquiries begin. `paged`: the lists that named a next cursor.

    `listen`: a subscription may be opened. `origin`: the server's own, over HTTP. `local`: its address is
    loopback or private, so that a web page reaches it only by DNS rebinding.
    """

    era: Era
    capabilities: Mapping[str, Json] | None
    dual: bool = False
    paged: tuple[str, ...] = ()
    listen: bool = False
    origin: str = ""
    local: bool = False

    def declares(self, name: str) -> bool:
        return is_capability_declared(self.capabilities, name)

    @property
    def changing(self) -> dict[str, Json]:
        """The lists of which the server declares that it notifies changes, in the form of a subscription."""
        found: dict[str, Json] = {}
        for name in _LISTED:
            capability = self.capabilities.get(name) if self.capabilities else None
            if isinstance(capability, Mapping) and capability.get("listChanged") is True:
                found[f"{name}ListChanged"] = True
        return found

    def list_origin_headers(self) -> Iterator[tuple[str, str, str]]:
        """The questions about origin and host name: the end of the step, and the header with its value.

        A server of both eras is asked in each, since one may be served by other code.
        """
        yield "origin", "origin", FOREIGN_ORIGIN
        if self.origin:
            yield "origin-own", "origin", self.origin
        if self.local:
            yield "host", "host", FOREIGN_HOST

    @property
    def question(self) -> str:
        """A harmless method that the server answers."""
        return "tools/list" if self.declares("tools") else "ping"


class Question(Struct, frozen=True):
    """A well-formed request without the envelope of an era."""

    step: str
    method: str
    params: Mapping[str, Json]
    text_id: bool = False
    again: bool = False


def make_common_questions(facts: ServerFacts) -> Iterator[Question]:
    """The questions of both eras over every transport: about names that do not exist, and undeclared lists."""
    yield Question("unknown-method", UNKNOWN_METHOD, {}, text_id=True)
    if facts.declares("tools"):
        yield Question("call-nonexistent", "tools/call", {"name": UNKNOWN_NAME, "arguments": {}})
    if facts.declares("resources"):
        yield Question("read-nonexistent", "resources/read", {"uri": UNKNOWN_URI})
    if facts.declares("prompts"):
        yield Question("prompt-nonexistent", "prompts/get", {"name": UNKNOWN_NAME, "arguments": {}})
    for name in _LISTED:
        if not facts.declares(name):
            yield Question(f"list-{name}-undeclared", LIST_METHODS[name], {})
    for position, name in enumerate(facts.paged):
        step = f"cursor-invented-{name}" if position else "cursor-invented"
        yield Question(step, LIST_METHODS[name], {"cursor": UNKNOWN_CURSOR})


def encode_question(number: Json, method: str, params: Mapping[str, Json]) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}, separators=(",", ":")
    ).encode()


def encode_truncated_question(number: int, method: str) -> bytes:
    """A JSON text that ends too early."""
    return f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{'.encode()


def replace_headers(headers: Headers, changes: Mapping[str, str | None]) -> Headers:
    """The headers with some replaced, or left out where None."""
    kept = tuple((name, value) for name, value in headers if name not in changes)
    return (*kept, *((name, value) for name, value in changes.items() if value is not None))
