"""Rule `code-takes-secret-at-start`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import rule
from scoring.source_examples import code
from scoring.source_scope import Code


@rule(
    "code-takes-secret-at-start",
    scope=Code,
    reads="source",
    severity=Severity.WARNING,
    title="The code reads a credential from the environment",
    since="2026.3",
    version=1,
    good=[
        code(),
        code(environment=[{"name": "NOTES_FOLDER", "at": "a.ts:1", "secret": False}]),
    ],
    bad=[
        code(environment=[{"name": "NOTES_API_KEY", "at": "a.ts:1", "secret": True}]),
    ],
)
def code_takes_secret_at_start(code: Code) -> Iterator[str]:
    """A credential in the environment is the same for everybody and cannot be changed without a restart.

    Take it with each request: MCP defines how.
    """
    for variable in code.seen.environment:
        if variable.secret:
            yield f"{clip(variable.name)}, read at {clip(variable.at)}"
