"""Rate limits: one token bucket for each client."""

from __future__ import annotations

from collections import OrderedDict
from math import ceil
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from publish.web.client_address import client_address
from publish.web.context import SiteContext
from publish.web.errors import failure_response

MAX_CLIENTS: Final = 50_000
"""Maximum number of buckets; the least recently used one is removed first, and is full by then."""

_PROBES: Final = frozenset({"/healthz", "/readyz"})
FREE_PATHS: Final = ("/static/", "/badges/")
"""Badges too: a few proxies request the badges of all README pages."""


class TokenBuckets:
    """One bucket for each client. `rate` tokens a second, `burst` at most; a rate of 0 is no limit."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float) -> float:
        """Take a token; 0.0 if one was available, else the seconds until the next one."""
        if not self._rate:
            return 0.0
        tokens, then = self._left.pop(client, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        missing = max(0.0, 1.0 - tokens)
        self._left[client] = (tokens if missing else tokens - 1.0, now)
        if len(self._left) > MAX_CLIENTS:
            self._left.popitem(last=False)
        return missing / self._rate


class RateLimiter:
    """Answers 429 with Retry-After to a client that exceeds its rate."""

    def __init__(self, app: ASGIApp, site: SiteContext) -> None:
        self._app = app
        self._site = site
        self._buckets = TokenBuckets(site.backend.limits.rate, site.backend.limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_free(scope["path"]):
            address = client_address(scope, self._site.backend.limits.proxies)
            wait = self._buckets.take(address, self._site.backend.monotonic())
            if wait:
                refusal = failure_response(self._site, scope["path"], 429, headers={"retry-after": str(ceil(wait))})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _is_free(path: str) -> bool:
    return path in _PROBES or path.startswith(FREE_PATHS)
