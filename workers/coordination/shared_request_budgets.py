"""The request ledger shared between processes in Redis; losing it loses the counts of at most one day."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from crawler.http.deadlines import pause_deadline
from crawler.http.request_budgets import LocalRequestLedger
from evidence.model import ServerId
from workers.log import get_log

_SPENT: Final = "hallmark:spent:{day}"
_RESTING: Final = "hallmark:resting"
_KEPT_SECONDS: Final = 2 * 86_400
_SETTLES_EVERY: Final = 1.0  # seconds; counts may be off by a few requests, which saves a round trip for each
_GATHERS: Final = 0.02  # seconds in which the keys of starting probes are collected for one query
_FORGETS_AFTER: Final = 100_000  # totals kept here before they are all queried again


class SharedRequestLedger(LocalRequestLedger):
    """A LocalRequestLedger with the counts of all processes; without Redis each process counts its own requests."""

    def __init__(self, redis: Redis, tick: Callable[[], float]) -> None:
        super().__init__()
        self._redis = redis
        self._tick = tick
        self._settled_at = float("-inf")
        self._unsent: Counter[tuple[date, str]] = Counter()
        self._totals: dict[tuple[date, str], int] = {}
        self._unsent_pauses: dict[ServerId, datetime] = {}
        self._wanted: set[tuple[date, str]] = set()
        self._asking: asyncio.Task[None] | None = None

    async def totals(self, day: date, keys: Sequence[str]) -> Sequence[int]:
        """The counts of all processes, as of the last exchange with Redis."""
        unknown = {(day, key) for key in keys if (day, key) not in self._totals}
        if unknown:
            self._wanted |= unknown
            if self._asking is None:
                self._asking = asyncio.create_task(self._ask_wanted())
            with pause_deadline():  # a slow broker must not count against the server
                await asyncio.shield(self._asking)
        return [self._totals.get((day, key), 0) + self._unsent[day, key] for key in keys]

    def add(self, day: date, key: str, requests: int) -> None:
        """Count requests; `settle` sends them."""
        self._unsent[day, key] += requests

    def record_pause(self, server: ServerId, until: datetime) -> None:
        """Pause a server; `settle` sends it."""
        super().record_pause(server, until)
        self._unsent_pauses[server] = until

    async def settle(self) -> None:
        """Exchange counts with Redis, at most once a second."""
        if self._tick() - self._settled_at < _SETTLES_EVERY:
            return
        self._settled_at = self._tick()
        with pause_deadline():
            await self.flush()

    async def flush(self) -> None:
        """Exchange counts with Redis now."""
        sent, self._unsent = self._unsent, Counter()
        pauses, self._unsent_pauses = self._unsent_pauses, {}
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for (day, key), requests in sent.items():
                    pipeline.hincrby(_SPENT.format(day=day), key, requests)
                for day in {day for day, _ in sent}:
                    pipeline.expire(_SPENT.format(day=day), _KEPT_SECONDS)
                for server, until in pauses.items():
                    pipeline.hset(_RESTING, server, until.isoformat())
                    pipeline.expire(_RESTING, _KEPT_SECONDS)
                pipeline.hgetall(_RESTING)
                answers = await pipeline.execute()
        except RedisError as error:
            get_log().warning("request_budgets_not_shared", error=type(error).__name__)
            self._unsent.update(sent)
            self._unsent_pauses = {**pauses, **self._unsent_pauses}
            return
        if len(self._totals) > _FORGETS_AFTER:
            self._totals.clear()
        self._totals.update(zip(sent, answers, strict=False))
        for server, until in answers[-1].items():
            super().record_pause(server.decode(), datetime.fromisoformat(until.decode()).astimezone(UTC))

    async def _ask_wanted(self) -> None:
        await asyncio.sleep(_GATHERS)
        wanted, self._wanted, self._asking = self._wanted, set(), None
        for day in {day for day, _ in wanted}:
            await self._ask(day, [key for of, key in wanted if of == day])

    async def _ask(self, day: date, keys: Sequence[str]) -> None:
        try:
            found = await self._redis.hmget(_SPENT.format(day=day), list(keys))
        except RedisError as error:
            get_log().warning("request_budgets_not_shared", error=type(error).__name__)
            return
        self._totals.update({(day, key): int(total or 0) for key, total in zip(keys, found, strict=True)})
