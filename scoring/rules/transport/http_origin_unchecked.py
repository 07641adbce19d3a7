"""Rule `http-origin-unchecked`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.exchanges import LEGACY, Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import SSE, is_redirect, list_decided_exchanges, only_opened_http
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.conversation import Conversation

_CONTROLS: Final = ("initialize-origin-own", "discover-origin-own", "post-origin-own")


@rule(
    "http-origin-unchecked",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request of a foreign web page is served",
    remedy="Compare the `Origin` header, when it is present, with a list of allowed origins, and put the server's own "
    "origin into the list. Answer a request with another origin with HTTP 403.",
    since="2026.2",
    version=1,
    checks=must("HTTP-03", "ABCDE", "basic/transports/streamable-http"),
    fix=(
        build_conversation(
            legacy_exchange(
                "initialize-origin",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            )
        ),
        build_conversation(legacy_exchange("initialize-origin", status=403)),
    ),
    good=[
        build_conversation(
            legacy_exchange("initialize", result={}), legacy_exchange("initialize-origin", status=403, opened=False)
        ),
        build_conversation(modern_exchange("discover-origin", status=403)),
        build_conversation(
            legacy_exchange("initialize", revision="C", result={}),
            legacy_exchange("initialize-origin", status=400, opened=False),
        ),
        build_conversation(
            modern_exchange("discover-origin", status=403), modern_exchange("discover-origin-own", result={})
        ),
        build_conversation(
            modern_exchange("discover-origin", status=403), modern_exchange("discover-origin-own", status=429)
        ),
        build_conversation(
            legacy_exchange("post-origin-own", transport="sse", status=202, result={}),
            legacy_exchange("post-origin", transport="sse", status=400),
        ),
    ],
    bad=[
        build_conversation(legacy_exchange("initialize-origin", result={})),
        build_conversation(modern_exchange("discover-origin", result={})),
        build_conversation(
            legacy_exchange("initialize", result={}), legacy_exchange("initialize-origin", status=400, opened=False)
        ),
        build_conversation(
            modern_exchange("discover-origin", status=403), modern_exchange("discover-origin-own", status=403)
        ),
        build_conversation(legacy_exchange("post-origin", revision="A", transport="sse", status=202, result={})),
        build_conversation(
            legacy_exchange("post-origin-own", transport="sse", status=403),
            legacy_exchange("post-origin", transport="sse", status=403),
        ),
    ],
    unjudged=[
        build_conversation(
            legacy_exchange("initialize", status=403, opened=False),
            legacy_exchange("initialize-origin", status=403, opened=False),
        ),
        build_conversation(modern_exchange("discover-origin", status=401)),
        build_conversation(modern_exchange("discover-origin", status=429)),
        build_conversation(stdio_exchange("initialize", result={})),
        build_conversation(legacy_exchange("initialize-origin", revision="A", result={})),
        build_conversation(
            legacy_exchange("post-origin-own", transport="sse", status=404),
            legacy_exchange("post-origin", transport="sse", status=404),
        ),
    ],
)
def http_origin_unchecked(conversation: Conversation) -> Iterator[Answer]:
    """Any web page can use a server that ignores `Origin`, the header in which a browser names the page.

    Through DNS rebinding such a page reaches servers on the user's own machine or network. Answer 403 when the origin
    is not one of yours; most SDKs have a list of allowed origins that is empty, or off, by default. Any other refusal
    than 403, which revisions before 2025-11-25 allow, is tolerated. So is a server that also refuses its own origin:
    nothing shows that it reads the header. Some public servers allow every origin on purpose: the requirement applies
    to them too, and methodologies with weights give it a low weight. HTTP+SSE (2024-11-05,
    Security Warning) is asked by POST on its session; any refusal counts if the own origin is served.
    """
    narrowed = only_opened_http(conversation)
    for exchange in list_decided_exchanges(narrowed, "initialize-origin", "discover-origin", "post-origin"):
        era = exchange.connection.era
        controls = [one for one in narrowed.recorded.of(*_CONTROLS) if one.connection.era == era]
        if not exchange.succeeded and any(_is_refused(one) for one in controls):
            yield Tolerated("a request with the server's own origin is refused too", exchange)
            continue
        if exchange.connection.transport == SSE and (exchange.status or 0) >= 400:
            if not any(one.succeeded for one in controls):
                raise Undecided("the session may be lost")
            continue
        revision = _revision(conversation, exchange)
        if exchange.status == 403 or is_redirect(exchange):
            continue
        if revision == "A" and exchange.connection.transport != SSE:
            continue
        if exchange.status is not None and exchange.status >= 400:
            if revision in "DE":
                yield Tolerated(f"HTTP {exchange.status}, HTTP 403 expected", exchange)
        elif not exchange.succeeded:
            yield Tolerated(f"{describe_reply(exchange)}, HTTP 403 expected", exchange)
        else:
            yield exchange, "the request is served, HTTP 403 expected for a foreign origin"


def _is_refused(exchange: Exchange) -> bool:
    """Whether the request was refused. Over HTTP+SSE another status than 403 may be about a session that has ended."""
    if exchange.connection.transport == SSE:
        return exchange.status == 403
    return not exchange.unclear and exchange.status is not None and exchange.status >= 400


def _revision(conversation: Conversation, exchange: Exchange) -> str:
    """The revision that the server negotiates when nothing is wrong: a refusal names none."""
    openings = (one for one in conversation.recorded.of("initialize") if one.connection.opened)
    known = next(openings, exchange) if exchange.connection.era == LEGACY else exchange
    return known.connection.revision
