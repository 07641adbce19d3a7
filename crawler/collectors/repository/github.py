"""The client of one GitHub for the repository collector and other followers, with one set of tokens."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote, urlsplit

from msgspec import Struct, field

from crawler.collectors.repository.alert_reader import AlertReader
from crawler.collectors.repository.api.batching import BATCH_SIZE, BATCH_WAIT, Batcher
from crawler.collectors.repository.api.calls import PUBLIC_API, CallLimits, Calls
from crawler.collectors.repository.api.circuit_breaker import MAX_FAILURES, OPEN_SECONDS, CircuitBreaker
from crawler.collectors.repository.api.responses import ApiResponse, CollectionPrevented, GitHubUnreachable
from crawler.collectors.repository.api.token_budgets import TokenBudgets
from crawler.collectors.repository.api.token_rotation import MAX_TOKEN_WAIT, REQUEST_INTERVAL, TokenRotation
from crawler.collectors.repository.graphql_client import GraphQLClient
from crawler.collectors.repository.parsing.sbom import SbomPart, parse_sbom
from crawler.collectors.repository.repository_address import parse_repository_name
from crawler.collectors.repository.repository_reader import FULL_EVERY, GitHubRepositoryReader
from crawler.collectors.repository.shared_probes import EarlierRepository, RepositoryProbe, SharedRepositoryProbes
from crawler.http.connectivity import OutageMonitor
from evidence.canonical import NotJson
from evidence.model import Absent, Observed, Reason

# The host to which GitHub's API redirects for archives; public archives cost no quota there.
_ARCHIVES: Final = "https://codeload.github.com"
_LOCAL: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_MISSING: Final = frozenset({404, 410, 451})


class GitHubLimits(Struct, frozen=True, kw_only=True):
    """Limits for the use of GitHub; times in seconds except `full_every`.

    A query asks for at most `batch` repositories and waits `linger` for more. `pace` lies between requests of one
    token. A resting token is waited for up to `patience`. After `failures` without an answer no request is made for
    `rest`.
    """

    calls: CallLimits = field(default_factory=CallLimits)
    batch: int = BATCH_SIZE
    linger: float = BATCH_WAIT
    pace: float = REQUEST_INTERVAL
    max_wait: float = MAX_TOKEN_WAIT
    failures: int = MAX_FAILURES
    rest: float = OPEN_SECONDS
    full_every: timedelta = FULL_EVERY


class GitHub:
    """The API at `base` (that of an Enterprise Server is `https://HOST/api/v3`).

    Use one per process and event loop: it holds the repositories that were read, and the budgets of the tokens unless
    `budgets` are shared.
    """

    def __init__(
        self,
        base: str = PUBLIC_API,
        tokens: Sequence[str] = (),
        *,
        now: Callable[[], datetime],
        user_agent: str,
        limits: GitHubLimits | None = None,
        budgets: TokenBudgets | None = None,
        tick: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        outages: OutageMonitor | None = None,
    ) -> None:
        bounds = limits or GitHubLimits()
        rotation = TokenRotation(
            tokens, tick=tick, now=now, pause=pause, budgets=budgets, pace=bounds.pace, max_wait=bounds.max_wait
        )
        breaker = CircuitBreaker(tick, bounds.failures, bounds.rest)
        self._calls = Calls(base, rotation, breaker, pause, bounds.calls, user_agent=user_agent, outages=outages)
        batcher = Batcher(GraphQLClient(self._calls, now), pause, size=bounds.batch, linger=bounds.linger)
        self._probes = SharedRepositoryProbes(
            GitHubRepositoryReader(self._calls, now, pause, batcher, full_every=bounds.full_every), now
        )
        self._alerts = AlertReader(self._calls)

    @property
    def host(self) -> str:
        host = urlsplit(self._calls.base).hostname or ""
        return "github.com" if host in _LOCAL else host.removeprefix("api.")

    async def probe(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        """The facts of `OWNER/REPO`, shared by all its servers; raise RepositoryGone or CollectionPrevented."""
        return await self._probes.get(name, known)

    async def alerts(self, name: str) -> Observed | Absent:
        """The body of kind `alerts`, or why they are not read; raise CollectionPrevented for a failure of ours."""
        return await self._alerts.read_alerts(name)

    async def sbom(self, name: str) -> tuple[SbomPart, ...] | Absent:
        """Packages of `OWNER/REPO` by GitHub's dependency graph, or why there is no SBOM. It costs one request."""
        answer = await self._request(name, "dependency-graph/sbom")
        if isinstance(answer, Absent):
            return answer
        if answer.status != 200:
            return Absent(Reason.NOT_COLLECTED, f"HTTP {answer.status}: GitHub keeps no dependency graph of it")
        try:
            found = parse_sbom(answer.json())
        except NotJson:
            found = None
        return found if found is not None else GitHubUnreachable("GitHub's answer is not a bill of materials").absent

    async def tarball_address(self, name: str, ref: str) -> str | Absent:
        """The address of the tarball of `OWNER/REPO` at a ref, or why there is none. It costs one request."""
        answer = await self._request(name, f"tarball/{quote(ref, safe='/')}")
        if isinstance(answer, Absent):
            public = answer.reason is Reason.RATE_LIMITED and self._calls.base == PUBLIC_API
            return f"{_ARCHIVES}/{name}/tar.gz/{quote(ref, safe='/')}" if public else answer
        if answer.status in _MISSING:
            return Absent(Reason.NO_REPOSITORY, f"HTTP {answer.status}: GitHub has no archive of it")
        location = answer.headers.get("location", "")
        if answer.status not in {302, 307} or not self._is_archive(location):
            return GitHubUnreachable(f"HTTP {answer.status}: GitHub does not say where the archive is").absent
        return location

    async def file(self, name: str, path: str) -> bytes | Absent:
        """A file of `OWNER/REPO` on its default branch (the README for no path), or why not. It costs one request."""
        answer = await self._request(name, f"contents/{quote(path)}" if path else "readme")
        if isinstance(answer, Absent):
            return answer
        if answer.status in _MISSING:
            return Absent(Reason.NO_REPOSITORY, f"HTTP {answer.status}: GitHub has no such file")
        content = _content(answer) if answer.status == 200 else None
        return (
            GitHubUnreachable(f"HTTP {answer.status}: GitHub does not give the file").absent
            if content is None
            else content
        )

    def close(self) -> None:
        self._calls.close()

    async def _request(self, name: str, path: str) -> ApiResponse | Absent:
        if parse_repository_name(name) is None:
            return Absent(Reason.NO_REPOSITORY, "no repository: the name is not that of one")
        try:
            return await self._calls.get(f"/repos/{name}/{path}", key=name)
        except CollectionPrevented as error:
            return error.absent

    def _is_archive(self, location: str) -> bool:
        """True for an https address; an unencrypted API, as a local one is, may name unencrypted archives."""
        try:
            parts = urlsplit(location)
        except ValueError:
            return False
        return bool(parts.hostname) and parts.scheme in {"https", urlsplit(self._calls.base).scheme}


def _content(answer: ApiResponse) -> bytes | None:
    """The bytes of a file in GitHub's answer; None for a folder, and for a file that is too large for the answer."""
    try:
        value = answer.json()
    except NotJson:
        return None
    content = value.get("content") if isinstance(value, Mapping) and value.get("encoding") == "base64" else None
    try:
        return base64.b64decode(content) if isinstance(content, str) else None
    except ValueError:
        return None
