"""Rule `input-demanded-for-list`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring import pages
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.rule import Answer, must, rule


@rule(
    "input-demanded-for-list",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A list or discovery asks the client for input",
    since="2026.2",
    version=1,
    checks=must("MRTR-01", "E", "basic/patterns/mrtr#supported-requests"),
    good=[
        conversation(modern("discover", result={"resultType": "complete"}), modern("list-tools", result={"tools": []})),
    ],
    bad=[
        conversation(modern("list-tools", result={"resultType": "input_required", "requestState": "1"})),
        conversation(modern("discover", result={"resultType": "input_required", "inputRequests": {}})),
    ],
    unjudged=[
        conversation(legacy("list-tools", result={"tools": []})),
        conversation(modern("discover", error={"code": -32603})),
    ],
)
def input_demanded_for_list(talk: Conversation) -> Iterator[Answer]:
    """Only `tools/call`, `prompts/get` and `resources/read` may ask for input before they are done.

    Clients list and discover in the background, with nobody there to answer. A list that says `input_required` stays
    empty for them.
    """
    for exchange in talk.results("discover", *pages.STEPS):
        if exchange.fields.get("resultType") == "input_required":
            yield exchange, "resultType is input_required"
