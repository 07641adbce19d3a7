"""httpx and httpx2 clients work on the guarded engine and inherit its limits."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import httpx
import httpx2
import pytest

from crawler.http.adapters import GuardedTransport
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from crawler.http.failures import WireFailure
from crawler.http.httpx2_adapter import GuardedTransport2
from tests.crawler.wire.test_engine import AGENT, echo
from tests.servers.hostile import Behaviour, Call, serving

LIBRARIES: list[tuple[Any, Any]] = [(httpx, GuardedTransport), (httpx2, GuardedTransport2)]
both = pytest.mark.parametrize(("library", "transport"), LIBRARIES, ids=["httpx", "httpx2"])


def get(library: Any, transport: Any, behaviour: Behaviour, *, private: bool = True, **options: Any) -> Any:
    limits = Limits(first_byte=2, between_bytes=2, total=4, body_bytes=1 << 20)
    engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=private), limits=limits)

    async def run() -> Any:
        async with serving(behaviour) as url, library.AsyncClient(transport=transport(engine)) as client:
            return await client.request(options.pop("verb", "GET"), url, **options)

    return asyncio.run(run())


@both
def test_a_plain_client_goes_through_the_engine(library: Any, transport: Any) -> None:
    answer = get(library, transport, echo, params={"q": "a b"}, headers={"x-key": "1"})

    assert answer.status_code == 200
    assert "GET /mcp?q=a" in answer.text
    assert f"user-agent={AGENT}" in answer.text
    assert "x-key=1" in answer.text


@both
def test_a_body_is_sent(library: Any, transport: Any) -> None:
    async def behave(call: Call) -> None:
        await call.reply(200, call.body)

    assert get(library, transport, behave, verb="POST", json={"a": 1}).json() == {"a": 1}


@both
def test_a_length_is_reported_where_it_is_that_of_the_body(library: Any, transport: Any) -> None:
    async def behave(call: Call) -> None:
        packed = "packed" in call.path
        body = gzip.compress(b"plain") if packed else b"plain"
        await call.reply(200, body, *([("Content-Encoding", "gzip")] if packed else []))

    assert get(library, transport, behave).headers["content-length"] == "5"
    assert "content-length" not in get(library, transport, behave, params={"packed": "1"}).headers


@both
def test_gzip_is_inflated_by_the_engine(library: Any, transport: Any) -> None:
    async def behave(call: Call) -> None:
        await call.reply(200, gzip.compress(b"plain"), ("Content-Encoding", "gzip"))

    answer = get(library, transport, behave)

    assert answer.content == b"plain"
    assert "content-encoding" not in answer.headers


@both
@pytest.mark.parametrize(
    ("coding", "body"),
    [("gzip", gzip.compress(b" " * (16 << 20), 1)), ("br", b"\x81"), ("zstd", b"\x28"), ("deflate", b"\x78")],
    ids=["gzip bomb", "br", "zstd", "deflate"],
)
def test_a_bomb_or_a_refused_coding_is_a_protocol_error(library: Any, transport: Any, coding: str, body: bytes) -> None:
    async def behave(call: Call) -> None:
        await call.reply(200, body, ("Content-Encoding", coding))

    with pytest.raises(library.RemoteProtocolError) as caught:
        get(library, transport, behave)
    assert isinstance(caught.value.__cause__, WireFailure)


@both
def test_a_private_address_is_a_connect_error(library: Any, transport: Any) -> None:
    with pytest.raises(library.ConnectError, match="blocked_address"):
        get(library, transport, echo, private=False)


@both
def test_silence_is_a_read_timeout(library: Any, transport: Any) -> None:
    async def behave(call: Call) -> None:
        await asyncio.sleep(30)

    engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), limits=Limits(first_byte=0.1))

    async def run() -> None:
        async with serving(behave) as url, library.AsyncClient(transport=transport(engine)) as client:
            await client.get(url)

    with pytest.raises(library.ReadTimeout):
        asyncio.run(run())


@both
def test_a_redirect_is_not_followed_by_the_transport(library: Any, transport: Any) -> None:
    async def behave(call: Call) -> None:
        await call.reply(302, b"", ("Location", "http://169.254.169.254/"))

    assert get(library, transport, behave).status_code == 302


@both
def test_every_hop_that_a_client_follows_is_vetted(library: Any, transport: Any) -> None:
    async def behave(call: Call) -> None:
        await call.reply(302, b"", ("Location", "http://169.254.169.254/"))

    with pytest.raises(library.ConnectError, match="blocked_address"):
        get(library, transport, behave, follow_redirects=True)
