"""Rule `http-redirect-breaking`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.streamable_http import is_redirect, only_streamable_http
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation
from scoring.text.origins import parse_origin
from scoring.text.uris import join_reference

_OPENING: Final = ("redirected", "discover", "initialize")


@rule(
    "http-redirect-breaking",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="A POST is redirected in a way that clients do not follow",
    remedy="Register the final URL of the endpoint, so that a POST to it is not redirected. "
    "If a redirect is necessary, send one HTTP 307 or 308 with a `Location` on the same origin.",
    since="2026.2",
    version=1,
    checks=info("HTTP-12", "ABCDE"),
    fix=(
        build_conversation(
            legacy_exchange("redirected", status=301, form="other", headers={"location": "/mcp/"}),
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            ),
        ),
        build_conversation(
            legacy_exchange("redirected", status=307, form="other", headers={"location": "/mcp/"}),
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            ),
        ),
    ),
    good=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(
            legacy_exchange("redirected", status=307, headers={"location": "/mcp/"}),
            legacy_exchange("initialize", result={}),
        ),
    ],
    bad=[
        build_conversation(
            modern_exchange("discover", status=301, headers={"location": "/mcp"}),
            modern_exchange("list-tools", result={}),
        ),
        build_conversation(
            legacy_exchange("redirected", status=308, headers={}), legacy_exchange("initialize", result={})
        ),
        build_conversation(
            legacy_exchange("redirected", status=307, headers={"location": "http://[bad"}),
            legacy_exchange("initialize", result={}),
        ),
        build_conversation(
            legacy_exchange("redirected", status=307, headers={"location": "http://notes.example/mcp"}),
            legacy_exchange("initialize", result={}),
        ),
        build_conversation(
            legacy_exchange("redirected", status=307, headers={"location": "https://other.example/mcp"}),
            legacy_exchange("initialize", result={}),
        ),
        build_conversation(
            legacy_exchange("redirected", status=307, headers={"location": "/a"}),
            legacy_exchange("redirected", status=308, headers={"location": "/b"}),
            legacy_exchange("initialize", result={}),
        ),
    ],
    unjudged=[build_conversation(stdio_exchange("ping", result={}))],
)
def http_redirect_breaking(conversation: Conversation) -> Iterator[Answer]:
    """Register the final URL: a redirect costs every client a round trip, and clients do not follow every redirect.

    After 301, 302 and 303 many HTTP libraries repeat a POST as a GET. A redirect from https to http, often made by a
    proxy that does not forward the scheme, or to another origin is refused, and credentials are not sent along. One 307
    or 308 within the origin works, such as the one that adds a slash. No revision mentions redirects, so this check is
    for information only.
    """
    seen: list[tuple[int | None, str]] = []
    base = conversation.recorded.target.get("identifier")
    for exchange in only_streamable_http(conversation).recorded.of(*_OPENING):
        hop = (exchange.status, exchange.headers.get("location", ""))
        if exchange.verb != "POST" or not is_redirect(exchange) or hop in seen:
            continue
        seen.append(hop)
        if complaint := _complaint(base if isinstance(base, str) else "", *hop):
            yield exchange, f"HTTP {exchange.status} {complaint}"
        elif len(seen) > 1:
            yield exchange, f"HTTP {exchange.status} after another redirect"


def _complaint(base: str, status: int | None, location: str) -> str:
    if status not in {307, 308}:
        return "may turn the POST into a GET, HTTP 307 or 308 expected"
    if not location:
        return "without a location"
    old, new = parse_origin(base), parse_origin(join_reference(base, location))
    if new is None:
        return "" if old is None and ":" not in location else "to an invalid URL"
    if new.scheme == "http" and (old is None or old.scheme == "https"):
        return "from https to http"
    return "" if old == new else "to another origin"
