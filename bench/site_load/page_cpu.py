"""The CPU of pages that were not asked for before, without a network: `python -m bench.site_load.page_cpu`.

Reads a JSON list of paths, asks the app for each once in this process, and prints the milliseconds of CPU of a page:
for each round, and their median. The first round, which fills the caches of code, does not count.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from anyio import to_thread

from workers.web.app import create_app

ROUND: Final = 200
"""Pages of one round."""


def main() -> None:
    rounds = asyncio.run(_measure(json.load(sys.stdin)))
    print(json.dumps({"ms of CPU a page": round(statistics.median(rounds), 2), "rounds": rounds}))


async def _measure(paths: Sequence[str]) -> list[float]:
    to_thread.run_sync = _run_here  # type: ignore[assignment]  # threads that wait for each other would add their own
    app = create_app()
    started = asyncio.Event()

    async def receive() -> dict[str, str]:
        if started.is_set():
            await asyncio.Future()  # the app stays started until this process ends
        return {"type": "lifespan.startup"}

    async def send(message: dict[str, str]) -> None:
        if message["type"] == "lifespan.startup.complete":
            started.set()

    lifespan = asyncio.ensure_future(app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send))
    await started.wait()
    rounds = []
    for start in range(0, len(paths) - ROUND + 1, ROUND):
        before = time.process_time()
        for path in paths[start : start + ROUND]:
            await _ask(app, path)
        rounds.append(round(1000 * (time.process_time() - before) / ROUND, 2))
    lifespan.cancel()
    return rounds[1:]


async def _run_here(function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
    return function(*arguments)


async def _ask(app: Any, path: str) -> None:
    found: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"hallmark.example"), (b"accept-encoding", b"gzip")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    assert found == [200], (path, found)


if __name__ == "__main__":
    main()
