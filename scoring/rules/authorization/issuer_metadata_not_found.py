"""Rule `issuer-metadata-not-found`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.access_scope import Access, settle
from scoring.accessing import attempt, document, issuing, locked, looked, metadata, missing
from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import Answer, must, rule

_SECTION: Final = "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery"


@rule(
    "issuer-metadata-not-found",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="An authorization server publishes no metadata",
    since="2026.2",
    version=1,
    checks=must("AUTH-05", "CDE", _SECTION),
    good=[locked(resource=document(), issuer=metadata())],
    bad=[
        locked(resource=document(), authorization_servers=[issuing(*missing("rfc8414", "openid"))]),
        locked(
            resource=document(),
            authorization_servers=[issuing(attempt(None, problem="the URL is malformed"))],
        ),
    ],
    unjudged=[
        looked(),
        locked(),
        locked(
            resource=document(),
            authorization_servers=[issuing(attempt(None, failure=("blocked_address", "")))],
        ),
        locked(
            resource=document(),
            authorization_servers=[issuing(*missing("rfc8414"), attempt(500, by="openid"))],
        ),
    ],
)
def issuer_metadata_not_found(access: Access) -> Iterator[Answer]:
    """Where to sign in, where to get a token and what is supported stands in the authorization server's metadata.

    It is looked for at `/.well-known/oauth-authorization-server` (RFC 8414) and at `/.well-known/openid-configuration`,
    with the path of the issuer behind it, and for OpenID also before it.
    """
    without = [issuer for issuer in access.advertised if issuer.found is None]
    clear = [issuer for issuer in without if not any(one.unclear for one in issuer.attempts)]
    if without and not clear:
        settle(without[0].attempts)
    for issuer in clear:
        tried = ", ".join(f"{one.by}: {one.problem}" for one in issuer.attempts)
        yield f"{clip(issuer.issuer)} ({tried})"
