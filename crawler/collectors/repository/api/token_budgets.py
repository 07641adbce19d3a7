"""How many requests a token may still make: GitHub's last report less the pending requests of all users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct, field

Resource: TypeAlias = Literal["core", "graphql"]

SAME_WINDOW: Final = 60.0
"""The largest difference in seconds between the ends of one window that two answers report."""


class Granted(Struct, frozen=True, kw_only=True):
    """`cost` requests, or points of GraphQL, are reserved for a caller, who may start in `starts_in` seconds.

    `token` is the digest of a token. `ticket` is an identifier of the budgets.
    """

    token: str
    resource: Resource
    cost: int
    starts_in: float
    ticket: str = ""


class Denied(Struct, frozen=True):
    """Nothing is reserved. It is of use to ask again in `wait` seconds."""

    wait: float


class ReportedBudget(Struct, frozen=True, kw_only=True):
    """GitHub's report of a budget: the remaining requests, and the seconds until it is full again."""

    remaining: int
    resets_in: float


class TokenBudgets(Protocol):
    """Keeps the budgets of tokens, each by the token's digest. `LocalTokenBudgets` keeps them for one process."""

    async def reserve(self, token: str, resource: Resource, cost: int, pace: float) -> Granted | Denied:
        """Reserve `cost` of a token's budget for a request, at least `pace` seconds after the one before it."""
        ...

    async def settle(self, granted: Granted, *, reported: ReportedBudget | None, spent: int, rest: float) -> None:
        """End a request. Without a report of GitHub, `spent` is what it may have cost.

        `rest`: seconds in which the token must not be used.
        """
        ...

    async def affords(self, token: str, resource: Resource, cost: int) -> bool:
        """True when so much could be reserved now."""
        ...


class TokenBudget(Struct):
    """`remaining` is GitHub's last report, None before there is one; it does not include `on_their_way`."""

    remaining: int | None = None
    resets_at: float = 0.0
    on_their_way: int = 0

    def apply(self, reported: ReportedBudget, now: float) -> None:
        """Apply a report. Answers may arrive out of order: within a window the smallest number is the newest."""
        resets_at = now + reported.resets_in
        if self.remaining is None or resets_at > self.resets_at + SAME_WINDOW:
            self.remaining, self.resets_at = reported.remaining, resets_at
        elif resets_at >= self.resets_at - SAME_WINDOW:
            self.remaining = min(self.remaining, reported.remaining)


class TokenAccount(Struct):
    """One token: until when it rests, when its next request may start, and its budgets."""

    rests_until: float = 0.0
    next_at: float = 0.0
    budgets: dict[Resource, TokenBudget] = field(
        default_factory=lambda: {"core": TokenBudget(), "graphql": TokenBudget()}
    )


class LocalTokenBudgets:
    """Budgets of one process that has the tokens for itself. `tick` is a monotonic clock in seconds."""

    def __init__(self, tick: Callable[[], float]) -> None:
        self._tick = tick
        self._accounts: dict[str, TokenAccount] = {}

    async def reserve(self, token: str, resource: Resource, cost: int, pace: float) -> Granted | Denied:
        now, account = self._tick(), self._account(token)
        wait = self._wait(account, resource, cost, now)
        if wait > 0:
            return Denied(wait)
        starts = max(now, account.next_at)
        account.next_at = starts + pace
        account.budgets[resource].on_their_way += cost
        return Granted(token=token, resource=resource, cost=cost, starts_in=starts - now)

    async def settle(self, granted: Granted, *, reported: ReportedBudget | None, spent: int, rest: float) -> None:
        now, account = self._tick(), self._account(granted.token)
        budget = account.budgets[granted.resource]
        budget.on_their_way -= granted.cost
        if reported is not None:
            self._apply(budget, reported, granted.cost, now)
        elif budget.remaining is not None:
            budget.remaining -= spent
        if rest > 0:
            account.rests_until = max(account.rests_until, now + rest)

    async def affords(self, token: str, resource: Resource, cost: int) -> bool:
        return self._wait(self._account(token), resource, cost, self._tick()) == 0

    def _account(self, token: str) -> TokenAccount:
        return self._accounts.setdefault(token, TokenAccount())

    def _wait(self, account: TokenAccount, resource: Resource, cost: int, now: float) -> float:
        """Seconds until a request of this cost may be made; 0 for at once."""
        budget = account.budgets[resource]
        if budget.remaining is not None and now >= budget.resets_at:
            budget.remaining = None
        spent = budget.remaining is not None and budget.remaining - budget.on_their_way < cost
        return max(account.rests_until - now, budget.resets_at - now if spent else 0.0, 0.0)

    def _apply(self, budget: TokenBudget, reported: ReportedBudget, _cost: int, now: float) -> None:
        budget.apply(reported, now)
