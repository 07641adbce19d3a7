"""How many requests a server, a host and a domain may get in a day, and which servers asked for a long pause.

Requests are counted where courtesy hands out turns, so that none to a stranger's host goes uncounted. A bound is asked
about before a visit and not within one: a visit that began is finished, within its own bounds.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, Protocol

from crawler.http.failures import InvalidTarget
from crawler.http.url import parse_url
from evidence.model import Absent, Reason, Server, ServerId

LONGEST_PAUSE: Final = timedelta(hours=24)
"""What is heeded of a longer Retry-After."""

# Below a country's domain, these stand where others register names: example.co.uk, example.com.br.
_SECOND: Final = frozenset(
    {"ac", "co", "com", "edu", "gob", "gov", "gv", "ltd", "mil", "ne", "net", "nom", "or", "org", "plc", "sch"}
)
_COUNTRY: Final = re.compile(r"[a-z]{2}")

_SPENDER: Final[ContextVar[ServerId]] = ContextVar("spender", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyAllowance:
    """Requests in a day, UTC; 0 is no bound."""

    server: int = 0
    host: int = 0
    domain: int = 0


class RequestLedger(Protocol):
    """Counts requests of a day by key, for this process or for all, and knows which servers want a pause."""

    async def totals(self, day: date, keys: Sequence[str]) -> Sequence[int]:
        """How many were counted so far, as far as is known."""
        ...

    def add(self, day: date, key: str, requests: int) -> None:
        """Count requests; others may hear of it at the next `settle`."""
        ...

    def rest(self, server: ServerId, until: datetime) -> None:
        """A server is not to be visited before a moment."""
        ...

    def rests_until(self, server: ServerId) -> datetime | None:
        """The moment, None for a server that asked for no pause."""
        ...

    async def settle(self) -> None:
        """Tell others what was counted, and hear what they did."""
        ...


class LocalRequestLedger:
    """Counts for this process only."""

    def __init__(self) -> None:
        self._day = date.min
        self._spent: Counter[str] = Counter()
        self._resting: dict[ServerId, datetime] = {}

    async def totals(self, day: date, keys: Sequence[str]) -> Sequence[int]:
        """What this process counted."""
        return [self._spent[key] if day == self._day else 0 for key in keys]

    def add(self, day: date, key: str, requests: int) -> None:
        """Count; another day begins at nothing."""
        if day != self._day:
            self._day, self._spent = day, Counter()
        self._spent[key] += requests

    def rest(self, server: ServerId, until: datetime) -> None:
        """Remember it; a longer pause stays."""
        self._resting[server] = max(until, self._resting.get(server, until))

    def rests_until(self, server: ServerId) -> datetime | None:
        """What was remembered."""
        return self._resting.get(server)

    async def settle(self) -> None:
        """A ledger without other processes."""


class RequestBudgets:
    """Answers whether a server may be visited, and counts what a visit costs. `now` dates the days."""

    def __init__(self, allowance: DailyAllowance, ledger: RequestLedger, now: Callable[[], datetime]) -> None:
        self._allowance = allowance
        self._ledger = ledger
        self._now = now

    async def why_not(self, server: Server) -> Absent | None:
        """Why a server is left alone for now: it asked for a pause, or a bound of ours is reached. None: it may be."""
        until = self._ledger.rests_until(server.id)
        if until is not None and until > self._now():
            return Absent(Reason.RATE_LIMITED, f"it asked for a pause until {until.isoformat(timespec='seconds')}")
        exceeded = await self._exceeded([("server", server.id), *self._places(list_server_hosts(server))])
        return Absent(Reason.NOT_COLLECTED, exceeded) if exceeded else None

    async def has_room(self, host: str) -> bool:
        """Whether a host may get more requests, for no particular server."""
        return not await self._exceeded(self._places([host]))

    def charge(self, host: str, requests: int) -> None:
        """Count requests to a host, and to the server on whose behalf they are made."""
        day = self._now().date()
        for scope, value in (("server", _SPENDER.get()), *self._places([host])):
            if value and getattr(self._allowance, scope):
                self._ledger.add(day, f"{scope}:{value}", requests)

    def rest(self, seconds: float) -> None:
        """The server that is being visited asked for a pause that is too long to be waited for, heeded up to a day.

        Of the server, not of its host: it may speak for nobody else there.
        """
        if server := _SPENDER.get():
            self._ledger.rest(server, self._now() + min(timedelta(seconds=seconds), LONGEST_PAUSE))

    async def settle(self) -> None:
        """Let other processes know what was counted."""
        await self._ledger.settle()

    async def _exceeded(self, places: Sequence[tuple[str, str]]) -> str:
        bounded = [(scope, value) for scope, value in places if getattr(self._allowance, scope)]
        totals = await self._ledger.totals(self._now().date(), [f"{scope}:{value}" for scope, value in bounded])
        for (scope, value), total in zip(bounded, totals, strict=True):
            if total >= (bound := getattr(self._allowance, scope)):
                return f"our own bound of {bound} requests a day for the {scope} {value} is reached"
        return ""

    def _places(self, hosts: Iterable[str]) -> list[tuple[str, str]]:
        places = [place for host in hosts for place in (("host", host), ("domain", find_counted_domain(host)))]
        return list(dict.fromkeys(places))


@contextmanager
def charge_requests_to(server: ServerId) -> Iterator[None]:
    """Requests made inside are made on behalf of a server."""
    token = _SPENDER.set(server)
    try:
        yield
    finally:
        _SPENDER.reset(token)


def list_server_hosts(server: Server) -> Iterator[str]:
    """The hosts of a server's addresses."""
    for target in server.targets:
        if target.type.is_remote:
            try:
                yield parse_url(target.identifier).origin.host
            except InvalidTarget:
                continue


@lru_cache(maxsize=16_384)
def find_counted_domain(host: str) -> str:
    """The domain under which a host is counted together with others: what somebody registered, or a platform.

    Without a list of public suffixes: two labels, or three below a country's own second level such as `co.uk`. Where
    that is wrong, more hosts share a budget than need to, which is the polite mistake (docs/decisions/0008).
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    labels = host.split(".")
    below_country = len(labels) > 2 and _COUNTRY.fullmatch(labels[-1]) and labels[-2] in _SECOND
    return ".".join(labels[-3:] if below_country else labels[-2:])
