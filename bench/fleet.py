"""Servers that one process probes per second: `python -m bench.fleet [--json FILE]`.

A fleet of scripted servers that take 300 ms for every answer, over HTTPS, in a process of its own. One process of ours
core-probes them with 1 to 1,000 probes in flight, every guard on; of each level the rate, the CPU and the resident
memory that a probe in flight adds are printed. With enough in flight CPU is what limits, so the rate per core is the
number of servers over CPU seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

from bench.probe import NOW, SEED, port_of
from crawler.collectors.protocol import ProtocolCollector
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from evidence.model import Dossier, Observed, Server, Target, TargetType
from tests.crawler.wire.certificates import Authority
from tests.servers.scripted_answers import Script

LATENCY_MS = 300
LEVELS = (1, 10, 100, 300, 1_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", type=int, help="only this many in flight, in this process")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (16_384, 16_384))
    if options.level:
        sys.stdout.write(json.dumps(level(options.level)))
        return
    rows = [_measure_in_process(count) for count in LEVELS]
    for row in rows:
        print(
            f"{row['in_flight']:5} in flight  {row['servers']:5} servers  {row['per_second']:7.1f} a second  "
            f"{row['per_core']:7.1f} a second and core  {row['cpu_ms']:5.2f} ms CPU each  "
            f"{row['kib_in_flight']:6.0f} KiB a probe in flight  {row['peak_mib']:5.0f} MiB peak"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def level(in_flight: int) -> dict[str, Any]:
    """One level, measured in this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        authority = Authority(folder)
        certificate, key = authority.issue()
        port_file = folder / "port"
        count = max(40, 4 * in_flight)
        command = [
            *(sys.executable, "-m", "tests.servers.scripted", "--count", str(2 * count), "--seed", str(SEED)),
            *("--latency-ms", str(LATENCY_MS), "--port-file", str(port_file)),
            *("--tls-cert", str(certificate), "--tls-key", str(key)),
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as fleet:
            try:
                base = f"https://localhost:{port_of(port_file)}"
                good = [f"{base}/s/{n}/mcp" for n in range(2 * count) if Script(SEED, n).fault is None][:count]
                engine = HttpEngine(
                    user_agent="Hallmark/bench", guard=AddressGuard(allow_private=True), tls=authority.trusting()
                )
                return _measure(
                    ProtocolCollector(engine, None, HostRateLimiter(), lambda: NOW, policy=CallPolicy.OFF),
                    good,
                    in_flight,
                )
            finally:
                fleet.kill()


def _measure(collector: ProtocolCollector, urls: list[str], in_flight: int) -> dict[str, Any]:
    async def run(some: list[str], lanes: int) -> None:
        queue = iter(some)

        async def lane() -> None:
            for url in queue:
                server = Server(ref=url, name=url, targets=(Target(type=TargetType.STREAMABLE_HTTP, identifier=url),))
                listed, *_ = await collector.collect(server, Dossier(server=server, as_of=NOW))
                assert isinstance(listed.content, Observed), listed.content

        await asyncio.gather(*(lane() for _ in range(lanes)))

    async def timed() -> tuple[float, float, int]:
        await run(urls[:10], 10)
        resident = _resident()
        wall, cpu = time.perf_counter(), time.process_time()
        await run(urls, in_flight)
        return time.perf_counter() - wall, time.process_time() - cpu, resident

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        wall, cpu, resident = runner.run(timed())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "in_flight": in_flight,
        "servers": len(urls),
        "per_second": len(urls) / wall,
        "per_core": len(urls) / cpu,
        "cpu_ms": cpu * 1000 / len(urls),
        "kib_in_flight": max(0, peak - resident) / in_flight,
        "peak_mib": peak / 1024,
    }


def _resident() -> int:
    """KiB of this process that are resident now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def _measure_in_process(in_flight: int) -> dict[str, Any]:
    """One level in a fresh process, so that its peak of memory is its own."""
    command = [sys.executable, "-m", "bench.fleet", "--level", str(in_flight)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


if __name__ == "__main__":
    main()
