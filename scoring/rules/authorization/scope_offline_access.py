"""Rule `scope-offline-access`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, rule, should
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    build_challenge,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
    metadata_request,
)
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.server_access import Access

_MODERN: Final = {"modern": "2026-07-28"}


@rule(
    "scope-offline-access",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="The server lists the scope offline_access",
    remedy="Remove `offline_access` from `scope` in the `WWW-Authenticate` header and from `scopes_supported` in "
    "the protected resource metadata.",
    since="2026.2",
    version=1,
    checks=should("AUTH-11", "E", "basic/authorization#refresh-tokens"),
    fix=write_snippet(
        Language.JSON,
        "Protected resource metadata",
        before="""
        {
          "resource": "https://notes.example/mcp",
          "authorization_servers": ["https://login.example"],
          "scopes_supported": ["notes:read", "offline_access"]
        }
        """,
        after="""
        {
          "resource": "https://notes.example/mcp",
          "authorization_servers": ["https://login.example"],
          "scopes_supported": ["notes:read"]
        }
        """,
    ),
    good=[
        build_open_access(
            "open",
            versions=_MODERN,
            resource_metadata=[metadata_request(document=build_resource_metadata(scopes_supported=["notes:read"]))],
        ),
        build_protected_access(build_challenge(scope="notes:read"), versions=_MODERN),
    ],
    bad=[
        build_protected_access(build_challenge(scope="notes:read offline_access"), versions=_MODERN),
        build_protected_access(resource=build_resource_metadata(scopes_supported=["offline_access"]), versions=_MODERN),
    ],
    unjudged=[
        build_open_access(),
        build_open_access(versions=_MODERN),
        build_protected_access(build_challenge(scope="offline_access")),
    ],
)
def scope_offline_access(access: Access) -> Iterator[Answer]:
    """The client and the authorization server agree on refresh tokens, so a resource should not request them.

    Remove `offline_access` from `scope` in `WWW-Authenticate` and from `scopes_supported` of the resource metadata.
    """
    challenged = access.bearer.parameters.get("scope", "").split() if access.bearer else []
    document = access.seen.resource.document if access.seen.resource else None
    if not challenged and document is None:
        raise Inapplicable("no scopes are named")
    listed = document.get("scopes_supported") if document else None
    if "offline_access" in challenged:
        yield "scope", "offline_access is in WWW-Authenticate"
    if isinstance(listed, list) and "offline_access" in listed:
        yield "scopes_supported", "offline_access is in the resource metadata"
