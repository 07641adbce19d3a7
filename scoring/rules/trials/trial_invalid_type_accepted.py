"""Rule `trial-invalid-type-accepted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.trials import Kind, Outcome
from scoring.outcome import Level, Severity, Tolerated
from scoring.path import clip
from scoring.rule import Answer, rule
from scoring.trials_examples import mistake, trial
from scoring.trials_scope import Trial

_INVALID_PARAMS: Final = -32602


@rule(
    "trial-invalid-type-accepted",
    scope=Trial,
    reads="trials",
    severity=Severity.WARNING,
    title="A tool takes an argument of a wrong type",
    since="2026.2",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations",
    good=[
        mistake("tool_error", "invalid_type", text="note: expected a string"),
        mistake("protocol_error", "invalid_type", code=-32602, text="Invalid params"),
    ],
    bad=[
        mistake("result", "invalid_type"),
        mistake("protocol_error", "invalid_type", code=-32603, text="Cannot read properties of undefined"),
    ],
    unjudged=[
        trial(),
        mistake("failure", "invalid_type", reason="unreachable", detail="HTTP 500 to tools/call"),
        mistake("failure", "invalid_type", reason="oauth_required", detail="HTTP 401 with a Bearer challenge"),
        mistake("tool_error", "invalid_type", text="Set NOTES_API_KEY", locked=True),
    ],
)
def trial_invalid_type_accepted(trial: Trial) -> Iterator[Answer]:
    """A server has to validate what its tools are given.

    The input schema says of which type an argument is. A tool that takes another one without a word works with
    something that it was not written for, and a model never learns that it made a mistake.

    One tool is called once with a wrong type for a required parameter, an object for a text, words for a number: one
    that only reads, or in our sandbox another when none does.
    """
    tried = trial.clear(Kind.INVALID_TYPE)
    if tried.outcome is Outcome.RESULT:
        yield f"got a value of a wrong type for {clip(tried.parameter)} and was answered as if nothing were wrong"
    elif tried.outcome is Outcome.PROTOCOL_ERROR and tried.code != _INVALID_PARAMS:
        yield Tolerated(f"refused by JSON-RPC error {tried.code}, {_INVALID_PARAMS} or isError expected")
