"""Rule `issuer-without-client-documents`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import build_issuer_metadata, build_open_access, build_protected_access
from scoring.results.outcome import Severity
from scoring.scopes.server_access import Access
from scoring.text.evidence_path import clip_text


@rule(
    "issuer-without-client-documents",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="An authorization server does not support client ID metadata documents",
    remedy="Support client ID metadata documents in the authorization server. Set "
    "`client_id_metadata_document_supported` to `true` in its metadata.",
    since="2026.2",
    version=1,
    checks=should("AUTH-10", "DE", "basic/authorization/client-registration#client-id-metadata-documents"),
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
          "client_id_metadata_document_supported": true
        }
        """,
    ),
    good=[build_protected_access(issuer=build_issuer_metadata())],
    bad=[
        build_protected_access(issuer=build_issuer_metadata(client_id_metadata_document_supported=False)),
        build_protected_access(issuer=build_issuer_metadata(client_id_metadata_document_supported=None)),
    ],
    unjudged=[build_open_access(), build_protected_access()],
)
def issuer_without_client_documents(access: Access) -> Iterator[Answer]:
    """A client ID metadata document identifies a client that is unknown to the server, without a registration.

    Announce the support with `client_id_metadata_document_supported`. Dynamic registration is deprecated since
    2026-07-28.
    """
    for issuer, document in access.issuers:
        if document.get("client_id_metadata_document_supported") is not True:
            yield "client_id_metadata_document_supported", f"not true at {clip_text(issuer.issuer)}"
