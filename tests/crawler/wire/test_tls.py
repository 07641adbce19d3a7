"""HTTPS is verified against the name that was asked for, and its failures are named."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, Request
from crawler.http.failures import TlsFailure, WireFailure
from crawler.http.tls_context import create_tls_context
from crawler.http.url import parse_url
from evidence.model import Reason
from tests.crawler.collectors.protocol.probing import absent, collector, listing, record_of, remote
from tests.crawler.wire.certificates import Authority
from tests.crawler.wire.test_engine import AGENT, Names
from tests.servers.hostile import Call, Mcp, serving


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


async def hello(call: Call) -> None:
    await call.reply(200, b"hello")


def fetched(server: ssl.SSLContext | None, client: ssl.SSLContext, url_scheme: str = "https") -> bytes:
    async def run() -> bytes:
        guard = AddressGuard(allow_private=True)
        engine = HttpEngine(
            user_agent=AGENT, guard=guard, tls=client, resolver=Names(["127.0.0.1"]), limits=Limits(connect=5)
        )
        async with serving(hello, tls=server) as url, engine.open_session() as visit:
            port = url.split(":")[2].split("/")[0]
            return (await visit.fetch(Request("GET", parse_url(f"{url_scheme}://localhost:{port}/")))).body

    return asyncio.run(run())


def test_a_trusted_certificate_for_the_name_is_accepted(authority: Authority) -> None:
    assert fetched(authority.serving(), authority.trusting()) == b"hello"


def failing(server: ssl.SSLContext | None, client: ssl.SSLContext) -> WireFailure:
    with pytest.raises(WireFailure) as caught:
        fetched(server, client)
    return caught.value


def test_a_certificate_for_another_name_is_refused(authority: Authority) -> None:
    found = failing(authority.serving("other.example"), authority.trusting())

    assert isinstance(found, TlsFailure)
    assert "mismatch" in found.detail


def test_an_expired_certificate_is_refused(authority: Authority) -> None:
    found = failing(authority.serving(expired=True), authority.trusting())

    assert isinstance(found, TlsFailure)
    assert "expired" in found.detail


def test_an_unknown_authority_is_refused(authority: Authority) -> None:
    assert isinstance(failing(authority.serving(), create_tls_context()), TlsFailure)


def test_plain_http_behind_https_is_a_tls_failure(authority: Authority) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        await writer.drain()
        await reader.read()
        writer.close()

    async def run() -> WireFailure:
        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), tls=authority.trusting())
        async with server, engine.open_session() as visit:
            with pytest.raises(WireFailure) as caught:
                await visit.fetch(Request("GET", parse_url(f"https://127.0.0.1:{port}/")))
        return caught.value

    found = asyncio.run(run())

    assert isinstance(found, TlsFailure)
    assert found.detail == "the answer has no valid TLS records"


def test_an_https_server_is_probed_and_its_bad_certificate_recorded(authority: Authority) -> None:
    async def run(client: ssl.SSLContext) -> object:
        async with serving(Mcp(), tls=authority.serving()) as url:
            return await record_of(collector(tls=client, resolver=Names(["127.0.0.1"])), remote(url))

    good = asyncio.run(run(authority.trusting()))
    bad = asyncio.run(run(create_tls_context()))

    assert listing(good).tools.items  # type: ignore[arg-type]
    assert absent(bad).reason is Reason.TLS_ERROR  # type: ignore[arg-type]


def test_certificates_are_verified_by_default() -> None:
    context = create_tls_context()

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_verification_does_not_depend_on_the_version_of_python(authority: Authority) -> None:
    context = create_tls_context(str(authority.file))

    assert context.verify_flags == ssl.VERIFY_X509_TRUSTED_FIRST
    assert fetched(authority.serving(has_key_identifier=False), context) == b"hello"
