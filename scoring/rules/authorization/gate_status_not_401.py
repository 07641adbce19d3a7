"""Rule `gate-status-not-401`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.access import AccessClass
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.server_access import build_open_access, build_protected_access
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.server_access import Access


@rule(
    "gate-status-not-401",
    scope=Access,
    reads="access",
    severity=Severity.ERROR,
    title="A protected server does not answer with 401",
    remedy="Answer each request without valid credentials with HTTP 401 and a `WWW-Authenticate` header.",
    since="2026.2",
    version=1,
    checks=must("AUTH-01", "BCDE", "basic/authorization#error-handling"),
    fix=write_snippet(
        Language.HTTP,
        "Answer to a request without a token",
        before="HTTP/1.1 403 Forbidden",
        after="""
        HTTP/1.1 401 Unauthorized
        WWW-Authenticate: Bearer scope="notes:read"
        """,
    ),
    good=[build_protected_access(), build_protected_access(step="list-tools")],
    bad=[
        build_protected_access(status=403),
        build_protected_access(status=400),
        build_protected_access(status=200, step="list-tools"),
    ],
    unjudged=[build_open_access(), build_open_access("forbidden"), build_open_access("payment")],
)
def gate_status_not_401(access: Access) -> Iterator[Answer]:
    """A client starts authorization only when it receives HTTP 401.

    After 403, 400 or 200 it reports an error, and its user cannot sign in. Answer every request without a valid token
    with 401. Servers differ so much here that another status is tolerated.
    """
    if access.seen.access_class is AccessClass.FORBIDDEN:
        raise Undecided("the 403 does not mention credentials")
    if access.gate.status != 401:
        yield Tolerated(f"HTTP {access.gate.status}, HTTP 401 expected")
