"""Rule `result-type-missing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.pages import STEPS
from scoring.rule import Answer, must, rule

_OTHERS: Final = (
    "call-nonexistent",
    "read-nonexistent",
    "prompt-nonexistent",
    "list-tools-again",
    "list-tools-elsewhere",
)


@rule(
    "result-type-missing",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A result does not say whether it is complete",
    since="2026.2",
    version=1,
    checks=must("RT-01", "E", "basic#responses"),
    good=[
        conversation(modern("discover", result={"resultType": "complete"})),
        conversation(modern("call-nonexistent", result={"resultType": "input_required"})),
    ],
    bad=[
        conversation(modern("discover", result={})),
        conversation(modern("list-tools", result={"resultType": "input_required"})),
        conversation(modern("call-nonexistent", result={"isError": True})),
    ],
    unjudged=[conversation(legacy("initialize", result={})), conversation(modern("discover", status=503))],
)
def result_type_missing(talk: Conversation) -> Iterator[Answer]:
    """`resultType` tells a finished result from one that asks the client for more, so every result needs it.

    A client of revision 2026-07-28 cannot know otherwise how to read the rest. Lists and `server/discover` are always
    `complete`.
    """
    for exchange in talk.results("discover", *STEPS, *_OTHERS):
        kind = exchange.fields.get("resultType")
        if not isinstance(kind, str):
            yield exchange, "no resultType"
        elif kind != "complete" and exchange.step in {"discover", *STEPS}:
            yield exchange, "resultType is not complete"
