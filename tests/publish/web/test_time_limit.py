"""An answer that has not begun in time is 503; what the visitor is slow with is not held against the site."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from threading import Event

import pytest
from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from evidence.model import Dossier
from evidence.store import Store
from publish.web.backend import RequestLimits
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[[Sequence[Dossier]], Store]
LIMITS = RequestLimits(rate=0, answer_seconds=0.3, body_seconds=2.0)


class Site:
    """The site with three more paths; `woken` ends what stands still."""

    def __init__(self, client: TestClient) -> None:
        assert isinstance(client.app, FastAPI)
        self.app, self.client, self.woken = client.app, client, Event()
        self.app.add_api_route("/still", self.still)
        self.app.add_api_route("/stream", self.stream)
        self.app.add_api_route("/echo", self.echo, methods=["POST"])

    def still(self) -> str:
        self.woken.wait(20)
        return "late"

    def stream(self) -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"begun, "
            await asyncio.sleep(3 * LIMITS.answer_seconds)
            yield b"and ended"

        return StreamingResponse(parts(), media_type="application/octet-stream")

    async def echo(self, request: Request) -> str:
        return (await request.body()).decode()

    def post(self, *waits: float) -> list[Message]:
        """The messages of the answer to a body whose parts come after so many seconds each."""
        sent: list[Message] = []
        left = list(waits)

        async def receive() -> Message:
            if not left:
                await asyncio.Event().wait()
            await asyncio.sleep(left.pop(0))
            return {"type": "http.request", "body": b"a", "more_body": bool(left)}

        async def send(message: Message) -> None:
            sent.append(message)

        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": "/echo",
            "raw_path": b"/echo",
            "root_path": "",
            "scheme": "https",
            "query_string": b"",
            "client": ("192.0.2.1", 1),
            "headers": [(b"host", b"hallmark.example"), (b"origin", b"https://hallmark.example")],
            "server": ("hallmark.example", 443),
        }
        call: Awaitable[None] = self.app(scope, receive, send)
        asyncio.run(asyncio.wait_for(call, 20))
        return sent


@pytest.fixture
def site(make_store: MakeStore, site_of: SiteOf) -> Site:
    return Site(site_of(make_store([]), PlainBackend(limits=LIMITS)))


def test_an_answer_that_does_not_begin_is_503(site: Site) -> None:
    try:
        late = site.client.get("/still")
        assert (late.status_code, late.headers["retry-after"]) == (503, "5")
        assert "database does not answer" in late.text
        assert "default-src 'none'" in late.headers["content-security-policy"]
    finally:
        site.woken.set()


def test_an_answer_that_has_begun_may_take_its_time(site: Site) -> None:
    assert site.client.get("/stream").text == "begun, and ended"


def test_a_slow_visitor_is_waited_for(site: Site) -> None:
    start, *_ = site.post(0.2, 0.2, 0.2, 0.5)
    assert start["status"] == 200


def test_a_visitor_who_sends_nothing_gets_408_and_not_503(site: Site) -> None:
    start, *_ = site.post(5.0)
    assert start["status"] == 408
