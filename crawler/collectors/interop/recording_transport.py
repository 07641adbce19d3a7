"""The guarded HTTP transport of the official client: paced, with every status and connection failure recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from crawler.http.failures import WireFailure
from crawler.http.httpx2_adapter import GuardedTransport2
from crawler.mcp.streamable_http import is_session_kept


class RecordingTransport(httpx2.AsyncBaseTransport):
    """Starts one request at a time, `gap` seconds apart. It records what the client hides by retries and rewording.

    A DELETE that may take the server down is not sent.
    """

    def __init__(self, inner: GuardedTransport2, gap: float) -> None:
        self.statuses: list[int] = []
        self.failure: WireFailure | None = None
        self._inner = inner
        self._gap = gap
        self._turn = asyncio.Lock()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        named = request.headers
        if request.method == "DELETE" and is_session_kept(
            named.get("mcp-protocol-version"), named.get("mcp-session-id", "")
        ):
            return httpx2.Response(405)
        async with self._turn:
            if self.statuses or self.failure:
                await asyncio.sleep(self._gap)
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            self.record_failure(error)
            raise
        self.statuses.append(response.status_code)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        stream = _RecordedStream(response.stream, self)
        return httpx2.Response(response.status_code, headers=response.headers, stream=stream)

    @property
    def may_be_asked_again(self) -> bool:
        """Whether the server was reached, and last refused what it was asked and not the client."""
        status = self.statuses[-1] if self.statuses else 0
        return self.failure is None and status < 500 and status not in {401, 402, 403, 407, 408, 429}

    def record_failure(self, error: httpx2.TransportError) -> None:
        """Keep the connection failure behind an exception of the library."""
        if isinstance(error.__cause__, WireFailure):
            self.failure = error.__cause__

    async def aclose(self) -> None:
        await self._inner.aclose()


class _RecordedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, recorder: RecordingTransport) -> None:
        self._inner = inner
        self._recorder = recorder

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._inner:
                yield part
        except httpx2.TransportError as error:
            self._recorder.record_failure(error)
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()
