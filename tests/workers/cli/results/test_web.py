"""`hallmark web` says what it serves, and why it cannot."""

from __future__ import annotations

import multiprocessing
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from tests.processes import children
from tests.servers import preloaded
from tests.workers.sites import heard
from workers.cli.results.web import web
from workers.settings.environment import read_settings
from workers.web import processes
from workers.web.processes import SiteStartFailed, serve_by_processes

WEB = "from workers.cli import main; main()"
FORKING = f"""
import multiprocessing
fork = multiprocessing.get_context("fork")
multiprocessing.get_context = lambda _: fork  # a fresh process imports the site for three seconds
{WEB}
"""


@contextmanager
def _site(home: Path, *options: str, code: str = FORKING) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The site of an empty database at a free port, and its address; killed at the end if it still runs."""
    settings = {"HALLMARK_HOME": str(home), "HALLMARK_LOG_FORMAT": "json", "HALLMARK_WEB_PREPARED": "0"}
    environment = {**os.environ, **settings}
    command = [sys.executable, "-c", code, "web", "--port", "0", *options]
    with preloaded.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = heard(process, "Ctrl-C")
            address = re.search(r"an empty site at (http://127\.0\.0\.1:[0-9]+)", said)
            assert address, said
            assert "hallmark run" in said
            yield process, address[1]
        finally:
            process.kill()


def _front(address: str) -> str:
    with urlopen(f"{address}/", timeout=60) as page:
        return str(page.read().decode())


def _ended(process: subprocess.Popen[str], how: signal.Signals) -> int:
    assert process.stderr is not None
    process.send_signal(how)
    process.stderr.read()
    return process.wait()


def _answering(process: subprocess.Popen[str]) -> list[int]:
    """The processes that answer for the one that was started."""
    started = children(process.pid)
    return [pid for pid in started if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_it_serves_an_empty_database_until_it_is_interrupted(tmp_path: Path) -> None:
    with _site(tmp_path) as (process, address):
        front = _front(address)
        assert "Nothing is published yet" in front
        assert f'<link rel="canonical" href="{address}/">' in front
        assert _ended(process, signal.SIGINT) == 0


def test_a_process_of_the_site_that_dies_is_replaced_and_all_end_together(tmp_path: Path) -> None:
    with _site(tmp_path, "--processes", "2") as (process, address):
        assert "Nothing is published yet" in _front(address)
        first, second = _answering(process)
        os.kill(first, signal.SIGKILL)
        heard(process, "ended with exit code -9 and was restarted")
        now = _answering(process)
        assert len(now) == 2
        assert second in now
        assert "Nothing is published yet" in _front(address)
        assert _ended(process, signal.SIGTERM) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in now)


@pytest.mark.soak  # the test above ends them in every run
def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    with _site(tmp_path, "--processes", "2", code=WEB) as (process, address):
        _front(address)
        watched = [os.pidfd_open(pid) for pid in _answering(process)]
        process.kill()
        for pidfd in watched:
            assert select.select([pidfd], [], [], 60)[0]
            os.close(pidfd)


def test_several_processes_refuse_a_port_that_another_process_uses(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = CliRunner().invoke(web, ["--port", str(port), "--processes", "2"])
    assert result.exit_code == 1
    assert f"cannot listen at port {port}" in result.output


def test_a_port_that_is_taken_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(web, ["--port", str(port)])
    assert result.exit_code == 1
    assert f"cannot listen at port {port}" in result.output
    assert not (tmp_path / "hallmark.db").exists()


def test_a_site_whose_processes_end_at_once_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(processes.multiprocessing, "get_context", lambda _: fork)
    monkeypatch.setattr(processes, "_serve_while_parent_lives", lambda *_: os._exit(3))
    messages: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(SiteStartFailed, match="ended 3 times"):
        serve_by_processes(read_settings(), [listener], messages.append)
    assert messages == ["a process of the site ended with exit code 3 and was restarted"] * 2
