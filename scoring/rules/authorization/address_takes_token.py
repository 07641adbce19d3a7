"""Rule `address-takes-token`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import build_open_access, build_protected_access
from scoring.results.outcome import Severity
from scoring.scopes.server_access import Access
from scoring.text.evidence_path import clip_text
from scoring.text.secret_names import is_secret_name


@rule(
    "address-takes-token",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="The registered URL has a token in its query",
    remedy="Remove the token from the query of the registered URL. Read it from the `Authorization: Bearer` header "
    "of each request.",
    since="2026.2",
    version=1,
    checks=must("AUTH-14", "BCDE", "basic/authorization#token-requirements"),
    fix=write_snippet(
        Language.JSON,
        "Remote in `server.json`",
        before='{"type": "streamable-http", "url": "https://notes.example/mcp?token={token}"}',
        after="""
        {
          "type": "streamable-http",
          "url": "https://notes.example/mcp",
          "headers": [{"name": "Authorization", "isRequired": true, "isSecret": true}]
        }
        """,
    ),
    good=[
        build_open_access(),
        build_open_access(registered="https://notes.example/mcp?lang=[removed]"),
        build_protected_access(),
    ],
    bad=[
        build_open_access(registered="https://notes.example/mcp?api_key=[removed]"),
        build_protected_access(registered="https://notes.example/mcp?a=b&token=[removed]"),
    ],
    unjudged=[build_protected_access(revision="2024-11-05", step="list-tools")],
)
def address_takes_token(access: Access) -> Iterator[Answer]:
    """URLs are written to logs, browser histories and error reports, so a token must not be in one.

    Read the token from the `Authorization` header.
    """
    query = access.seen.registered.partition("?")[2].partition("#")[0]
    for part in query.split("&"):
        name = part.partition("=")[0]
        if is_secret_name(name):
            yield f"the query parameter {clip_text(name)} has the name of a secret"
