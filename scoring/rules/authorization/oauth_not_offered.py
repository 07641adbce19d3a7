"""Rule `oauth-not-offered`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.access import AccessClass
from scoring.access_scope import Access, settle
from scoring.accessing import attempt, challenge, document, issuing, locked, looked, metadata, missing
from scoring.outcome import Inapplicable, Severity
from scoring.rule import Answer, rule


@rule(
    "oauth-not-offered",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="A server offers no OAuth",
    since="2026.2",
    version=1,
    good=[
        locked(),
        looked(resource_metadata=[attempt(document=document())]),
        locked(reason="credentials_required", authorization_servers=[issuing(attempt(document=metadata()))]),
    ],
    bad=[
        looked(resource_metadata=missing("path", "root")),
        locked(challenge("basic"), reason="credentials_required", resource_metadata=missing("path", "root")),
    ],
    unjudged=[looked("blocked_by_waf"), looked(resource_metadata=[attempt(503)])],
)
def oauth_not_offered(access: Access) -> Iterator[Answer]:
    """With OAuth every user has an identity and rights of their own, which can be limited and taken away again.

    A server that is open to everybody, or that takes a key of its own, cannot tell its users apart by any means that an
    organisation controls. Answer 401 with a Bearer challenge and publish protected resource metadata.
    """
    seen = access.seen
    if seen.access_class is not AccessClass.OPEN and not seen.access_class.is_gated:
        raise Inapplicable(f"the server is {seen.access_class.replace('_', ' ')}")
    demanded = seen.gate is not None and seen.gate.reason == "oauth_required"
    if demanded or seen.resource or any(issuer.found for issuer in seen.authorization_servers):
        return
    settle(seen.resource_metadata)
    yield "it asks for no token and publishes no OAuth metadata"
