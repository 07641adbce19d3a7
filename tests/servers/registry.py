"""A registry that speaks the official OpenAPI: `python -m tests.servers.registry --port-file F --count 200 --faults`.

Keyset paging by (name, version), `limit` from 1 to 100, a cursor on every full page (so a last page can be empty),
`updated_since` strictly later and including deleted servers. With faults, pages answer 429 and 500 before they succeed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.servers.registry_entries import Row, generate, load_rows
from tests.servers.serving import in_thread, on_loopback

OFFICIAL = "io.modelcontextprotocol.registry/official"
DEFAULT_LIMIT = 30
MAX_LIMIT = 100


@dataclass(frozen=True)
class Answer:
    """A response before it is written to a socket."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class RegistryApi:
    """The API over fixed rows. `faults` lists the answers that each page gives before its real one."""

    rows: list[Row]
    faulty: bool = False
    bare: bool = False
    snake_cursor: bool = False
    requests: list[dict[str, str]] = field(default_factory=list)
    pending: dict[str, list[Answer]] = field(default_factory=dict)

    def answer(self, target: str, now: datetime = datetime(2026, 6, 1, tzinfo=UTC)) -> Answer:
        """The answer to a GET of a path with query."""
        path, query = urlsplit(target).path, dict(parse_qsl(urlsplit(target).query, keep_blank_values=True))
        parts = path.strip("/").split("/")
        if parts[:2] != ["v0.1", "servers"]:
            return error(404, "not found")
        if len(parts) == 2:
            self.requests.append(query)
            return self._fault(query.get("cursor", ""), now) or self._list(query)
        rows = [row for row in self.rows if row.name == unquote(parts[2])]
        if parts[3:4] != ["versions"] or not rows:
            return error(404, "Server not found")
        if len(parts) == 4:
            return self._page(rows, None)
        wanted = unquote(parts[4])
        found = [row for row in rows if row.version == wanted or (wanted == "latest" and row.latest)]
        return Answer(200, self._entry(found[-1])) if found else error(404, "Server not found")

    def _list(self, query: dict[str, str]) -> Answer:
        limit = query.get("limit", str(DEFAULT_LIMIT))
        if not limit.isdigit() or not 1 <= int(limit) <= MAX_LIMIT:
            return error(422, "validation failed: limit")
        since = query.get("updated_since")
        if since and query.get("include_deleted") == "false":
            return error(400, "include_deleted cannot be false with updated_since")
        deleted = bool(since) or query.get("include_deleted") == "true"
        rows = sorted(self.rows, key=lambda row: (row.name, row.version))
        rows = [row for row in rows if deleted or row.status != "deleted"]
        if since:
            moment = datetime.fromisoformat(since)
            rows = [row for row in rows if row.updated_at > moment]
        if wanted := query.get("version"):
            rows = [row for row in rows if row.version == wanted or (wanted == "latest" and row.latest)]
        if text := query.get("search"):
            rows = [row for row in rows if text in row.name]
        if cursor := query.get("cursor"):
            name, _, version = cursor.partition(":")
            rows = [row for row in rows if (row.name, row.version) > (name, version)]
        page = rows[: int(limit)]
        return self._page(page, f"{page[-1].name}:{page[-1].version}" if len(page) == int(limit) else None)

    def _page(self, rows: list[Row], cursor: str | None) -> Answer:
        metadata: dict[str, Any] = {"count": len(rows)}
        if cursor:
            metadata["next_cursor" if self.snake_cursor else "nextCursor"] = cursor
        servers = b", ".join(self._entry(row) for row in rows)
        return Answer(200, b'{"servers": [' + servers + b'], "metadata": ' + json.dumps(metadata).encode() + b"}\n")

    def _entry(self, row: Row) -> bytes:
        if self.bare:
            return row.document
        moment = row.updated_at.isoformat().replace("+00:00", "Z")
        official = {"status": row.status, "publishedAt": moment, "updatedAt": moment, "isLatest": row.latest}
        return b'{"server": ' + row.document + b', "_meta": ' + json.dumps({OFFICIAL: official}).encode() + b"}"

    def _fault(self, cursor: str, now: datetime) -> Answer | None:
        if not self.faulty:
            return None
        if cursor not in self.pending:
            self.pending[cursor] = _faults(len(self.pending), now)
        return self.pending[cursor].pop(0) if self.pending[cursor] else None


def _faults(page: int, now: datetime) -> list[Answer]:
    busy = error(429, "rate limit")
    by_page = defaultdict(
        list[Answer],
        {
            0: [Answer(429, busy.body, {"retry-after": "1"})],
            1: [busy],
            2: [error(500, "database"), error(500, "database")],
            3: [Answer(429, busy.body, {"retry-after": format_datetime(now, usegmt=True)}), error(503, "starting")],
            4: [Answer(200, b'{"servers": [{"server": {"name"')],
        },
    )
    return by_page[page % 6]


def error(status: int, message: str) -> Answer:
    """An error in the shape of the reference implementation."""
    return Answer(status, json.dumps({"title": "Error", "status": status, "detail": message}).encode())


class _Connection(asyncio.Protocol):
    """One HTTP/1.1 connection with keep-alive that only knows GET."""

    def __init__(self, api: RegistryApi) -> None:
        self.api = api
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            self.write(
                self.api.answer(target, datetime.now(UTC)) if method == "GET" else error(405, "method not allowed")
            )

    def write(self, answer: Answer) -> None:
        headers = {"content-type": "application/json", "content-length": str(len(answer.body)), **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + answer.body)


@contextlib.contextmanager
def running(api: RegistryApi) -> Iterator[str]:
    """Serve from a thread of this process; yields the base URL."""
    with in_thread(lambda: on_loopback(lambda: _Connection(api)), "the registry") as port:
        yield f"http://127.0.0.1:{port}"


def main(arguments: list[str] | None = None) -> None:
    """Serve until killed; the port is printed and, with --port-file, written whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path)
    parser.add_argument("--entries", type=Path, help="serve the server.json documents of this file")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--remote-base", help="generated remotes point at URL/s/<i>/mcp")
    options = parser.parse_args(arguments)
    rows = (
        load_rows(options.entries)
        if options.entries
        else generate(options.count, options.seed, remote_base=options.remote_base)
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(RegistryApi(rows, faulty=options.faults), options))


async def _serve(api: RegistryApi, options: argparse.Namespace) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(api), "127.0.0.1", options.port)
    port = server.sockets[0].getsockname()[1]
    if options.port_file:
        partial = options.port_file.with_suffix(".partial")
        partial.write_text(str(port))
        os.replace(partial, options.port_file)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    main()
