"""What a process of the site asks of itself before the first visitor."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from publish.web.client_address import client_address
from workers.settings.environment import read_settings
from workers.web import app as web_app
from workers.web.app import create_app
from workers.web.first_requests import request_pages

URL = "https://hallmark.example"


class RecordingSite:
    """Lists one server, or fails, and counts the requested paths."""

    def __init__(self, status: int = 200) -> None:
        self.paths: Counter[str] = Counter()
        self.clients: Counter[str] = Counter()
        self._status = status
        self.app = Starlette(routes=[Route("/{path:path}", self._answer)])

    async def _answer(self, request: Request) -> Response:
        assert str(request.base_url) == f"{URL}/"
        self.paths[request.url.path] += 1
        self.clients[client_address(request.scope, [])] += 1
        return JSONResponse({"servers": [{"id": "srv_1"}]}, status_code=self._status)


def test_every_thread_has_answered_each_kind_of_page_once() -> None:
    site = RecordingSite()
    asyncio.run(request_pages(site.app, URL, threads=3))
    assert site.paths == {
        "/api/v1/servers": 1,
        "/": 3,
        "/servers": 9,
        "/servers/srv_1": 3,
        "/servers/srv_1/history": 3,
        "/api/v1/servers/srv_1": 3,
    }


def test_no_client_requests_more_than_its_rate_allows() -> None:
    site = RecordingSite()
    asyncio.run(request_pages(site.app, URL, threads=300))
    assert len(site.clients) == 300
    assert max(site.clients.values()) < 10
    assert "127.0.0.1" not in site.clients


def test_a_site_that_cannot_list_its_servers_is_asked_once() -> None:
    site = RecordingSite(status=503)
    asyncio.run(request_pages(site.app, URL, threads=3))
    assert site.paths == {"/api/v1/servers": 1}


def test_pages_are_requested_before_connections_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read_settings(home=tmp_path, web_url=URL, web_threads=3)
    asked: list[tuple[str, int]] = []

    async def record(_: object, url: str, threads: int) -> None:
        asked.append((url, threads))

    monkeypatch.setattr(web_app, "request_pages", record)

    async def start() -> None:
        messages: list[str] = []
        incoming = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> dict[str, str]:
            return next(incoming)

        async def send(message: dict[str, str]) -> None:
            messages.append(message["type"])
            if message["type"] == "lifespan.startup.complete":
                assert asked == [(URL, 3)]

        await create_app(settings)({"type": "lifespan", "state": {}}, receive, send)  # type: ignore[arg-type]
        assert messages == ["lifespan.startup.complete", "lifespan.shutdown.complete"]

    asyncio.run(start())
