"""Rule `challenge-without-scope`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.server_access import challenge, open_access, protected_access
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.server_access import Access


@rule(
    "challenge-without-scope",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="A locked server does not say which scopes it wants",
    since="2026.2",
    version=1,
    checks=should("AUTH-09", "DE", "basic/authorization#scope-selection-strategy"),
    good=[protected_access(challenge(scope="notes:read"))],
    bad=[protected_access(challenge(realm="notes")), protected_access()],
    unjudged=[
        open_access(),
        protected_access(challenge("basic"), reason="credentials_required"),
        protected_access(challenge(), cut=["challenges"]),
        protected_access(status=403),
    ],
)
def challenge_without_scope(access: Access) -> Iterator[Answer]:
    """With `scope` in the `WWW-Authenticate` header a client asks for exactly what it needs.

    Without, it asks for everything that the resource metadata lists, and its user grants more than necessary.
    """
    if access.gate.status != 401 or access.wants_own_key:
        raise Inapplicable("not a 401 that asks for a token")
    if access.bearer is not None and access.bearer.parameters.get("scope"):
        return
    if access.seen.is_cut("challenges"):
        raise Undecided("the header is longer than what is kept")
    yield "no scope in WWW-Authenticate" if access.bearer else "no Bearer challenge in WWW-Authenticate"
