"""An ASGI app under uvicorn on a free port of loopback, in a thread of its own."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp


@contextlib.contextmanager
def on_loopback(make: Callable[[str], ASGIApp]) -> Iterator[str]:
    """Serve what `make` gives for its own address until the block ends; yields the address, without a slash."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(make(address), log_config=None, access_log=False, timeout_graceful_shutdown=2)
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        if not server.is_up.wait(300):
            raise RuntimeError("the app did not start within 300 s")
        yield address
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


class _Server(uvicorn.Server):
    """Says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()
