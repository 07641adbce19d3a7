"""Rule `issuer-without-response-issuer`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.access_scope import Access
from scoring.accessing import locked, looked, metadata
from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import Answer, rule, should


@rule(
    "issuer-without-response-issuer",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="An authorization server does not name itself in its responses",
    since="2026.2",
    version=1,
    checks=should("AUTH-12", "E", "basic/authorization#authorization-response-validation"),
    good=[locked(issuer=metadata(), revision="2026-07-28", step="list-tools")],
    bad=[
        locked(
            issuer=metadata(authorization_response_iss_parameter_supported=False),
            revision="2026-07-28",
            step="list-tools",
        ),
        locked(
            issuer=metadata(authorization_response_iss_parameter_supported=None),
            revision="2026-07-28",
            step="list-tools",
        ),
    ],
    unjudged=[looked(), locked(), locked(issuer=metadata())],
)
def issuer_without_response_issuer(access: Access) -> Iterator[Answer]:
    """With `iss` in the authorization response (RFC 9207) a client notices when another server answers in its place.

    A later revision of MCP is expected to demand it. Send `iss` and announce it with
    `authorization_response_iss_parameter_supported`.
    """
    for issuer, document in access.issuers:
        if document.get("authorization_response_iss_parameter_supported") is not True:
            yield "authorization_response_iss_parameter_supported", f"not true at {clip(issuer.issuer)}"
