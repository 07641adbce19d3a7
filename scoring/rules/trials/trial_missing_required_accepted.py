"""Rule `trial-missing-required-accepted`."""

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
    "trial-missing-required-accepted",
    scope=Trial,
    reads="trials",
    severity=Severity.WARNING,
    title="A tool accepts a call without a required argument",
    remedy="Answer `tools/call` without a required argument with `isError: true` or JSON-RPC error -32602. "
    "If the tool does not need the argument, remove it from `required` in `inputSchema`.",
    since="2026.2",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations",
    fix=write_snippet(
        Language.JSON,
        "Result of `tools/call` without the argument `note`",
        before="""
        {
          "content": [{"type": "text", "text": "Note undefined was read."}]
        }
        """,
        after="""
        {
          "content": [{"type": "text", "text": "note: this argument is required"}],
          "isError": true
        }
        """,
    ),
    good=[
        build_trial_with_mistake("tool_error", "missing_required", text="note: this argument is required"),
        build_trial_with_mistake("protocol_error", "missing_required", code=-32602, text="Invalid params"),
    ],
    bad=[
        build_trial_with_mistake("result", "missing_required"),
        build_trial_with_mistake(
            "protocol_error", "missing_required", code=-32603, text="Cannot read properties of undefined"
        ),
    ],
    unjudged=[
        build_trial(),
        build_trial_with_mistake("failure", "missing_required", reason="unreachable", detail="HTTP 500 to tools/call"),
        build_trial_with_mistake(
            "failure", "missing_required", reason="oauth_required", detail="HTTP 401 with a Bearer challenge"
        ),
        build_trial_with_mistake("tool_error", "missing_required", text="Set NOTES_API_KEY", locked=True),
    ],
)
def trial_missing_required_accepted(trial: Trial) -> Iterator[Answer]:
    """A server must validate the arguments of its tools.

    An argument that the input schema requires is necessary, or it should not be required. A tool that answers without
    it guesses, and the model does not learn that it forgot an argument. One tool is called once without its first
    required parameter. It is a tool that only reads; when there is none, another tool is called in our sandbox.
    """
    tried = trial.conclusive_call(TrialKind.MISSING_REQUIRED)
    if tried.outcome is TrialOutcome.RESULT:
        yield f"a call without the required {clip_text(tried.parameter)} is accepted, an error expected"
    elif tried.outcome is TrialOutcome.PROTOCOL_ERROR and tried.code != _INVALID_PARAMS:
        yield Tolerated(f"refused with JSON-RPC error {tried.code}, {_INVALID_PARAMS} or isError expected")
