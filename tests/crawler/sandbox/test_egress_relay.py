"""The relay of installations: allowed endpoints pass, all others are refused."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping

import pytest

from crawler.sandbox.boxes.egress_relay import AllowedEndpoints, EgressRelay, parse_server_name
from crawler.sandbox.boxes.private_indexes import Authority
from crawler.sandbox.toolchain.package_indexes import Endpoint

NAME = "registry.npm.example"
INDEX = Endpoint("https", "pypi.example", 443)


def hello(name: str | None) -> bytes:
    """The first bytes of a TLS connection to `name`."""
    context = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context.check_hostname = name is not None
    session = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()


class Upstream:
    """Records what reaches it and answers `pong`."""

    def __init__(self) -> None:
        self.received: list[bytes] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received.append(await reader.read(65536))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong")
        await writer.drain()
        writer.close()


def ask(
    talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[bytes]],
    doors: Callable[[int], AllowedEndpoints],
    *,
    cap: int = 1 << 20,
    addresses: Mapping[Endpoint, list[str]] | None = None,
) -> tuple[bytes, Upstream, EgressRelay]:
    """Talk to a relay in front of an upstream on loopback."""

    async def run() -> tuple[bytes, Upstream, EgressRelay]:
        upstream = Upstream()
        server = await asyncio.start_server(upstream.handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        relay = EgressRelay(doors(port), cap=cap)
        listener = socket.create_server(("127.0.0.1", 0))
        serving = await relay.serve(listener)
        for door in relay.allowed.configured | relay.allowed.learned:  # names of the test data do not resolve
            relay._addresses[door] = asyncio.get_running_loop().create_future()
            relay._addresses[door].set_result((addresses or {}).get(door, ["127.0.0.1"]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        async with asyncio.timeout(60):
            answer = await talk(reader, writer, port)
        writer.close()
        serving.close()
        server.close()
        return answer, upstream, relay

    return asyncio.run(run())


def connect(host: str, name: str | None, *, first: bytes | None = None) -> Callable[..., Awaitable[bytes]]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> bytes:
        writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        if b"200" not in answer:
            return answer
        writer.write(hello(name) if first is None else first)
        return await reader.read()

    return talk


def get(url: str, **headers: str) -> Callable[..., Awaitable[bytes]]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> bytes:
        lines = [f"GET {url.replace('PORT', str(port))} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
        writer.write("\r\n".join(lines).encode())
        return await reader.read()

    return talk


def only(scheme: str, host: str) -> Callable[[int], AllowedEndpoints]:
    return lambda port: AllowedEndpoints(frozenset({Endpoint(scheme, host, port)}))


def test_listed_name_passes_with_its_tls_untouched() -> None:
    answer, upstream, _ = ask(connect(NAME, NAME), only("https", NAME))
    assert answer.endswith(b"pong")
    assert parse_server_name(upstream.received[0]) == NAME


def test_other_host_is_refused_before_anything_is_dialled() -> None:
    answer, upstream, relay = ask(connect("evil.example", "evil.example"), only("https", NAME))
    assert answer.startswith(b"HTTP/1.1 403")
    assert upstream.received == []
    assert relay.refused[0].startswith("evil.example:")


def test_other_server_name_behind_a_listed_host_is_refused() -> None:
    answer, upstream, relay = ask(connect(NAME, "evil.example"), only("https", NAME))
    assert b"403" in answer
    assert upstream.received == []
    assert relay.refused == ["TLS server name evil.example"]


def test_missing_server_name_is_refused() -> None:
    assert ask(connect(NAME, None), only("https", NAME))[1].received == []


def test_other_protocol_behind_a_listed_host_is_refused() -> None:
    _, upstream, relay = ask(connect(NAME, None, first=b"GET / HTTP/1.1\r\n\r\n"), only("https", NAME))
    assert (upstream.received, relay.refused) == ([], ["not TLS"])


def test_other_port_of_a_listed_host_is_refused() -> None:
    answer, _, _ = ask(
        connect(NAME, NAME), lambda port: AllowedEndpoints(frozenset({Endpoint("https", NAME, port + 1)}))
    )
    assert answer.startswith(b"HTTP/1.1 403")


def test_plain_http_to_a_listed_mirror_passes_in_origin_form() -> None:
    answer, upstream, _ = ask(get("http://127.0.0.1:PORT/simple/x/?a=b", Host="127.0.0.1"), only("http", "127.0.0.1"))
    assert answer.endswith(b"pong")
    assert upstream.received[0].startswith(
        b"GET /simple/x/?a=b HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:PORT/",
        "http://127.0.0.1:1/",
        "/",
        "ftp://127.0.0.1:PORT/",
        "https://127.0.0.1:PORT/",
        "nonsense",
    ],
)
def test_plain_http_to_anything_else_is_refused(url: str) -> None:
    answer, upstream, _ = ask(get(url), only("http", "127.0.0.1"))
    assert answer.startswith(b"HTTP/1.1 403")
    assert upstream.received == []


def test_tunnel_to_a_plain_http_mirror_is_refused() -> None:
    answer, _, _ = ask(connect("127.0.0.1", None), only("http", "127.0.0.1"))
    assert answer.startswith(b"HTTP/1.1 403")


def named_by_an_index(port: int) -> AllowedEndpoints:
    return AllowedEndpoints(frozenset({INDEX}), frozenset({Endpoint("https", NAME, port)}))


def test_private_file_host_named_by_a_public_index_is_refused() -> None:
    _, upstream, relay = ask(connect(NAME, NAME), named_by_an_index, addresses={INDEX: ["93.184.216.34"]})
    assert upstream.received == []
    assert relay.refused == [f"{NAME} has a private address"]


def test_private_file_host_of_a_private_index_passes() -> None:
    answer, _, _ = ask(connect(NAME, NAME), named_by_an_index, addresses={INDEX: ["127.0.0.1"]})
    assert answer.endswith(b"pong")


def test_download_limit_cuts_the_connection() -> None:
    answer, _, relay = ask(get("http://127.0.0.1:PORT/"), only("http", "127.0.0.1"), cap=10)
    assert answer == b""
    assert relay.received > 10


@pytest.mark.parametrize("cut", ["empty", "too short", "in the middle"])
def test_malformed_client_hello_has_no_server_name(cut: str) -> None:
    data = {
        "empty": b"\x16\x03\x01\x00\x00",
        "too short": b"\x16\x03\x01\x00\x05xxxxx",
        "in the middle": hello(NAME)[:60],
    }
    with pytest.raises(ValueError, match="malformed"):
        parse_server_name(data[cut])


def test_ending_what_hangs_is_no_error() -> None:
    errors: list[object] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
        relay, listener = EgressRelay(AllowedEndpoints(frozenset())), socket.create_server(("127.0.0.1", 0))
        await relay.serve(listener)
        _, writer = await asyncio.open_connection(*listener.getsockname())
        while not relay._handling:
            await asyncio.sleep(0)
        await relay.close()
        await asyncio.sleep(0)
        writer.close()

    asyncio.run(run())
    assert errors == []


def test_ending_a_stub_whose_client_reads_nothing_is_no_error() -> None:
    stub, problems = Endpoint("https", "api.example", 443), list[object]()

    def ask_and_stay(place: tuple[str, int], trusted: ssl.SSLContext) -> ssl.SSLSocket:
        plain = socket.create_connection(place, timeout=10)
        plain.sendall(b"CONNECT api.example:443 HTTP/1.1\r\n\r\n")
        assert plain.recv(100).startswith(b"HTTP/1.1 200")
        inner = trusted.wrap_socket(plain, server_hostname="api.example")
        inner.sendall(b"GET / HTTP/1.1\r\nHost: api.example\r\n\r\n")
        return inner

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        authority = Authority()
        relay = EgressRelay(AllowedEndpoints(frozenset(), stubs=frozenset({stub})), authority=authority)
        listener = socket.create_server(("127.0.0.1", 0))
        await relay.serve(listener)
        trusted = ssl.create_default_context(cadata=authority.certificate().decode())
        trusted.verify_flags |= ssl.VERIFY_X509_STRICT  # the default of Python 3.13
        client = await asyncio.to_thread(ask_and_stay, listener.getsockname(), trusted)
        with client:
            await asyncio.sleep(0.2)
            await asyncio.wait_for(relay.close(), 5)
            await asyncio.sleep(0)

    asyncio.run(run())
    assert problems == []
