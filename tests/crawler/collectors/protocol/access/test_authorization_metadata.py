"""Metadata addresses come from the probed server: none leads to a forbidden address, and all are bounded."""

from __future__ import annotations

import asyncio
import json

import pytest

from crawler.collectors.protocol.access.authorization_metadata import AccessLimits, MetadataAttempt, MetadataReader
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.url import parse_url
from evidence.model import Reason
from tests.crawler.collectors.protocol.access.access_session import Looked, probe_access
from tests.crawler.collectors.protocol.probing import AGENT, WIRE, Timekeeper
from tests.servers.hostile import Behaviour, Call, serving
from tests.servers.locked import PRM, RFC8414, Locked, good_pages

ADVERTISED = f'Bearer resource_metadata="{{origin}}{PRM}/mcp", scope="notes:read"'


def always(status: int, body: bytes = b"", *headers: tuple[str, str], kind: str = "application/json") -> Behaviour:
    async def behave(call: Call) -> None:
        await call.reply(status, body, *headers, kind=kind)

    return behave


def failing(looked: Looked) -> set[str]:
    """The MUST checks that fail."""
    return looked.failed() - {"AUTH-00", "AUTH-09", "AUTH-10", "AUTH-11", "AUTH-12"}


@pytest.mark.parametrize(
    "address",
    ["http://169.254.169.254/latest", "http://[fd00:ec2::254]/x", "http://100.100.100.200/", "http://0.0.0.0/"],
)
def test_a_metadata_address_of_a_cloud_is_not_dialled(address: str) -> None:
    looked = probe_access(Locked(f'Bearer resource_metadata="{address}"'))
    attempt = looked.access.resource_metadata[0]
    assert (attempt.by, attempt.status) == ("header", None)
    assert attempt.failure.startswith("blocked_address")
    assert looked.verdicts["AUTH-02"] == "inconclusive"


@pytest.mark.parametrize("address", ["http://10.0.0.1/x", "http://[fd00::1]/x", "http://192.168.1.1:8080/x"])
def test_a_private_target_does_not_lead_into_the_rest_of_its_network(address: str) -> None:
    attempt = probe_access(Locked(f'Bearer resource_metadata="{address}"')).access.resource_metadata[0]
    assert attempt.failure.startswith("blocked_address")


def test_a_blocked_authorization_server_is_nobodys_fault() -> None:
    pages = {f"{PRM}/mcp": {"resource": "{origin}/mcp", "authorization_servers": ["http://169.254.169.254"]}}
    looked = probe_access(Locked(ADVERTISED, pages=pages))
    assert looked.verdicts["AUTH-05"] == looked.verdicts["AUTH-07"] == "inconclusive"


@pytest.mark.parametrize(
    "address", ["ftp://a.example/x", "javascript:x", "//", "http://u:p@a.example/", "not a url", "/x"]
)
def test_an_address_that_is_none_is_recorded(address: str) -> None:
    attempt = probe_access(Locked(f'Bearer resource_metadata="{address}"')).access.resource_metadata[0]
    assert attempt.problem
    assert (attempt.status, "u:p" in attempt.url) == (None, False)


def test_private_addresses_are_refused_unless_they_are_allowed_and_each_request_waits_its_turn() -> None:
    server, hand = Locked(ADVERTISED, pages=good_pages()), Timekeeper()

    async def run() -> tuple[MetadataAttempt, ...]:
        engine = HttpEngine(user_agent=AGENT, limits=WIRE)
        async with serving(server) as url, engine.open_session() as visit:
            reader = MetadataReader(
                visit, HostRateLimiter(tick=hand.tick, sleep=hand.sleep), AccessLimits(), home="127.0.0.1"
            )
            return await reader.read_resource_metadata(parse_url(url), [])

    attempts = asyncio.run(run())
    assert [one.failure and one.failure.reason for one in attempts] == [Reason.BLOCKED_ADDRESS] * 2
    assert server.asked == []
    assert hand.slept == [pytest.approx(0.6)]


def test_a_redirect_is_recorded_and_not_followed() -> None:
    async def elsewhere(call: Call) -> None:
        await call.reply(308, b"", ("Location", "/secret-place?token=abcdef"))

    server = Locked(pages={f"{PRM}/mcp": elsewhere, PRM: elsewhere, RFC8414: elsewhere})
    looked = probe_access(server)
    assert looked.access.resource_metadata[0].location == "/secret-place?token=[removed]"
    assert "/secret-place" not in {path.partition("?")[0] for _, path, _ in server.asked}
    assert looked.verdicts["AUTH-02"] == "inconclusive"


def test_the_number_of_metadata_requests_is_bounded() -> None:
    servers = [f"{{origin}}/{number}" for number in range(50)]
    pages = {f"{PRM}/mcp": {"resource": "{origin}/mcp", "authorization_servers": servers}}
    server = Locked(ADVERTISED, pages=pages)
    looked = probe_access(server)
    assert len([verb for verb, _, _ in server.asked if verb == "GET"]) <= 12
    assert looked.access.is_cut("metadata")

    few = probe_access(Locked(ADVERTISED, pages=pages), limits=AccessLimits(metadata=3))
    assert few.observation["metadata_requests"] == 3
    assert few.verdicts["AUTH-05"] == "inconclusive"


@pytest.mark.parametrize(
    "page",
    [
        b"<!doctype html><p>Welcome",
        b"[]",
        b"null",
        b'{"error": "not found"}',
        b'{"resource": NaN}',
        b'{"resource": "x"',
        b"\xff\xfe{}",
        b'{"resource": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b"",
    ],
    ids=["page", "array", "null", "error", "nan", "cut", "utf-16", "deep", "empty"],
)
def test_what_is_no_document_is_not_found(page: bytes) -> None:
    looked = probe_access(Locked(pages={f"{PRM}/mcp": always(200, page), PRM: always(200, page)}))
    assert [one.document for one in looked.access.resource_metadata] == [None, None]
    assert all(one.problem for one in looked.access.resource_metadata)
    assert looked.verdicts["AUTH-02"] == "warn"


def test_a_byte_order_mark_is_forgiven() -> None:
    pages = good_pages()
    pages[f"{PRM}/mcp"] = "\ufeff" + json.dumps(pages[f"{PRM}/mcp"])
    assert failing(probe_access(Locked(ADVERTISED, pages=pages))) == set()


def test_a_document_beyond_the_cap_is_inconclusive() -> None:
    page = always(200, b'{"resource": "' + b"x" * 300_000 + b'"}')
    looked = probe_access(Locked(pages={f"{PRM}/mcp": page, PRM: page}))
    assert looked.access.resource_metadata[0].failure.startswith("too_large")
    assert looked.verdicts["AUTH-02"] == "inconclusive"


def test_an_event_stream_is_not_waited_for() -> None:
    async def endless(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n")
        await asyncio.sleep(30)

    looked = probe_access(Locked(pages={f"{PRM}/mcp": endless}))
    assert looked.access.resource_metadata[0].problem == "an event stream"


def test_metadata_that_drips_ends_at_the_deadline() -> None:
    async def drip(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not call.writer.is_closing():
            await call.send(b" ")
            await asyncio.sleep(0.05)

    limits = AccessLimits(seconds=0.4, total=1.0)
    looked = probe_access(Locked(pages=dict.fromkeys((f"{PRM}/mcp", PRM, RFC8414), drip)), limits=limits)
    assert {one.failure.partition(":")[0] for one in looked.access.resource_metadata} <= {"timeout", "not_collected"}
    assert looked.verdicts["AUTH-02"] == "inconclusive"
