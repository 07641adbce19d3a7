"""Tokens in rotation: each has a budget per resource and a pace, and rests when GitHub requires it."""

from __future__ import annotations

import email.utils
import hashlib
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from msgspec import Struct

from crawler.collectors.repository.api.responses import ApiResponse, OutOfQuota
from crawler.collectors.repository.api.token_budgets import (
    Denied,
    Granted,
    LocalTokenBudgets,
    ReportedBudget,
    Resource,
    TokenBudgets,
)
from crawler.event_log import get_event_log
from crawler.http.deadlines import pause_deadline
from crawler.http.rate_limiting import parse_retry_after

# 900 points a minute, one for a read: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
REQUEST_INTERVAL: Final = 60 / 900
MAX_TOKEN_WAIT: Final = 75.0  # long enough for one secondary limit, not for the reset of an hour's quota
_UNTIMED_REST: Final = 60.0  # "wait for at least one minute", then longer each time
_LONGEST_REST: Final = 900.0
_WINDOW: Final = 3600.0 + 60.0

UNLIMITED_REQUESTS: Final = 1_000_000_000
"""The remaining requests of a GitHub without quotas, such as an Enterprise Server with limits switched off."""

_UNLIMITED_SECONDS: Final = 60.0
_ANONYMOUS: Final = "anonymous"


@dataclass(slots=True, eq=False)
class Token:
    """One token; `value` None is the anonymous allowance of this address. `position` counts from 1."""

    position: int
    value: str | None = field(repr=False)
    rested: int = 0

    @property
    def digest(self) -> str:
        """The token's public identifier: short, equal on every host, and not reversible."""
        if self.value is None:
            return _ANONYMOUS
        return hashlib.sha256(f"hallmark:{self.value}".encode()).hexdigest()[:12]


class GrantedToken(Struct, frozen=True):
    """A token with the reservation for one request."""

    token: Token
    granted: Granted


class TokenRotation:
    """All tokens of one collector. `tick` is a monotonic clock in seconds, `now` the time, `pause` waits.

    `budgets` may be shared with other processes that have the same tokens.
    """

    def __init__(
        self,
        values: Sequence[str],
        *,
        tick: Callable[[], float],
        now: Callable[[], datetime],
        pause: Callable[[float], Awaitable[None]],
        budgets: TokenBudgets | None = None,
        pace: float = REQUEST_INTERVAL,
        max_wait: float = MAX_TOKEN_WAIT,
    ) -> None:
        self._tick = tick
        self._now = now
        self._pause = pause
        self._budgets: TokenBudgets = budgets or LocalTokenBudgets(tick)
        self._pace = pace
        self._max_wait = max_wait
        self._tokens = [Token(position, value) for position, value in enumerate(dict.fromkeys(values), start=1)]
        self._anonymous = Token(0, None)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens that GitHub has not refused; the anonymous one when none is left."""
        return tuple(self._tokens) or (self._anonymous,)

    @property
    def anonymous(self) -> bool:
        return not self._tokens

    async def affords(self, requests: int) -> bool:
        for token in self.tokens:
            if await self._budgets.affords(token.digest, "core", requests):
                return True
        return False

    async def take(self, resource: Resource, key: str, only: Token | None = None, cost: int = 1) -> GrantedToken:
        """A token for one request, at its pace; raise OutOfQuota when none is ready within the maximum wait.

        The same `key` gets the same token while that has budget left, since an ETag may be valid for one token only.
        With `only` it is this token at once, or none.
        """
        until = self._tick() + (self._max_wait if only is None else 0)
        while isinstance(taken := await self._reserve(resource, key, only, cost), float):
            if self._tick() + taken > until:
                raise OutOfQuota
            with pause_deadline():
                await self._pause(taken)
        if taken.granted.starts_in > 0:
            try:
                with pause_deadline():
                    await self._pause(taken.granted.starts_in)
            except BaseException:
                await self.give_back(taken, sent=False)
                raise
        return taken

    async def give_back(self, taken: GrantedToken, *, sent: bool = True) -> None:
        """Settle a request without an answer; one that was sent may have been counted."""
        granted = taken.granted
        await self._budgets.settle(granted, reported=None, spent=granted.cost if sent else 0, rest=0)

    async def settle(self, taken: GrantedToken, answer: ApiResponse) -> bool:
        """Apply an answer's headers; True when the request should be tried again, perhaps with another token."""
        token, resource = taken.token, taken.granted.resource
        rest = self._rest(token, resource, answer) if answer.limited else 0.0
        await self._budgets.settle(taken.granted, reported=self._read_report(resource, answer), spent=0, rest=rest)
        if answer.status == 401 and token.value is not None:
            if token in self._tokens:
                self._tokens.remove(token)
                get_event_log().error("github_token_refused", position=token.position, left=len(self._tokens))
            return True
        if answer.limited:
            return True
        token.rested = 0
        return False

    async def _reserve(self, resource: Resource, key: str, only: Token | None, cost: int) -> GrantedToken | float:
        """The first ready token in rotation order, or the seconds until one may be ready."""
        waits: list[float] = []
        for token in self._rotation_order(key, only):
            granted = await self._budgets.reserve(token.digest, resource, cost, self._pace)
            if not isinstance(granted, Denied):
                return GrantedToken(token, granted)
            waits.append(granted.wait)
        return min(waits)

    def _rotation_order(self, key: str, only: Token | None) -> Sequence[Token]:
        tokens = (only,) if only is not None else self.tokens
        first = zlib.crc32(key.lower().encode()) % len(tokens)
        return (*tokens[first:], *tokens[:first])

    def _read_report(self, resource: Resource, answer: ApiResponse) -> ReportedBudget | None:
        """The budget that an answer reports for a resource; None when it is about another one, or incomplete."""
        remaining = _whole(answer.headers.get("x-ratelimit-remaining"))
        reset = _whole(answer.headers.get("x-ratelimit-reset"))
        if remaining is None and answer.status < 400 and not answer.limited:
            return ReportedBudget(remaining=UNLIMITED_REQUESTS, resets_in=_UNLIMITED_SECONDS)
        if remaining is None or reset is None or answer.headers.get("x-ratelimit-resource", resource) != resource:
            return None
        return ReportedBudget(remaining=remaining, resets_in=min(max(reset - self._github_now(answer), 1.0), _WINDOW))

    def _rest(self, token: Token, resource: Resource, answer: ApiResponse) -> float:
        """Seconds that a token rests after a limit; 0 when its budget itself has the time."""
        stated = parse_retry_after(answer.headers.get("retry-after", ""), self._now())
        if stated is not None:
            rest = min(max(stated, 1.0), _WINDOW)
        elif (reported := self._read_report(resource, answer)) is not None and reported.remaining == 0:
            rest = 0.0
        else:
            rest = min(_UNTIMED_REST * 2**token.rested, _LONGEST_REST)
            token.rested = min(token.rested + 1, 8)
        get_event_log().info("github_limit_met", position=token.position, resource=resource, seconds=round(rest))
        return rest

    def _github_now(self, answer: ApiResponse) -> float:
        """GitHub's clock, so that a wrong local clock does not move the reset."""
        try:
            return email.utils.parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
        except (ValueError, TypeError, OverflowError):
            return self._now().timestamp()


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else None
