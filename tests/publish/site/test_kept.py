"""Copies, entity tags and content coding."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterator, Sequence

import pytest
import zstandard
from fastapi import FastAPI
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from evidence.model import Dossier
from evidence.store import Store
from publish.site.encoding import chosen, encoded
from publish.site.kept import Kept
from publish.site.shelf import Copy, Shelf
from publish.site.site import PUBLIC, Site
from tests.publish.site.conftest import SiteOf
from tests.publish.site.desks import PlainDesk

MakeStore = Callable[[Sequence[Dossier]], Store]
TEXT = "word " * 1_000


class Counted:
    """A site with a few routes that say how often they were asked."""

    def __init__(self, client: TestClient, store: Store, desk: PlainDesk) -> None:
        self.client, self.desk, self.calls, self.revision = client, desk, 0, "1"
        store.board.revision = lambda: self.revision  # type: ignore[method-assign]
        app = client.app
        assert isinstance(app, FastAPI)
        app.add_api_route("/public", self.public)
        app.add_api_route("/private", self.private)
        app.add_api_route("/stream", self.stream)
        app.add_api_route("/write", self.write, methods=["POST"])

    def public(self, failing: bool = False) -> Response:
        self.calls += 1
        headers = {"cache-control": PUBLIC}
        return Response(f"{self.calls} {TEXT}", 500 if failing else 200, headers, "text/html")

    def private(self) -> Response:
        self.calls += 1
        return Response(f"{self.calls} {TEXT}", media_type="text/html")

    def stream(self) -> Response:
        def events() -> Iterator[bytes]:
            yield b"data: 1\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    def write(self) -> Response:
        return Response("done")


@pytest.fixture
def counted(make_store: MakeStore, site_of: SiteOf) -> Counted:
    store, desk = make_store([]), PlainDesk()
    return Counted(site_of(store, desk), store, desk)


def test_what_is_public_is_made_once_for_each_revision(counted: Counted) -> None:
    assert {counted.client.get("/public").text[0] for _ in range(3)} == {"1"}
    assert counted.client.get("/public?other=1").text[0] == "2"
    counted.revision = "2"
    assert counted.client.get("/public").text[0] == "1"  # the revision is asked for once a second
    counted.desk.seconds += 1
    assert counted.client.get("/public").text[0] == "3"


def test_copies_end_with_the_settings_that_they_were_made_under(counted: Counted) -> None:
    counted.client.get("/public")
    counted.desk.settings = "another list of opt-outs"
    counted.desk.seconds += 1
    assert counted.client.get("/public").text[0] == "2"


def test_a_form_that_was_sent_shows_at_once(counted: Counted) -> None:
    counted.client.get("/public")
    counted.revision = "2"
    counted.client.post("/write")
    assert counted.client.get("/public").text[0] == "2"


def test_one_who_does_not_read_holds_nobody_up(make_store: MakeStore) -> None:
    site, calls = Site(make_store([]), PlainDesk()), []

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        calls.append(scope["path"])
        await Response(TEXT, 200, {"cache-control": PUBLIC}, "text/html")(scope, receive, send)

    async def scenario() -> list[Message]:
        kept, reached, sent = Kept(page, site), asyncio.Event(), list[Message]()

        async def never(_: Message) -> None:
            reached.set()
            await asyncio.Event().wait()

        async def taken(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/p", "query_string": b"", "headers": []}
        slow = asyncio.create_task(kept(dict(scope), _nothing, never))
        await reached.wait()
        await asyncio.wait_for(kept(dict(scope), _nothing, taken), 5)
        slow.cancel()
        return sent

    assert asyncio.run(scenario())[-1]["body"] == TEXT.encode()
    assert calls == ["/p"]


async def _nothing() -> Message:
    raise AssertionError("nobody reads the body of a GET")


def test_made_up_queries_where_no_rate_limits_push_nothing_off_the_shelf(counted: Counted) -> None:
    app = counted.client.app
    assert isinstance(app, FastAPI)
    app.add_api_route("/badges/one", counted.public)
    assert [counted.client.get("/badges/one").text[0] for _ in range(2)] == ["1", "1"]
    assert [counted.client.get("/badges/one?n=1").text[0] for _ in range(2)] == ["2", "3"]


def test_nothing_else_is_kept(counted: Counted) -> None:
    assert [counted.client.get("/private").text[0] for _ in range(2)] == ["1", "2"]
    assert [counted.client.get("/public?failing=1").text[0] for _ in range(2)] == ["3", "4"]
    private = counted.client.get("/private")
    assert private.headers["cache-control"] == "no-store"
    assert "etag" not in private.headers


def test_what_a_token_shows_is_kept_for_nobody(counted: Counted) -> None:
    bearer = {"authorization": "Bearer token"}
    assert [counted.client.get("/public", headers=bearer).text[0] for _ in range(2)] == ["1", "2"]
    assert counted.client.get("/public").text[0] == "3"
    assert counted.client.get("/public", headers=bearer).text[0] == "4"


def test_a_client_that_has_it_is_told_so(counted: Counted) -> None:
    first = counted.client.get("/public", headers={"accept-encoding": "gzip"})
    tag = first.headers["etag"]
    again = counted.client.get("/public", headers={"accept-encoding": "gzip", "if-none-match": f'"x", {tag}'})
    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == tag
    assert "default-src" in again.headers["content-security-policy"]
    other = counted.client.get("/public?a=2", headers={"if-none-match": tag})
    assert other.status_code == 200


def test_a_tag_names_one_content_in_one_coding(counted: Counted) -> None:
    tags = {
        counted.client.get("/public", headers={"accept-encoding": coding}).headers["etag"]
        for coding in ("gzip", "zstd", "identity")
    }
    assert len(tags) == 3
    assert not any(tag.startswith("W/") for tag in tags)


@pytest.mark.parametrize("path", ["/public", "/private"])
@pytest.mark.parametrize("coding", ["gzip", "zstd", "identity"])
def test_bodies_are_sent_in_the_coding_that_was_asked_for(counted: Counted, path: str, coding: str) -> None:
    with counted.client.stream("GET", path, headers={"accept-encoding": coding}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers.get("content-encoding", "identity") == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(raw)
    assert decoded(raw, coding).decode().endswith(TEXT)
    assert coding == "identity" or len(raw) < 500


def decoded(raw: bytes, coding: str) -> bytes:
    if coding == "gzip":
        return gzip.decompress(raw)
    return zstandard.ZstdDecompressor().decompress(raw) if coding == "zstd" else raw


def test_a_stream_of_events_is_never_held_back(counted: Counted) -> None:
    with counted.client.stream("GET", "/stream", headers={"accept-encoding": "gzip"}) as answer:
        assert "content-encoding" not in answer.headers
        assert b"".join(answer.iter_raw()) == b"data: 1\n\n"


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", "identity"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, br", "gzip"),
        ("zstd;q=0.5, gzip", "gzip"),
        ("zstd;q=0, gzip;q=0", "identity"),
        ("*", "zstd"),
        ("*;q=0", "identity"),
        ("GZIP;q=wrong", "identity"),
        ("br", "identity"),
    ],
)
def test_the_coding_is_the_one_that_the_client_likes_best(accepted: str, coding: str) -> None:
    assert chosen(accepted) == coding


def test_the_same_body_is_always_encoded_the_same() -> None:
    assert encoded(b"a" * 999, "gzip") == encoded(b"a" * 999, "gzip")


def test_a_shelf_drops_what_was_not_asked_for_longest() -> None:
    shelf = Shelf(30_000)
    shelf.turn_to("1")
    for address in (b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h", b"i"):
        shelf.put(address, Copy([], b"x" * 1_300, kept=True), "1")
        shelf.find(b"a")
    assert shelf.find(b"a") is not None
    assert shelf.find(b"b") is None
    assert shelf.find(b"i") is not None


def test_a_shelf_takes_nothing_of_a_revision_that_is_over() -> None:
    shelf = Shelf(100_000)
    shelf.turn_to("2")
    shelf.put(b"a", Copy([], b"late", kept=True), "1")
    assert shelf.find(b"a") is None


def test_one_huge_page_does_not_empty_the_shelf() -> None:
    shelf = Shelf(100_000)
    shelf.turn_to("1")
    shelf.put(b"a", Copy([], b"small", kept=True), "1")
    shelf.put(b"b", Copy([], b"x" * 90_000, kept=True), "1")
    assert shelf.find(b"a") is not None
    assert shelf.find(b"b") is None
