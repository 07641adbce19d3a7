"""Rule `http-redirect-breaking`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.origins import origin_of
from scoring.outcome import Severity
from scoring.rule import Answer, info, rule
from scoring.streamable import is_redirect, streamable
from scoring.uris import joined

_OPENING: Final = ("redirected", "discover", "initialize")


@rule(
    "http-redirect-breaking",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="A POST is redirected in a way that clients do not follow",
    since="2026.2",
    version=1,
    checks=info("HTTP-12", "ABCDE"),
    good=[
        conversation(legacy("initialize", result={})),
        conversation(legacy("redirected", status=307, headers={"location": "/mcp/"}), legacy("initialize", result={})),
    ],
    bad=[
        conversation(modern("discover", status=301, headers={"location": "/mcp"}), modern("list-tools", result={})),
        conversation(legacy("redirected", status=308, headers={}), legacy("initialize", result={})),
        conversation(
            legacy("redirected", status=307, headers={"location": "http://[bad"}), legacy("initialize", result={})
        ),
        conversation(
            legacy("redirected", status=307, headers={"location": "http://notes.example/mcp"}),
            legacy("initialize", result={}),
        ),
        conversation(
            legacy("redirected", status=307, headers={"location": "https://other.example/mcp"}),
            legacy("initialize", result={}),
        ),
        conversation(
            legacy("redirected", status=307, headers={"location": "/a"}),
            legacy("redirected", status=308, headers={"location": "/b"}),
            legacy("initialize", result={}),
        ),
    ],
    unjudged=[conversation(stdio("ping", result={}))],
)
def http_redirect_breaking(talk: Conversation) -> Iterator[Answer]:
    """A redirect costs every client a round trip, and most follow only some of them.

    Under 301, 302 and 303 many HTTP libraries repeat a POST as a GET. A redirect from https to http, often made by a
    proxy that does not pass the scheme on, or to another origin is refused, and credentials are not sent along. One 307
    or 308 within the origin works, such as the one that adds a slash; better register the address that it leads to.
    No revision says anything about redirects, so this is a remark.
    """
    seen: list[tuple[int | None, str]] = []
    base = talk.talk.target.get("identifier")
    for exchange in streamable(talk).talk.of(*_OPENING):
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
        return "may turn the POST into a GET, 307 or 308 expected"
    if not location:
        return "without an address"
    old, new = origin_of(base), origin_of(joined(base, location))
    if new is None:
        return "" if old is None and ":" not in location else "to an address that is none"
    if new.scheme == "http" and (old is None or old.scheme == "https"):
        return "from https to http"
    return "" if old == new else "to another origin"
