"""Rule `http-origin-unchecked`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import LEGACY, Exchange
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.outcome import Severity, Tolerated
from scoring.replies import reply
from scoring.rule import Answer, must, rule
from scoring.streamable import is_redirect, settled, streamable


@rule(
    "http-origin-unchecked",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request from a foreign web page is served",
    since="2026.2",
    version=1,
    checks=must("HTTP-03", "BCDE", "basic/transports/streamable-http"),
    good=[
        conversation(legacy("initialize", result={}), legacy("initialize-origin", status=403, opened=False)),
        conversation(modern("discover-origin", status=403)),
        conversation(
            legacy("initialize", revision="C", result={}), legacy("initialize-origin", status=400, opened=False)
        ),
    ],
    bad=[
        conversation(legacy("initialize-origin", result={})),
        conversation(modern("discover-origin", result={})),
        conversation(legacy("initialize", result={}), legacy("initialize-origin", status=400, opened=False)),
    ],
    unjudged=[
        conversation(modern("discover-origin", status=401)),
        conversation(modern("discover-origin", status=429)),
        conversation(stdio("initialize", result={})),
    ],
)
def http_origin_unchecked(talk: Conversation) -> Iterator[Answer]:
    """A browser names the page that a request comes from in `Origin`; a server that ignores it can be used by any page.

    Through DNS rebinding such a page reaches servers on the user's own machine or network. Answer 403 when the origin
    is not one of yours; most SDKs have a list of allowed origins that is empty, or off, by default. Any other refusal
    than 403, which revisions before 2025-11-25 leave open, gets a remark only. Some public servers allow every origin
    on purpose: the requirement stands, and methodologies with weights weigh it lightly.
    """
    for exchange in settled(streamable(talk), "initialize-origin", "discover-origin"):
        revision = _revision(talk, exchange)
        if exchange.status == 403 or revision == "A" or is_redirect(exchange):
            continue
        if exchange.status is not None and exchange.status >= 400:
            if revision in "DE":
                yield Tolerated(f"HTTP {exchange.status}, 403 expected", exchange)
        elif not exchange.succeeded:
            yield Tolerated(f"{reply(exchange)}, HTTP 403 expected", exchange)
        else:
            yield exchange, "served, HTTP 403 expected for an origin that is not the server's"


def _revision(talk: Conversation, exchange: Exchange) -> str:
    """The revision that the server negotiates when nothing is wrong: a refusal names none."""
    usual = (one for one in talk.talk.of("initialize") if one.connection.opened)
    known = next(usual, exchange) if exchange.connection.era == LEGACY else exchange
    return known.connection.revision
