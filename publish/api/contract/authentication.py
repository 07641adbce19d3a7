"""Who presents a token, and what happens to those who present one that is none."""

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
"""Clients whose failures are remembered by one process."""

_SCHEME: Final = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="An API token: of the operator (`hallmark tokens`), or of whoever has proven to control a server.",
)

Presented: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)]
Optional: TypeAlias = Callable[[Request, HTTPAuthorizationCredentials | None], TokenBearer | None]
Required: TypeAlias = Callable[[Request, HTTPAuthorizationCredentials | None], TokenBearer]

TOKEN_IS_OPTIONAL: Final[dict[str, Any]] = {"security": [{}]}
"""Beside the scheme, which FastAPI names itself: an operation that answers without a token too."""

MAY_LACK: Final = ("unauthorized", "forbidden")
"""What may be wrong with the token of an operation that needs one."""


class FailedAttempts:
    """How often each client presented what is no token, in the memory of this process."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, client: str, now: float, most: int, within: float) -> float:
        """Seconds until a client may present a token again; 0 when it may now."""
        with self._lock:
            times = self._times.get(client, deque())
            while times and times[0] <= now - within:
                times.popleft()
            return times[0] + within - now if len(times) >= most else 0.0

    def note(self, client: str, now: float) -> None:
        """Count a failure; the clients that were seen longest ago are forgotten when there are too many."""
        with self._lock:
            self._times.setdefault(client, deque()).append(now)
            self._times.move_to_end(client)
            while len(self._times) > _CLIENTS:
                self._times.popitem(last=False)


def optional_bearer(site: SiteContext) -> Optional:
    """A dependency: who presents a token, None without one; a problem for one that does not count."""
    failures = FailedAttempts()

    def bearer(request: Request, presented: Presented) -> TokenBearer | None:
        if "authorization" not in request.headers:
            return None
        backend, client = site.backend, site.client(request).digest
        within = backend.people.failures_within.total_seconds()
        if wait := failures.wait(client, backend.monotonic(), backend.people.failures, within):
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
    """A dependency: who presents a token; a problem without one."""
    known = optional_bearer(site)

    def bearer(request: Request, presented: Presented) -> TokenBearer:
        found = known(request, presented)
        if found is None:
            raise _unauthorized("found none")
        return found

    return bearer


def check_scope(bearer: TokenBearer, scope: str) -> None:
    """A problem when the token does not open what needs this scope."""
    if not bearer.may(scope):
        raise make_problem("forbidden", f"Expected a token with the scope {scope}, found one without.")


def check_owner(bearer: TokenBearer, server: ServerId) -> None:
    """A problem when control of the server is not what the token proves."""
    if not bearer.owns(server):
        raise make_problem("forbidden", "Expected the token of whoever controls this server, found another one.")


def bearer_as_decider(bearer: TokenBearer) -> DisputeDecider:
    """Who decides, for the trail."""
    return DisputeDecider(bearer.name, bearer.token.id)


def _unauthorized(found: str) -> Exception:
    detail = f"Expected a header `Authorization: Bearer TOKEN` with a token that counts, {found}."
    return make_problem("unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})
