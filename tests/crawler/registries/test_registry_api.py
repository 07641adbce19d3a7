"""The generic registry API against a server that speaks the official OpenAPI and misbehaves on purpose."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from crawler.http.adapters import GuardedTransport
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.registries.document_client import DocumentClient, RegistryRetryPolicy
from crawler.registries.registry import Page, RegistryUnavailable
from crawler.registries.registry_api import GenericRegistry
from evidence.model import Status
from tests.servers.registry import Answer, RegistryApi, error, running
from tests.servers.registry_entries import EPOCH, Row, generate, rows_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SECRET = "s3cr3t-value"


class Waits(list[float]):
    """Records the waits instead of waiting."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def registry(
    answer: Callable[[httpx.Request], httpx.Response], waits: Waits | None = None, **options
) -> GenericRegistry:
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    patience = options.pop("patience", RegistryRetryPolicy())
    fetcher = DocumentClient(
        client,
        clock=lambda: NOW,
        sleep=Waits() if waits is None else waits,
        headers={"X-API-Key": SECRET},
        patience=patience,
    )
    return GenericRegistry("test", "https://registry.example/", fetcher, **options)


def of_api(api: RegistryApi, waits: Waits | None = None, **options) -> GenericRegistry:
    def answer(request: httpx.Request) -> httpx.Response:
        given = api.answer(request.url.raw_path.decode(), NOW)
        return httpx.Response(given.status, content=given.body, headers=given.headers)

    return registry(answer, waits, **options)


def walk(source: GenericRegistry, cursor: str | None = None, since: datetime | None = None) -> list[Page]:
    async def collect() -> list[Page]:
        return [page async for page in source.walk(cursor=cursor, since=since)]

    return asyncio.run(collect())


def names(pages: list[Page]) -> list[str]:
    return [ref.name for page in pages for ref in page.refs]


def answering(*bodies: object) -> Callable[[httpx.Request], httpx.Response]:
    remaining = list(bodies)
    return lambda _: httpx.Response(200, json=remaining.pop(0) if len(remaining) > 1 else remaining[0])


def test_200_entries_are_discovered_exactly_once_through_all_faults() -> None:
    rows = generate(200, seed=7)
    api = RegistryApi(rows, faulty=True)
    waits = Waits()

    async def collect(base: str) -> list[Page]:
        async with httpx.AsyncClient() as client:
            fetcher = DocumentClient(client, clock=lambda: datetime.now(UTC), sleep=waits)
            return [page async for page in GenericRegistry("test", base, fetcher).walk()]

    with running(api) as base:
        pages = asyncio.run(collect(base))
    refs = [ref for page in pages for ref in page.refs]
    latest = {row.document: row for row in rows if row.latest}
    assert len(refs) == len({ref.name for ref in refs}) == 200
    assert {ref.entry for ref in refs} == set(latest)
    assert pages[-1].refs == (), "the page before the last is full, so the last one is empty"
    assert waits == [1.0, 1.0, 1.0, 2.0], "Retry-After, 429 without it, and a page that fails twice"
    for ref in refs:
        row = latest[ref.entry]
        assert bool(ref.error) is not row.valid
        assert row.valid is False or ref.status == row.status
        if row.valid:
            assert (ref.name, ref.version, ref.updated_at) == (row.name, row.version, row.updated_at)


def test_walk_can_be_resumed_from_every_cursor() -> None:
    api = RegistryApi(generate(60, seed=3), faulty=True)
    pages = walk(of_api(api, page_size=7))
    assert len(names(pages)) == 60
    for index, page in enumerate(pages):
        if page.cursor is not None:
            assert walk(of_api(api, page_size=7), cursor=page.cursor) == pages[index + 1 :]


def test_walk_asks_for_latest_versions_and_deleted_servers() -> None:
    api = RegistryApi(generate(3, seed=1))
    walk(of_api(api))
    assert api.requests == [{"limit": "100", "version": "latest", "include_deleted": "true"}]


def test_updated_since_overlaps_and_never_sends_include_deleted() -> None:
    rows = generate(50, seed=5)
    api = RegistryApi(rows)
    since = EPOCH + timedelta(days=30)
    found = names(walk(of_api(api), since=since))
    expected = [row for row in rows if row.latest and row.updated_at > since - timedelta(hours=1)]
    assert len(found) == len(expected) > 0
    assert api.requests[0]["updated_since"] == "2026-01-30T23:00:00.000000Z"
    assert "include_deleted" not in api.requests[0]


def test_deprecated_and_deleted_servers_keep_their_status() -> None:
    documents = [{"name": f"a/{word}", "description": "d", "version": "1"} for word in ("one", "two", "three")]
    rows = [
        Row(row.name, row.version, row.document, status=status)
        for row, status in zip(rows_of(documents), ("active", "deprecated", "deleted"), strict=True)
    ]
    found = {ref.name: ref.status for page in walk(of_api(RegistryApi(rows))) for ref in page.refs}
    assert found == {"a/one": Status.ACTIVE, "a/two": Status.DEPRECATED, "a/three": Status.DELETED}


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("snake", [False, True])
def test_bare_and_wrapped_entries_and_both_cursor_names_are_understood(bare: bool, snake: bool) -> None:
    api = RegistryApi([row for row in generate(30, seed=2) if row.latest], bare=bare, snake_cursor=snake)
    assert len(names(walk(of_api(api, page_size=7)))) == 30


def test_entry_is_the_server_object_as_received() -> None:
    document = b'{"version" : "1.0", "name":"a/b",\n "description":"\\u00e9 \xc3\xa9", "x": 1e2}'
    body = b'{"servers":[ {"_meta":{"a":1},"server":' + document + b' } ],"metadata":{}}'
    pages = walk(registry(lambda _: httpx.Response(200, content=body)))
    assert pages[0].refs[0].entry == document


def test_evidence_does_not_change_when_only_the_registry_metadata_does() -> None:
    def page(visitors: int) -> dict[str, object]:
        server = {"name": "a/b", "description": "d", "version": "1"}
        return {"servers": [{"server": server, "_meta": {"com.example": {"visitors": visitors}}}]}

    first, second = walk(registry(answering(page(1)))), walk(registry(answering(page(2))))
    assert first == second


def test_older_versions_are_left_out_when_a_registry_ignores_version_latest() -> None:
    def entry(version: str, latest: bool) -> dict[str, object]:
        server = {"name": "a/b", "description": "d", "version": version}
        return {"server": server, "_meta": {"io.modelcontextprotocol.registry/official": {"isLatest": latest}}}

    pages = walk(registry(answering({"servers": [entry("2", True), entry("1", False)]})))
    assert [ref.version for ref in pages[0].refs] == ["2"]


def test_newest_of_two_versions_on_a_page_is_kept() -> None:
    servers = [{"name": "a/b", "description": "d", "version": version} for version in ("1.10.0", "1.9.0", "1.10.0-rc1")]
    pages = walk(registry(answering({"servers": servers})))
    assert [ref.version for ref in pages[0].refs] == ["1.10.0"]


def test_retry_after_as_a_date_is_counted_from_the_clock() -> None:
    answers = [
        httpx.Response(429, headers={"Retry-After": format_datetime(NOW + timedelta(seconds=42), usegmt=True)}),
        httpx.Response(503, headers={"Retry-After": format_datetime(NOW - timedelta(seconds=42), usegmt=True)}),
        httpx.Response(429, headers={"Retry-After": "soon"}),
        httpx.Response(200, json={"servers": [], "metadata": {}}),
    ]
    waits = Waits()
    walk(registry(lambda _: answers.pop(0), waits))
    assert waits == [42.0, 0.0, 4.0]


def test_retry_after_beyond_patience_ends_the_walk_at_once() -> None:
    waits = Waits()
    limited = registry(lambda _: httpx.Response(429, headers={"Retry-After": "86400"}), waits)
    with pytest.raises(RegistryUnavailable, match="come back later"):
        walk(limited)
    assert waits == []


def test_waits_double_up_to_their_bound() -> None:
    waits = Waits()
    with pytest.raises(RegistryUnavailable, match="HTTP 500, 9 times"):
        walk(registry(lambda _: httpx.Response(500), waits, patience=RegistryRetryPolicy(attempts=9)))
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_page_that_keeps_failing_leaves_a_cursor_that_resumes() -> None:
    api = RegistryApi([row for row in generate(30, seed=2) if row.latest])
    broken = True

    def answer(request: httpx.Request) -> httpx.Response:
        if broken and request.url.params.get("cursor", "").startswith("io.example.u0013"):
            return httpx.Response(502)
        given = api.answer(request.url.raw_path.decode(), NOW)
        return httpx.Response(given.status, content=given.body)

    source = registry(answer, page_size=7)
    seen: list[Page] = []

    async def collect() -> None:
        async for page in source.walk():
            seen.append(page)  # noqa: PERF401 - what was seen before the failure is the point

    with pytest.raises(RegistryUnavailable) as failure:
        asyncio.run(collect())
    assert len(names(seen)) == 14
    assert failure.value.cursor == seen[-1].cursor
    broken = False
    assert len(set(names(seen) + names(walk(source, cursor=failure.value.cursor)))) == 30


@pytest.mark.parametrize("failure", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_connection_failures_are_tried_again(failure: type[httpx.TransportError]) -> None:
    attempts = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal attempts
        attempts += 1
        if attempts < 4:
            raise failure("no", request=request)
        return httpx.Response(200, json={"servers": []})

    waits = Waits()
    assert walk(registry(answer, waits)) == [Page((), None)]
    assert waits == [1, 2, 4]


def through_the_guard(base: str, waits: Waits, *, allow_private: bool) -> list[Page]:
    async def collect() -> list[Page]:
        engine = HttpEngine(user_agent="hallmark-tests", guard=AddressGuard(allow_private=allow_private))
        async with httpx.AsyncClient(transport=GuardedTransport(engine)) as client:
            fetcher = DocumentClient(client, clock=lambda: NOW, sleep=waits)
            return [page async for page in GenericRegistry("test", base, fetcher).walk()]

    return asyncio.run(collect())


def test_the_guarded_transport_serves_a_walk_and_blocks_private_registries_at_once() -> None:
    waits = Waits()
    with running(RegistryApi(generate(20, seed=1))) as base:
        assert len(names(through_the_guard(base, waits, allow_private=True))) == 20
        with pytest.raises(RegistryUnavailable, match="could not be read"):
            through_the_guard(base, waits, allow_private=False)
    assert waits == []


def test_a_registry_that_is_down_is_tried_again_through_the_guard() -> None:
    waits = Waits()
    with running(RegistryApi([])) as base:
        pass
    with pytest.raises(RegistryUnavailable, match="6 times"):
        through_the_guard(base, waits, allow_private=True)
    assert waits == [1, 2, 4, 8, 16]


def test_generated_remotes_point_at_the_scripted_fleet() -> None:
    api = RegistryApi(generate(20, seed=1, remote_base="http://127.0.0.1:9"))
    valid = [ref for page in walk(of_api(api)) for ref in page.refs if ref.status is not Status.INVALID]
    assert len(valid) > 15
    assert all(ref.targets[0].identifier.startswith("http://127.0.0.1:9/s/") for ref in valid)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 301, 307])
def test_refusals_are_not_tried_again(status: int) -> None:
    waits = Waits()
    with pytest.raises(RegistryUnavailable, match=str(status)):
        walk(registry(lambda _: httpx.Response(status, headers={"Location": "https://evil.example/"}), waits))
    assert waits == []


def test_secret_headers_are_sent_but_never_shown() -> None:
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["X-API-Key"])
        return httpx.Response(401, text=SECRET)

    source = registry(answer)
    with pytest.raises(RegistryUnavailable) as failure:
        walk(source)
    assert sent == [SECRET]
    assert SECRET not in f"{failure.value!s} {failure.value!r} {failure.value.__cause__!r} {source!r} {vars(source)!r}"


def test_repeated_cursor_ends_the_walk() -> None:
    pages = [{"servers": [], "metadata": {"nextCursor": cursor}} for cursor in ("a", "b", "a")]
    with pytest.raises(RegistryUnavailable, match="repeats a cursor"):
        walk(registry(answering(*pages)))


def test_endless_new_cursors_end_the_walk() -> None:
    count = iter(range(1000))
    endless = registry(
        lambda _: httpx.Response(
            200, json={"servers": [], "next_cursor": 1, "metadata": {"nextCursor": str(next(count))}}
        ),
        max_pages=20,
    )
    with pytest.raises(RegistryUnavailable, match="more than 20 pages"):
        walk(endless)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"servers": {}}',
        b'{"servers": [{"name"',
        b'{"servers": [' + b"1," * 10_000 + b"1]}",
        b'{"servers": [], "metadata": {"nextCursor": 7}}',
        b'{"servers": [], "metadata": {"nextCursor": "' + b"x" * 3000 + b'"}}',
    ],
)
def test_what_is_not_a_page_makes_the_registry_unavailable(body: bytes) -> None:
    with pytest.raises(RegistryUnavailable):
        walk(registry(lambda _: httpx.Response(200, content=body), patience=RegistryRetryPolicy(attempts=2)))


def test_body_beyond_the_cap_is_refused_without_retry() -> None:
    waits = Waits()
    with pytest.raises(RegistryUnavailable, match="larger than 1000 bytes"):
        walk(
            registry(
                lambda _: httpx.Response(200, content=b" " * 5000), waits, patience=RegistryRetryPolicy(max_body=1000)
            )
        )
    assert waits == []


def test_hostile_entries_damage_only_themselves() -> None:
    good = json.dumps({"server": {"name": "a/good", "description": "d", "version": "1"}}).encode()
    hostile = [
        b"null",
        b'"text"',
        b"[]",
        b"{}",
        b'{"server": 1}',
        b'{"server": {"name": "a/b", "description": "d", "version": 01}}',
        b'{"server": {"name": "a/c", "description": "d", "version": "1", "n": ' + b"9" * 5000 + b"}}",
        b'{"server": {"name": "a/d", "description": "d", "version": "1", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}}",
        b'{"server": {"name": "' + b"a/" + b"x" * 10_000_000 + b'", "description": "d", "version": "1"}}',
        b'{"server": {"name": "a/e\\u0000", "description": "\\ud800", "version": "1"}}',
        b'{"server": {"name": "a/f", "description": NaN, "version": "1"}}',
        b'{"server": {"name": "a/g", "description": "\xff", "version": "1"}}',
        b'{"server": {"name": {}, "description": [], "version": {}, "packages": 1, "remotes": "x", "_meta": 0}}',
        b'{"server": {"name": "a/h", "description": "d", "version": "1"}, "_meta": {"%s": {"status": ["active"]}}}'
        % b"io.modelcontextprotocol.registry/official",
    ]
    body = b'{"servers":[' + b",".join([*hostile, good]) + b"]}"
    refs = walk(registry(lambda _: httpx.Response(200, content=body)))[0].refs
    assert len(refs) == len(hostile) + 1
    assert [ref.name for ref in refs if ref.status is Status.ACTIVE] == ["a/good"]
    for ref in refs:
        assert ref.name.isprintable()
        assert len(ref.name) <= 200
        assert len(ref.entry) <= 1024 * 1024
        if ref.status is Status.INVALID:
            assert ref.error is not None
            assert ref.error.isprintable()
            assert len(ref.error) < 500


def test_answers_of_the_fixture_follow_the_openapi() -> None:
    api = RegistryApi(generate(5, seed=1))
    assert api.answer("/v0.1/servers?limit=101") == error(422, "validation failed: limit")
    refused = api.answer("/v0.1/servers?updated_since=2026-01-01T00:00:00Z&include_deleted=false")
    assert refused.status == 400
    name = api.rows[0].name.replace("/", "%2F")
    assert api.answer(f"/v0.1/servers/{name}/versions/latest").status == 200
    assert api.answer("/v0.1/servers/none%2Fhere/versions").status == 404
    assert isinstance(api.answer("/"), Answer)
