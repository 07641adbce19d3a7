"""Rule `oauth-not-offered`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.access import AccessClass
from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    build_challenge,
    build_issuer_metadata,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
    failed_requests,
    issuer_requests,
    metadata_request,
)
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.server_access import Access, require_decided


@rule(
    "oauth-not-offered",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="The server does not offer OAuth",
    remedy="Serve protected resource metadata (RFC 9728) at `/.well-known/oauth-protected-resource`. Answer a "
    "request without a token with HTTP 401 and a Bearer challenge.",
    since="2026.2",
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
    good=[
        build_protected_access(),
        build_open_access(resource_metadata=[metadata_request(document=build_resource_metadata())]),
        build_protected_access(
            reason="credentials_required",
            authorization_servers=[issuer_requests(metadata_request(document=build_issuer_metadata()))],
        ),
    ],
    bad=[
        build_open_access(resource_metadata=failed_requests("path", "root")),
        build_protected_access(
            build_challenge("basic"), reason="credentials_required", resource_metadata=failed_requests("path", "root")
        ),
    ],
    unjudged=[build_open_access("blocked_by_waf"), build_open_access(resource_metadata=[metadata_request(503)])],
)
def oauth_not_offered(access: Access) -> Iterator[Answer]:
    """With OAuth each user has a separate identity, whose rights can be limited and revoked.

    A server that is open, or that uses its own kind of key, cannot identify its users by means that an organisation
    controls. Answer 401 with a Bearer challenge and publish protected resource metadata.
    """
    seen = access.seen
    if seen.access_class is not AccessClass.OPEN and not seen.access_class.is_gated:
        raise Inapplicable(f"the access class is {seen.access_class.replace('_', ' ')}")
    demanded = seen.gate is not None and seen.gate.reason == "oauth_required"
    if demanded or seen.resource or any(issuer.found for issuer in seen.authorization_servers):
        return
    require_decided(seen.resource_metadata)
    yield "the server requires no token and publishes no OAuth metadata"
