"""Rule `issuer-endpoint-not-encrypted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import build_issuer_metadata, build_open_access, build_protected_access
from scoring.results.outcome import Severity
from scoring.scopes.server_access import Access, is_loopback
from scoring.text.evidence_path import clip_text

_ADDRESSES: Final = frozenset({"issuer", "jwks_uri"})


@rule(
    "issuer-endpoint-not-encrypted",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="The URL of an authorization server endpoint is not HTTPS",
    remedy="Set `issuer`, `jwks_uri` and each member that ends with `_endpoint` in the authorization server "
    "metadata to an HTTPS URL.",
    since="2026.2",
    version=1,
    checks=must("AUTH-08", "BCDE", "basic/authorization/security-considerations#communication-security"),
    fix=write_snippet(
        Language.JSON,
        "Authorization server metadata",
        before="""
        {
          "issuer": "https://login.example",
          "authorization_endpoint": "https://login.example/authorize",
          "token_endpoint": "http://login.example/token",
          "response_types_supported": ["code"],
          "code_challenge_methods_supported": ["S256"]
        }
        """,
        after="""
        {
          "issuer": "https://login.example",
          "authorization_endpoint": "https://login.example/authorize",
          "token_endpoint": "https://login.example/token",
          "response_types_supported": ["code"],
          "code_challenge_methods_supported": ["S256"]
        }
        """,
    ),
    good=[
        build_protected_access(issuer=build_issuer_metadata()),
        build_protected_access(issuer=build_issuer_metadata(registration_endpoint="http://127.0.0.1:9000/register")),
    ],
    bad=[
        build_protected_access(issuer=build_issuer_metadata(authorization_endpoint="http://login.example/authorize")),
        build_protected_access(issuer=build_issuer_metadata(jwks_uri="http://login.example/keys")),
        build_protected_access(issuer=build_issuer_metadata(issuer="http://login.example")),
    ],
    unjudged=[build_open_access(), build_protected_access()],
)
def issuer_endpoint_not_encrypted(access: Access) -> Iterator[Answer]:
    """Passwords, codes and tokens are sent to these URLs; over plain HTTP any intermediary can read them.

    Behind a proxy that terminates TLS, configure the public URL of the authorization server. Loopback addresses are
    accepted, because requests to them do not leave the machine.
    """
    for _, document in access.issuers:
        for name, value in document.items():
            names_address = name.endswith("_endpoint") or name in _ADDRESSES
            if names_address and isinstance(value, str) and not _is_protected(value):
                yield name, f"{clip_text(value)}, HTTPS expected"


def _is_protected(address: str) -> bool:
    return address.lower().startswith("https://") or is_loopback(address)
