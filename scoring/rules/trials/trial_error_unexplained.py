"""Rule `trial-error-unexplained`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.trials import build_trial, build_trial_with_mistake
from scoring.results.outcome import Level, Severity
from scoring.scopes.trials import Trial
from scoring.text.evidence_path import quote_text

_SAYS_NOTHING: Final = frozenset(
    {"", "error", "an error", "internal error", "internal server error", "server error", "unknown error", "exception"}
    | {"an error occurred", "an unexpected error occurred", "something went wrong", "failed", "failure", "oops"}
    | {"undefined", "null", "none", "nan", "false", "true", "object object", "tool execution failed", "tool error"}
)


@rule(
    "trial-error-unexplained",
    scope=Trial,
    reads="trials",
    severity=Severity.WARNING,
    title="An error does not state what went wrong",
    remedy="State the cause in the error text, e.g. `note: expected a string`. "
    "Write it into a text block of `content` when `isError` is true, or into `message` of a JSON-RPC error.",
    since="2026.2",
    version=1,
    level=Level.SHOULD,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling",
    fix=write_snippet(
        Language.JSON,
        "Result of `tools/call`",
        before="""
        {
          "content": [{"type": "text", "text": "[object Object]"}],
          "isError": true
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
        build_trial("tool_error", text="No note is called example."),
        build_trial_with_mistake("protocol_error", "missing_required", code=-32602, text="note is required"),
    ],
    bad=[
        build_trial("tool_error", text=""),
        build_trial("tool_error", text="[object Object]"),
        build_trial_with_mistake("tool_error", "invalid_type", text="Error: undefined"),
        build_trial("protocol_error", code=-32603, text="Internal error"),
    ],
    unjudged=[build_trial(), build_trial("failure", reason="timeout")],
)
def trial_error_unexplained(trial: Trial) -> Iterator[str]:
    """State in an error what was wrong with the call, so that a model can correct it.

    After "Error", "[object Object]" or an empty text a model repeats the same call, or gives up.
    """
    tried = trial.error()
    if _plain(tried.text) in _SAYS_NOTHING:
        yield f"the text of the error is {quote_text(tried.text)}" if tried.text else "the error has no text"


def _plain(text: str) -> str:
    """The words in small letters, without a leading "error" that something else follows."""
    words = re.sub(r"[\W\d_]+", " ", text.lower()).strip()
    return re.sub(r"^(?:(?:mcp )?error )+(?=\w)", "", words)
