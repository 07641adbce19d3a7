"""A Celery deployment: PostgreSQL, a broker, beat and workers, each of which can be made to fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from evidence.store import RunState, Stage, open_store
from tests.functional.gate import Gate
from tests.functional.processes import CELERY, NIGHTLY, PATIENCE, Process, comparable, environment, until
from tests.servers import preloaded
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import ValkeyServer

APP = CELERY[-1]
QUICK = {
    "HALLMARK_SWEEP_EVERY": "0.5",
    "HALLMARK_PLAN_EVERY": "1",
    "HALLMARK_LIGHT_EVERY": "0",  # a server that fails once must fail in the run
    "HALLMARK_RETRIES": "0",
    "HALLMARK_LEASE_TTL": "6",
    "HALLMARK_LEASE_CHUNK": "6",
    "HALLMARK_WRITE_BATCH": "2",
    "HALLMARK_IN_FLIGHT": "4",
    "HALLMARK_SHARD_TIME": "300",
    "HALLMARK_COLLECTOR_TIMEOUT": "120",
    "HALLMARK_LONG_TASK_TIME": "300",
    "HALLMARK_VISIBILITY_TIMEOUT": "600",
}


class Cluster:
    """Beat and workers of one database."""

    def __init__(self, folder: Path, postgres: PostgresServer, valkey: ValkeyServer, registry: str) -> None:
        self.url = postgres.create_database()
        self._store = open_store(self.url)  # one for all looks: a new connection costs more than a look
        self.postgres = postgres
        self.valkey = valkey
        self._folder = folder
        self.environment = environment(
            folder,
            HALLMARK_DATABASE_URL=self.url,
            HALLMARK_REDIS_URL=valkey.url,
            HALLMARK_REGISTRIES=json.dumps([{"name": "local", "url": registry}]),
            **QUICK,
        )
        self._processes: list[Process] = []
        self._numbers = count(1)

    def change(self, name: str, value: str) -> None:
        """Set a variable for the processes that are started from now on."""
        self.environment[name] = value

    def gated(self, seconds: float = 60.0) -> Gate:
        """A gate for the processes that are started from now on."""
        gate = Gate(self._folder / "gate", seconds)
        self.environment.update(gate.environment)
        return gate

    def hallmark(self, *words: str) -> str:
        """What a command prints that an operator of this deployment gives."""
        command = [sys.executable, "-c", "from workers.cli.app import main; main()", *words]
        done = preloaded.run(
            command, env=self.environment, cwd=self._folder, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start_beat(self, name: str = "beat") -> Process:
        return self._start(name, ["beat", "--schedule", str(self._folder / f"{name}-schedule"), "--pidfile="])

    def start_worker(self, concurrency: int = 3, app: str = APP, queues: Sequence[str] = ()) -> Process:
        """A worker of these queues; of all, when none is named."""
        name = f"worker-{next(self._numbers)}"
        pool = ["--concurrency", str(concurrency), "--without-mingle", "--without-gossip"]
        pool += ["--queues", ",".join(queues)] if queues else []
        return self._start(name, ["worker", "--hostname", f"{name}@test", *pool], app)

    def collected(self) -> int:
        """Servers of the nightly run whose evidence is stored."""
        return self._store.read_progress(NIGHTLY).done[Stage.COLLECT] if self._store.find_run(NIGHTLY) else 0

    def wait_until_collected(self, at_least: int) -> None:
        until(lambda: self.collected() >= at_least, f"{at_least} servers collected", explain=self.log)

    def wait_until_published(self, patience: float = PATIENCE) -> bytes:
        """The comparable export of the nightly run when it is published."""
        until(self.published, "run published", explain=self.log, patience=patience)
        return comparable(self.url, NIGHTLY)

    def log(self) -> str:
        return "\n".join(process.log() for process in self._processes)

    def log_files(self) -> list[Path]:
        """The logs of all processes that were started."""
        return [process.log_file for process in self._processes]

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
        self._store.close()

    def published(self) -> bool:
        """Whether the nightly run is published; workers that crashed are started again."""
        self._restart_crashed_workers()
        row = self._store.find_run(NIGHTLY)
        return row is not None and row.state is RunState.PUBLISHED

    def _restart_crashed_workers(self) -> None:
        """As infra/compose.yaml does: a worker can die of an acknowledgement while its broker is away (kombu)."""
        for process in [one for one in self._processes if one.crashed and one.name.startswith("worker")]:
            process.kill()
            self.start_worker()

    def _start(self, name: str, arguments: list[str], app: str = APP) -> Process:
        process = Process(name, [*CELERY[:-1], app, *arguments], self.environment, self._folder, preloaded.Popen)
        self._processes.append(process)
        return process


@contextmanager
def running_cluster(folder: Path, postgres: PostgresServer, valkey: ValkeyServer, registry: str) -> Iterator[Cluster]:
    """A deployment on an empty database, with nothing started yet; everything started is killed in the end."""
    cluster = Cluster(folder, postgres, valkey, registry)
    try:
        yield cluster
    finally:
        cluster.stop()
