"""Calls to one GitHub API: made by PyGithub in threads, with tokens in rotation, and bounded in time and number."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msgspec import Struct

from crawler.collectors.repository.api.circuit_breaker import CircuitBreaker
from crawler.collectors.repository.api.request import Request
from crawler.collectors.repository.api.responses import (
    AccessRefused,
    ApiResponse,
    CollectionPrevented,
    GitHubTimedOut,
    GitHubUnreachable,
    MachineOffline,
)
from crawler.collectors.repository.api.token_budgets import Resource
from crawler.collectors.repository.api.token_rotation import Token, TokenRotation
from crawler.http.address_guard import classify_address
from crawler.http.connectivity import OutageMonitor
from crawler.http.deadlines import pause_deadline
from evidence.canonical import Json
from evidence.model import Reason

if TYPE_CHECKING:
    from crawler.collectors.repository.api.session import GitHubSession

PUBLIC_API: Final = "https://api.github.com"
_ACCEPT: Final = "application/vnd.github+json"
_TRIES: Final = 3  # tries of a request that gets server errors
_MAX_REPEATS: Final = 8  # repeats of one request because of tokens and limits


class CallLimits(Struct, frozen=True, kw_only=True):
    """`timeout` in seconds: of one wait for GitHub, and twice of a whole call. `pause` between tries of an error."""

    threads: int = 8
    timeout: int = 15
    pause: float = 1.0


class Calls:
    """The API at `base`. A token is sent only to that host; redirects to other hosts are refused."""

    def __init__(
        self,
        base: str,
        rotation: TokenRotation,
        breaker: CircuitBreaker,
        pause: Callable[[float], Awaitable[None]],
        limits: CallLimits | None = None,
        *,
        user_agent: str,
        outages: OutageMonitor | None = None,
    ) -> None:
        self._outages = outages
        self._base = base.rstrip("/")
        self._rotation = rotation
        self._breaker = breaker
        self._pause = pause
        self._limits = limits or CallLimits()
        self._user_agent = user_agent
        self._threads = ThreadPoolExecutor(self._limits.threads, thread_name_prefix="github")
        self._slots = asyncio.Semaphore(self._limits.threads)
        self._opening = threading.Lock()
        self._sessions: dict[int, GitHubSession] = {}

    @property
    def rotation(self) -> TokenRotation:
        return self._rotation

    @property
    def base(self) -> str:
        """Address of the API, without a slash at its end."""
        return self._base

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for session in self._sessions.values():
            session.close()

    async def get(
        self,
        path: str,
        *,
        key: str,
        parameters: Mapping[str, str | int] | None = None,
        etag: str | None = None,
        token: Token | None = None,
    ) -> ApiResponse:
        """GET a path below the base; 1xx to 4xx are answers, but raise CollectionPrevented for a failure of ours.

        With `etag` an unchanged resource is answered by 304, which costs no quota. `token`: use this one and no other.
        """
        headers = {"Accept": _ACCEPT} | ({"If-None-Match": etag} if etag else {})
        request = Request(verb="GET", path=path, parameters=parameters or {}, headers=headers)
        for again in range(_TRIES):
            answer = await self._ask(request, "core", key, token)
            if answer.status < 500:
                return answer
            if again + 1 < _TRIES:
                await self._pause(self._limits.pause * 2**again)
        self._breaker.record_failure()
        raise GitHubUnreachable("GitHub answered with server errors")

    async def graphql(self, query: str, variables: Mapping[str, Json], *, key: str, cost: int) -> ApiResponse:
        """Send one GraphQL query of at most `cost` points; server errors are answers, a query that takes too long
        raises GitHubTimedOut.
        """
        payload: Json = {"query": query, "variables": dict(variables)}
        request = Request(verb="POST", path="", headers={"Accept": _ACCEPT}, payload=payload)
        return await self._ask(request, "graphql", key, cost=cost)

    async def _ask(
        self, request: Request, resource: Resource, key: str, only: Token | None = None, cost: int = 1
    ) -> ApiResponse:
        """One answer; raise MachineOffline when GitHub is not reached because this machine is offline."""
        try:
            return await self._ask_token(request, resource, key, only, cost)
        except GitHubUnreachable as error:
            if not await self._is_machine_offline():
                raise
            self._breaker.record_success()
            raise MachineOffline from error

    async def _is_machine_offline(self) -> bool:
        host = urlsplit(self._base).hostname or ""
        if self._outages is None or classify_address(host) == "private":
            return False
        return await self._outages.is_offline(host)

    async def _ask_token(
        self, request: Request, resource: Resource, key: str, only: Token | None, cost: int
    ) -> ApiResponse:
        """One answer that is not about tokens: refused and resting tokens are replaced on the way."""
        for _ in range(_MAX_REPEATS + len(self._rotation.tokens)):
            self._breaker.check()
            taken = await self._rotation.take(resource, key, only, cost)
            try:
                answer = await self._send(taken.token, request)
            except BaseException:
                await self._rotation.give_back(taken)
                raise
            if answer.status < 500:
                self._breaker.record_success()
            if not await self._rotation.settle(taken, answer):
                return answer
            if only is not None and answer.status == 401:
                raise AccessRefused("GitHub refused the token")
        raise CollectionPrevented(Reason.RATE_LIMITED, "GitHub keeps refusing for the number of requests")

    async def _send(self, token: Token, request: Request) -> ApiResponse:
        with pause_deadline():
            await self._slots.acquire()
        try:
            self._breaker.enter()  # it may have opened while this request waited
            return await self._sent(token, request)
        finally:
            self._slots.release()

    async def _sent(self, token: Token, request: Request) -> ApiResponse:
        try:
            async with asyncio.timeout(self._limits.timeout * 2):
                return await asyncio.get_running_loop().run_in_executor(self._threads, self._exchange, token, request)
        except (TimeoutError, GitHubTimedOut) as error:
            # A query that takes too long is halved and sent again; it is no sign of an outage.
            if request.verb == "GET":
                self._breaker.record_failure()
            raise GitHubTimedOut("GitHub took too long") from error
        except GitHubUnreachable:
            self._breaker.record_failure()
            raise

    def _exchange(self, token: Token, request: Request) -> ApiResponse:
        """Runs in a thread."""
        from crawler.collectors.repository.api.session import GitHubSession  # noqa: PLC0415  half a second

        with self._opening:
            session = self._sessions.get(token.position)
            if session is None:
                session = self._sessions[token.position] = GitHubSession(
                    self._base,
                    token.value,
                    timeout=self._limits.timeout,
                    connections=self._limits.threads,
                    user_agent=self._user_agent,
                )
        return session.send(request)
