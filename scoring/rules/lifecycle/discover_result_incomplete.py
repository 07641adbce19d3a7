"""Rule `discover-result-incomplete`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.rule import Answer, must, rule


@rule(
    "discover-result-incomplete",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The answer to server/discover lacks what every client reads",
    since="2026.2",
    version=1,
    checks=must("DISC-01", "E", "server/discover#response"),
    good=[conversation(modern("discover", result={"supportedVersions": ["2026-07-28"], "capabilities": {}}))],
    bad=[
        conversation(modern("discover", result={"supportedVersions": [], "capabilities": None})),
        conversation(modern("discover", result={"supportedVersions": ["2026-07-28", 1], "capabilities": {}})),
    ],
    unjudged=[conversation(legacy("initialize", result={})), conversation(modern("discover", status=503))],
)
def discover_result_incomplete(talk: Conversation) -> Iterator[Answer]:
    """A client asks `server/discover` to learn which versions it may use and what is offered.

    `supportedVersions` is a list of strings with at least one, and `capabilities` an object.
    """
    for exchange in talk.results("discover"):
        versions = exchange.fields.get("supportedVersions")
        if not isinstance(versions, list) or not versions or not all(isinstance(one, str) for one in versions):
            yield exchange, "supportedVersions is not a list of strings"
        if not isinstance(exchange.fields.get("capabilities"), Mapping):
            yield exchange, "capabilities is not an object"
