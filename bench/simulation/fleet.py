"""Serves a population of virtual MCP servers: `python -m bench.simulation.fleet --population JSON --log FILE`.

It listens on every address of this machine, so it belongs into a network of its own (bench.simulation.network), where
every host of the population has an address. Several processes may serve one population: they share the port. The first
(`--index 0`) is also the name server, and accepts connections on the port of servers that never answer. SIGUSR1 begins
the next day.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvloop

from bench.simulation.access_log import Access, Stall
from bench.simulation.answers import Asked, World
from bench.simulation.names import NameServer
from bench.simulation.population import SILENT_PORT, Population, address_of

_FLUSH_SECONDS = 0.25
_BEAT_SECONDS = 0.02


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection with keep-alive, one request at a time."""

    def __init__(self, world: World, scheme: str, log: Callable[[Access], object]) -> None:
        self._world = world
        self._scheme = scheme
        self._log = log
        self._buffer = b""
        self._start = 0.0
        self._asked: Asked | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._asked is not None:
            self._note(0)

    def data_received(self, data: bytes) -> None:
        if not self._buffer:
            self._start = time.monotonic()
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found or self._asked is not None:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        method, target, _ = lines[0].split(" ", 2)
        self._asked = Asked(method, target.partition("?")[0], headers, rest[:length], self._scheme)
        seconds = self._world.seconds(self._world.remote(self._asked.path), self._start)
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self._answer)

    def _answer(self) -> None:
        if self._asked is None or self._transport.is_closing():
            return
        answer = self._world.answer(self._asked)
        self._note(int(answer[9:12]))
        self._transport.write(answer)

    def _note(self, status: int) -> None:
        asked, self._asked = self._asked, None
        assert asked is not None
        remote = self._world.remote(asked.path)
        number = remote.number if remote else -1
        host = asked.headers.get("host", "").partition(":")[0]
        self._log(Access(host, self._start, time.monotonic(), number, asked.method, status))


class Silence(asyncio.Protocol):
    """Accepts, reads and never answers."""


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT; then the log is complete."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    population = Population(**json.loads(options.population))
    world, tls = World(population), None
    loop.add_signal_handler(signal.SIGUSR1, world.begin_day)
    if options.tls_cert:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.tls_cert, options.tls_key)
    scheme, port = ("https", 443) if tls else ("http", 80)
    with options.log.open("w", buffering=1 << 16) as log:

        def note(access: Access) -> None:
            log.write(access.line())

        await loop.create_server(
            lambda: Connection(world, scheme, note), "0.0.0.0", port, ssl=tls, backlog=4096, reuse_port=True
        )
        if options.index == 0:
            await loop.create_server(Silence, "0.0.0.0", SILENT_PORT, backlog=4096)
            await loop.create_datagram_endpoint(lambda: NameServer(address_of), local_addr=("127.0.0.1", 53))
        assert population.remotes
        stall_logger = asyncio.create_task(_log_stalls(log.write))
        options.ready.touch()
        while not stop.is_set():
            log.flush()
            try:
                async with asyncio.timeout(_FLUSH_SECONDS):
                    await stop.wait()
            except TimeoutError:
                continue
        stall_logger.cancel()


async def _log_stalls(write: Callable[[str], object]) -> None:
    """Log the stalls of this event loop."""
    before = time.monotonic()
    while True:
        await asyncio.sleep(_BEAT_SECONDS)
        now = time.monotonic()
        if now - before > 2 * _BEAT_SECONDS:
            write(Stall(before, now).line())
        before = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--population", required=True, help="JSON object of what Population takes")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--ready", type=Path, required=True, help="file that is made when it serves")
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--tls-cert", type=Path)
    parser.add_argument("--tls-key", type=Path)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
