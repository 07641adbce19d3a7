"""The local GitHub over HTTP: budgets per token and resource, ETags, and whatever faults are scripted."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.servers.github import graphql, rest
from tests.servers.github.world import Answer, Asked, World

_FREE = frozenset({"/rate_limit"})


@dataclass(frozen=True)
class Local:
    """A running GitHub: the address of its API, and its world."""

    api: str
    world: World


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it
        """Log nothing."""

    def _handle(self, body: bytes) -> None:
        world, split = self.server.world, urlsplit(self.path)
        path = unquote(split.path).removeprefix(self.server.prefix)
        token = (self.headers.get("Authorization") or "").rpartition(" ")[2] or None
        asked = Asked(
            method=self.command,
            path=path,
            query=split.query,
            token=token,
            etag=self.headers.get("If-None-Match"),
            agent=self.headers.get("User-Agent", ""),
            body=json.loads(body) if body else None,
        )
        with world.lock:
            world.asked.append(asked)
            answer = self._answer(world, asked, body)
            asked.status = answer.status
        time.sleep(world.latency)
        self._write(answer)

    def _answer(self, world: World, asked: Asked, body: bytes) -> Answer:
        resource = "graphql" if asked.method == "POST" else "core"
        if asked.path.startswith("/_archive/"):
            return self._archive(world, asked)
        fault = world.fault(asked.path, asked.token)
        if fault is not None:
            return fault
        if asked.token is not None and asked.token in world.refused:
            return Answer(401, {"message": "Bad credentials", "status": "401"})
        quota = world.quota(asked.token, resource)
        if quota.remaining <= 0:
            return self._with_budget(world, asked, resource, _spent(resource))
        if resource == "graphql":
            answer, asked.cost = graphql.answer(world, body, asked.token)
            quota.remaining = max(0, quota.remaining - asked.cost)
        else:
            query = dict(parse_qsl(urlsplit(self.path).query))
            answer = rest.answer(world, self.server.base, asked.path, query, asked.token)
            answer = _tagged(answer, asked)
            asked.cost = 0 if answer.status == 304 or asked.path in _FREE else 1
            quota.remaining -= asked.cost
        return self._with_budget(world, asked, resource, answer)

    def _with_budget(self, world: World, asked: Asked, resource: str, answer: Answer) -> Answer:
        quota = world.quota(asked.token, resource)
        budget = {
            "X-RateLimit-Limit": str(quota.limit),
            "X-RateLimit-Remaining": str(quota.remaining),
            "X-RateLimit-Used": str(quota.limit - quota.remaining),
            "X-RateLimit-Reset": str(int(quota.reset)),
            "X-RateLimit-Resource": resource,
        }
        return Answer(answer.status, answer.body, {**budget, **answer.headers}, answer.raw)

    def _archive(self, world: World, asked: Asked) -> Answer:
        """The host that serves archives has no business with a token of the API."""
        if asked.token is not None:
            return Answer(400, {"message": "an archive needs no token"})
        one = world.find("/".join(asked.path.removeprefix("/_archive/").split("/")[:2]))
        if one is None or one.archive is None:
            return rest.NOT_FOUND
        return Answer(200, raw=one.archive, headers={"Content-Type": "application/x-gzip"})

    def _write(self, answer: Answer) -> None:
        body = answer.raw if answer.raw is not None else _text(answer.body)
        if answer.status in {204, 304}:
            body = b""
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            **answer.headers,
            "Content-Length": str(len(body)),
        }
        self.send_response_only(answer.status)
        self.send_header("Date", formatdate(self.server.world.clock(), usegmt=True))
        self.send_header("Server", "github.com")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, world: World, prefix: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.world = world
        self.prefix = prefix
        self.base = f"http://127.0.0.1:{self.server_port}{prefix}"


@contextmanager
def serve(world: World | None = None, prefix: str = "") -> Iterator[Local]:
    """A GitHub for the time of a test; with `prefix` `/api/v3` it is an Enterprise Server."""
    server = _Server(world or World(), prefix)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Local(server.base, server.world)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _tagged(answer: Answer, asked: Asked) -> Answer:
    if answer.status != 200:
        return answer
    tag = f'W/"{hashlib.sha256(_text(answer.body)).hexdigest()}"'
    if asked.etag == tag:
        return Answer(304, None, {"ETag": tag})
    return Answer(200, answer.body, {"ETag": tag, "Cache-Control": "private, max-age=60", **answer.headers})


def _spent(resource: str) -> Answer:
    message = "API rate limit exceeded for user ID 1."
    if resource == "graphql":
        return Answer(200, {"errors": [{"type": "RATE_LIMITED", "message": message}]})
    return Answer(403, {"message": message, "documentation_url": "https://docs.github.com/rest"})


def _text(body: Any) -> bytes:
    return b"" if body is None else json.dumps(body, sort_keys=True).encode()
