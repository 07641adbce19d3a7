"""Servers with an address of their own each, and the registry that lists them, in processes that no fault touches."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.functional.processes import ROOT

SEED = 11
EVERY_LOOPBACK_ADDRESS = "0.0.0.0"
START_SECONDS = 300.0


@contextmanager
def running_world(folder: Path, servers: int, *, latency: float) -> Iterator[str]:
    """Serve, every answer after `latency` seconds; yields the registry's URL."""
    options = ["--count", str(servers), "--seed", str(SEED), "--latency-ms", str(latency * 1000)]
    with _serving("scripted", folder, "--host", EVERY_LOOPBACK_ADDRESS, *options) as port:
        entries = folder / "entries.json"
        entries.write_text(json.dumps([_entry(number, port) for number in range(servers)]))
        with _serving("registry", folder, "--entries", str(entries)) as listed:
            yield f"http://127.0.0.1:{listed}"


def _entry(number: int, port: int) -> dict[str, object]:
    host = f"127.1.{number // 250}.{number % 250 + 1}"
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.example.chaos/server-{number:05d}",
        "description": f"Server {number} of many",
        "version": "1.0.0",
        "remotes": [{"type": "streamable-http", "url": f"http://{host}:{port}/s/{number}/mcp"}],
    }


@contextmanager
def _serving(module: str, folder: Path, *arguments: str) -> Iterator[int]:
    """A test server in a process of its own; yields its port."""
    port_file = folder / f"{module}.port"
    command = [sys.executable, "-m", f"tests.servers.{module}", *arguments, "--port-file", str(port_file)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            assert process.poll() is None, f"{module} ended"
            assert time.monotonic() < deadline, f"{module} did not start within {START_SECONDS:.0f} s"
            time.sleep(0.02)
        yield int(port_file.read_text())
    finally:
        process.kill()
        process.wait()
