"""Rule `issuer-without-pkce`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.access import LEGACY_LAYOUT
from scoring.access_scope import Access
from scoring.accessing import ISSUER, attempt, issuing, locked, looked, metadata
from scoring.outcome import Inapplicable, Severity, Tolerated
from scoring.path import clip
from scoring.rule import Answer, must, rule

_METHODS: Final = "code_challenge_methods_supported"
_OWN: Final = issuing(attempt(by="rfc8414", document=metadata(**{_METHODS: None})), layout=LEGACY_LAYOUT)


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
        locked(authorization_servers=[_OWN]),
    ],
    unjudged=[looked(), locked(), locked(issuer={"issuer": ISSUER, "token_endpoint": f"{ISSUER}/token"})],
)
def issuer_without_pkce(access: Access) -> Iterator[Answer]:
    """A stolen authorization code is worthless to a thief who lacks the verifier of PKCE.

    A client must refuse to go on when `code_challenge_methods_supported` is absent, also in an OpenID document, where
    nobody else asks for it. List `S256`. A server that shows no revision and has its metadata where 2025-03-26 looks
    for it, which asks PKCE of clients only, gets a remark.
    """
    judged = [pair for pair in access.issuers if pair[1].get("authorization_endpoint") is not None]
    if not judged:
        raise Inapplicable("no authorization code is issued")
    for issuer, document in judged:
        methods = document.get(_METHODS)
        if isinstance(methods, list) and "S256" in methods:
            continue
        message = f"no S256 at {clip(issuer.issuer)}"
        older = issuer.layout == LEGACY_LAYOUT and not access.revision_is_known
        yield Tolerated(message, _METHODS) if older else (_METHODS, message)
