"""Rule `issuer-mismatched`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.canonical import Json
from evidence.kinds.access import LEGACY_LAYOUT
from scoring.access_scope import Access
from scoring.accessing import ISSUER, attempt, issuing, locked, looked, metadata
from scoring.outcome import Inapplicable, Severity
from scoring.path import clip
from scoring.rule import Answer, must, rule

_OWN = issuing(attempt(by="rfc8414", document=metadata()), issuer="https://notes.example", layout="legacy")


_SECTION: Final = "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery"


@rule(
    "issuer-mismatched",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="An authorization server names itself differently",
    since="2026.2",
    version=1,
    checks=must("AUTH-06", "DE", _SECTION),
    good=[
        locked(issuer=metadata()),
        locked(
            authorization_servers=[
                issuing(attempt(document=metadata(issuer=f"{ISSUER}?p=a")), issuer=f"{ISSUER}?p=[removed]")
            ]
        ),
    ],
    bad=[
        locked(issuer=metadata(issuer="https://other.example")),
        locked(issuer=metadata(issuer=f"{ISSUER}/")),
        locked(issuer=metadata(issuer=None)),
        locked(
            authorization_servers=[
                issuing(attempt(document=metadata(issuer="https://other.example?p=a")), issuer=f"{ISSUER}?p=[removed]")
            ]
        ),
    ],
    unjudged=[looked(), locked(), locked(authorization_servers=[_OWN])],
)
def issuer_mismatched(access: Access) -> Iterator[Answer]:
    """`issuer` must be identical to what the resource metadata calls the server (RFC 8414, section 3.3).

    It is compared character by character, the last slash included: clients have to reject anything else, since it is
    how one authorization server could pass for another.
    """
    judged = [pair for pair in access.issuers if pair[0].layout != LEGACY_LAYOUT]
    if not judged:
        raise Inapplicable("no authorization server is named")
    for issuer, document in judged:
        named = document.get("issuer")
        if not _is_same(named, issuer.issuer):
            found = clip(named) if isinstance(named, str) else "no string"
            yield "issuer", f"{found}, {clip(issuer.issuer)} expected"


def _is_same(named: Json, listed: str) -> bool:
    """Equal as far as the listed one is known: the values of its query, which no issuer should have, are masked."""
    known, query, _ = listed.partition("?")
    return named == listed or (bool(query) and isinstance(named, str) and named.partition("?")[0] == known)
