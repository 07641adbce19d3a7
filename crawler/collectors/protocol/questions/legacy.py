"""The inquiries of the legacy era (2024-11-05 to 2025-11-25), over every transport."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from crawler.collectors.protocol.questions.inquiries import (
    MALFORMED,
    TEXT_ID,
    UNKNOWN_SESSION,
    UNKNOWN_VERSION,
    Headers,
    Inquiry,
    Number,
    ServerFacts,
    encode_question,
    encode_truncated_question,
    make_common_questions,
    replace_headers,
)
from crawler.mcp.channel import LEGACY_VERSION, initialize_params
from crawler.mcp.streamable_http import CONTENT
from evidence.canonical import Json

BATCHING_VERSION: Final = "2025-03-26"
"""The one revision with batches."""

OLDER_VERSIONS: Final = ("2024-11-05", BATCHING_VERSION, "2025-06-18")
_WITH_VERSION_HEADER: Final = frozenset({"2025-06-18", LEGACY_VERSION})  # revisions with a version header
_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"


def legacy_inquiries(facts: ServerFacts, number: Number, *, lists: bool) -> Iterator[Inquiry]:
    """The inquiries that any transport carries. `lists`: also list the tools, which were listed in the other era."""
    yield Inquiry(step="ping", label="ping", body=encode_question(number(), "ping", {}), again=True)
    if lists and facts.declares("tools"):
        yield Inquiry(
            step="list-tools", label="tools/list", body=encode_question(number(), "tools/list", {}), again=True
        )
    for question in make_common_questions(facts):
        identifier = number()
        yield Inquiry(
            step=question.step,
            label=question.method,
            body=encode_question(TEXT_ID if question.text_id else identifier, question.method, question.params),
        )


def malformed_inquiry(number: Number) -> Inquiry:
    """A truncated JSON text."""
    return Inquiry(step=MALFORMED, label="ping", body=encode_truncated_question(number(), "ping"))


def header_inquiries(
    facts: ServerFacts, number: Number, own: Sequence[tuple[str, str]], version: str
) -> Iterator[Inquiry]:
    """Inquiries about the headers of streamable HTTP. `own` are the connection's, `version` is the negotiated one."""
    headers = tuple(own)

    def ask(step: str, changes: Mapping[str, str | None]) -> Inquiry:
        body = encode_question(number(), facts.question, {})
        return Inquiry(step=step, label=facts.question, body=body, headers=replace_headers(headers, changes))

    yield Inquiry(step="stream", verb="GET", label="GET", headers=_stream_headers(headers))
    if version in _WITH_VERSION_HEADER:
        yield ask("version-unknown", {_VERSION: UNKNOWN_VERSION})
        yield ask("version-missing", {_VERSION: None})
    if any(name == _SESSION for name, _ in headers):
        yield ask("session-missing", {_SESSION: None})
        yield ask("session-random", {_SESSION: UNKNOWN_SESSION})


def sse_origin_inquiries(facts: ServerFacts, number: Number) -> Iterator[Inquiry]:
    """A harmless question with each header `Host` and `Origin`, on an open session of HTTP+SSE.

    The foreign origin comes last, since a server may end the session of a client that it refuses: the server's own
    origin before it shows whether the session still exists.
    """
    for step, name, value in reversed([*facts.list_origin_headers()]):
        body = encode_question(number(), facts.question, {})
        yield Inquiry(step=f"post-{step}", label=facts.question, body=body, headers=(*CONTENT, (name, value)))


def name_opening(version: str) -> str:
    """The step in which a version is offered."""
    return "initialize-unknown" if version == UNKNOWN_VERSION else f"initialize-{version}"


def opening_inquiry(client_version: str, version: str, identifier: int) -> Inquiry:
    """A further opening that offers `version`."""
    return _opening(name_opening(version), client_version, version, identifier=identifier)


def http_openings(client_version: str, facts: ServerFacts) -> Iterator[tuple[str, Inquiry]]:
    """The further openings over streamable HTTP, each with the version that it offers, for a session of its own."""
    for version in (*OLDER_VERSIONS, UNKNOWN_VERSION):
        yield version, opening_inquiry(client_version, version, 1)
    for step, name, value in facts.list_origin_headers():
        yield LEGACY_VERSION, _opening(f"initialize-{step}", client_version, LEGACY_VERSION, (name, value))


def batch_inquiry(headers: Sequence[tuple[str, str]]) -> Inquiry:
    return Inquiry(
        step="batch", label="ping", body=b"[" + encode_question(2, "ping", {}) + b"]", headers=tuple(headers)
    )


def session_end_inquiry(headers: Sequence[tuple[str, str]]) -> Inquiry:
    return Inquiry(step="end", verb="DELETE", label="DELETE", headers=tuple(headers))


def ended_session_inquiry(facts: ServerFacts, number: Number, headers: Sequence[tuple[str, str]]) -> Inquiry:
    body = encode_question(number(), facts.question, {})
    return Inquiry(step="after-end", label=facts.question, body=body, headers=tuple(headers))


def _opening(step: str, client_version: str, version: str, *headers: tuple[str, str], identifier: int = 1) -> Inquiry:
    params: Mapping[str, Json] = {**initialize_params(client_version), "protocolVersion": version}
    body = encode_question(identifier, "initialize", params)
    return Inquiry(step=step, label="initialize", body=body, headers=(*CONTENT, *headers), again=not headers)


def _stream_headers(headers: Headers) -> Headers:
    kept = tuple((name, value) for name, value in headers if name not in {"accept", "content-type"})
    return (("accept", "text/event-stream"), *kept)
