"""Rule `trial-output-breaks-schema`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.trials import Structured, TrialKind, TrialOutcome
from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.trials import build_trial
from scoring.results.outcome import Inapplicable, Level, Severity, Undecided
from scoring.scopes.trials import Trial
from scoring.text.evidence_path import clip_text


@rule(
    "trial-output-breaks-schema",
    scope=Trial,
    reads="trials",
    severity=Severity.ERROR,
    title="The result of a tool does not match its output schema",
    remedy="Return `structuredContent` that is valid under the tool's `outputSchema` in each successful result. "
    "If the data is right, correct `outputSchema`.",
    since="2026.2",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema",
    fix=write_snippet(
        Language.JSON,
        "Result of `tools/call` with `outputSchema`",
        before="""
        {
          "content": [{"type": "text", "text": "3 notes"}],
          "structuredContent": {"count": "3"}
        }
        """,
        after="""
        {
          "content": [{"type": "text", "text": "3 notes"}],
          "structuredContent": {"count": 3}
        }
        """,
    ),
    good=[build_trial(structured="valid")],
    bad=[build_trial(structured="missing"), build_trial(structured="invalid", complaint="properties/count/type")],
    unjudged=[
        build_trial(structured="not_declared"),
        build_trial(structured="unjudged", complaint="a reference leads out of the schema"),
        build_trial("tool_error", text="No note is called example."),
        build_trial("failure", reason="rate_limited", detail="HTTP 429"),
        build_trial(structured="missing", kind="invalid_type"),
    ],
)
def trial_output_breaks_schema(trial: Trial) -> Iterator[str]:
    """A tool with an output schema must answer with `structuredContent` that matches it.

    Clients validate it, and the official ones reject the whole answer when it does not match.
    """
    tried = trial.conclusive_call(TrialKind.CALL)
    if tried.outcome is not TrialOutcome.RESULT or tried.structured in {None, Structured.NOT_DECLARED}:
        raise Inapplicable("no output schema applies")
    if tried.structured is Structured.UNJUDGED:
        raise Undecided(tried.complaint or "the output schema cannot be applied")
    if tried.structured is Structured.MISSING:
        yield "structuredContent is missing although the tool declares outputSchema"
    elif tried.structured is Structured.INVALID:
        yield f"structuredContent breaks outputSchema at {clip_text(tried.complaint)}"
