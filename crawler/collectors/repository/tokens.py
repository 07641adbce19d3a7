"""Tokens in rotation: each has a budget per resource, a pace, and rests when GitHub says so."""

from __future__ import annotations

import email.utils
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

import structlog

from crawler.collectors.repository.answers import Answer, OutOfQuota
from crawler.courtesy import retry_after
from crawler.patience import queueing

Resource: TypeAlias = Literal["core", "graphql"]

# 900 points a minute, one for a read: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
PACE: Final = 60 / 900
PATIENCE: Final = 75.0  # one secondary limit is waited for, the reset of an hour's quota is not
_UNTIMED_REST: Final = 60.0  # "wait for at least one minute", then longer each time
_LONGEST_REST: Final = 900.0
_WINDOW: Final = 3600.0 + 60.0

_log = structlog.get_logger()


@dataclass(slots=True)
class _Budget:
    """`remaining` is what GitHub last said, None before it said anything; requests on their way are not in it."""

    remaining: int | None = None
    resets_at: float = 0.0
    on_their_way: int = 0


@dataclass(slots=True, eq=False)
class Token:
    """One token, or with `value` None nobody's: the public allowance of this address. `position` counts from 1."""

    position: int
    value: str | None = field(repr=False)
    rests_until: float = 0.0
    rested: int = 0
    next_at: float = 0.0
    budgets: dict[Resource, _Budget] = field(default_factory=lambda: {"core": _Budget(), "graphql": _Budget()})

    def wait(self, resource: Resource, needed: int, now: float) -> float:
        """Seconds until this token may make so many requests; 0 for at once."""
        budget = self.budgets[resource]
        if budget.remaining is not None and now >= budget.resets_at:
            budget.remaining = None
        spent = budget.remaining is not None and budget.remaining - budget.on_their_way < needed
        return max(self.rests_until - now, budget.resets_at - now if spent else 0.0, 0.0)


class Purse:
    """All tokens of one collector. `tick` is a monotonic clock in seconds, `now` the time, `pause` waits."""

    def __init__(
        self,
        values: Sequence[str],
        *,
        tick: Callable[[], float],
        now: Callable[[], datetime],
        pause: Callable[[float], Awaitable[None]],
        pace: float = PACE,
        patience: float = PATIENCE,
    ) -> None:
        self._tick = tick
        self._now = now
        self._pause = pause
        self._pace = pace
        self._patience = patience
        self._tokens = [Token(position, value) for position, value in enumerate(dict.fromkeys(values), start=1)]
        self._nobody = Token(0, None)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens that GitHub has not refused; nobody's when there is none left."""
        return tuple(self._tokens) or (self._nobody,)

    @property
    def anonymous(self) -> bool:
        """True when there is no token to use."""
        return not self._tokens

    def affords(self, requests: int) -> bool:
        """True when some token can make so many REST requests now."""
        return any(token.wait("core", requests, self._tick()) == 0 for token in self.tokens)

    async def take(self, resource: Resource, key: str, only: Token | None = None) -> Token:
        """A token for one request, at its pace; raise OutOfQuota when none is ready within the patience.

        The same `key` gets the same token while that has budget left: an ETag may be good with one token only. With
        `only` it is this token or none, at once.
        """
        until = self._tick() + (self._patience if only is None else 0)
        while True:
            now = self._tick()
            waits = [(token.wait(resource, 1, now), token) for token in self._turns(key, only)]
            shortest, token = min(waits, key=lambda wait: wait[0])
            if shortest == 0:
                break
            if now + shortest > until:
                raise OutOfQuota
            with queueing():
                await self._pause(shortest)
        starts, token.next_at = token.next_at, max(now, token.next_at) + self._pace
        token.budgets[resource].on_their_way += 1
        if starts > now:
            try:
                with queueing():
                    await self._pause(starts - now)
            except BaseException:
                self.give_back(token, resource)
                raise
        return token

    def give_back(self, token: Token, resource: Resource) -> None:
        """A request was not answered."""
        token.budgets[resource].on_their_way -= 1

    def settle(self, token: Token, resource: Resource, answer: Answer) -> bool:
        """Learn from an answer's headers; True when the request is worth another try, now or with another token."""
        self.give_back(token, resource)
        self._read_budget(token, resource, answer)
        if answer.status == 401 and token.value is not None:
            if token in self._tokens:
                self._tokens.remove(token)
                _log.error("github_token_refused", position=token.position, left=len(self._tokens))
            return True
        if answer.limited:
            self._rest(token, resource, answer)
            return True
        token.rested = 0
        return False

    def _turns(self, key: str, only: Token | None) -> Sequence[Token]:
        tokens = (only,) if only is not None else self.tokens
        first = zlib.crc32(key.lower().encode()) % len(tokens)
        return (*tokens[first:], *tokens[:first])

    def _read_budget(self, token: Token, resource: Resource, answer: Answer) -> None:
        remaining = _whole(answer.headers.get("x-ratelimit-remaining"))
        reset = _whole(answer.headers.get("x-ratelimit-reset"))
        if remaining is None or reset is None or answer.headers.get("x-ratelimit-resource", resource) != resource:
            return
        budget = token.budgets[resource]
        resets_at = self._tick() + min(max(reset - self._github_now(answer), 1.0), _WINDOW)
        # Answers overtake each other: within one window the smallest number is the newest.
        same_window = budget.remaining is not None and abs(resets_at - budget.resets_at) < 60
        budget.remaining = min(remaining, budget.remaining or 0) if same_window else remaining
        budget.resets_at = resets_at

    def _rest(self, token: Token, resource: Resource, answer: Answer) -> None:
        budget = token.budgets[resource]
        stated = retry_after(answer.headers.get("retry-after", ""), self._now())
        if stated is not None:
            rest = min(max(stated, 1.0), _WINDOW)
        elif budget.remaining == 0:
            rest = 0.0  # the budget itself says until when
        else:
            rest = min(_UNTIMED_REST * 2**token.rested, _LONGEST_REST)
            token.rested = min(token.rested + 1, 8)
        token.rests_until = max(token.rests_until, self._tick() + rest) if rest else token.rests_until
        _log.info("github_limit_met", position=token.position, resource=resource, seconds=round(rest))

    def _github_now(self, answer: Answer) -> float:
        """GitHub's own clock, so that a wrong one of ours does not move the reset."""
        try:
            return email.utils.parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
        except (ValueError, TypeError, OverflowError):
            return self._now().timestamp()


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else None
