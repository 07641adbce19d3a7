"""Authenticates API tokens and limits failed attempts."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from evidence.model import ServerId
from publish.community.disputes import DisputeDecider
from publish.community.tokens import TokenBearer, authenticate_token
from publish.web.context import SiteContext
from publish.web.problems import make_problem

_CLIENTS: Final = 10_000
"""Maximum number of clients whose failures one process remembers."""

_SCHEME: Final = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="An API token: of the operator (`hallmark tokens`), or of a maintainer who has proven control.",
)

Presented: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)]
Optional: TypeAlias = Callable[[Request, HTTPAuthorizationCredentials | None], TokenBearer | None]
Required: TypeAlias = Callable[[Request, HTTPAuthorizationCredentials | None], TokenBearer]

TOKEN_IS_OPTIONAL: Final[dict[str, Any]] = {"security": [{}]}
"""OpenAPI security of an operation whose token is optional; FastAPI adds the scheme itself."""

MAY_LACK: Final = ("unauthorized", "forbidden")
"""Problems of an operation that requires a token."""


class FailedAttempts:
    """Counts the invalid tokens of each client, in the memory of this process."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, client: str, now: float, most: int, within: float) -> float:
        """Seconds until a client may present a token again; 0 if it may now."""
        with self._lock:
            times = self._times.get(client, deque())
            while times and times[0] <= now - within:
                times.popleft()
            return times[0] + within - now if len(times) >= most else 0.0

    def note(self, client: str, now: float) -> None:
        """Count a failure; above the maximum, the clients that failed longest ago are removed."""
        with self._lock:
            self._times.setdefault(client, deque()).append(now)
            self._times.move_to_end(client)
            while len(self._times) > _CLIENTS:
                self._times.popitem(last=False)


def optional_bearer(site: SiteContext) -> Optional:
    """A dependency that returns the bearer, or None without a token; raises Problem for an invalid token."""
    failures = FailedAttempts()

    def bearer(request: Request, presented: Presented) -> TokenBearer | None:
        if "authorization" not in request.headers:
            return None
        backend, client = site.backend, site.client(request).digest
        within = backend.community.failures_within.total_seconds()
        if wait := failures.wait(client, backend.monotonic(), backend.community.failures, within):
            seconds = int(wait) + 1
            detail = f"Too many tokens that are none. Try again in {seconds} seconds."
            raise make_problem("too-many-requests", detail, headers={"Retry-After": str(seconds)})
        found = None if presented is None else authenticate_token(site.store, presented.credentials, backend.now())
        if found is None:
            failures.note(client, backend.monotonic())
            raise _unauthorized("found one that is unknown, has expired or was revoked, or whose proof is not there")
        return found

    return bearer


def required_bearer(site: SiteContext) -> Required:
    """A dependency that returns the bearer; raises Problem without a token."""
    known = optional_bearer(site)

    def bearer(request: Request, presented: Presented) -> TokenBearer:
        found = known(request, presented)
        if found is None:
            raise _unauthorized("found none")
        return found

    return bearer


def check_scope(bearer: TokenBearer, scope: str) -> None:
    """Raise Problem if the token lacks this scope."""
    if not bearer.may(scope):
        raise make_problem("forbidden", f"Expected a token with the scope {scope}, found one without.")


def check_owner(bearer: TokenBearer, server: ServerId) -> None:
    """Raise Problem if the token does not prove control of the server."""
    if not bearer.owns(server):
        raise make_problem("forbidden", "Expected a token that proves control of this server, found another one.")


def bearer_as_decider(bearer: TokenBearer) -> DisputeDecider:
    """The bearer as it stands in the audit trail."""
    return DisputeDecider(bearer.name, bearer.token.id)


def _unauthorized(found: str) -> Exception:
    detail = f"Expected a header `Authorization: Bearer TOKEN` with a token that counts, {found}."
    return make_problem("unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})
