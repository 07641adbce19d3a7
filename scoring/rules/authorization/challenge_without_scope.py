"""Rule `challenge-without-scope`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    build_challenge,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
)
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.server_access import Access


@rule(
    "challenge-without-scope",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="The challenge of a protected server names no scope",
    remedy="Send a Bearer challenge in the `WWW-Authenticate` header of each 401 response, and add the required "
    'scopes to it, for example `scope="notes:read"`.',
    since="2026.2",
    version=1,
    checks=should("AUTH-09", "DE", "basic/authorization#scope-selection-strategy"),
    fix=write_snippet(
        Language.HTTP,
        "Answer to a request without a token",
        before="""
        HTTP/1.1 401 Unauthorized
        WWW-Authenticate: Bearer realm="notes"
        """,
        after="""
        HTTP/1.1 401 Unauthorized
        WWW-Authenticate: Bearer realm="notes", scope="notes:read"
        """,
    ),
    good=[build_protected_access(build_challenge(scope="notes:read"), resource=build_resource_metadata())],
    bad=[
        build_protected_access(build_challenge(realm="notes"), resource=build_resource_metadata()),
        build_protected_access(resource=build_resource_metadata()),
    ],
    unjudged=[
        build_open_access(),
        build_protected_access(build_challenge(realm="notes")),
        build_protected_access(build_challenge("basic"), reason="credentials_required"),
        build_protected_access(build_challenge(), resource=build_resource_metadata(), cut=["challenges"]),
        build_protected_access(status=403),
    ],
)
def challenge_without_scope(access: Access) -> Iterator[Answer]:
    """With `scope` in the `WWW-Authenticate` header a client requests exactly the scopes that it needs.

    Without it, the client requests every scope of the resource metadata, and its user grants more than necessary.
    """
    if access.gate.status != 401 or not access.uses_oauth:
        raise Inapplicable("not a 401 of a server with OAuth")
    if access.bearer is not None and access.bearer.parameters.get("scope"):
        return
    if access.seen.is_cut("challenges"):
        raise Undecided("the header is longer than what is kept")
    yield "no scope in WWW-Authenticate" if access.bearer else "no Bearer challenge in WWW-Authenticate"
