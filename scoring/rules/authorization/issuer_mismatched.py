"""Rule `issuer-mismatched`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.canonical import Json
from evidence.kinds.access import LEGACY_LAYOUT
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    ISSUER,
    build_issuer_metadata,
    build_open_access,
    build_protected_access,
    issuer_requests,
    metadata_request,
)
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.server_access import Access
from scoring.text.evidence_path import clip_text

_OWN = issuer_requests(
    metadata_request(by="rfc8414", document=build_issuer_metadata()), issuer="https://notes.example", layout="legacy"
)


_SECTION: Final = "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery"


@rule(
    "issuer-mismatched",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="The issuer of an authorization server differs from the listed URL",
    remedy="Write the same URL in `issuer` of the authorization server metadata and in `authorization_servers` of "
    "the resource metadata, with or without a last slash in both.",
    since="2026.2",
    version=1,
    checks=must("AUTH-06", "DE", _SECTION),
    fix=write_snippet(
        Language.JSON,
        "Authorization server metadata of `https://login.example`",
        before="""
        {
          "issuer": "https://auth.internal",
          "authorization_endpoint": "https://login.example/authorize",
          "token_endpoint": "https://login.example/token",
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
        build_protected_access(
            authorization_servers=[
                issuer_requests(
                    metadata_request(document=build_issuer_metadata(issuer=f"{ISSUER}?p=a")),
                    issuer=f"{ISSUER}?p=[removed]",
                )
            ]
        ),
    ],
    bad=[
        build_protected_access(issuer=build_issuer_metadata(issuer="https://other.example")),
        build_protected_access(issuer=build_issuer_metadata(issuer=f"{ISSUER}/")),
        build_protected_access(issuer=build_issuer_metadata(issuer=None)),
        build_protected_access(
            authorization_servers=[
                issuer_requests(
                    metadata_request(document=build_issuer_metadata(issuer="https://other.example?p=a")),
                    issuer=f"{ISSUER}?p=[removed]",
                )
            ]
        ),
    ],
    unjudged=[build_open_access(), build_protected_access(), build_protected_access(authorization_servers=[_OWN])],
)
def issuer_mismatched(access: Access) -> Iterator[Answer]:
    """`issuer` must be identical to the URL in the resource metadata (RFC 8414, section 3.3).

    Every character is compared, including the last slash. Clients must reject any difference, because otherwise one
    authorization server could impersonate another.
    """
    judged = [pair for pair in access.issuers if pair[0].layout != LEGACY_LAYOUT]
    if not judged:
        raise Inapplicable("no authorization server is named")
    for issuer, document in judged:
        named = document.get("issuer")
        if not _is_same(named, issuer.issuer):
            found = clip_text(named) if isinstance(named, str) else "not a string"
            yield "issuer", f"{found}, {clip_text(issuer.issuer)} expected"


def _is_same(named: Json, listed: str) -> bool:
    """Equal as far as the listed one is known: the values of its query, which no issuer should have, are masked."""
    known, query, _ = listed.partition("?")
    return named == listed or (bool(query) and isinstance(named, str) and named.partition("?")[0] == known)
