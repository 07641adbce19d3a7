"""Rule `code-takes-secret-at-start`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.source_files import build_code
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Code
from scoring.text.evidence_path import clip_text


@rule(
    "code-takes-secret-at-start",
    scope=Code,
    reads="source",
    severity=Severity.WARNING,
    title="The code reads a credential from the environment",
    remedy="Read the credential from each request, for example from the `Authorization` header over HTTP. Remove "
    "the code that reads the environment variable.",
    since="2026.3",
    version=1,
    good=[build_code(), build_code(environment=[{"name": "NOTES_FOLDER", "at": "a.ts:1", "secret": False}])],
    bad=[build_code(environment=[{"name": "NOTES_API_KEY", "at": "a.ts:1", "secret": True}])],
)
def code_takes_secret_at_start(code: Code) -> Iterator[str]:
    """A credential in the environment is the same for all users, and a change of it needs a restart.

    Read the credential from each request, as MCP defines.
    """
    for variable in code.seen.environment:
        if variable.secret:
            yield f"the variable {clip_text(variable.name)} is read at {clip_text(variable.at)}"
