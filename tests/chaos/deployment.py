"""A deployment behind relays whose dead processes are started again, as a supervisor does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sqlalchemy.engine import make_url

from evidence.store import NotMigrated, RunState, StoreUnavailable, open_store
from tests.chaos.relay import Relay
from tests.functional.cluster import QUICK
from tests.functional.processes import CELERY, NIGHTLY, Process, environment, until
from tests.servers import preloaded
from tests.servers.daemon import Daemon, free_port
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import ValkeyServer

RESTART_SECONDS = 1.0
ANSWER_SECONDS = 4.0
"""A worker that stands still for longer would see time-outs. Leases last six seconds: tests.functional.cluster."""

WORKERS = ("worker-1", "worker-2")
BEAT = "beat"
WEB = "web"


class Deployment:
    """Beat, two workers and the health app over PostgreSQL and Valkey, each of which a fault may take away."""

    def __init__(
        self, folder: Path, postgres: PostgresServer, valkey: ValkeyServer, relays: tuple[Relay, Relay], registry: str
    ) -> None:
        self.folder = folder
        self.postgres = postgres
        self.valkey = valkey
        self.database, self.broker = relays
        self.url = postgres.create_database()  # past the relay: what is asked here is no part of the deployment
        self._store = open_store(self.url)
        behind = make_url(self.url).set(port=self.database.port).render_as_string(hide_password=False)
        self._env = environment(
            folder,
            HALLMARK_DATABASE_URL=behind,
            HALLMARK_REDIS_URL=f"redis://127.0.0.1:{self.broker.port}/0",
            HALLMARK_REGISTRIES=json.dumps([{"name": "local", "url": registry}]),
            **QUICK
            | {
                "HALLMARK_LEASE_CHUNK": "50",
                "HALLMARK_WRITE_BATCH": "20",
                "HALLMARK_IN_FLIGHT": "20",
                "HALLMARK_FIRST_BYTE_TIMEOUT": str(ANSWER_SECONDS),
            },
        )
        self._processes: dict[str, Process] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._web_port = free_port()

    def start(self) -> None:
        """Start everything."""
        for name in (BEAT, *WORKERS, WEB):
            self._start(name)
        self._supervisor.start()

    def stop(self) -> None:
        """Kill everything."""
        self._ended.set()
        if self._supervisor.is_alive():
            self._supervisor.join()
        for process in self._processes.values():
            process.kill()
        self._store.close()

    def kill(self, name: str) -> None:
        """SIGKILL a process and its children; the supervisor starts it again a second later."""
        with self._lock:
            self._processes.pop(name).kill()

    @contextmanager
    def stalled(self, *names: str) -> Iterator[None]:
        """Let processes stand still with all their children, and go on afterwards; the supervisor waits meanwhile."""
        with self._lock, ExitStack() as stack:
            for name in names:
                stack.enter_context(self._processes[name].stalled())
            yield

    @contextmanager
    def another(self, name: str, *, before: tuple[str, ...] = ()) -> Iterator[None]:
        """One more process of a kind for a while, started through the command `before`."""
        with self._lock:
            self._start(f"{name}-more", before=before)
        try:
            yield
        finally:
            with self._lock:
                self._processes.pop(f"{name}-more").kill()

    def state(self) -> RunState | None:
        """State of the nightly run; None while the run is missing or the database does not answer."""
        with suppress(StoreUnavailable, NotMigrated):
            row = self._store.find_run(NIGHTLY)
            return row.state if row is not None else None
        return None

    def wait_until_leased(self) -> None:
        """Wait until workers hold servers that they are collecting."""
        until(lambda: bool(self._store.list_lease_holders(NIGHTLY)), "servers leased", explain=self.log)

    def log(self) -> str:
        """The last lines of every process."""
        return "\n".join(process.log() for process in list(self._processes.values()))

    def _supervise(self) -> None:
        while not self._ended.wait(RESTART_SECONDS):
            with self._lock:
                for name in (BEAT, *WORKERS, WEB):
                    process = self._processes.get(name)
                    if process is None or process.crashed:
                        if process is not None:
                            process.kill()
                        self._start(name)

    def _start(self, name: str, before: tuple[str, ...] = ()) -> None:
        kind = name.partition("-")[0]
        command, popen = [*before, *self._command(kind, name)], subprocess.Popen if before else preloaded.Popen
        self._processes[name] = Process(name, command, self._env, self.folder, popen)

    def _command(self, kind: str, name: str) -> list[str]:
        match kind:
            case "beat":
                return [*CELERY, "beat", "--schedule", str(self.folder / f"{name}-schedule"), "--pidfile="]
            case "web":
                port = ["--port", str(self._web_port), "--log-level", "warning"]
                return [sys.executable, "-m", "uvicorn", "--factory", "workers.observability.health:create_app", *port]
            case _:
                pool = ["--concurrency", "1", "--without-mingle", "--without-gossip"]
                return [*CELERY, "worker", "--hostname", f"{name}@chaos", *pool]


def revive(server: Daemon, patience: float = 60.0) -> None:
    """Start a server again, as often as it takes: one that crashed may leave something behind for a moment."""
    deadline = time.monotonic() + patience
    while True:
        try:
            server.start()
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


def forget_everything(valkey: ValkeyServer) -> None:
    """Take the broker's data away while it is down."""
    for data in valkey.folder.glob("appendonly*"):
        shutil.rmtree(data, ignore_errors=True)


@contextmanager
def running_deployment(
    folder: Path, postgres: PostgresServer, valkey: ValkeyServer, registry: str
) -> Iterator[Deployment]:
    """A deployment on an empty database, started; everything of it is killed in the end."""
    with ExitStack() as stack:
        relays = (stack.enter_context(Relay(postgres.port)), stack.enter_context(Relay(valkey.port)))
        deployment = Deployment(folder, postgres, valkey, relays, registry)
        stack.callback(deployment.stop)
        deployment.start()
        yield deployment
