"""Rule `code-without-oauth`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_code
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Code


@rule(
    "code-without-oauth",
    scope=Code,
    reads="source",
    severity=Severity.WARNING,
    title="No implementation of OAuth was found in the code",
    remedy="Serve protected resource metadata (RFC 9728) at `/.well-known/oauth-protected-resource`. Validate the "
    "Bearer token of each request in the code.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`/.well-known/oauth-protected-resource/mcp`",
        after="""
        {
          "resource": "https://notes.example/mcp",
          "authorization_servers": ["https://login.example"]
        }
        """,
    ),
    good=[build_code(oauth=[{"marker": "oauth-protected-resource", "at": "a.ts:3"}])],
    bad=[build_code(transports={"streamable-http": ["a.ts:9"]})],
    unjudged=[build_code(complete=False)],
)
def code_without_oauth(code: Code) -> Iterator[str]:
    """With OAuth each user has a separate identity, whose rights can be limited and revoked.

    Serve protected resource metadata (RFC 9728) and accept the tokens of an authorization server.
    """
    if not code.knows_oauth:
        yield "neither OAuth metadata nor token verification was found in the code"
