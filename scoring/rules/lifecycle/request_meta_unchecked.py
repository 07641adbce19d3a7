"""Rule `request-meta-unchecked`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity, Tolerated
from scoring.replies import INVALID_PARAMS, read_by_server, unlike
from scoring.rule import Answer, must, rule


@rule(
    "request-meta-unchecked",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request without its required fields is not refused",
    since="2026.2",
    version=1,
    checks=(
        must("META-01", "E", "basic#meta", step="discover-meta-missing"),
        must("META-02", "E", "basic#meta", step="discover-capabilities-missing"),
    ),
    good=[conversation(modern("discover-meta-missing", status=400, error={"code": -32602}))],
    bad=[
        conversation(modern("discover-meta-missing", result={})),
        conversation(modern("discover-meta-missing", status=400, error={"code": -32600})),
        conversation(
            modern("discover-meta-missing", status=400, error={"code": -32600}), legacy("initialize", result={})
        ),
        conversation(modern("discover-meta-missing", error={"code": -32602})),
    ],
    unjudged=[
        conversation(modern("discover-meta-missing", status=503)),
        conversation(modern("discover-meta-missing", status=404)),
        conversation(legacy("initialize", result={})),
    ],
)
def request_meta_unchecked(talk: Conversation, step: str = "discover-meta-missing") -> Iterator[Answer]:
    """Every request carries its version and the client's capabilities in `_meta`; one without them is malformed.

    It is refused with error -32602 and, over HTTP, status 400. A server that guesses instead works with one client and
    not with the next, and may use what the client cannot do. A server that also speaks an older revision may take a
    request without any `_meta` for one of those, so that another refusal gets a remark only.
    """
    for exchange, message in unlike(read_by_server(talk.clear(step), talk.talk), status=400, code=INVALID_PARAMS):
        older = talk.is_dual_era and step == "discover-meta-missing" and not exchange.succeeded
        yield Tolerated(message, exchange) if older else (exchange, message)
