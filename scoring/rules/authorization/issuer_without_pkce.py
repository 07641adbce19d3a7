"""Rule `issuer-without-pkce`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.access import LEGACY_LAYOUT
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    ISSUER,
    build_issuer_metadata,
    build_open_access,
    build_protected_access,
    issuer_requests,
    metadata_request,
)
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.server_access import Access
from scoring.text.evidence_path import clip_text

_METHODS: Final = "code_challenge_methods_supported"
_OWN: Final = issuer_requests(
    metadata_request(by="rfc8414", document=build_issuer_metadata(**{_METHODS: None})), layout=LEGACY_LAYOUT
)


@rule(
    "issuer-without-pkce",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="An authorization server does not announce PKCE with S256",
    remedy="Support PKCE in the authorization server. List `S256` in `code_challenge_methods_supported` of its "
    "metadata, also in an OpenID document.",
    since="2026.2",
    version=1,
    checks=must("AUTH-07", "CDE", "basic/authorization/security-considerations#authorization-code-protection"),
    fix=write_snippet(
        Language.JSON,
        "Authorization server metadata",
        before="""
        {
          "issuer": "https://login.example",
          "authorization_endpoint": "https://login.example/authorize",
          "token_endpoint": "https://login.example/token",
          "response_types_supported": ["code"]
        }
        """,
        after="""
        {
          "issuer": "https://login.example",
          "authorization_endpoint": "https://login.example/authorize",
          "token_endpoint": "https://login.example/token",
          "response_types_supported": ["code"],
          "code_challenge_methods_supported": ["S256"]
        }
        """,
    ),
    good=[build_protected_access(issuer=build_issuer_metadata())],
    bad=[
        build_protected_access(issuer=build_issuer_metadata(code_challenge_methods_supported=["plain"])),
        build_protected_access(issuer=build_issuer_metadata(code_challenge_methods_supported=None)),
        build_protected_access(authorization_servers=[_OWN]),
    ],
    unjudged=[
        build_open_access(),
        build_protected_access(),
        build_protected_access(issuer={"issuer": ISSUER, "token_endpoint": f"{ISSUER}/token"}),
    ],
)
def issuer_without_pkce(access: Access) -> Iterator[Answer]:
    """With PKCE a stolen authorization code is useless without its verifier.

    A client must stop when `code_challenge_methods_supported` is absent, also in an OpenID document, where the member
    is optional. List `S256`. The finding is tolerated for a server that shows no revision and publishes its metadata at
    the location of 2025-03-26, which requires PKCE only of clients.
    """
    judged = [pair for pair in access.issuers if pair[1].get("authorization_endpoint") is not None]
    if not judged:
        raise Inapplicable("no authorization code is issued")
    for issuer, document in judged:
        methods = document.get(_METHODS)
        if isinstance(methods, list) and "S256" in methods:
            continue
        message = f"no S256 in the metadata of {clip_text(issuer.issuer)}"
        older = issuer.layout == LEGACY_LAYOUT and not access.revision_is_known
        yield Tolerated(message, _METHODS) if older else (_METHODS, message)
