"""Rule `trial-invalid-type-accepted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.trials import TrialKind, TrialOutcome
from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.trials import build_trial, build_trial_with_mistake
from scoring.results.outcome import Level, Severity, Tolerated
from scoring.scopes.trials import Trial
from scoring.text.evidence_path import clip_text

_INVALID_PARAMS: Final = -32602


@rule(
    "trial-invalid-type-accepted",
    scope=Trial,
    reads="trials",
    severity=Severity.WARNING,
    title="A tool accepts an argument of a wrong type",
    remedy="Validate the arguments of `tools/call` against `inputSchema` before the tool runs. "
    "Answer an argument of a wrong type with `isError: true` or with JSON-RPC error -32602.",
    since="2026.2",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations",
    fix=write_snippet(
        Language.JSON,
        'Result of `tools/call` with the argument `"note": 7`',
        before="""
        {
          "content": [{"type": "text", "text": "Note 7 was read."}]
        }
        """,
        after="""
        {
          "content": [{"type": "text", "text": "note: expected a string"}],
          "isError": true
        }
        """,
    ),
    good=[
        build_trial_with_mistake("tool_error", "invalid_type", text="note: expected a string"),
        build_trial_with_mistake("protocol_error", "invalid_type", code=-32602, text="Invalid params"),
    ],
    bad=[
        build_trial_with_mistake("result", "invalid_type"),
        build_trial_with_mistake(
            "protocol_error", "invalid_type", code=-32603, text="Cannot read properties of undefined"
        ),
    ],
    unjudged=[
        build_trial(),
        build_trial_with_mistake("failure", "invalid_type", reason="unreachable", detail="HTTP 500 to tools/call"),
        build_trial_with_mistake(
            "failure", "invalid_type", reason="oauth_required", detail="HTTP 401 with a Bearer challenge"
        ),
        build_trial_with_mistake("tool_error", "invalid_type", text="Set NOTES_API_KEY", locked=True),
    ],
)
def trial_invalid_type_accepted(trial: Trial) -> Iterator[Answer]:
    """A server must validate the arguments of its tools.

    The input schema defines the type of each argument. A tool that accepts another type works with unexpected data, and
    the model does not learn that it made a mistake. One tool is called once with a wrong type for a required parameter,
    such as an object for a string or words for a number. It is a tool that only reads; when there is none, another tool
    is called in our sandbox.
    """
    tried = trial.conclusive_call(TrialKind.INVALID_TYPE)
    if tried.outcome is TrialOutcome.RESULT:
        yield f"a value of a wrong type for {clip_text(tried.parameter)} is accepted, an error expected"
    elif tried.outcome is TrialOutcome.PROTOCOL_ERROR and tried.code != _INVALID_PARAMS:
        yield Tolerated(f"refused with JSON-RPC error {tried.code}, {_INVALID_PARAMS} or isError expected")
