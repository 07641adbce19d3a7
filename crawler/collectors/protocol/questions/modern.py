"""The inquiries of the modern era (2026-07-28): its envelope, its methods and, over HTTP, its headers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from crawler.collectors.protocol.questions.inquiries import (
    MALFORMED,
    OTHER_UNKNOWN_NAME,
    TEXT_ID,
    UNKNOWN_NAME,
    UNKNOWN_SESSION,
    UNKNOWN_URI,
    UNKNOWN_VERSION,
    Inquiry,
    Number,
    ServerFacts,
    encode_question,
    encode_truncated_question,
    make_common_questions,
    replace_headers,
)
from crawler.mcp.channel import MODERN_VERSION, modern_params
from crawler.mcp.streamable_http import encode_base64_text, modern_headers
from evidence.canonical import Json

ELSEWHERE: Final = "list-tools-elsewhere"
"""The only step on a further connection."""

LISTEN: Final = "listen"
"""The only step that is watched and not answered."""

_DISCOVER: Final = "server/discover"
_META: Final = "io.modelcontextprotocol"
_METHOD: Final = "mcp-method"
_NAME: Final = "mcp-name"
_VERSION: Final = "mcp-protocol-version"


def modern_inquiries(facts: ServerFacts, client_version: str, number: Number) -> Iterator[Inquiry]:
    """All inquiries of the era, in the order in which they are asked; `number` hands out request ids."""
    envelope = _Envelope(client_version, number)
    yield from _envelopes(envelope)
    yield from _headers(envelope, facts)
    yield from _bodies(envelope, facts)
    yield from _subscription(envelope, facts)
    if not facts.dual:
        stream = (("accept", "text/event-stream"), (_VERSION, MODERN_VERSION))
        yield Inquiry(step="get", verb="GET", label="GET", headers=stream)
        yield Inquiry(step="delete", verb="DELETE", label="DELETE", headers=stream[1:])
    yield replace(malformed_discover(number), headers=tuple(modern_headers(_DISCOVER, {})))


def stdio_inquiries(facts: ServerFacts, client_version: str, number: Number) -> Iterator[Inquiry]:
    """The same bodies for a process, which sees no headers."""
    envelope = _Envelope(client_version, number)
    yield from _envelopes(envelope)
    yield from _bodies(envelope, facts)
    yield from _subscription(envelope, facts)


def malformed_discover(number: Number) -> Inquiry:
    """A truncated question of the modern era."""
    return Inquiry(step=MALFORMED, label=_DISCOVER, body=encode_truncated_question(number(), _DISCOVER))


def other_connection_inquiry(client_version: str, number: Number) -> Inquiry:
    """The list of tools once more, for a connection of its own."""
    return _Envelope(client_version, number).make(ELSEWHERE, "tools/list", {}, again=True)


class _Envelope:
    """Puts questions into the modern envelope."""

    def __init__(self, client_version: str, number: Number) -> None:
        self._client_version = client_version
        self._number = number

    def make(
        self,
        step: str,
        method: str,
        params: Mapping[str, Json],
        *,
        identifier: Json = None,
        version: str = MODERN_VERSION,
        without: str | None = None,
        meta: bool = True,
        headers: Mapping[str, str | None] | None = None,
        again: bool = False,
    ) -> Inquiry:
        """A request. `without` leaves a member of `_meta` out; `headers` replaces headers, and None leaves one out."""
        number = self._number()
        enveloped = modern_params(params, self._client_version)
        inner = {**enveloped["_meta"], f"{_META}/protocolVersion": version}  # type: ignore[dict-item]
        inner.pop(f"{_META}/{without}", None)
        sent = {**params, "_meta": inner} if meta else dict(params)
        return Inquiry(
            step=step,
            label=method,
            body=encode_question(identifier or number, method, sent),
            headers=replace_headers(tuple(modern_headers(method, params, version=version)), headers or {}),
            again=again,
        )

    def discover(self, step: str, **changes: object) -> Inquiry:
        """A `server/discover` that differs in one thing."""
        return self.make(step, _DISCOVER, {}, **changes)  # type: ignore[arg-type]


def _envelopes(envelope: _Envelope) -> Iterator[Inquiry]:
    yield envelope.discover("discover-version-unknown", version=UNKNOWN_VERSION)
    yield envelope.discover("discover-meta-missing", meta=False)
    yield envelope.discover("discover-capabilities-missing", without="clientCapabilities")
    yield envelope.discover("discover-client-missing", without="clientInfo")


def _bodies(envelope: _Envelope, facts: ServerFacts) -> Iterator[Inquiry]:
    for question in make_common_questions(facts):
        identifier = TEXT_ID if question.text_id else None
        yield envelope.make(question.step, question.method, question.params, identifier=identifier)
    yield envelope.make("removed-ping", "ping", {})
    yield envelope.make("removed-logging", "logging/setLevel", {"level": "info"})
    yield envelope.make("removed-subscribe", "resources/subscribe", {"uri": UNKNOWN_URI})
    if facts.declares("tools"):
        yield envelope.make("list-tools-again", "tools/list", {}, again=True)


def _subscription(envelope: _Envelope, facts: ServerFacts) -> Iterator[Inquiry]:
    if facts.listen and facts.changing:
        yield envelope.make(LISTEN, "subscriptions/listen", {"notifications": facts.changing})


def _headers(envelope: _Envelope, facts: ServerFacts) -> Iterator[Inquiry]:
    yield envelope.discover("discover-version-mismatch", headers={_VERSION: UNKNOWN_VERSION})
    yield envelope.discover("discover-method-mismatch", headers={_METHOD: "tools/list"})
    yield envelope.discover("discover-method-missing", headers={_METHOD: None})
    yield envelope.discover("discover-version-missing", headers={_VERSION: None})
    yield envelope.discover("discover-session-faked", headers={"mcp-session-id": UNKNOWN_SESSION})
    for step, name, value in facts.list_origin_headers():
        yield envelope.discover(f"discover-{step}", headers={name: value})
    uppercase = envelope.discover("discover-headers-uppercase")
    yield Inquiry(
        step=uppercase.step,
        label=uppercase.label,
        body=uppercase.body,
        headers=tuple((name.upper(), value) for name, value in uppercase.headers or ()),
    )
    if facts.declares("tools"):
        call: Mapping[str, Json] = {"name": UNKNOWN_NAME, "arguments": {}}
        yield envelope.make("call-name-mismatch", "tools/call", call, headers={_NAME: OTHER_UNKNOWN_NAME})
        yield envelope.make("call-name-encoded", "tools/call", call, headers={_NAME: encode_base64_text(UNKNOWN_NAME)})
