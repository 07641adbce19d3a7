"""The health app over HTTP: in this process, and as the deployments start it beside a real worker."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import structlog
from redis import Redis
from starlette.testclient import TestClient

from evidence.store import open_store
from tests.functional.processes import CELERY, Process, environment, until
from tests.servers import preloaded
from tests.servers.daemon import free_port
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import valkey_server
from tests.stepping_clock import SteppingClock
from tests.workers import world
from workers.observability import health
from workers.observability.health import CachedValue, create_app
from workers.observability.status import StatusReader, SystemStatus, Unavailable

LISTENING = "_kombu.binding.celery.pidbox"  # where kombu keeps who takes questions for workers


@pytest.fixture(scope="module")
def postgres(session_postgres: PostgresServer) -> PostgresServer:
    return session_postgres


@contextmanager
def client(home: Path, **changes: object) -> Iterator[TestClient]:
    with TestClient(create_app(world.settings(home, **changes))) as one:
        yield one


def migrated(url: str) -> str:
    with closing(open_store(url)) as store:
        store.migrate()
    return url


def test_the_process_is_healthy_and_not_ready_while_its_database_is_away(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://me:s3cret@127.0.0.1:{free_port()}/x"
    with client(tmp_path, database_url=url, redis_url=f"redis://:s3cret@127.0.0.1:{free_port()}/0") as one:
        assert one.get("/healthz").text == "ok\n"
        ready = one.get("/readyz")
        assert (ready.status_code, ready.json()) == (503, {"database": "away", "broker": "away"})
        metrics = one.get("/metrics")
        assert metrics.status_code == 200
        assert 'hallmark_up{part="database"} 0.0' in metrics.text
        assert "s3cret" not in ready.text + metrics.text


def test_an_embedded_installation_is_ready_when_it_has_its_tables(tmp_path: Path) -> None:
    with client(tmp_path) as one:
        assert one.get("/readyz").status_code == 503
    migrated(f"sqlite:///{tmp_path}/hallmark.db")
    with client(tmp_path) as one:
        assert one.get("/readyz").json() == {"database": "answers"}
        assert one.get("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_nothing_can_be_changed(tmp_path: Path, method: str) -> None:
    with client(tmp_path) as one:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert getattr(one, method)(path).status_code == 405
        assert one.get("/docs").status_code == 404


def test_many_who_ask_at_once_cost_one_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrated(f"sqlite:///{tmp_path}/hallmark.db")
    looks: list[int] = []
    look = StatusReader.read_status

    def counted(observer: StatusReader) -> object:
        looks.append(threading.get_ident())
        return look(observer)

    monkeypatch.setattr(StatusReader, "read_status", counted)
    with client(tmp_path) as one, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: one.get("/metrics").status_code, range(16)))
    assert answers == [200] * 16
    assert len(looks) == 1


@pytest.mark.parametrize(("took", "kept"), [(0.5, 10.0), (4.0, 40.0), (120.0, 300.0)])
def test_what_takes_long_to_read_is_read_seldom(took: float, kept: float) -> None:
    clock, reads = SteppingClock(world.NIGHT), list[int]()

    async def read() -> int:
        clock.step(timedelta(seconds=took))
        reads.append(1)
        return len(reads)

    async def main() -> None:
        value = CachedValue(read, 10.0, clock, times=10, most=300.0)
        assert await value.get() == 1
        clock.step(timedelta(seconds=kept - 0.1))
        assert await value.get() == 1
        clock.step(timedelta(seconds=0.2))
        assert await value.get() == 2

    asyncio.run(main())


def test_problems_are_logged_again_after_they_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads: list[int] = []
    gone = Unavailable("gone")
    away = SystemStatus(at=world.NIGHT, store=gone, broker=gone, due=world.NIGHT, overdue=0.0)

    def fail_once(_: StatusReader) -> SystemStatus:
        reads.append(1)
        if len(reads) == 1:
            raise KeyError("a bug")
        return away

    monkeypatch.setattr(StatusReader, "read_status", fail_once)
    monkeypatch.setattr(health, "FIRST_PROBLEMS_SECONDS", 0.01)
    monkeypatch.setattr(health, "PROBLEMS_SECONDS", 0.01)
    logged: list[str] = []

    def is_a_problem_logged() -> bool:
        logged.extend(capsys.readouterr().err.splitlines())
        return any('"problem_found"' in line for line in logged)

    with client(tmp_path):
        until(is_a_problem_logged, "a problem is logged")
    structlog.reset_defaults()  # the next test has another stderr
    failure = json.loads(logged[0])
    assert (failure["event"], failure["error"]) == ("problems_not_read", "KeyError")


def test_workers_that_start_together_with_the_app_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(StatusReader, "read_status", lambda _: (_ for _ in ()).throw(KeyError("a problem")))
    with client(tmp_path):
        time.sleep(0.3)
    structlog.reset_defaults()
    assert "problems_not_read" not in capsys.readouterr().err


@contextmanager
def listening_worker(folder: Path, postgres: PostgresServer) -> Iterator[dict[str, str]]:
    """A worker as deployed that takes messages from `probe`; the environment of its deployment."""
    with valkey_server() as valkey:
        variables = {"HALLMARK_DATABASE_URL": migrated(postgres.create_database()), "HALLMARK_REDIS_URL": valkey.url}
        env = environment(folder, **variables)
        worker = Process(
            "worker", [*CELERY, "worker", "--queues", "probe", "--concurrency", "1"], env, folder, preloaded.Popen
        )
        try:
            with Redis.from_url(valkey.url) as redis:
                until(lambda: bool(redis.exists(LISTENING)), "a worker listens", explain=worker.log)
            yield env
        finally:
            worker.kill()


def test_the_app_as_deployed_sees_a_worker_as_deployed(tmp_path: Path, postgres: PostgresServer) -> None:
    with listening_worker(tmp_path, postgres) as env, (tmp_path / "health.log").open("wb") as log:
        port = free_port()
        command = [
            sys.executable,
            "-m",
            "uvicorn",
            "--factory",
            "workers.observability.health:create_app",
            "--port",
            str(port),
        ]
        health = preloaded.Popen(command, env=env, cwd=tmp_path, stdout=log, stderr=log)
        try:
            until(lambda: fetched(f"http://127.0.0.1:{port}/healthz") == "ok\n", "the app answers")
            assert 'hallmark_workers{queue="probe"} 1.0' in fetched(f"http://127.0.0.1:{port}/metrics")
            assert fetched(f"http://127.0.0.1:{port}/readyz") == '{"database":"answers","broker":"answers"}'
        finally:
            health.kill()
            health.wait()


@pytest.mark.soak
def test_status_sees_the_same_worker(tmp_path: Path, postgres: PostgresServer) -> None:
    with listening_worker(tmp_path, postgres) as env:
        assert "probe" in read_cli_status(env)["broker"]["workers"][f"celery@{gethostname()}"]


def read_cli_status(env: Mapping[str, str]) -> dict[str, Any]:
    """What `hallmark status --json` says of the same deployment."""
    command = [sys.executable, "-c", "from workers.cli import main; main()", "status", "--json"]
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    assert done.returncode == 1, "nothing plans the night here, which is a problem"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def fetched(url: str) -> str:
    try:
        with urlopen(url, timeout=60) as answer:
            return str(answer.read().decode())
    except (URLError, ConnectionError, TimeoutError):
        return ""
