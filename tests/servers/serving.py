"""A server in a thread and an event loop of its own: `with in_thread(listen, "registry") as port: ...`."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any


@contextlib.contextmanager
def in_thread(listen: Callable[[], Awaitable[asyncio.Server]], name: str) -> Iterator[int]:
    """Serve until the block ends; yields the port. Raise RuntimeError when nothing listens within 300 s."""
    started, stop = threading.Event(), asyncio.Event()
    state: dict[str, Any] = {}

    async def main() -> None:
        server = await listen()
        state.update(loop=asyncio.get_running_loop(), port=server.sockets[0].getsockname()[1])
        started.set()
        await stop.wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    if not started.wait(300):
        raise RuntimeError(f"{name} did not start within 300 s")
    try:
        yield state["port"]
    finally:
        state["loop"].call_soon_threadsafe(stop.set)
        thread.join(10)


async def on_loopback(protocol: Callable[[], asyncio.Protocol]) -> asyncio.Server:
    """A server of that protocol on a free port."""
    return await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
