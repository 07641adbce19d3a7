"""A deployment with simulated servers: fleet, registry, databases, beat and workers, each a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Self

from bench.simulation.metering import Meter, children_of
from bench.simulation.population import DOMAIN, Population
from tests.crawler.wire.certificates import Authority
from tests.functional.processes import environment
from tests.servers.postgres import PostgresServer, postgres_server
from tests.servers.valkey import ValkeyServer, valkey_server

ROOT: Final = Path(__file__).resolve().parents[2]
_START_SECONDS: Final = 60.0
_COLLECTING: Final = "probe,sandbox,github,scan"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is deployed: `workers` processes that collect and as many that score, and settings besides the world's.

    `together`: the worker that probes and scores has a process more, for sweeps and publication too. `app` is the
    Celery application, and `changes` may hold what it reads besides.
    """

    population: Population
    workers: int = 1
    fleets: int = 1
    secure: bool = True
    gap: float = 0.6
    together: bool = False
    changes: Mapping[str, str] = field(default_factory=dict)
    app: str = "workers.celery_app"


class Deployment:
    """All processes of the deployment; leaving the context ends them."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.logs = [folder / f"access-{index}.log" for index in range(plan.fleets)]
        self._stack = ExitStack()
        self._world: dict[str, list[subprocess.Popen[bytes]]] = {}
        self._ours: dict[str, list[subprocess.Popen[bytes]]] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.folder.chmod(0o755)
            self._stack = stack
            self.postgres: PostgresServer = stack.enter_context(postgres_server(durable=True))
            self.valkey: ValkeyServer = stack.enter_context(valkey_server())
            self.url = self.postgres.create_database()
            stack.callback(self._stop_all)
            self._start_world()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def begin(self, clock: str) -> Meter:
        """Start workers and beat at a date, and a meter over all processes."""
        env = self._environment(clock)
        pool = ["--without-mingle", "--without-gossip", "--loglevel", "warning"]
        beat = ["beat", "--schedule", str(self.folder / "beat-schedule"), "--pidfile=", "--loglevel", "warning"]
        self._ours = {"beat": [self._celery("beat", beat, env)]}
        for role, queues, processes in self._pools():
            worker = ["worker", "--queues", queues, "--concurrency", str(processes), "--hostname", f"{role}@bench"]
            self._ours[role] = [self._celery(role, [*worker, *pool], env)]
        pids = {role: [one.pid for one in some] for role, some in {**self._world, **self._ours}.items()}
        return Meter({**pids, "postgresql": [self.postgres.pid], "valkey": [self.valkey.pid]})

    def _pools(self) -> list[tuple[str, str, int]]:
        if self.plan.together:
            return [("worker", f"{_COLLECTING},score,publish", self.plan.workers + 1)]
        pools = [("worker", _COLLECTING), ("scorer", "score")]
        return [*((role, queues, self.plan.workers) for role, queues in pools), ("publisher", "publish", 1)]

    def pool(self) -> list[int]:
        """The processes that probe, score and publish."""
        parents = [self._ours[role][0].pid for role, _, _ in self._pools()]
        return [child for parent in parents for child in children_of(parent)]

    def looked_up(self, run_id: str) -> int:
        """Servers of a run whose receipts were those of an earlier night."""
        lines = [line for file in self.folder.glob("*.out") for line in file.read_text().splitlines()]
        events = [json.loads(line) for line in lines if line.startswith("{") and '"servers_scored"' in line]
        return sum(event["looked_up"] for event in events if event["run"] == run_id)

    def end(self) -> None:
        """Stop workers and beat."""
        _stop([one for some in self._ours.values() for one in some])
        self._ours = {}

    def begin_day(self) -> None:
        """Let some servers change, as the population says."""
        for process in self._world["fleet"]:
            process.send_signal(signal.SIGUSR1)

    def close_world(self) -> None:
        """Stop fleet and registry, so that the access log is complete."""
        _stop([one for some in self._world.values() for one in some])
        self._world = {}

    def tail_logs(self) -> str:
        """The last lines of the logs, for the message of a failure."""
        files = sorted(self.folder.glob("*.out"))
        return "\n".join(f"--- {file.stem}\n{file.read_text(errors='replace')[-2000:]}" for file in files)

    def _start_world(self) -> None:
        authority = Authority(self.folder)
        certificate, key = authority.issue(f"*.{DOMAIN}")
        tls = ["--tls-cert", str(certificate), "--tls-key", str(key)] if self.plan.secure else []
        self._authority = authority.file
        world = ["-m", "bench.simulation.fleet", "--population", json.dumps(asdict(self.plan.population)), *tls]
        ready = [self.folder / f"fleet-{index}" for index in range(self.plan.fleets)]
        self._world["fleet"] = [
            self._spawn(f"fleet-{n}", [*world, "--index", str(n), "--log", str(log), "--ready", str(ready[n])])
            for n, log in enumerate(self.logs)
        ]
        entries = self.folder / "entries.json"
        scheme = "https" if self.plan.secure else "http"
        entries.write_text(json.dumps({"servers": self.plan.population.documents(scheme)}))
        port = self.folder / "registry-port"
        command = ["-m", "tests.servers.registry", "--entries", str(entries), "--port-file", str(port)]
        self._world["registry"] = [self._spawn("registry", command)]
        wait_until(lambda: all(path.exists() for path in [*ready, port]), "the world to start", self.tail_logs)
        self._registry = f"http://127.0.0.1:{port.read_text()}"

    def _environment(self, clock: str) -> dict[str, str]:
        pace = self.plan.population.pace
        settings = {
            "HALLMARK_CLOCK": clock,
            "HALLMARK_DATABASE_URL": self.url,
            "HALLMARK_REDIS_URL": self.valkey.url,
            "HALLMARK_REGISTRIES": json.dumps([{"name": "simulated", "url": self._registry}]),
            "HALLMARK_ALLOW_PRIVATE": "false",
            "HALLMARK_HOST_GAP": str(self.plan.gap),
            "HALLMARK_DOMAIN_REQUESTS": "0",  # all simulated hosts are of one domain
            "HALLMARK_SHARDS": str(self.plan.workers),
            "HALLMARK_LIGHT_EVERY": "0",
            "HALLMARK_RETRIES": "0",  # a night with retries takes as long as they are apart
            "HALLMARK_IN_FLIGHT": "1000",
            "HALLMARK_WRITE_BATCH": "50",
            "HALLMARK_SWEEP_EVERY": "2",
            "HALLMARK_PLAN_EVERY": "2",
            "HALLMARK_CONNECT_TIMEOUT": str(10.0 * pace),
            "HALLMARK_FIRST_BYTE_TIMEOUT": str(30.0 * pace),
            "HALLMARK_READ_TIMEOUT": str(15.0 * pace),
            "HALLMARK_SERVER_TIMEOUT": str(120.0 * pace),
            "HALLMARK_RETRY_PAUSE": str(5.0 * pace),
            "HALLMARK_HOST_REST": str(900.0 * pace),
            "HALLMARK_LOG_LEVEL": "info",
            "SSL_CERT_FILE": str(self._authority),
            **self.plan.changes,
        }
        return environment(self.folder, **settings)

    def _celery(self, name: str, arguments: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        return self._spawn(name, ["-m", "celery", "-A", self.plan.app, *arguments], env)

    def _spawn(
        self, name: str, arguments: Sequence[str], env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        surroundings = dict(env) if env is not None else {**os.environ, "PYTHONPATH": str(ROOT)}
        with (self.folder / f"{name}.out").open("ab") as out:
            return subprocess.Popen(
                [sys.executable, *arguments],
                env=surroundings,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def _stop_all(self) -> None:
        self.end()
        self.close_world()


def wait_until(condition: Callable[[], bool], what: str, explain: Callable[[], str]) -> None:
    """Poll until a condition holds; SystemExit with the reason at the deadline."""
    deadline = time.monotonic() + _START_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited too long for {what}\n{explain()}")
        time.sleep(0.05)


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Send SIGTERM to each process, and kill its group after the timeout."""
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
