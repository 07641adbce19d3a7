"""Rule `scope-offline-access`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.access_scope import Access
from scoring.accessing import attempt, challenge, document, locked, looked
from scoring.outcome import Inapplicable, Severity
from scoring.rule import Answer, rule, should

_MODERN: Final = {"modern": "2026-07-28"}


@rule(
    "scope-offline-access",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="A server asks for offline access itself",
    since="2026.2",
    version=1,
    checks=should("AUTH-11", "E", "basic/authorization#refresh-tokens"),
    good=[
        looked(
            "open", versions=_MODERN, resource_metadata=[attempt(document=document(scopes_supported=["notes:read"]))]
        ),
        locked(challenge(scope="notes:read"), versions=_MODERN),
    ],
    bad=[
        locked(challenge(scope="notes:read offline_access"), versions=_MODERN),
        locked(resource=document(scopes_supported=["offline_access"]), versions=_MODERN),
    ],
    unjudged=[looked(), looked(versions=_MODERN), locked(challenge(scope="offline_access"))],
)
def scope_offline_access(access: Access) -> Iterator[Answer]:
    """Whether a client wants refresh tokens is between it and the authorization server, and no need of the resource.

    Leave `offline_access` out of `scope` in `WWW-Authenticate` and out of `scopes_supported` of the resource metadata.
    """
    challenged = access.bearer.parameters.get("scope", "").split() if access.bearer else []
    document = access.seen.resource.document if access.seen.resource else None
    if not challenged and document is None:
        raise Inapplicable("no scopes are named")
    listed = document.get("scopes_supported") if document else None
    if "offline_access" in challenged:
        yield "scope", "offline_access in WWW-Authenticate"
    if isinstance(listed, list) and "offline_access" in listed:
        yield "scopes_supported", "offline_access in the resource metadata"
