"""GitHub's quota shared between processes: the rest of each token's budget is in Redis, keyed by the token's digest."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Final

from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from crawler.collectors.repository.api.token_budgets import (
    SAME_WINDOW,
    Denied,
    Granted,
    LocalTokenBudgets,
    ReportedBudget,
    Resource,
    TokenAccount,
    TokenBudget,
)
from crawler.collectors.repository.api.token_rotation import UNLIMITED_REQUESTS
from crawler.http.deadlines import pause_deadline
from workers.log import get_log

STATE_KEY: Final = "hallmark:github"
"""A hash: `DIGEST:RESOURCE:left` and `:reset`, `DIGEST:next` and `DIGEST:rest`; times are ms of Redis' clock."""

_USERS_KEY: Final = "hallmark:github:users"
_HOLD: Final = 120_000  # ms, longer than a request takes; a lost request then counts as spent
_KEPT: Final = 7_200_000  # ms, longer than a window of GitHub's
_POLL: Final = 100  # ms between two checks whether the first answer about a budget has arrived
_SOCKET_SECONDS: Final = 2.0
_CONNECTIONS: Final = 4  # of a shared pool; hundreds of servers may wait for a token
_ALONE_SECONDS: Final = 5.0
_UNKNOWN_USERS: Final = 8

# The rest of a window, and the requests in flight. Requests of ended processes count as spent.
_READ: Final = """
local token, field, cost, doubt = ARGV[1], ARGV[1] .. ':' .. ARGV[2], tonumber(ARGV[3]), ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = tonumber(redis.call('HGET', KEYS[1], field .. ':left'))
local reset = tonumber(redis.call('HGET', KEYS[1], field .. ':reset'))
local lost = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)
if left then
  for _, one in ipairs(lost) do left = left - tonumber(string.match(one, '^%d+')) end
  if #lost > 0 then redis.call('HSET', KEYS[1], field .. ':left', left) end
  if reset <= now or doubt == '1' then
    redis.call('HDEL', KEYS[1], field .. ':left', field .. ':reset')
    left = nil
  end
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local way = 0
for _, one in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do way = way + tonumber(string.match(one, '^%d+')) end
local rest = tonumber(redis.call('HGET', KEYS[1], token .. ':rest')) or 0
local wait = 0
if rest > now then wait = rest - now
elseif not left then if way > 0 then wait = tonumber(ARGV[5]) end
elseif left - way < cost then wait = reset - now end
"""

# -1 while the first answer about a budget is awaited.
_AFFORDS: Final = f"{_READ} if not left and wait > 0 and rest <= now then return -1 end return wait"

_RESERVE: Final = f"""
{_READ}
local pace, ticket, who, hold, kept = tonumber(ARGV[6]), ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10]
redis.call('ZADD', KEYS[3], now + hold, who)
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local users = redis.call('ZCARD', KEYS[3])
if wait > 0 then return {{0, wait, users}} end
local starts = math.max(now, tonumber(redis.call('HGET', KEYS[1], token .. ':next')) or 0)
redis.call('HSET', KEYS[1], token .. ':next', starts + pace)
redis.call('ZADD', KEYS[2], starts + hold, string.format('%d', cost) .. ':' .. ticket)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, kept) end
return {{1, starts - now, users}}
"""

# The smallest number of a window is the newest; an answer about an older window is ignored (as in `TokenBudget.hear`).
_SETTLE: Final = """
local token, field = ARGV[1], ARGV[1] .. ':' .. ARGV[2]
local ticket, reported, resets_in = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local spent, rest = ARGV[6], tonumber(ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = tonumber(redis.call('HGET', KEYS[1], field .. ':left'))
local reset = tonumber(redis.call('HGET', KEYS[1], field .. ':reset')) or 0
local held = redis.call('ZREM', KEYS[2], ticket)
if reported then
  local ends = now + resets_in
  if not left or reset <= now or ends > reset + 60000 then
    redis.call('HSET', KEYS[1], field .. ':left', reported, field .. ':reset', ends)
  elseif ends >= reset - 60000 then
    redis.call('HSET', KEYS[1], field .. ':left', math.min(left, reported))
  end
elseif left and held == 1 then
  redis.call('HSET', KEYS[1], field .. ':left', left - spent)
end
if rest > 0 then
  local known = tonumber(redis.call('HGET', KEYS[1], token .. ':rest')) or 0
  redis.call('HSET', KEYS[1], token .. ':rest', math.max(known, now + rest))
end
redis.call('PEXPIRE', KEYS[1], ARGV[8])
"""


class TokenQuota(Struct, frozen=True, kw_only=True):
    """The rest of a token's quota for a resource, and seconds until it resets; `token` is the token's digest."""

    token: str
    resource: str
    left: int
    resets_in: float


def read_quotas(state: Mapping[str, str], now: float) -> tuple[TokenQuota, ...]:
    """The budgets in the hash at STATE_KEY whose window is not over at `now`, in seconds of Redis' clock."""
    found = []
    for field in sorted(name for name in state if name.endswith(":left")):
        token, resource, _ = field.split(":")
        left, resets_in = int(state[field]), int(state[f"{token}:{resource}:reset"]) / 1000 - now
        if resets_in > 0 and left < UNLIMITED_REQUESTS:
            found.append(TokenQuota(token=token, resource=resource, left=left, resets_in=resets_in))
    return tuple(found)


def read_token_pauses(state: Mapping[str, str], now: float) -> Mapping[str, float]:
    """Seconds for which rate-limited tokens are not used, by digest; 0 when the pause is over."""
    ends = {name.removesuffix(":rest"): int(at) / 1000 for name, at in state.items() if name.endswith(":rest")}
    return {token: max(0.0, at - now) for token, at in sorted(ends.items())}


class SharedGitHubBudgets:
    """Budgets of tokens that all processes of a deployment share; together they never spend more than is left.

    While a budget is unknown, one request is sent alone. While Redis is unavailable, each process uses an equal share
    of the quota that GitHub reports, less one request for each of the others.
    """

    def __init__(self, redis: Redis, tick: Callable[[], float] = monotonic) -> None:
        self._redis = redis
        self._tick = tick
        self._name = secrets.token_hex(8)
        self._users = _UNKNOWN_USERS
        self._alone: LocalShare | None = None
        self._alone_until = 0.0
        self._trusted: set[tuple[str, Resource]] = set()
        self._room = asyncio.Semaphore(_CONNECTIONS)

    async def reserve(self, token: str, resource: Resource, cost: int, pace: float) -> Granted | Denied:
        """Reserve `cost` of a token's budget for a request."""
        if (share := self._share()) is not None:
            return await share.reserve(token, resource, cost, pace * share.users)
        ticket = secrets.token_hex(8)
        more = (_milliseconds(pace), ticket, self._name, _HOLD, _KEPT)
        answer = await self._ask(_RESERVE, token, resource, *self._asked(token, resource, cost), *more)
        if answer is None:
            return await self.reserve(token, resource, cost, pace)
        granted, milliseconds, self._users = (int(number) for number in answer)
        self._trusted.add((token, resource))
        if not granted:
            return Denied(milliseconds / 1000)
        starts = milliseconds / 1000
        return Granted(token=token, resource=resource, cost=cost, starts_in=starts, ticket=f"{cost}:{ticket}")

    async def settle(self, granted: Granted, *, reported: ReportedBudget | None, spent: int, rest: float) -> None:
        """End a request. One that cannot be ended in Redis counts as spent there."""
        if not granted.ticket:
            if self._alone is not None:
                await self._alone.settle(granted, reported=reported, spent=spent, rest=rest)
            return
        remaining_and_reset = ("", "") if reported is None else (reported.remaining, _milliseconds(reported.resets_in))
        numbers = (granted.ticket, *remaining_and_reset, spent, _milliseconds(rest), _KEPT)
        await self._ask(_SETTLE, granted.token, granted.resource, *numbers)

    async def affords(self, token: str, resource: Resource, cost: int) -> bool:
        """True when `cost` could be reserved now."""
        if (share := self._share()) is not None:
            return await share.affords(token, resource, cost)
        while (wait := await self._ask(_AFFORDS, token, resource, *self._asked(token, resource, cost))) == -1:
            with pause_deadline():
                await asyncio.sleep(_POLL / 1000)
        return await self.affords(token, resource, cost) if wait is None else int(wait) == 0

    def _asked(self, token: str, resource: Resource, cost: int) -> tuple[int, int, int]:
        """Redis lacks what was spent while it was unavailable: the first request after that asks GitHub again."""
        doubt = self._alone is not None and (token, resource) not in self._trusted
        return cost, int(doubt), _POLL

    def _share(self) -> LocalShare | None:
        """The share of this process while Redis is unavailable, else None."""
        return self._alone if self._tick() < self._alone_until else None

    async def _ask(self, script: str, token: str, resource: Resource, *values: object) -> Any:
        """The result of a script; None when Redis does not answer, which also switches to LocalShare for a while."""
        keys = (STATE_KEY, f"{STATE_KEY}:out:{token}:{resource}", _USERS_KEY)
        words = (*keys, token, resource, *map(str, values))
        try:
            with pause_deadline():
                async with self._room, asyncio.timeout(_SOCKET_SECONDS):
                    answer = await self._evaluated(script, len(keys), *words)
        except (RedisError, OSError, TimeoutError) as error:
            get_log().warning("github_quota_not_shared", error=type(error).__name__, sharers=self._users)
            self._go_alone()
            return None
        return 0 if answer is None else answer

    async def _evaluated(self, script: str, keys: int, *words: str) -> Any:
        """Run a script; try again once, since a connection that was idle during a restart of Redis fails once."""
        try:
            return await self._redis.eval(script, keys, *words)
        except RedisConnectionError:
            return await self._redis.eval(script, keys, *words)

    def _go_alone(self) -> None:
        if self._alone is None:
            self._alone = LocalShare(self._tick, self._users)
        elif self._trusted:  # Redis was available since, and other processes spent quota
            self._alone.forget(self._users)
        self._trusted.clear()
        self._alone_until = self._tick() + _ALONE_SECONDS


class LocalShare(LocalTokenBudgets):
    """The share of one of `users` processes without Redis: a part of the first quota that GitHub reports per window."""

    def __init__(self, tick: Callable[[], float], users: int) -> None:
        super().__init__(tick)
        self.users = users

    def forget(self, users: int) -> None:
        """Discard the reported quota, and share with this many processes."""
        self.users = users
        for account in self._accounts.values():
            for budget in account.budgets.values():
                budget.remaining = None

    def _wait(self, account: TokenAccount, resource: Resource, cost: int, now: float) -> float:
        wait = super()._wait(account, resource, cost, now)
        budget = account.budgets[resource]
        is_first = budget.remaining is None and budget.on_their_way > 0
        return max(wait, _POLL / 1000) if is_first else wait

    def _apply(self, budget: TokenBudget, reported: ReportedBudget, cost: int, now: float) -> None:
        if budget.remaining is None or now + reported.resets_in > budget.resets_at + SAME_WINDOW:
            budget.apply(
                ReportedBudget(remaining=(reported.remaining - self.users) // self.users, resets_in=reported.resets_in),
                now,
            )
        else:
            budget.remaining -= cost
            budget.apply(reported, now)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
