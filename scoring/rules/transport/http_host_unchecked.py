"""Rule `http-host-unchecked`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.streamable_http import SSE, is_redirect, list_decided_exchanges, only_opened_http
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation


@rule(
    "http-host-unchecked",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A local server answers under a foreign host name",
    remedy="Compare the `Host` header of each request with the names of the server, e.g. `localhost:8080` and "
    "`127.0.0.1:8080`. Answer a request with another value with HTTP 403.",
    since="2026.3",
    version=1,
    checks=info("HTTP-14", "ABCDE"),
    fix=(
        build_conversation(
            legacy_exchange(
                "initialize-host",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            )
        ),
        build_conversation(legacy_exchange("initialize-host", status=403)),
    ),
    good=[
        build_conversation(
            legacy_exchange("initialize", result={}), legacy_exchange("initialize-host", status=403, opened=False)
        ),
        build_conversation(modern_exchange("discover-host", status=421)),
        build_conversation(
            legacy_exchange("post-host", transport="sse", status=421),
            legacy_exchange("post-origin-own", transport="sse", result={}),
        ),
    ],
    bad=[
        build_conversation(legacy_exchange("initialize-host", result={})),
        build_conversation(modern_exchange("discover-host", result={})),
        build_conversation(modern_exchange("discover-host", status=421), legacy_exchange("initialize-host", result={})),
        build_conversation(legacy_exchange("post-host", revision="A", transport="sse", status=202, result={})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(modern_exchange("discover-host", status=401)),
        build_conversation(stdio_exchange("initialize", result={})),
        build_conversation(
            legacy_exchange("post-host", transport="sse", status=404),
            legacy_exchange("post-origin-own", transport="sse", status=404),
        ),
    ],
)
def http_host_unchecked(conversation: Conversation) -> Iterator[Answer]:
    """Serve only requests whose `Host` header names the server, such as `localhost` or `127.0.0.1` with its port.

    After DNS rebinding a web page reaches a local server under the page's own host name, which the header then holds.
    The specification asks for a check of `Origin`, which browsers send with every POST, and never names `Host`, so this
    check is for information only. Only servers at a loopback or private address are asked: an attacker reaches a public
    one without rebinding. Over HTTP+SSE a refusal counts if the session serves afterwards.
    """
    narrowed = only_opened_http(conversation)
    is_alive = any(one.succeeded for one in narrowed.recorded.of("post-origin-own"))
    for exchange in list_decided_exchanges(narrowed, "initialize-host", "discover-host", "post-host"):
        if exchange.succeeded and not is_redirect(exchange):
            yield exchange, "a request with a foreign Host header is served"
        elif exchange.connection.transport == SSE and not is_alive:
            raise Undecided("the session may be lost")
