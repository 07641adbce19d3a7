"""Rule `bogus-token-mishandled`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.access import ACCEPTED
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import (
    build_open_access,
    build_protected_access,
    build_resource_metadata,
)
from scoring.results.outcome import Inapplicable, Severity, Tolerated, Undecided
from scoring.scopes.server_access import Access

_REFUSED: Final = frozenset({"oauth_required", "credentials_required", "forbidden"})


@rule(
    "bogus-token-mishandled",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="An invalid token is not answered with 401",
    remedy="Validate the token of each request. Answer an invalid or expired token with HTTP 401 and a "
    "`WWW-Authenticate: Bearer` header.",
    since="2026.2",
    version=1,
    checks=must("AUTH-13", "BCDE", "basic/authorization#token-handling"),
    fix=write_snippet(
        Language.HTTP,
        "Answer to a request with an invalid token",
        before="HTTP/1.1 403 Forbidden",
        after="""
        HTTP/1.1 401 Unauthorized
        WWW-Authenticate: Bearer error="invalid_token"
        """,
    ),
    good=[build_protected_access()],
    bad=[
        build_protected_access(resource=build_resource_metadata(), bogus=(200, "accepted")),
        build_protected_access(bogus=(200, "accepted")),
        build_protected_access(reason="credentials_required", bogus=(200, "accepted")),
        build_protected_access(bogus=(403, "forbidden")),
        build_protected_access(bogus=(200, "oauth_required")),
    ],
    unjudged=[
        build_open_access(),
        build_protected_access(bogus=None),
        build_protected_access(bogus=(503, "unreachable")),
        build_protected_access(bogus=(404, "not_mcp")),
    ],
)
def bogus_token_mishandled(access: Access) -> Iterator[Answer]:
    """A client renews its token when it receives HTTP 401, so an invalid or expired token must be answered with 401.

    A server with OAuth that accepts any token is not protected. Without a sign of OAuth the finding is tolerated: the
    server may pass the token on to the service behind it, which refuses it later. A refusal with another status is
    tolerated too.
    """
    gate, bogus = access.gate, access.seen.bogus
    if bogus is None:
        raise Inapplicable("no token was tried")
    if bogus.outcome == ACCEPTED:
        message = f"{gate.step} is answered for an invalid token, HTTP 401 expected"
        yield (
            message if access.uses_oauth else Tolerated(f"{message} from a server with OAuth, of which nothing is seen")
        )
    elif bogus.status != 401:
        if bogus.outcome not in _REFUSED:
            raise Undecided(bogus.detail or bogus.outcome)
        yield Tolerated(f"HTTP {bogus.status}, HTTP 401 expected")
