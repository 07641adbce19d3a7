"""The health app: `uvicorn --factory workers.observability.health:create_app`.

It reads and never writes; give it no public address.

`/healthz` says that the process runs, `/readyz` that database and broker answer, `/metrics` is for Prometheus. Looks
are shared and kept for a few seconds, so that many who ask cost no more than one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Generic, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from workers import log
from workers.clock import Clock, clock_at
from workers.observability import metrics
from workers.observability.status import StatusReader
from workers.settings.environment import Settings

METRICS_SECONDS: Final = 10.0
READY_SECONDS: Final = 2.0

_Value = TypeVar("_Value")


def create_app(settings: Settings | None = None, clock: Clock | None = None) -> Starlette:
    """The app of these settings, by default those of the environment."""
    mine = settings or Settings()
    time = clock or clock_at(mine.clock)
    # One for each: a slow look must not delay the answer whether we are ready, and threads may not share one.
    watcher, caller = StatusReader(mine, time), StatusReader(mine, time)

    async def exposition() -> bytes:
        began = time.monotonic()
        overview = await asyncio.to_thread(watcher.look)
        return metrics.render_metrics(overview, mine, took=time.monotonic() - began)

    async def answering() -> dict[str, bool]:
        return await asyncio.to_thread(caller.answering)

    exposed, ready = CachedValue(exposition, METRICS_SECONDS, time), CachedValue(answering, READY_SECONDS, time)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        found = await ready.get()
        words = {name: "answers" if answers else "away" for name, answers in found.items()}
        return JSONResponse(words, status_code=200 if all(found.values()) else 503)

    async def show_metrics(_: Request) -> Response:
        return Response(await exposed.get(), media_type=metrics.CONTENT_TYPE)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        log.configure_logging(mine.log_level, mine.log_format)
        yield
        watcher.close()
        caller.close()

    routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", show_metrics)]
    return Starlette(routes=routes, lifespan=lifespan)


class CachedValue(Generic[_Value]):
    """A value that is made again when it is asked for and too old; those who ask meanwhile wait for the same one."""

    def __init__(self, make: Callable[[], Awaitable[_Value]], seconds: float, clock: Clock) -> None:
        self._make = make
        self._seconds = seconds
        self._clock = clock
        self._lock = asyncio.Lock()
        self._value: tuple[float, _Value] | None = None

    async def get(self) -> _Value:
        async with self._lock:
            now = self._clock.monotonic()
            if self._value is None or now - self._value[0] >= self._seconds:
                self._value = (now, await self._make())
            return self._value[1]
