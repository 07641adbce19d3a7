"""The database servers that the tests start: data survives restarts, and nothing outlives the tests."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys

import psycopg
import pytest
import redis

from tests.servers.postgres import postgres_server
from tests.servers.valkey import valkey_server


def test_postgres_keeps_its_data_over_restart_and_crash() -> None:
    with postgres_server() as server:
        conninfo = server.create_database().replace("+psycopg", "")
        with psycopg.connect(conninfo) as connection:
            connection.execute("CREATE TABLE fact (n int)")
            connection.execute("INSERT INTO fact VALUES (1)")
        server.restart()
        server.kill()
        server.start()
        with psycopg.connect(conninfo) as connection:
            assert connection.execute("SELECT n FROM fact").fetchall() == [(1,)]


def test_valkey_keeps_its_data_over_restart() -> None:
    with valkey_server() as server:
        redis.Redis.from_url(server.url).set("fact", "1")
        server.restart()
        assert redis.Redis.from_url(server.url).get("fact") == b"1"


def test_server_ends_when_the_test_process_is_killed() -> None:
    script = (
        "import sys; from tests.servers.valkey import valkey_server\n"
        "with valkey_server() as server: print(server.pid, flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        server = os.pidfd_open(int(child.stdout.readline()))
        child.kill()
    try:
        # A pidfd becomes readable when its process has ended.
        assert select.select([server], [], [], 20)[0], "the server is still there"
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(server, signal.SIGKILL)
        os.close(server)


def test_server_that_cannot_start_shows_its_log() -> None:
    with valkey_server() as first:
        second = type(first)(first._log.parent)
        second._command[second._command.index("--port") + 1] = str(first.port)
        second._ready = lambda port: False
        with pytest.raises(RuntimeError, match="did not start"):
            second.start()
