"""The services that workers provide to the site: time, address, limits and re-tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Protocol

from msgspec import Struct

from evidence.model import Server, ServerId
from evidence.store import Retest
from publish.community.limits import CommunityLimits
from publish.views.comparisons.receipts import Comparison


class RequesterRole(StrEnum):
    """The role of a requester: anyone, owner of the server, or operator of this installation."""

    ANYONE = "anyone"
    OWNER = "owner"
    OPERATOR = "operator"


class Requester(Struct, frozen=True):
    """A requester as an irreversible digest, with its role."""

    digest: str
    standing: RequesterRole = RequesterRole.ANYONE

    @property
    def client(self) -> str:
        return f"{self.standing.value}:{self.digest}"


class RetestRefusal(StrEnum):
    """Why a re-test was refused."""

    UNKNOWN_SERVER = "unknown_server"
    OPTED_OUT = "opted_out"
    TOO_MANY = "too_many"


class RetestAccepted(Struct, frozen=True, kw_only=True):
    """The open re-test of a server; `again` if it existed already. It starts at `ready_at` at the earliest."""

    retest: Retest
    ready_at: datetime
    again: bool


class RetestRefused(Struct, frozen=True, kw_only=True):
    """The re-test was refused; the message says why and what to do."""

    why: RetestRefusal
    message: str


class RetestProgress(Struct, frozen=True, kw_only=True):
    """Progress of a re-test. When it is done, `comparisons` has one for each receipt of its run."""

    retest: Retest
    ready_at: datetime
    comparisons: Sequence[Comparison] = ()


class RequestLimits(Struct, frozen=True, kw_only=True):
    """Limits of one client and of one request. Rates and `answer_seconds` of 0 are no limit; sizes are bytes.

    `answer_seconds` bound the time until an answer begins.
    """

    rate: float = 10.0
    burst: int = 100
    url: int = 4_096
    body: int = 65_536
    body_seconds: float = 10.0
    answer_seconds: float = 0.0
    hsts: timedelta = timedelta(0)
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()


class Operator(Struct, frozen=True, kw_only=True):
    """The operator of this installation, as shown to visitors."""

    contact_url: str = ""
    user_agent: str = ""


class SiteBackend(Protocol):
    """The services of workers for the site; none of them sends requests."""

    @property
    def base_url(self) -> str:
        """The public address of the site without a trailing slash: the only source of absolute links."""
        ...

    @property
    def limits(self) -> RequestLimits: ...

    @property
    def operator(self) -> Operator: ...

    @property
    def community(self) -> CommunityLimits:
        """The limits of a client's disputes and claims."""
        ...

    def sealed(self, purpose: str) -> bytes:
        """A key of 32 bytes, derived for a purpose from the secret of this installation."""
        ...

    def now(self) -> datetime: ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, for rates and durations."""
        ...

    @property
    def datasets(self) -> str:
        """The folder or URL that holds the exported datasets, empty without one."""
        ...

    def opted_out(self, server: Server) -> str | None:
        """The reason of a server's opt-out, after which nothing public names it; None without an opt-out.

        The answer may be a second old.
        """
        ...

    def mark(self, revision: str) -> str:
        """A text that changes with the settings that pages depend on.

        From now on `opted_out` is no older than this revision of the store, so that no page of it is older.
        """
        ...

    def client(self, address: str, standing: RequesterRole = RequesterRole.ANYONE) -> Requester:
        """The requester for an address or the id of a token. The address is not stored."""
        ...

    def ask_retest(self, server: ServerId, who: Requester) -> RetestAccepted | RetestRefused:
        """Request a re-test: the open re-test of the server, new or not, or the refusal."""
        ...

    def retest(self, retest: str) -> RetestProgress | None:
        """The public progress of a re-test; None for an unknown id."""
        ...

    def retests(self, server: ServerId, limit: int = 20) -> Sequence[RetestProgress]:
        """The re-tests of one server, newest first, without comparisons."""
        ...
