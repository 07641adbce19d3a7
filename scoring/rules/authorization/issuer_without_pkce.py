"""Rule `issuer-without-pkce`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.access_scope import Access
from scoring.accessing import ISSUER, locked, looked, metadata
from scoring.outcome import Inapplicable, Severity
from scoring.path import clip
from scoring.rule import Answer, must, rule


@rule(
    "issuer-without-pkce",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="An authorization server does not announce PKCE with S256",
    since="2026.2",
    version=1,
    checks=must("AUTH-07", "CDE", "basic/authorization/security-considerations#authorization-code-protection"),
    good=[locked(issuer=metadata())],
    bad=[
        locked(issuer=metadata(code_challenge_methods_supported=["plain"])),
        locked(issuer=metadata(code_challenge_methods_supported=None)),
    ],
    unjudged=[looked(), locked(), locked(issuer={"issuer": ISSUER, "token_endpoint": f"{ISSUER}/token"})],
)
def issuer_without_pkce(access: Access) -> Iterator[Answer]:
    """A stolen authorization code is worthless to a thief who lacks the verifier of PKCE.

    A client must refuse to go on when `code_challenge_methods_supported` is absent, also in an OpenID document, where
    nobody else asks for it. List `S256`.
    """
    judged = [pair for pair in access.issuers if pair[1].get("authorization_endpoint") is not None]
    if not judged:
        raise Inapplicable("no authorization code is issued")
    for issuer, document in judged:
        methods = document.get("code_challenge_methods_supported")
        if not isinstance(methods, list) or "S256" not in methods:
            yield "code_challenge_methods_supported", f"no S256 at {clip(issuer.issuer)}"
