"""A network between a client and a server on loopback that can be cut and slowed: `with Relay(port) as relay: ...`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

CHUNK = 64 * 1024


class Relay:
    """Passes bytes on to `target` on loopback. While it is cut bytes wait, as in a network that loses every packet."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._delay = 0.0
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._started.wait(300):
            raise RuntimeError("the relay did not start within 300 s")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10)

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Let nothing pass."""
        self._loop.call_soon_threadsafe(self._open.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._open.set)

    @contextmanager
    def slowed(self, delay: float) -> Iterator[None]:
        """Let every chunk wait for so many seconds."""
        self._delay = delay
        try:
            yield
        finally:
            self._delay = 0.0

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._open, self._ended = asyncio.Event(), asyncio.Event()
        self._open.set()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._ended.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open.wait()
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        pumps = [asyncio.create_task(self._pump(reader, back)), asyncio.create_task(self._pump(there, writer))]
        with suppress(asyncio.CancelledError):  # the relay ends while connections are open
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        for end in (writer, back):
            end.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await source.read(CHUNK):
                await asyncio.sleep(self._delay)
                await self._open.wait()
                sink.write(chunk)
                await sink.drain()
