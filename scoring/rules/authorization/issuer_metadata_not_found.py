"""Rule `issuer-metadata-not-found`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    build_issuer_metadata,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
    failed_requests,
    issuer_requests,
    metadata_request,
)
from scoring.results.outcome import Severity
from scoring.scopes.server_access import Access, require_decided
from scoring.text.evidence_path import clip_text

_SECTION: Final = "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery"


@rule(
    "issuer-metadata-not-found",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="An authorization server publishes no metadata",
    remedy="List a valid issuer URL in `authorization_servers`. Serve its metadata as JSON at "
    "`/.well-known/oauth-authorization-server` or `/.well-known/openid-configuration`, with the path of the "
    "issuer after it.",
    since="2026.2",
    version=1,
    checks=must("AUTH-05", "CDE", _SECTION),
    fix=write_snippet(
        Language.JSON,
        "`https://login.example/.well-known/oauth-authorization-server`",
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
    good=[build_protected_access(resource=build_resource_metadata(), issuer=build_issuer_metadata())],
    bad=[
        build_protected_access(
            resource=build_resource_metadata(),
            authorization_servers=[issuer_requests(*failed_requests("rfc8414", "openid"))],
        ),
        build_protected_access(
            resource=build_resource_metadata(),
            authorization_servers=[issuer_requests(metadata_request(None, problem="the URL is malformed"))],
        ),
    ],
    unjudged=[
        build_open_access(),
        build_protected_access(),
        build_protected_access(
            resource=build_resource_metadata(),
            authorization_servers=[issuer_requests(metadata_request(None, failure=("blocked_address", "")))],
        ),
        build_protected_access(
            resource=build_resource_metadata(),
            authorization_servers=[issuer_requests(*failed_requests("rfc8414"), metadata_request(500, by="openid"))],
        ),
    ],
)
def issuer_metadata_not_found(access: Access) -> Iterator[Answer]:
    """The metadata of an authorization server names the endpoints where a client signs in and gets a token.

    It is requested from `/.well-known/oauth-authorization-server` (RFC 8414) and `/.well-known/openid-configuration`,
    with the path of the issuer after it, and for OpenID also before it.
    """
    without = [issuer for issuer in access.advertised if issuer.found is None]
    clear = [issuer for issuer in without if not any(one.unclear for one in issuer.attempts)]
    if without and not clear:
        require_decided(without[0].attempts)
    for issuer in clear:
        tried = ", ".join(f"{one.by}: {one.problem}" for one in issuer.attempts)
        yield f"no metadata of {clip_text(issuer.issuer)} was found ({tried})"
