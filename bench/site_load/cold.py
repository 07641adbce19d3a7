"""CPU of pages that nobody asked for before: `python -m bench.site_load.cold [--servers 2000 --runs 30 --database X]`.

The app is asked within this process, one page after the other, each address once and some before it is measured. What
counts is CPU time of this process, so that it can be compared on a busy machine; that of PostgreSQL is not in it.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import random
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

from bench.site import database, kinds_of_pages
from bench.site_load.filling import fill, vacuum
from evidence.store import open_store
from evidence.store.database import Database
from workers import log
from workers.settings.environment import Settings
from workers.web.app import create_app

BEFORE = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="sqlite")
    parser.add_argument("--profile", action="store_true", help="print where the time of servers' pages goes")
    options = parser.parse_args()
    log.configure_logging("error", "console")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, _ = database(stack, options.database, folder)
        store = open_store(url)
        store.migrate()
        filled = fill(store, Database(url), options.servers, options.runs)
        vacuum(url)
        os.environ |= {"HALLMARK_HOME": str(folder), "HALLMARK_DATABASE_URL": url, "HALLMARK_WEB_RATE": "0"}
        for name, paths in kinds_of_pages(store, filled).items():
            if not paths:  # too few servers for a second page
                continue
            some = random.Random(7).sample(list(paths), min(len(paths), BEFORE + options.pages))
            print(f"{name}: {asyncio.run(_cost(some)):.1f} ms of CPU", flush=True)
            if options.profile and name == "server":
                with cProfile.Profile() as profile:
                    asyncio.run(_cost(some))
                pstats.Stats(profile).sort_stats("cumulative").print_stats(60)


async def _cost(paths: list[str]) -> float:
    """Milliseconds of CPU for each page behind the first ones."""
    transport = httpx.ASGITransport(create_app(Settings(log_level="error")))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for path in paths[:BEFORE]:
            await client.get(path)
        began = time.process_time()
        measured = paths[BEFORE:] or paths
        for path in measured:
            (await client.get(path)).raise_for_status()
        return 1000 * (time.process_time() - began) / len(measured)


if __name__ == "__main__":
    main()
