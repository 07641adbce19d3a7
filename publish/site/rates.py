"""How many requests a client may send: a bucket of tokens for each, which fills again."""

from __future__ import annotations

from collections import OrderedDict
from math import ceil
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from publish.site.addresses import address_of
from publish.site.errors import failure
from publish.site.site import Site

CLIENTS: Final = 50_000
"""Buckets that are kept; the one that was not used for longest goes first, and is full by then."""

_PROBES: Final = frozenset({"/healthz", "/readyz"})
FREE: Final = ("/static/", "/badges/")
"""Badges too: a few proxies ask for those of everybody's pages."""


class Buckets:
    """One bucket for each client. `rate` tokens a second, `burst` at most; a rate of 0 is no limit."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float) -> float:
        """Take a token; 0.0 when there was one, else the seconds until there is."""
        if not self._rate:
            return 0.0
        tokens, then = self._left.pop(client, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        missing = max(0.0, 1.0 - tokens)
        self._left[client] = (tokens if missing else tokens - 1.0, now)
        if len(self._left) > CLIENTS:
            self._left.popitem(last=False)
        return missing / self._rate


class Rates:
    """Answers 429 with Retry-After to a client that asks too often."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site
        self._buckets = Buckets(site.desk.limits.rate, site.desk.limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http" and not _is_free(scope["path"]):
            address = address_of(scope, self._site.desk.limits.proxies)
            wait = self._buckets.take(address, self._site.desk.monotonic())
            if wait:
                refusal = failure(self._site, scope["path"], 429, headers={"retry-after": str(ceil(wait))})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _is_free(path: str) -> bool:
    return path in _PROBES or path.startswith(FREE)
