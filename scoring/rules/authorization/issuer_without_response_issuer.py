"""Rule `issuer-without-response-issuer`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import build_issuer_metadata, build_open_access, build_protected_access
from scoring.results.outcome import Severity
from scoring.scopes.server_access import Access
from scoring.text.evidence_path import clip_text


@rule(
    "issuer-without-response-issuer",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="An authorization server does not identify itself in its responses",
    remedy="Send `iss` in each authorization response (RFC 9207). Set "
    "`authorization_response_iss_parameter_supported` to `true` in the metadata of the authorization server.",
    since="2026.2",
    version=1,
    checks=should("AUTH-12", "E", "basic/authorization#authorization-response-validation"),
    fix=write_snippet(
        Language.JSON,
        "Authorization server metadata",
        before="""
        {
          "issuer": "https://login.example",
          "authorization_endpoint": "https://login.example/authorize",
          "token_endpoint": "https://login.example/token",
          "response_types_supported": ["code"],
          "code_challenge_methods_supported": ["S256"]
        }
        """,
        after="""
        {
          "issuer": "https://login.example",
          "authorization_endpoint": "https://login.example/authorize",
          "token_endpoint": "https://login.example/token",
          "response_types_supported": ["code"],
          "code_challenge_methods_supported": ["S256"],
          "authorization_response_iss_parameter_supported": true
        }
        """,
    ),
    good=[build_protected_access(issuer=build_issuer_metadata(), revision="2026-07-28", step="list-tools")],
    bad=[
        build_protected_access(
            issuer=build_issuer_metadata(authorization_response_iss_parameter_supported=False),
            revision="2026-07-28",
            step="list-tools",
        ),
        build_protected_access(
            issuer=build_issuer_metadata(authorization_response_iss_parameter_supported=None),
            revision="2026-07-28",
            step="list-tools",
        ),
    ],
    unjudged=[build_open_access(), build_protected_access(), build_protected_access(issuer=build_issuer_metadata())],
)
def issuer_without_response_issuer(access: Access) -> Iterator[Answer]:
    """With `iss` in the authorization response (RFC 9207) a client detects the response of another server.

    A later revision of MCP is expected to require it. Send `iss` and announce it with
    `authorization_response_iss_parameter_supported`.
    """
    for issuer, document in access.issuers:
        if document.get("authorization_response_iss_parameter_supported") is not True:
            yield "authorization_response_iss_parameter_supported", f"not true at {clip_text(issuer.issuer)}"
