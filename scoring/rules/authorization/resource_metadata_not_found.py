"""Rule `resource-metadata-not-found`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.access import HEADER
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    HEADER_URL,
    build_challenge,
    build_issuer_metadata,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
    failed_requests,
    issuer_requests,
    metadata_request,
)
from scoring.results.outcome import Severity, Tolerated
from scoring.scopes.server_access import Access, require_decided

_OWN = issuer_requests(
    metadata_request(by="rfc8414", document=build_issuer_metadata()), issuer="https://notes.example", layout="legacy"
)


@rule(
    "resource-metadata-not-found",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="A protected server publishes no resource metadata",
    remedy="Serve protected resource metadata (RFC 9728) as JSON at `/.well-known/oauth-protected-resource` "
    "followed by the path of the server. Send its URL in `resource_metadata` of the `WWW-Authenticate` "
    "header.",
    since="2026.2",
    version=1,
    checks=must("AUTH-02", "CDE", "basic/authorization/authorization-server-discovery#authorization-server-location"),
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
        build_protected_access(build_challenge(resource_metadata=HEADER_URL), resource=build_resource_metadata()),
        build_protected_access(resource=build_resource_metadata()),
        build_protected_access(
            build_challenge(resource_metadata=HEADER_URL),
            resource=build_resource_metadata(),
            revision="2025-06-18",
            step="list-tools",
        ),
    ],
    bad=[
        build_protected_access(resource_metadata=failed_requests("path", "root")),
        build_protected_access(build_challenge(realm="notes"), resource_metadata=failed_requests("path", "root")),
        build_protected_access(
            build_challenge(resource_metadata=HEADER_URL), resource_metadata=failed_requests("header", "root")
        ),
        build_protected_access(resource=build_resource_metadata(), revision="2025-06-18", step="list-tools"),
        build_protected_access(
            build_challenge("apikey"), reason="credentials_required", resource_metadata=failed_requests("path", "root")
        ),
        build_protected_access(resource_metadata=failed_requests("path", "root"), authorization_servers=[_OWN]),
        build_protected_access(
            resource_metadata=[
                *failed_requests("header"),
                metadata_request(by="root", document=build_resource_metadata()),
            ]
        ),
    ],
    unjudged=[
        build_open_access(),
        build_protected_access(resource_metadata=[metadata_request(None, failure=("timeout", "no answer in time"))]),
        build_protected_access(resource_metadata=[metadata_request(503)]),
        build_protected_access(resource_metadata=[metadata_request(308, location="https://notes.example/elsewhere")]),
        build_protected_access(revision="2025-03-26", step="list-tools"),
    ],
)
def resource_metadata_not_found(access: Access) -> Iterator[Answer]:
    """A client finds the authorization server in the protected resource metadata (RFC 9728).

    The URL of the metadata is in `resource_metadata` of the `WWW-Authenticate` header, or it is
    `/.well-known/oauth-protected-resource`, with or without the path of the server after it. Without the metadata a
    user must find the authorization server manually. Revision 2025-06-18 requires the header. The finding is tolerated
    for a server that shows no sign of OAuth, because authorization is optional and its users may configure a key or a
    token by hand. It is also tolerated for a server that shows no revision and publishes authorization server metadata
    at the location of 2025-03-26, and for a URL in the header that fails while the well-known URL works.
    """
    gate, seen = access.gate, access.seen
    header = access.bearer.parameters.get("resource_metadata") if access.bearer else None
    if seen.resource is not None:
        lost = [one for one in seen.resource_metadata if one.by == HEADER and one.document is None and not one.unclear]
        if seen.revision == "C" and gate.status == 401 and not header:
            yield "no resource_metadata in WWW-Authenticate, which 2025-06-18 requires"
        elif lost:
            yield Tolerated(f"the URL in WWW-Authenticate failed: {lost[0].problem}")
        return
    require_decided(seen.resource_metadata)
    tried = ", ".join(f"{one.by}: {one.problem}" for one in seen.resource_metadata)
    if not access.uses_oauth:
        what = "its own kind of key" if access.wants_own_key else "a bearer token"
        yield Tolerated(f"the server asks for {what} and publishes no metadata, so users must configure it by hand")
    elif seen.authorization_servers and not access.revision_is_known:
        yield Tolerated("authorization server metadata is only at the location of 2025-03-26")
    else:
        yield f"no resource metadata was found ({tried or 'no URL to request'})"
