"""The process that runs the official SDK's client: `python -m crawler.collectors.interop.client`.

It reads one request on stdin, limits its resources, connects and lists, and writes one line. The server decides how
much processor time and memory the SDK needs, so none of it may be used in the process that probes others.
"""

from __future__ import annotations

import asyncio
import re
import resource
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from importlib.metadata import version
from typing import Any, Final, Protocol

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT, Implementation
from msgspec.structs import replace
from pydantic import ValidationError

from crawler.collectors.interop.inherited_stream import open_inherited_transport
from crawler.collectors.interop.recording_transport import RecordingTransport
from crawler.collectors.interop.request import InteropRequest, encode_answer
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from crawler.http.httpx2_adapter import GuardedTransport2
from crawler.mcp.channel import CLIENT_NAME, LEGACY_VERSION
from crawler.secret_masking import mask_secrets
from evidence.canonical import Json
from evidence.kinds.interop import CONNECT
from evidence.model import Absent, Reason, TargetType

PAGES: Final = 20
"""Of one list. A server that sends more is read by the prober, not by this client."""

_MIB: Final = 1024 * 1024
_LONGEST: Final = 300  # characters of a message
_FILES: Final = 64
_SHOWN: Final = 3  # errors of one validation
_VOLATILE: Final = re.compile(
    r"\b[0-9a-f]{8,}(?:-[0-9a-f]{2,})*\b|\d{5,}|\b\d+\.\d+(?=\s*(?:s|ms|seconds)\b)", re.IGNORECASE
)

# Exceptions of the client because of a server. Any other exception is a crash, which the parent notices.
_REFUSALS: Final = (
    MCPError,
    ValidationError,
    httpx2.HTTPError,
    ExceptionGroup,
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    anyio.EndOfStream,
)
_LOCKED: Final = {
    401: Reason.OAUTH_REQUIRED,
    402: Reason.PAYMENT_REQUIRED,
    403: Reason.FORBIDDEN,
    407: Reason.FORBIDDEN,
    408: Reason.TIMEOUT,
    429: Reason.RATE_LIMITED,
}


class _Page(Protocol):
    next_cursor: str | None


class SdkSession:
    """The progress of the client."""

    def __init__(self) -> None:
        self.asking = CONNECT
        self.negotiated: str | None = None
        self.listed: dict[str, Json] = {}

    async def run(self, client: Client, *, unless: str = "") -> None:
        """Connect, and read every list whose capability is declared to its end; `unless` this version is negotiated."""
        async with client:
            if client.protocol_version == unless:
                return
            self.negotiated = str(client.protocol_version)
            declared = client.server_capabilities
            if declared.tools:
                await self._list("tools", "tools/list", client.list_tools, lambda page: page.tools)
            if declared.resources:
                await self._list("resources", "resources/list", client.list_resources, lambda page: page.resources)
                await self._list(
                    "resourceTemplates",
                    "resources/templates/list",
                    client.list_resource_templates,
                    lambda page: page.resource_templates,
                )
            if declared.prompts:
                await self._list("prompts", "prompts/list", client.list_prompts, lambda page: page.prompts)
            self.asking = ""

    async def _list(
        self, name: str, method: str, request_page: Callable[..., Awaitable[Any]], items: Callable[[Any], list[Any]]
    ) -> None:
        self.asking = method
        count, cursor = 0, None
        for _ in range(PAGES):
            page: _Page = await request_page(cursor=cursor)
            count += len(items(page))
            cursor = page.next_cursor
            if cursor is None:
                break
        self.listed[name] = count

    def body(self, refusal: BaseException | None) -> dict[str, Json]:
        said = {"asked": self.asking, **_describe_refusal(refusal)} if refusal is not None and self.asking else None
        return {
            "client": "mcp",
            "version": version("mcp"),
            "connected": self.negotiated is not None,
            "negotiated": self.negotiated,
            "listed": self.listed if self.negotiated is not None else None,
            "said": said,
        }


async def connect_and_list(request: InteropRequest) -> Mapping[str, Json] | Absent:
    """Connect and list; Absent when our own limit, the network or a lock ended it and not the client's refusal."""
    transport = _build_transport(request) if request.handle is None else None
    session = SdkSession()
    refusal: BaseException | None = None
    try:
        async with asyncio.timeout(request.wall):
            await _connect(request, transport, session)
    except TimeoutError:
        return Absent(Reason.TIMEOUT, f"the client did not finish within {request.wall:g} seconds")
    except MemoryError:
        return Absent(Reason.TOO_LARGE, f"the client needs more than {request.memory} MiB")
    except _REFUSALS as error:
        refusal = _first(error)
    return _explain_own_failure(refusal, transport) or session.body(refusal)


def _build_transport(request: InteropRequest) -> RecordingTransport:
    # The wall is reported as a timeout, so it must end before the deadline of the parent.
    limits = Limits(first_byte=request.wall, between_bytes=request.wall, total=request.wall)
    engine = HttpEngine(
        user_agent=request.user_agent, guard=AddressGuard(allow_private=request.allow_private), limits=limits
    )
    return RecordingTransport(GuardedTransport2(engine), request.gap)


async def _connect(request: InteropRequest, transport: RecordingTransport | None, session: SdkSession) -> None:
    if transport is None:
        assert request.handle is not None
        await session.run(_client(request, open_inherited_transport(request.handle)))
        return
    build = partial(_http, transport, request)
    if request.transport == TargetType.SSE:
        wall = request.wall
        stream = sse_client(request.url, timeout=wall, sse_read_timeout=wall, httpx_client_factory=build)
        await session.run(_client(request, stream))
        return
    async with build() as http:
        await _connect_streamable(request, transport, session, http)


async def _connect_streamable(
    request: InteropRequest, transport: RecordingTransport, session: SdkSession, http: httpx2.AsyncClient
) -> None:
    """Begin with `initialize`, since released servers refuse every client after the SDK's own first question.

    That one follows where `initialize` was refused or the server may know it (docs/decisions/0042).
    """
    stream = partial(streamable_http_client, request.url, http_client=http)
    try:
        await session.run(_client(replace(request, handshake=True), stream()), unless=LEGACY_VERSION)
    except _REFUSALS:
        if session.negotiated is not None or not transport.may_be_asked_again:
            raise
    if session.negotiated is None:
        await session.run(_client(request, stream()))


def _client(request: InteropRequest, transport: AbstractAsyncContextManager[Any]) -> Client:
    known = Implementation(name=CLIENT_NAME, version=version("mcp"))
    mode = "legacy" if request.handshake else "auto"
    return Client(transport, client_info=known, cache=None, read_timeout_seconds=request.wall, mode=mode)


def _http(transport: RecordingTransport, request: InteropRequest, **_: object) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=transport, headers=list(request.headers), timeout=httpx2.Timeout(request.wall), trust_env=False
    )


def _explain_own_failure(refusal: BaseException | None, transport: RecordingTransport | None) -> Absent | None:
    """The reason why a refusal is not the client's own, if so. The parent knows whether a launched server ended."""
    if refusal is None or isinstance(refusal, ValidationError):
        return None
    if isinstance(refusal, MemoryError):
        return Absent(Reason.TOO_LARGE, "the client needs more memory than it gets")
    if transport is None:
        return None
    is_server_error = isinstance(refusal, MCPError) and refusal.code not in {CONNECTION_CLOSED, REQUEST_TIMEOUT}
    status = transport.statuses[-1] if transport.statuses else 0
    if status in _LOCKED:
        return Absent(_LOCKED[status], f"HTTP {status}")
    if status >= 500:
        return Absent(Reason.UNREACHABLE, f"HTTP {status}")
    return transport.failure.absent() if transport.failure and not is_server_error else None


def _describe_refusal(refusal: BaseException) -> dict[str, Json]:
    code = refusal.code if isinstance(refusal, MCPError) else None
    return {"error": type(refusal).__name__, "code": code, "message": _stable(_message(refusal))}


def _message(refusal: BaseException) -> str:
    match refusal:
        case MCPError():
            return refusal.message
        case ValidationError():
            errors = refusal.errors(include_url=False, include_context=False, include_input=False)
            places = [f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in errors[:_SHOWN]]
            return f"{len(errors)} errors in {refusal.title}: {'; '.join(places)}"
    return str(refusal)


def _stable(text: str) -> str:
    """The client's message without secrets, and without values that change in every run."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * _LONGEST])
    return _VOLATILE.sub("…", mask_secrets(" ".join(plain.split())))[:_LONGEST]


def _first(error: BaseException) -> BaseException:
    """The first failure in a group of groups."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def limit_resources(request: InteropRequest) -> None:
    """Limit this process to the processor time and memory of the request."""
    resource.setrlimit(resource.RLIMIT_AS, (request.memory * _MIB, request.memory * _MIB))
    resource.setrlimit(resource.RLIMIT_CPU, (request.cpu, request.cpu + 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, _FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def main() -> None:
    request = InteropRequest.from_json(sys.stdin.buffer.read())
    limit_resources(request)
    sys.stdout.buffer.write(encode_answer(asyncio.run(connect_and_list(request))) + b"\n")


if __name__ == "__main__":
    main()
