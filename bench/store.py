"""Speed of the store's writes and reads, and the cost of an unchanged night: `python -m bench.store [--records N]`.

Everything is measured in one run on this machine; the plain way (one SQLModel object and one commit per row) is the
yardstick. Bodies are listings of random words of about 8 KB, which compress worse than real ones.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine
from sqlmodel import Session

from evidence.model import Absent, Observed, Record, Run, Server, ServerRef, Status, Trigger
from evidence.store import Store, open_store
from evidence.store.tables.evidence import EvidenceBlobTable
from tests.servers.postgres import postgres_server

AS_OF = datetime(2026, 11, 21, 3, tzinfo=UTC)
BATCH = 500
PLAIN_ROWS = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000, help="records of 8 KB per database")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    options = parser.parse_args()
    figures = {
        name: measure(name, url, size, options.records)
        for name, url, size in databases()
        if options.only in {None, name}
    }
    show(figures)
    if options.json:
        options.json.write_text(json.dumps({"records": options.records, "batch": BATCH, **figures}, indent=2) + "\n")


def databases() -> Iterator[tuple[str, str, Callable[[], int]]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hallmark.db"
        yield "sqlite", f"sqlite:///{path}", lambda: sqlite_bytes(path)
    with postgres_server(durable=True) as server:
        yield "postgresql", server.url, lambda: postgresql_bytes(server.url)


def measure(name: str, url: str, size: Callable[[], int], count: int) -> dict[str, float]:
    store = open_store(url)
    store.migrate()
    servers = [Server(ref=f"npm:weather-{number}", name=f"weather-{number}") for number in range(count)]
    ids = [server.id for server in servers]
    bodies = make_bodies(count)
    figures: dict[str, float] = {"body_bytes": sum(map(len, bodies)) / count}

    figures["plan_servers_per_s"] = rate(count, lambda: plan(store, "1", servers))
    figures["plain_rows_per_s"] = rate(PLAIN_ROWS, lambda: write_plainly(url, make_bodies(PLAIN_ROWS, seed=2)))

    contents = [Observed(body) for body in bodies]
    figures["write_records_per_s"] = rate(count, lambda: write(store, "1", ids, contents))
    figures["write_over_plain"] = figures["write_records_per_s"] / figures["plain_rows_per_s"]
    known = [Observed(body) for body in make_bodies(count, seed=3)]
    for content in known:
        assert content.canonical
    store.add_run(run("2"))
    with processor() as used:
        figures["write_digested_records_per_s"] = rate(count, lambda: write(store, "2", ids, known))
    figures["write_digested_cpu_us"] = used[0] / count * 1e6

    before = size()
    store.add_run(run("3"))
    again = [Observed(body) for body in bodies]
    figures["rewrite_records_per_s"] = rate(count, lambda: write(store, "3", ids, again))
    figures["unchanged_record_bytes"] = (size() - before) / count
    before = size()
    plan_again(store, "4", ids)
    write(store, "4", ids, again, done=True)
    store.put_records("4", [record(one, "registration", contents[0]) for one in ids], at=AS_OF)
    figures["unchanged_server_night_bytes"] = (size() - before) / count

    figures["dossiers_per_s"] = rate(count, lambda: read(store, "1", ids))
    figures["earlier_per_s"] = rate(count, lambda: earlier(store, "4", ids))
    store.close()
    return figures


def plan(store: Store, run_id: str, servers: Sequence[Server]) -> None:
    store.add_run(run(run_id))
    for start in range(0, len(servers), BATCH):
        page = [(server, ref(server)) for server in servers[start : start + BATCH]]
        store.put_registry_page(run_id, "starter", page, cursor=str(start), done=False, at=AS_OF)
    store.plan_run(run_id, [server.id for server in servers], AS_OF)


def plan_again(store: Store, run_id: str, ids: Sequence[str]) -> None:
    store.add_run(run(run_id))
    store.plan_run(run_id, ids, AS_OF)


def write(store: Store, run_id: str, ids: Sequence[str], contents: Sequence[Observed], done: bool = False) -> None:
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        pairs = zip(batch, contents[start : start + BATCH], strict=True)
        records = [record(one, "listing", content) for one, content in pairs]
        store.put_records(run_id, records, done=batch if done else (), at=AS_OF)


def read(store: Store, run_id: str, ids: Sequence[str]) -> None:
    for start in range(0, len(ids), BATCH):
        assert all(dossier.records for dossier in store.read_dossiers(run_id, ids[start : start + BATCH]))


def earlier(store: Store, run_id: str, ids: Sequence[str]) -> None:
    for start in range(0, len(ids), BATCH):
        assert len(store.read_earlier(run_id, ids[start : start + BATCH])) == len(ids[start : start + BATCH])


def write_plainly(url: str, bodies: Sequence[bytes]) -> None:
    """The naive way: an object per row and a commit per object, without hashing and compression."""
    engine = create_engine(url)
    for body in bodies:
        digest = bytes.fromhex(Observed(body).digest)
        row = EvidenceBlobTable(digest=digest, canonical=None, codec=0, size=len(body), body=body)
        with Session(engine) as session:
            session.add(row)
            session.commit()
    engine.dispose()


def run(run_id: str) -> Run:
    return Run(id=run_id, trigger=Trigger.NIGHTLY, as_of=AS_OF, pins={})


def ref(server: Server) -> ServerRef:
    entry = b'{"name":"%s"}' % server.name.encode()
    return ServerRef(registry="starter", name=server.name, version="1", status=Status.ACTIVE, entry=entry)


def record(server: str, kind: str, content: Observed | Absent) -> Record:
    return Record(
        server=server,
        kind=kind,
        schema=1,
        collector="protocol",
        collector_version=1,
        observed_at=AS_OF + timedelta(microseconds=1),
        content=content,
        observation={"ms": 312.5, "connect_ms": 41.2, "session": "c0ffee", "status": 200},
    )


def make_bodies(count: int, seed: int = 1) -> list[bytes]:
    words = random.Random(seed)
    vocabulary = ["".join(words.choices("abcdefghijklmnopqrstuvwxyz", k=words.randint(2, 10))) for _ in range(600)]

    def text(length: int) -> str:
        return " ".join(words.choices(vocabulary, k=length))

    def tool(number: int) -> dict[str, Any]:
        members = {name: {"type": "string", "description": text(8)} for name in words.choices(vocabulary, k=4)}
        schema = {"type": "object", "properties": members, "required": list(members)[:2], "maximum": number}
        return {"name": text(1), "description": text(25), "inputSchema": schema}

    def listing() -> bytes:
        pages = [{"tools": [tool(number) for number in range(12)]}]
        body = {"transport": "streamable-http", "lists": {"tools": {"declared": True, "pages": pages}}}
        return json.dumps(body, separators=(",", ":")).encode()

    return [listing() for _ in range(count)]


def rate(count: int, work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


@contextmanager
def processor() -> Iterator[list[float]]:
    used = [0.0]
    started = time.process_time()
    yield used
    used[0] = time.process_time() - started


def sqlite_bytes(path: Path) -> int:
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    return path.stat().st_size


def postgresql_bytes(url: str) -> int:
    """Live bytes: what a deleted row version held is used again by the next night."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("VACUUM FULL")
        found = connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one()
    engine.dispose()
    return int(found)


def show(figures: dict[str, dict[str, float]]) -> None:
    names = list(figures)
    print(f"{'':32}" + "".join(f"{name:>14}" for name in names))
    for measured in figures[names[0]]:
        print(f"{measured:32}" + "".join(f"{figures[name][measured]:>14,.1f}" for name in names))


if __name__ == "__main__":
    main()
