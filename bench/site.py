"""How fast the site is under load: `python -m bench.site --servers 100000 --runs 30 [--database sqlite]`.

Fills PostgreSQL (or SQLite) with made-up servers and published nights, serves them with the real app in as many
processes as asked, and lets 50 clients ask for one kind of page after the other, each client as soon as it has its
answer. `cold` asks for other addresses all the time, so that nothing comes from memory; `warm` asks again for few.
`visitors` are 50 people on a site that has just started: they open pages of every kind, some servers far more often
than others, and read each for a second on average. First they ask the site itself, then nginx with the cache of
`infra/nginx/hallmark.conf` in front of it, for pages that were asked for before.
CPU is that of all server processes and of the database; `cpu` is that of a cold page of a server in one process. The
plans of the statements behind the pages are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench.simulation.metering import Meter
from bench.site_load.filling import COMMON, Filled, fill, vacuum
from bench.site_load.plans import plans
from evidence.store import ListingQuery, Store, open_store
from evidence.store.database import Database
from tests.servers.daemon import free_port
from tests.servers.nginx import cache_before
from tests.servers.postgres import postgres_server

WARM = 40
MIX = {"dashboard": 10, "search": 20, "list": 25, "server": 30, "history": 5, "api server": 10}
"""Of a hundred pages that visitors open, so many are of a kind."""
PAUSE = 1.0
VISITORS, CPU = "visitors", "cpu"
KNOWN = 400
"""Pages that visitors of the cache open; each was asked for once before."""
PAGES_OF_CPU, FEWEST_OF_CPU = 3_000, 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", nargs="+", metavar="KIND", help="kinds of pages, visitors, or cpu; default: all")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, roots = database(stack, options.database, folder)
        result = measure(url, roots, folder, options)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def database(stack: ExitStack, kind: str, folder: Path) -> tuple[str, list[int]]:
    """An empty database: its URL, and the processes of its server."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/hallmark.db", []
    server = stack.enter_context(postgres_server())
    return server.create_database(), [server.pid]


def measure(url: str, roots: list[int], folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Fill, serve, ask; figures by kind of page."""
    store, database = open_store(url), Database(url)
    store.migrate()
    began = time.monotonic()
    filled = fill(store, database, options.servers, options.runs)
    vacuum(url)
    print(f"filled in {time.monotonic() - began:.0f} s", flush=True)
    for name, plan in plans(store, database, filled):
        print(f"--- {name}\n{plan}", flush=True)
    result: dict[str, Any] = {}
    every = kinds_of_pages(store, filled)
    pages = {kind: paths for kind, paths in every.items() if kind in (options.only or every)}
    if (not options.only or CPU in options.only) and len(every["server"]) >= FEWEST_OF_CPU:
        result[CPU] = _measure_page_cpu(url, folder, every["server"][:PAGES_OF_CPU])
        print(f"{CPU}: {json.dumps(result[CPU])}", flush=True)
    if pages:
        result |= _measure_kinds(url, roots, folder, pages, options)
    if not options.only or VISITORS in options.only:
        with _serving(url, folder, options) as (port, pid), cache_before(port, folder) as cache:
            meter = Meter({"web": [pid], "database": roots})
            opened = visits(every)
            known = list(dict.fromkeys(opened))[:KNOWN]
            for name, at, paths in (("no cache", port, opened), ("known pages, cache", cache, known)):
                if at == cache:
                    _ask_once(at, paths)
                result[f"visitors, {name}"] = _asked(at, paths, meter, options, pause=PAUSE)
                print(f"visitors, {name}: {json.dumps(result[f'visitors, {name}'])}", flush=True)
    store.close()
    database.close()
    return result


def _measure_kinds(
    url: str, roots: list[int], folder: Path, pages: Mapping[str, Sequence[str]], options: argparse.Namespace
) -> dict[str, Any]:
    """The figures of each kind of page, cold and warm."""
    found: dict[str, Any] = {}
    with _serving(url, folder, options) as (port, pid):
        meter = Meter({"web": [pid], "database": roots})
        for name, paths in pages.items():
            for warmth, some in (("cold", paths), ("warm", paths[:WARM])):
                if warmth == "warm":  # every process keeps its own copies
                    _asked(port, some, meter, options)
                found[f"{name}, {warmth}"] = _asked(port, some, meter, options)
                print(f"{name}, {warmth}: {json.dumps(found[f'{name}, {warmth}'])}", flush=True)
    return found


def kinds_of_pages(store: Store, filled: Filled) -> Mapping[str, Sequence[str]]:
    """Addresses by kind of page: many more than are asked for while it is measured, where there are as many."""
    dice = random.Random(5)
    ids = dice.sample(filled.servers, min(20_000, len(filled.servers)))
    words = dice.sample(filled.words, len(filled.words))
    both = [f"{word[:4]}+{common}" for word in words for common in COMMON]
    lists = list(_lists(store, dice))
    return {
        "dashboard": ["/"],
        "search": [f"/servers?q={text}" for text in (*words, *dice.sample(both, min(20_000, len(both))))],
        "list": [f"/servers?{question}" for question in lists],
        "server": [f"/servers/{server}" for server in ids],
        "history": [f"/servers/{server}/history" for server in ids],
        "api list": [f"/api/v1/servers?{question}" for question in lists],
        "api server": [f"/api/v1/servers/{server}" for server in ids],
    }


def visits(pages: Mapping[str, Sequence[str]]) -> list[str]:
    """Pages in the shares of the mix; of each kind, the second one is opened half as often as the first, and so on."""
    dice = random.Random(7)
    found: list[str] = []
    for kind, share in MIX.items():
        odds = [1 / rank for rank in range(1, len(pages[kind]) + 1)]
        found += dice.choices(pages[kind], odds, k=share * 200)
    return found


def _ask_once(port: int, paths: Sequence[str]) -> None:
    """Let the cache store every page in the coding that clients ask for."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    for path in paths:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, (path, answer.status)
    connection.close()


def _lists(store: Store, dice: random.Random) -> Iterator[str]:
    """Deep pages of every order and of filters."""
    for sort in ("rank", "name", "seen"):
        for state in ("", "measured", "partial", "not_testable"):
            for ecosystem in ("", "remote", "npm", "pypi"):
                question = "&".join(
                    f"{name}={value}" for name, value in (("state", state), ("ecosystem", ecosystem)) if value
                )
                order = "" if sort == "rank" else f"sort={sort}"
                query = ListingQuery(sort=sort, state=state or None, ecosystem=ecosystem or None)
                page = store.listing.read_page(query, limit=200)
                for _ in range(50):
                    if page.after is None:
                        break
                    yield "&".join(part for part in (question, order, f"cursor={page.after}") if part)
                    page = store.listing.read_page(query, page.after, dice.randint(1, 200))


def _asked(
    port: int, paths: Sequence[str], meter: Meter, options: argparse.Namespace, pause: float = 0.0
) -> dict[str, Any]:
    who = {"clients": options.clients, "pause": pause, "seed": 1}
    order = {"port": port, "paths": list(paths), "seconds": options.seconds, **who}
    meter.sample()
    before = dict(meter.seconds)
    asked = subprocess.run(
        [sys.executable, "-m", "bench.site_load.clients"],
        input=json.dumps(order).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    meter.sample()
    figures: dict[str, Any] = json.loads(asked.stdout)
    for role, seconds in meter.seconds.items():
        used = seconds - before.get(role, 0.0)
        figures[f"ms of {role} an answer"] = round(1000 * used / max(1, figures["answers"]), 2)
    return figures


def _measure_page_cpu(url: str, folder: Path, paths: Sequence[str]) -> dict[str, Any]:
    measured = subprocess.run(
        [sys.executable, "-m", "bench.site_load.page_cpu"],
        input=json.dumps(list(paths)).encode(),
        stdout=subprocess.PIPE,
        env={**os.environ, **_settings(url, folder)},
        check=True,
    )
    found: dict[str, Any] = json.loads(measured.stdout)
    return found


def _settings(url: str, folder: Path) -> Mapping[str, str]:
    return {
        "HALLMARK_HOME": str(folder / "home"),
        "HALLMARK_DATABASE_URL": url,
        "HALLMARK_WEB_RATE": "0",
        "HALLMARK_LOG_LEVEL": "error",
        "HALLMARK_WEB_URL": "https://hallmark.example",
    }


@contextmanager
def _serving(url: str, folder: Path, options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    port = free_port()
    start = [sys.executable, "-c", "from workers.cli import main; main()", "web"]
    command = [*start, "--port", str(port), "--processes", str(options.processes)]
    process = subprocess.Popen(command, env={**os.environ, **_settings(url, folder)})
    try:
        _wait(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(30)


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the site does not answer")


if __name__ == "__main__":
    main()
