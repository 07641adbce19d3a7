"""The health app: `uvicorn --factory workers.observability.health:create_app`.

It reads and never writes; give it no public address.

`/healthz` says that the process runs, `/readyz` that database and broker answer, `/metrics` is for Prometheus. Results
are cached for a few seconds, so that many requests cost as much as one. Problems for an operator are logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Generic, TypeVar

from msgspec.structs import asdict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from workers import log
from workers.clock import Clock, clock_at
from workers.observability import metrics
from workers.observability.problems import find_problems
from workers.observability.status import StatusReader, SystemStatus
from workers.settings.environment import Settings, read_settings

METRICS_SECONDS: Final = 10.0
READY_SECONDS: Final = 2.0
PROBLEMS_SECONDS: Final = 300.0
FIRST_PROBLEMS_SECONDS: Final = 30.0
"""A fleet starts its workers together with this app: before, there would be queues that none serves yet."""

METRICS_TIMES: Final = 10
MAX_METRICS_SECONDS: Final = 300.0
"""The database of a large registry counts for seconds: metrics are kept so many times as long, at most so long: a
database or machine that stood still once must not hide what happens afterwards."""


_Value = TypeVar("_Value")


def create_app(settings: Settings | None = None, clock: Clock | None = None) -> Starlette:
    """The app for these settings, by default those of the environment."""
    mine = settings or read_settings()
    time = clock or clock_at(mine.clock)
    # Two readers: a slow read for the metrics must not delay /readyz, and threads may not share a reader.
    metrics_reader, readiness_reader = StatusReader(mine, time), StatusReader(mine, time)

    async def read_status() -> tuple[SystemStatus, float]:
        started = time.monotonic()
        return await asyncio.to_thread(metrics_reader.read_status), time.monotonic() - started

    async def check_availability() -> dict[str, bool]:
        return await asyncio.to_thread(readiness_reader.check_availability)

    current, ready = (
        CachedValue(read_status, METRICS_SECONDS, time, times=METRICS_TIMES, most=MAX_METRICS_SECONDS),
        CachedValue(check_availability, READY_SECONDS, time),
    )

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        found = await ready.get()
        words = {name: "answers" if answers else "away" for name, answers in found.items()}
        return JSONResponse(words, status_code=200 if all(found.values()) else 503)

    async def show_metrics(_: Request) -> Response:
        status, took = await current.get()
        return Response(metrics.render_metrics(status, mine, took=took), media_type=metrics.CONTENT_TYPE)

    async def log_problems() -> None:
        for problem in find_problems((await current.get())[0]):
            log.get_log().warning("problem_found", **asdict(problem))

    async def log_problems_regularly() -> None:
        """Log problems until this is cancelled; when they cannot be read, log why."""
        await asyncio.sleep(FIRST_PROBLEMS_SECONDS)
        while True:
            (error,) = await asyncio.gather(log_problems(), return_exceptions=True)
            if error is not None:
                log.get_log().error("problems_not_read", error=type(error).__name__, at=log.list_frames(error))
            await asyncio.sleep(PROBLEMS_SECONDS)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        log.configure_logging(mine.log_level, mine.log_format)
        problems = asyncio.create_task(log_problems_regularly())
        yield
        problems.cancel()
        await asyncio.wait({problems})
        metrics_reader.close()
        readiness_reader.close()

    routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", show_metrics)]
    return Starlette(routes=routes, lifespan=lifespan)


class CachedValue(Generic[_Value]):
    """A cached value that is made again when it is older than `seconds`; concurrent callers wait for the same value.

    It is kept at least `times` as long as it took to make, but not longer than `most` for that reason.
    """

    def __init__(
        self,
        make: Callable[[], Awaitable[_Value]],
        seconds: float,
        clock: Clock,
        *,
        times: float = 0,
        most: float = 0,
    ) -> None:
        self._make = make
        self._times = times
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._lock = asyncio.Lock()
        self._value: tuple[float, _Value] | None = None  # with the time until which it is kept

    async def get(self) -> _Value:
        async with self._lock:
            began = self._clock.monotonic()
            if self._value is None or began >= self._value[0]:
                made = await self._make()
                ended = self._clock.monotonic()
                longer = min(self._times * (ended - began), self._most)
                self._value = (ended + max(self._seconds, longer), made)
            return self._value[1]
