"""Where proofs are found and messages received: a small web server, and a name server that knows TXT records."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_REFUSED = 5
_NO_SUCH_NAME = 3


@dataclass
class Website:
    """A web server on loopback. `pages` by path; `statuses` are given to POSTs in turn, the last one for ever."""

    url: str
    pages: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=lambda: [204])
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def website() -> Iterator[Website]:
    """A running web server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.asked.append(self.path)
            self._answer(*site.pages.get(self.path, (404, b"nothing here")))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            site.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self._answer(site.statuses.pop(0) if len(site.statuses) > 1 else site.statuses[0], b"")

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            for name, value in site.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = Website(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def name_server(records: Mapping[str, Sequence[str]]) -> Iterator[int]:
    """A running name server with these TXT records; its UDP port. Names below `broken.` are refused."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(0.05)
        ending = threading.Event()
        thread = threading.Thread(target=_serve, args=(listening, records, ending), daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            ending.set()
            thread.join()


def _serve(listening: socket.socket, records: Mapping[str, Sequence[str]], ending: threading.Event) -> None:
    while not ending.is_set():
        try:
            query, whence = listening.recvfrom(4096)
        except TimeoutError:
            continue
        listening.sendto(_answer(query, records), whence)


def _answer(query: bytes, records: Mapping[str, Any]) -> bytes:
    """https://www.rfc-editor.org/rfc/rfc1035#section-4"""
    labels, place = [], 12
    while length := query[place]:
        labels.append(query[place + 1 : place + 1 + length].decode().lower())
        place += length + 1
    question, name = query[12 : place + 5], ".".join(labels)
    texts = records.get(name, ())
    code = _REFUSED if "broken" in labels else 0 if texts else _NO_SUCH_NAME
    head = query[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(texts), 0, 0)
    return head + question + b"".join(_record(text.encode()) for text in texts)


def _record(text: bytes) -> bytes:
    pieces = [text[start : start + 255] for start in range(0, len(text), 255)] or [b""]
    data = b"".join(bytes([len(piece)]) + piece for piece in pieces)
    return b"\xc0\x0c" + struct.pack(">HHIH", 16, 1, 60, len(data)) + data
