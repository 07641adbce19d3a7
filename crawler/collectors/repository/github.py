"""One GitHub: what the collector and other followers ask of it, over one set of tokens."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote, urlsplit

from crawler.collectors.repository.address import repository_name
from crawler.collectors.repository.alerts import AlertReader
from crawler.collectors.repository.answers import Answer, NotReached, Prevented
from crawler.collectors.repository.asking import Asking
from crawler.collectors.repository.batching import LINGER, SIZE, Batcher
from crawler.collectors.repository.bill import bill
from crawler.collectors.repository.breaker import FAILURES, REST, Breaker
from crawler.collectors.repository.budgets import Budgets
from crawler.collectors.repository.calls import PUBLIC_API, CallLimits, Calls
from crawler.collectors.repository.looks import Known, Look, Looks
from crawler.collectors.repository.ports import Part
from crawler.collectors.repository.reading import FULL_EVERY, Reading
from crawler.collectors.repository.tokens import PACE, PATIENCE, Purse
from evidence.canonical import NotJson
from evidence.model import Absent, Observed, Reason

# Where GitHub's API sends those who ask for an archive; it serves public ones without asking for a quota.
_ARCHIVES: Final = "https://codeload.github.com"
_LOCAL: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_MISSING: Final = frozenset({404, 410, 451})


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubLimits:
    """Bounds of our use of GitHub; all times in seconds but `full_every`.

    `batch` repositories at most are asked for at once, `pace` lies between requests of one token, a token that rests is
    waited for up to `patience`, and after `failures` without an answer nobody is asked for `rest`.
    """

    calls: CallLimits = field(default_factory=CallLimits)
    batch: int = SIZE
    linger: float = LINGER
    pace: float = PACE
    patience: float = PATIENCE
    failures: int = FAILURES
    rest: float = REST
    full_every: timedelta = FULL_EVERY


class GitHub:
    """The API at `base` (an Enterprise Server's is `https://HOST/api/v3`).

    One per process and event loop: it holds what was looked at, and the budgets of the tokens unless `budgets` are
    shared with others. Implements BillOfMaterials and Tarballs.
    """

    def __init__(
        self,
        base: str = PUBLIC_API,
        tokens: Sequence[str] = (),
        *,
        now: Callable[[], datetime],
        user_agent: str,
        limits: GitHubLimits | None = None,
        budgets: Budgets | None = None,
        tick: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        bounds = limits or GitHubLimits()
        purse = Purse(
            tokens, tick=tick, now=now, pause=pause, budgets=budgets, pace=bounds.pace, patience=bounds.patience
        )
        breaker = Breaker(tick, bounds.failures, bounds.rest)
        self._calls = Calls(base, purse, breaker, pause, bounds.calls, user_agent=user_agent)
        batcher = Batcher(Asking(self._calls, now), pause, size=bounds.batch, linger=bounds.linger)
        self._looks = Looks(Reading(self._calls, now, pause, batcher, full_every=bounds.full_every), now)
        self._alerts = AlertReader(self._calls)

    @property
    def host(self) -> str:
        """The host that addresses of its repositories have."""
        host = urlsplit(self._calls.base).hostname or ""
        return "github.com" if host in _LOCAL else host.removeprefix("api.")

    async def look(self, name: str, known: Known | None) -> Look:
        """The look at `OWNER/REPO`, shared by all servers in it; raise Gone or Prevented."""
        return await self._looks.at(name, known)

    async def alerts(self, name: str) -> Observed | Absent:
        """Body of kind `alerts`, or why the alerts are not read; raise Prevented when we could not ask."""
        return await self._alerts.read(name)

    async def sbom(self, name: str) -> tuple[Part, ...] | Absent:
        """Parts of `OWNER/REPO` by GitHub's dependency graph, which costs one request; or why there is no bill."""
        answer = await self._asked(name, "dependency-graph/sbom")
        if isinstance(answer, Absent):
            return answer
        if answer.status != 200:
            return Absent(Reason.NOT_COLLECTED, f"HTTP {answer.status}: GitHub keeps no dependency graph of it")
        try:
            found = bill(answer.json())
        except NotJson:
            found = None
        return found if found is not None else NotReached("GitHub's answer is not a bill of materials").absent

    async def tarball_address(self, name: str, ref: str) -> str | Absent:
        """Where the tarball of `OWNER/REPO` at a ref is fetched from, which costs one request; or why nowhere."""
        answer = await self._asked(name, f"tarball/{quote(ref, safe='/')}")
        if isinstance(answer, Absent):
            public = answer.reason is Reason.RATE_LIMITED and self._calls.base == PUBLIC_API
            return f"{_ARCHIVES}/{name}/tar.gz/{quote(ref, safe='/')}" if public else answer
        if answer.status in _MISSING:
            return Absent(Reason.NO_REPOSITORY, f"HTTP {answer.status}: GitHub has no archive of it")
        location = answer.headers.get("location", "")
        if answer.status not in {302, 307} or not self._is_archive(location):
            return NotReached(f"HTTP {answer.status}: GitHub does not say where the archive is").absent
        return location

    async def file(self, name: str, path: str) -> bytes | Absent:
        """A file of `OWNER/REPO` on its default branch, the README for no path, which costs one request; or why not."""
        answer = await self._asked(name, f"contents/{quote(path)}" if path else "readme")
        if isinstance(answer, Absent):
            return answer
        if answer.status in _MISSING:
            return Absent(Reason.NO_REPOSITORY, f"HTTP {answer.status}: GitHub has no such file")
        content = _content(answer) if answer.status == 200 else None
        return NotReached(f"HTTP {answer.status}: GitHub does not give the file").absent if content is None else content

    def close(self) -> None:
        """Give back threads and connections."""
        self._calls.close()

    async def _asked(self, name: str, path: str) -> Answer | Absent:
        if repository_name(name) is None:
            return Absent(Reason.NO_REPOSITORY, "no repository: the name is not that of one")
        try:
            return await self._calls.get(f"/repos/{name}/{path}", key=name)
        except Prevented as error:
            return error.absent

    def _is_archive(self, location: str) -> bool:
        """True for an https address; an unencrypted API, as a local one is, may name unencrypted archives."""
        try:
            parts = urlsplit(location)
        except ValueError:
            return False
        return bool(parts.hostname) and parts.scheme in {"https", urlsplit(self._calls.base).scheme}


def _content(answer: Answer) -> bytes | None:
    """The bytes of a file in GitHub's answer; None for a folder, and for one that is too large to be in it."""
    try:
        value = answer.json()
    except NotJson:
        return None
    content = value.get("content") if isinstance(value, Mapping) and value.get("encoding") == "base64" else None
    try:
        return base64.b64decode(content) if isinstance(content, str) else None
    except ValueError:
        return None
