"""Rule `issuer-endpoint-not-encrypted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.access_scope import Access, is_loopback
from scoring.accessing import locked, looked, metadata
from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import Answer, must, rule

_ADDRESSES: Final = frozenset({"issuer", "jwks_uri"})


@rule(
    "issuer-endpoint-not-encrypted",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="An endpoint of an authorization server is not reached over HTTPS",
    since="2026.2",
    version=1,
    checks=must("AUTH-08", "BCDE", "basic/authorization/security-considerations#communication-security"),
    good=[locked(issuer=metadata()), locked(issuer=metadata(registration_endpoint="http://127.0.0.1:9000/register"))],
    bad=[
        locked(issuer=metadata(authorization_endpoint="http://login.example/authorize")),
        locked(issuer=metadata(jwks_uri="http://login.example/keys")),
        locked(issuer=metadata(issuer="http://login.example")),
    ],
    unjudged=[looked(), locked()],
)
def issuer_endpoint_not_encrypted(access: Access) -> Iterator[Answer]:
    """Passwords, codes and tokens pass through these addresses; over plain HTTP anybody on the way can take them.

    Behind a proxy that ends TLS, tell the authorization server its public address. Loopback addresses never leave the
    machine and are accepted.
    """
    for _, document in access.issuers:
        for name, value in document.items():
            names_address = name.endswith("_endpoint") or name in _ADDRESSES
            if names_address and isinstance(value, str) and not _is_protected(value):
                yield name, f"{clip(value)}, https expected"


def _is_protected(address: str) -> bool:
    return address.lower().startswith("https://") or is_loopback(address)
