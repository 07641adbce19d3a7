"""What one core probe costs: `python -m bench.probe [--servers N] [--json FILE]`.

A fleet of scripted servers runs in its own process on loopback, over HTTP and HTTPS. Our collector (all guards on, its
listing body built) and the default client of the official SDK read the same servers in the same run; CPU is that of
this process. Only servers that both can list are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import certifi
import uvloop
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from crawler.collectors.protocol import ProtocolCollector
from crawler.courtesy import Courtesy
from crawler.wire.guard import Guard
from crawler.wire.http import Engine
from evidence.model import Dossier, Observed, Server, Target, TargetType
from tests.crawler.wire.certificates import Authority
from tests.servers.scripted_answers import Script

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CONCURRENCY = 50
SEED = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=400)
    parser.add_argument("--sdk-servers", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for secure in (False, True) for row in measure(options, Path(folder), secure=secure)]
    for row in rows:
        print(f"{row['what']:28} {row['probes']:6} probes  {row['cpu_ms']:8.2f} ms CPU  {row['wall_ms']:7.2f} ms wall")
    for scheme in ("http", "https"):
        ours, sdk = (next(r for r in rows if r["what"] == f"{scheme} {who}") for who in ("hallmark", "sdk default"))
        print(f"{scheme}: the SDK's default client takes {sdk['cpu_ms'] / ours['cpu_ms']:.1f} times our CPU")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def measure(options: argparse.Namespace, folder: Path, *, secure: bool) -> list[dict[str, Any]]:
    """Rows for one scheme."""
    authority = Authority(folder)
    certificate, key = authority.issue()
    bundle = folder / "bundle.pem"
    bundle.write_bytes(_public_authorities() + authority.file.read_bytes())
    os.environ["SSL_CERT_FILE"] = str(bundle)  # the SDK's default client has no other door
    port_file = folder / f"port-{secure}"
    tls = ["--tls-cert", str(certificate), "--tls-key", str(key)] if secure else []
    count = options.servers * 2
    command = [
        sys.executable,
        "-m",
        "tests.servers.scripted",
        "--count",
        str(count),
        "--port-file",
        str(port_file),
        *tls,
    ]
    with subprocess.Popen([*command, "--seed", str(SEED)], stdout=subprocess.DEVNULL) as fleet:
        try:
            base = f"{'https' if secure else 'http'}://localhost:{_port(port_file)}"
            good = [f"{base}/s/{n}/mcp" for n in range(count) if Script(SEED, n).fault is None]
            scheme = base.partition(":")[0]
            ours = _timed(f"{scheme} hallmark", good[: options.servers], _ours(authority.trusting()))
            sdk = _timed(f"{scheme} sdk default", good[: options.sdk_servers], _sdk)
            return [ours, sdk]
        finally:
            fleet.kill()


def _timed(what: str, urls: list[str], probe: Callable[[str], Awaitable[None]]) -> dict[str, Any]:
    async def run(some: list[str]) -> None:
        queue = iter(some)

        async def worker() -> None:
            for url in queue:
                await probe(url)

        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))

    async def both() -> tuple[float, float]:
        await run(urls[:10])
        wall, cpu = time.perf_counter(), time.process_time()
        await run(urls)
        return time.perf_counter() - wall, time.process_time() - cpu

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        wall, cpu = runner.run(both())
    each = 1000 / len(urls)
    return {"what": what, "probes": len(urls), "cpu_ms": cpu * each, "wall_ms": wall * each}


def _ours(tls: ssl.SSLContext) -> Callable[[str], Awaitable[None]]:
    state: dict[str, ProtocolCollector] = {}

    async def probe(url: str) -> None:
        if not state:
            engine = Engine(user_agent="Hallmark/bench", guard=Guard(allow_private=True), tls=tls)
            state["it"] = ProtocolCollector(engine, None, Courtesy(), lambda: NOW)
        target = Target(type=TargetType.STREAMABLE_HTTP, identifier=url)
        server = Server(ref=url, name=url, targets=(target,))
        [record] = await state["it"].collect(server, Dossier(server=server, as_of=NOW))
        assert isinstance(record.content, Observed), record.content

    return probe


def _public_authorities() -> bytes:
    """The bundle that a default client loads, so that its cost is the real one."""
    return Path(certifi.where()).read_bytes()


async def _sdk(url: str) -> None:
    try:
        async with Client(url) as client:
            asked = [client.list_tools, client.list_resources, client.list_resource_templates, client.list_prompts]
            declared = client.server_capabilities
            wanted = [declared.tools, declared.resources, declared.resources, declared.prompts]
            for ask, has in zip(asked, wanted, strict=True):
                if has is not None:
                    with contextlib.suppress(ValidationError):  # one bad tool loses the SDK its list
                        await ask()
    except* MCPError as failure:
        raise SystemExit(f"the SDK did not open {url}") from failure


def _port(file: Path) -> int:
    deadline = time.monotonic() + 20
    while not file.exists():
        if time.monotonic() > deadline:
            raise SystemExit("the fleet did not start")
        time.sleep(0.05)
    return int(file.read_text())


if __name__ == "__main__":
    main()
