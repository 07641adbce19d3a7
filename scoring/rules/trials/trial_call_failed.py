"""Rule `trial-call-failed`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evidence.kinds.trials import TrialKind, TrialOutcome
from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.trials import build_trial
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.trials import Trial
from scoring.text.evidence_path import clip_text

_INVALID_PARAMS: Final = -32602
_INTERNAL: Final = -32603
_PLAIN: Final = frozenset({-32700, -32601, -32600})
_UNKNOWN_TOOL: Final = re.compile(
    r"\b(?:unknown|no such) tool\b|\btool\W{0,6}(?:not found|does not exist)", re.IGNORECASE
)
_ABOUT_VALUES: Final = re.compile(
    r"not found|no such|does not exist|doesn't exist|unknown|invalid|must be|expected|unsupported|could not|cannot"
    r"|can't|unable|failed to|no \w+ (?:for|with|named)|\b404\b|\b400\b|example",
    re.IGNORECASE,
)


@rule(
    "trial-call-failed",
    scope=Trial,
    reads="trials",
    severity=Severity.WARNING,
    title="A tool answers a valid call with a protocol error",
    remedy="Answer `tools/call` for each listed tool with a result object that has a `content` array. "
    "Report a failure of the tool with `isError: true` in this result, not as a JSON-RPC error.",
    since="2026.2",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "Answer to `tools/call`",
        before="""
        {
          "jsonrpc": "2.0",
          "id": 1,
          "error": {"code": -32603, "message": "No note is called plans."}
        }
        """,
        after="""
        {
          "jsonrpc": "2.0",
          "id": 1,
          "result": {
            "content": [{"type": "text", "text": "No note is called plans."}],
            "isError": true
          }
        }
        """,
    ),
    good=[build_trial(), build_trial("tool_error", text="No note is called example.")],
    bad=[
        build_trial("protocol_error", code=-32601, text="Method not found"),
        build_trial("protocol_error", code=-32602, text="Unknown tool: get_note"),
        build_trial("protocol_error", code=-32602, text="Tool 'get_note' not found"),
        build_trial("protocol_error", code=-32603, text="Internal error"),
        build_trial("malformed", detail="the result is not an object"),
    ],
    unjudged=[
        build_trial("protocol_error", code=-32602, text="Invalid time zone: example"),
        build_trial("protocol_error", code=-32602, text="Tool get_note: note example not found"),
        build_trial("protocol_error", code=-32603, text="Repository example/example not found"),
        build_trial("protocol_error", code=-32000, text="Server error"),
        build_trial("protocol_error", code=-32603, text="Internal error", sandbox="bubblewrap"),
        build_trial("tool_error", text="Missing API key", locked=True),
        build_trial("failure", reason="timeout", detail="no answer in # s"),
        build_trial("failure", reason="unreachable", detail="HTTP 503 to tools/call"),
        build_trial("input_required"),
        build_trial("tool_error", "invalid_type", text="note: string expected"),
    ],
)
def trial_call_failed(trial: Trial) -> Iterator[str]:
    """Return a failure of a tool as a result with `isError: true`, so that a model can read it and try again.

    Arguments that match the input schema should reach the tool. A protocol error means that the request itself was not
    understood, and most clients do not show it to the model. Our arguments are invented, so an error that may be about
    their values does not count, whatever its form; neither does an internal error in our sandbox, which has no network.
    """
    tried = trial.conclusive_call(TrialKind.CALL)
    if tried.outcome is TrialOutcome.MALFORMED:
        yield f"the answer is not a result of a tool: {clip_text(tried.detail)}"
    if tried.outcome is not TrialOutcome.PROTOCOL_ERROR:
        return
    unknown = tried.code == _INVALID_PARAMS and _UNKNOWN_TOOL.search(tried.text.replace(tried.tool, ""))
    internal = tried.code == _INTERNAL and not trial.cut_off and not _ABOUT_VALUES.search(tried.text)
    if not (unknown or internal or tried.code in _PLAIN):
        raise Undecided(f"JSON-RPC error {tried.code} may be about our values or our sandbox")
    yield f"answered with JSON-RPC error {tried.code}, a result expected: {clip_text(tried.text) or 'no message'}"
