"""The inquiries of the legacy era (2024-11-05 to 2025-11-25), over every transport."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from crawler.collectors.protocol.inquiries import (
    MALFORMED,
    NO_ORIGIN,
    NO_SESSION,
    NO_VERSION,
    TEXT_ID,
    Facts,
    Headers,
    Inquiry,
    Number,
    changed,
    cut_short,
    message,
    ordinary,
)
from crawler.wire.mcp import LEGACY_VERSION, initialize_params
from crawler.wire.streamable import CONTENT
from evidence.canonical import Json

BATCHING: Final = "2025-03-26"
"""The one revision with batches."""

OLDER: Final = ("2024-11-05", BATCHING, "2025-06-18")
_NAMING: Final = frozenset({"2025-06-18", LEGACY_VERSION})  # revisions with a version header
_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"


def legacy_inquiries(facts: Facts, number: Number, *, lists: bool) -> Iterator[Inquiry]:
    """Those that any transport carries. `lists`: ask for the tools too, since they were listed in the other era."""
    yield Inquiry(step="ping", label="ping", body=message(number(), "ping", {}), again=True)
    if lists and facts.declares("tools"):
        yield Inquiry(step="list-tools", label="tools/list", body=message(number(), "tools/list", {}), again=True)
    for question in ordinary(facts):
        identifier = number()
        yield Inquiry(
            step=question.step,
            label=question.method,
            body=message(TEXT_ID if question.text_id else identifier, question.method, question.params),
        )


def malformed(number: Number) -> Inquiry:
    """A text that is cut off."""
    return Inquiry(step=MALFORMED, label="ping", body=cut_short(number(), "ping"))


def header_inquiries(facts: Facts, number: Number, own: Sequence[tuple[str, str]], version: str) -> Iterator[Inquiry]:
    """Those about the headers of streamable HTTP. `own` are the headers of the connection, `version` the negotiated."""
    headers = tuple(own)

    def ask(step: str, changes: Mapping[str, str | None]) -> Inquiry:
        body = message(number(), facts.question, {})
        return Inquiry(step=step, label=facts.question, body=body, headers=changed(headers, changes))

    yield Inquiry(step="stream", verb="GET", label="GET", headers=_listening(headers))
    if version in _NAMING:
        yield ask("version-unknown", {_VERSION: NO_VERSION})
        yield ask("version-missing", {_VERSION: None})
    if any(name == _SESSION for name, _ in headers):
        yield ask("session-missing", {_SESSION: None})
        yield ask("session-random", {_SESSION: NO_SESSION})


def process_openings(client_version: str) -> Iterator[tuple[str, Inquiry]]:
    """Further openings, each with the version that it offers and for a connection, or process, of its own."""
    for version in OLDER:
        yield version, _opening(f"initialize-{version}", client_version, version)
    yield NO_VERSION, _opening("initialize-unknown", client_version, NO_VERSION)


def openings(client_version: str) -> Iterator[tuple[str, Inquiry]]:
    """Those of streamable HTTP: the same and one about its headers."""
    yield from process_openings(client_version)
    yield LEGACY_VERSION, _opening("initialize-origin", client_version, LEGACY_VERSION, ("origin", NO_ORIGIN))


def batch(headers: Sequence[tuple[str, str]]) -> Inquiry:
    """One ping in an array."""
    return Inquiry(step="batch", label="ping", body=b"[" + message(2, "ping", {}) + b"]", headers=tuple(headers))


def ending(headers: Sequence[tuple[str, str]]) -> Inquiry:
    """The end of a session."""
    return Inquiry(step="end", verb="DELETE", label="DELETE", headers=tuple(headers))


def after_end(facts: Facts, number: Number, headers: Sequence[tuple[str, str]]) -> Inquiry:
    """A question on a session that has ended."""
    body = message(number(), facts.question, {})
    return Inquiry(step="after-end", label=facts.question, body=body, headers=tuple(headers))


def _opening(step: str, client_version: str, version: str, *headers: tuple[str, str]) -> Inquiry:
    params: Mapping[str, Json] = {**initialize_params(client_version), "protocolVersion": version}
    body = message(1, "initialize", params)
    return Inquiry(step=step, label="initialize", body=body, headers=(*CONTENT, *headers), again=not headers)


def _listening(headers: Headers) -> Headers:
    kept = tuple((name, value) for name, value in headers if name not in {"accept", "content-type"})
    return (("accept", "text/event-stream"), *kept)
