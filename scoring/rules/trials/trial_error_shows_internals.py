"""Rule `trial-error-shows-internals`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.trials import build_trial
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.trials import Trial
from scoring.text.evidence_path import clip_text
from scoring.text.internals import find_internals, list_strings


@rule(
    "trial-error-shows-internals",
    scope=Trial,
    reads="trials",
    severity=Severity.WARNING,
    title="An error of a tool shows internals of the server",
    remedy="Remove stack traces, absolute paths, credentials, environment variables and addresses with a login from "
    "the error text. State only what was wrong with the call.",
    since="2026.3",
    version=2,
    fix=write_snippet(
        Language.JSON,
        "Result of `tools/call`",
        before="""
        {
          "content": [{"type": "text", "text": "Error at /srv/mcp/index.js:12"}],
          "isError": true
        }
        """,
        after="""
        {
          "content": [{"type": "text", "text": "No note is called plans."}],
          "isError": true
        }
        """,
    ),
    good=[
        build_trial("tool_error", text="No note is called example."),
        build_trial(
            "tool_error", text="ENOENT: no such file or directory, open '/data/a'", arguments={"path": "/data/a"}
        ),
    ],
    bad=[
        build_trial("tool_error", text="Error: boom at Object.<anonymous> (/srv/mcp/index.js:#:#)"),
        build_trial("tool_error", text="[Errno #] No such file or directory: '/data/notes/a.txt'"),
        build_trial("tool_error", text="bad key [secret]", reveals="a credential"),
        build_trial("protocol_error", code=-32603, text='Traceback (most recent call last): File "a.py", line #'),
    ],
    unjudged=[build_trial(), build_trial("tool_error", text="/home/ann/notes/add.py", transport="stdio")],
)
def trial_error_shows_internals(trial: Trial) -> Iterator[str]:
    """Say in an error of a tool what was wrong with the call, and write stack traces and paths to your own log.

    A model cannot act on them, and they tell an attacker which software runs where. A path that the arguments of the
    call named is no finding. The specification has no rule about this, so the check is for information only. Errors
    over stdio are not judged, because they stay on the user's own machine.
    """
    tried = trial.error()
    if trial.transport == "stdio":
        raise Inapplicable("not over HTTP")
    if internals := tried.reveals or find_internals(tried.text, tuple(list_strings(tried.arguments))):
        yield f"the error shows {clip_text(internals)}"
