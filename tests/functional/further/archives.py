"""A host of archives that stops in the middle: it hangs up, or keeps its client waiting until it may go on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Halfway:
    """Sends half of `content` to each client. With `hangs_up` it ends there, else it waits for `may_go_on`."""

    content: bytes
    hangs_up: bool
    url: str = ""
    asked: int = 0
    halfway: threading.Event = field(default_factory=threading.Event)
    may_go_on: threading.Event = field(default_factory=threading.Event)

    def serve(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            self.asked += 1
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(self.content)}\r\nConnection: close\r\n\r\n"
            half = len(self.content) // 2
            connection.sendall(head.encode() + self.content[:half])
            self.halfway.set()
            if not self.hangs_up:
                self.may_go_on.wait(300)
                connection.sendall(self.content[half:])


@contextmanager
def stopping_halfway(content: bytes, *, hangs_up: bool) -> Iterator[Halfway]:
    """Serve from threads of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host = Halfway(content, hangs_up, url=f"http://127.0.0.1:{listening.getsockname()[1]}/archive.tgz")
        threading.Thread(target=host.serve, args=(listening,), daemon=True).start()
        yield host
        host.may_go_on.set()
        listening.shutdown(socket.SHUT_RDWR)
