"""What the site needs from the process that runs it: time, its own address, limits, and re-tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Protocol

from evidence.model import Server, ServerId
from evidence.store import Retest
from publish.community.limits import CommunityLimits
from publish.views.comparisons.receipts import Comparison


class RequesterRole(StrEnum):
    """Who asks: anybody, somebody who has proven to control the server, or who runs this installation."""

    ANYONE = "anyone"
    OWNER = "owner"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asks, as a digest that leads back to nobody, and what they have proven."""

    digest: str
    standing: RequesterRole = RequesterRole.ANYONE

    @property
    def client(self) -> str:
        """How it is stored."""
        return f"{self.standing.value}:{self.digest}"


class RetestRefusal(StrEnum):
    """Why there is no request."""

    UNKNOWN_SERVER = "unknown_server"
    OPTED_OUT = "opted_out"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestAccepted:
    """The open request of a server; `again` when there was one already. It begins at `ready_at` at the earliest."""

    retest: Retest
    ready_at: datetime
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestRefused:
    """No request was made; the message says why, and what to do."""

    why: RetestRefusal
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestProgress:
    """How far a request has come. `comparisons` are there when it is done: one for each receipt of its run."""

    retest: Retest
    ready_at: datetime
    comparisons: Sequence[Comparison] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """What one client and one request may take. A rate of 0 is no limit; sizes are bytes."""

    rate: float = 10.0
    burst: int = 100
    url: int = 4_096
    body: int = 65_536
    body_seconds: float = 10.0
    hsts: timedelta = timedelta(0)
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Who runs this installation, as its visitors and the operators of servers read it."""

    contact_url: str = ""
    user_agent: str = ""


class SiteBackend(Protocol):
    """What workers give to the site. Nothing here reaches the network."""

    @property
    def base_url(self) -> str:
        """Where the site is seen from outside, without a slash at its end: the only source of absolute links."""
        ...

    @property
    def limits(self) -> RequestLimits:
        """What clients may take."""
        ...

    @property
    def operator(self) -> Operator:
        """Who runs the site."""
        ...

    @property
    def people(self) -> CommunityLimits:
        """How much one client may dispute and claim."""
        ...

    def sealed(self, purpose: str) -> bytes:
        """A key of this installation for a purpose, 32 bytes: what follows from it need not be stored."""
        ...

    def now(self) -> datetime:
        """The time, aware and in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, for rates and durations."""
        ...

    @property
    def datasets(self) -> str:
        """The folder or URL that holds the exported datasets, empty without one."""
        ...

    def opted_out(self, server: Server) -> str | None:
        """Why nobody looks at a server and no page, answer, badge or list names it; None when it may be named.

        The answer may be a second old.
        """
        ...

    def mark(self, revision: str) -> str:
        """A text that changes with those of the settings that pages depend on.

        From now on `opted_out` is no older than this revision of the store, so that no page of it is older.
        """
        ...

    def client(self, address: str, standing: RequesterRole = RequesterRole.ANYONE) -> Requester:
        """Who asks, from an address or the id of a token. It is not kept, and the digest leads back to nobody."""
        ...

    def ask_retest(self, server: ServerId, who: Requester) -> RetestAccepted | RetestRefused:
        """Ask for a re-test: the open request of the server, new or not, or why there is none."""
        ...

    def retest(self, retest: str) -> RetestProgress | None:
        """How far a request has come, in its public form; None for an unknown one."""
        ...

    def retests(self, server: ServerId, limit: int = 20) -> Sequence[RetestProgress]:
        """The requests of one server, newest first, without comparisons."""
        ...
