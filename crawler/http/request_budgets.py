"""Daily request budgets per server, host and domain, and the pauses that servers asked for.

Rate limiting counts every request. A budget is checked before a probe begins and not during it: a probe that has begun
is finished within its own limits.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, Protocol

from msgspec import Struct

from crawler.http.failures import InvalidTarget
from crawler.http.url import parse_url
from evidence.model import Absent, Reason, Server, ServerId

LONGEST_PAUSE: Final = timedelta(hours=24)
"""The upper limit of a Retry-After."""

# Second-level labels below which a country registers names: example.co.uk, example.com.br.
_SECOND: Final = frozenset(
    {"ac", "co", "com", "edu", "gob", "gov", "gv", "ltd", "mil", "ne", "net", "nom", "or", "org", "plc", "sch"}
)
_COUNTRY: Final = re.compile(r"[a-z]{2}")

_CHARGED_SERVER: Final[ContextVar[ServerId]] = ContextVar("charged_server", default="")


class DailyAllowance(Struct, frozen=True, kw_only=True):
    """Allowed requests per day (UTC); 0: no limit."""

    server: int = 0
    host: int = 0
    domain: int = 0


class RequestLedger(Protocol):
    """Counts requests per day and key, for one process or for all, and stores the pauses that servers asked for."""

    async def totals(self, day: date, keys: Sequence[str]) -> Sequence[int]:
        """The known counts of the keys."""
        ...

    def add(self, day: date, key: str, requests: int) -> None:
        """Count requests; other processes may see them only after the next `settle`."""
        ...

    def record_pause(self, server: ServerId, until: datetime) -> None:
        """Record that a server must not be contacted before `until`."""
        ...

    def paused_until(self, server: ServerId) -> datetime | None:
        """The end of a server's pause, None without one."""
        ...

    async def settle(self) -> None:
        """Exchange counts and pauses with the other processes."""
        ...


class LocalRequestLedger:
    """A ledger of this process only."""

    def __init__(self) -> None:
        self._day = date.min
        self._spent: Counter[str] = Counter()
        self._paused_until: dict[ServerId, datetime] = {}

    async def totals(self, day: date, keys: Sequence[str]) -> Sequence[int]:
        return [self._spent[key] if day == self._day else 0 for key in keys]

    def add(self, day: date, key: str, requests: int) -> None:
        """Count requests; the counts of another day are dropped."""
        if day != self._day:
            self._day, self._spent = day, Counter()
        self._spent[key] += requests

    def record_pause(self, server: ServerId, until: datetime) -> None:
        """Record a pause; a longer one that is already recorded stays."""
        self._paused_until[server] = max(until, self._paused_until.get(server, until))

    def paused_until(self, server: ServerId) -> datetime | None:
        return self._paused_until.get(server)

    async def settle(self) -> None:
        """Nothing to exchange."""


class RequestBudgets:
    """Decides whether a server may be contacted, and counts the requests. `now` gives the time that dates a day."""

    def __init__(self, allowance: DailyAllowance, ledger: RequestLedger, now: Callable[[], datetime]) -> None:
        self._allowance = allowance
        self._ledger = ledger
        self._now = now

    async def find_refusal(self, server: Server) -> Absent | None:
        """Why a server may not be contacted now: its pause, or an exhausted budget; None if it may be contacted."""
        until = self._ledger.paused_until(server.id)
        if until is not None and until > self._now():
            return Absent(Reason.RATE_LIMITED, f"it asked for a pause until {until.isoformat(timespec='seconds')}")
        exceeded = await self._exceeded([("server", server.id), *self._places(list_server_hosts(server))])
        return Absent(Reason.NOT_COLLECTED, exceeded) if exceeded else None

    async def has_room(self, host: str) -> bool:
        """Whether the budgets of a host and its domain are not exhausted."""
        return not await self._exceeded(self._places([host]))

    def charge(self, host: str, requests: int) -> None:
        """Count requests to a host and its domain, and for the server of `charge_requests_to`."""
        day = self._now().date()
        for scope, value in (("server", _CHARGED_SERVER.get()), *self._places([host])):
            if value and getattr(self._allowance, scope):
                self._ledger.add(day, f"{scope}:{value}", requests)

    def record_pause(self, seconds: float) -> None:
        """Record a pause of the server of `charge_requests_to`, at most LONGEST_PAUSE.

        The pause holds for the server and not for its host, which other servers may share.
        """
        if server := _CHARGED_SERVER.get():
            self._ledger.record_pause(server, self._now() + min(timedelta(seconds=seconds), LONGEST_PAUSE))

    async def settle(self) -> None:
        """Exchange counts and pauses with the other processes."""
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
    """Count requests that are made inside the block for a server."""
    token = _CHARGED_SERVER.set(server)
    try:
        yield
    finally:
        _CHARGED_SERVER.reset(token)


def list_server_hosts(server: Server) -> Iterator[str]:
    """The hosts of a server's remote targets; invalid addresses are skipped."""
    for target in server.targets:
        if target.type.is_remote:
            try:
                yield parse_url(target.identifier).origin.host
            except InvalidTarget:
                continue


@lru_cache(maxsize=16_384)
def find_counted_domain(host: str) -> str:
    """The domain under which a host shares a request budget with others; an IP address is its own domain.

    No list of public suffixes is used: the domain has two labels, or three below a second level such as `co.uk`. An
    error lets more hosts share a budget than necessary, so they get fewer requests (docs/decisions/0008).
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    labels = host.split(".")
    below_country = len(labels) > 2 and _COUNTRY.fullmatch(labels[-1]) and labels[-2] in _SECOND
    return ".".join(labels[-3:] if below_country else labels[-2:])
