"""Rule `unknown-prompt-misreported`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.replies import INVALID_PARAMS, read_by_server, reply
from scoring.rule import Answer, rule, should


@rule(
    "unknown-prompt-misreported",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A prompt that does not exist is not reported as such",
    since="2026.2",
    version=1,
    checks=should("PROMPT-01", "ABCDE", "server/prompts#error-handling"),
    good=[
        conversation(legacy("prompt-nonexistent", error={"code": -32602})),
    ],
    bad=[
        conversation(legacy("prompt-nonexistent", result={"messages": []})),
        conversation(legacy("prompt-nonexistent", error={"code": 0})),
    ],
    unjudged=[
        conversation(legacy("ping", result={})),
        conversation(legacy("prompt-nonexistent", status=502)),
        conversation(modern("prompt-nonexistent", result={"resultType": "input_required", "requestState": "1"})),
    ],
)
def unknown_prompt_misreported(talk: Conversation) -> Iterator[Answer]:
    """Asking for a prompt that does not exist is answered with error -32602.

    A client can then tell that the name is wrong. Other codes look like a fault of the server, and some libraries
    answer 0 for everything that was raised while a prompt was looked up.
    """
    asked = [one for one in talk.clear("prompt-nonexistent") if one.fields.get("resultType") != "input_required"]
    for exchange in read_by_server(asked, talk.talk):
        if exchange.code != INVALID_PARAMS:
            yield exchange, f"{reply(exchange)}, error {INVALID_PARAMS} expected"
