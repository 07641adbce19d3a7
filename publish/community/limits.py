"""Limits of disputes, claims, webhooks and re-tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from msgspec import Struct

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
MAX_REASON: Final = 2_000
MIN_REASON: Final = 20
MAX_CONTACT: Final = 200
MAX_URL: Final = 500
MAX_ANSWER: Final = 4_000


class CommunityLimits(Struct, frozen=True, kw_only=True):
    """Disputes and claims of a client count within 24 hours; those of a server and a line while they are open.

    `claim_time` is how long a proof may take, `failures` how often a client may present a token that is none within
    `failures_within`. `cooldown` is the least time between two re-tests, `owner_cooldown` that of the
    server's owner. `plain_http` lets proofs and webhooks be at addresses without TLS: for a network of one's own.
    """

    disputes_of_client: int = 10
    disputes_of_server: int = 100
    disputes_of_line: int = 5
    claims_of_client: int = 10
    claims_of_server: int = 20
    claim_time: timedelta = timedelta(days=7)
    webhooks_of_server: int = 3
    cooldown: timedelta = timedelta(hours=1)
    owner_cooldown: timedelta = timedelta(minutes=10)
    failures: int = 20
    failures_within: timedelta = timedelta(minutes=10)
    plain_http: bool = False

    @property
    def waits(self) -> tuple[int, int]:
        """The two cool-downs in minutes."""
        return round(self.cooldown.total_seconds() / 60), round(self.owner_cooldown.total_seconds() / 60)
