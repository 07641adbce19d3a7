"""Entity tags, answers without rendering, and content coding."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence

import pytest
from fastapi import FastAPI
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient

from evidence import zstd
from evidence.model import Dossier
from evidence.store import Store, StoreUnavailable
from publish.web.content_encoding import choose_encoding, encode_body
from publish.web.context import CACHE_PUBLIC
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[[Sequence[Dossier]], Store]
TEXT = "word " * 1_000


class Counted:
    """A site with a few routes that count how often they are rendered."""

    def __init__(self, client: TestClient, store: Store, backend: PlainBackend) -> None:
        self.client, self.backend, self.calls, self.revision = client, backend, 0, "1"
        store.changed_servers.read_revisions = self._revisions  # type: ignore[method-assign]
        app = client.app
        assert isinstance(app, FastAPI)
        app.add_api_route("/public", self.public)
        app.add_api_route("/private", self.private)
        app.add_api_route("/stream", self.stream)

    def _revisions(self) -> tuple[str, str]:
        if not self.revision:
            raise StoreUnavailable("away")
        return self.revision, "0"

    def public(self, failing: bool = False) -> Response:
        self.calls += 1
        headers = {"cache-control": CACHE_PUBLIC}
        return Response(f"{self.calls} {TEXT}", 500 if failing else 200, headers, "text/html")

    def private(self) -> Response:
        self.calls += 1
        return Response(f"{self.calls} {TEXT}", media_type="text/html")

    def stream(self) -> Response:
        def events() -> Iterator[bytes]:
            yield b"data: 1\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    def again(self, path: str, tag: str, **headers: str) -> int:
        """The status for a client that has what the tag names."""
        return self.client.get(path, headers={"if-none-match": tag, **headers}).status_code


@pytest.fixture
def counted(make_store: MakeStore, site_of: SiteOf) -> Counted:
    store, backend = make_store([]), PlainBackend()
    return Counted(site_of(store, backend), store, backend)


def test_a_client_that_has_the_edition_is_answered_without_rendering(counted: Counted) -> None:
    first = counted.client.get("/public", headers={"accept-encoding": "gzip"})
    tag = first.headers["etag"]
    again = counted.client.get("/public", headers={"accept-encoding": "gzip", "if-none-match": f'"x", {tag}'})
    assert (again.status_code, again.content, counted.calls) == (304, b"", 1)
    for name in ("etag", "cache-control", "vary", "x-accel-expires"):
        assert again.headers[name] == first.headers[name]
    assert "default-src" in again.headers["content-security-policy"]
    assert counted.again("/public?a=2", tag) == 200
    assert counted.again("/public", '"x"') == 200


def test_another_revision_has_another_tag_at_once(counted: Counted) -> None:
    tag = counted.client.get("/public").headers["etag"]
    counted.revision = "2"
    answer = counted.client.get("/public", headers={"if-none-match": tag})
    assert (answer.status_code, answer.text[0]) == (200, "2")
    assert answer.headers["etag"] != tag


def test_other_settings_have_another_tag(counted: Counted) -> None:
    tag = counted.client.get("/public").headers["etag"]
    counted.backend.settings = "another list of opt-outs"
    assert counted.again("/public", tag) == 200


def test_while_the_database_is_away_what_is_known_stays_current(counted: Counted) -> None:
    tag = counted.client.get("/public").headers["etag"]
    counted.revision = ""
    assert counted.again("/public", tag) == 304


def test_without_any_edition_a_tag_names_the_content(counted: Counted) -> None:
    counted.revision = ""
    first, second = (counted.client.get("/public") for _ in range(2))
    assert first.headers["etag"] != second.headers["etag"]
    assert counted.again("/static/none", "*") == 404


def test_caches_may_keep_what_is_public_and_must_revalidate_it(counted: Counted) -> None:
    headers = counted.client.get("/public").headers
    assert headers["cache-control"] == "public, max-age=0, s-maxage=0, must-revalidate"
    assert headers["x-accel-expires"] == "@1"


def test_nothing_else_is_tagged(counted: Counted) -> None:
    private, failing = counted.client.get("/private"), counted.client.get("/public?failing=1")
    assert private.headers["cache-control"] == "no-store"
    for answer in (private, failing):
        assert "etag" not in answer.headers
        assert "x-accel-expires" not in answer.headers


def test_the_answer_to_a_token_is_rendered_every_time(counted: Counted) -> None:
    tag = counted.client.get("/public").headers["etag"]
    assert counted.again("/public", tag, authorization="Bearer token") == 200
    assert counted.calls == 2


def test_a_tag_names_one_content_in_one_coding(counted: Counted) -> None:
    tags = {
        counted.client.get("/public", headers={"accept-encoding": coding}).headers["etag"]
        for coding in ("gzip", "zstd", "identity")
    }
    assert len(tags) == 3
    assert not any(tag.startswith("W/") for tag in tags)
    assert {counted.again("/public", tag) for tag in tags} == {304}


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
    return zstd.decompress(raw) if coding == "zstd" else raw


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
def test_the_coding_is_the_one_that_the_client_prefers(accepted: str, coding: str) -> None:
    assert choose_encoding(accepted) == coding


def test_the_same_body_is_always_encoded_the_same() -> None:
    assert encode_body(b"a" * 999, "gzip") == encode_body(b"a" * 999, "gzip")
