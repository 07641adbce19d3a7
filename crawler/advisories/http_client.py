"""Requests to the OSV export and API with bounded answers, few retries, and one failure type."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from crawler.http.connection import Limits
from crawler.http.failures import WireFailure
from evidence.model import Absent, Reason

if TYPE_CHECKING:
    import httpx

Sleep: TypeAlias = Callable[[float], Awaitable[object]]

MAX_ANSWER: Final = 32 * 1024 * 1024
"""Bytes of the largest API response over HTTP/1.1."""

EXPORT_LIMITS: Final = Limits(
    total=3600.0, between_bytes=60.0, wire_bytes=8 * 1024 * 1024 * 1024, body_bytes=8 * 1024 * 1024 * 1024
)
"""For clients of the export: the archive of the largest ecosystem has hundreds of megabytes."""

API_LIMITS: Final = Limits(first_byte=40.0, total=90.0, wire_bytes=MAX_ANSWER + 1024 * 1024, body_bytes=MAX_ANSWER)
"""For clients of the API, which answers a batch within 35 seconds."""

_NOT_REPEATED: Final = frozenset({Reason.TOO_LARGE, Reason.COLLECTOR_OFFLINE})
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_SUCH: Final = frozenset({404, 410})


class AdvisoriesUnavailable(Exception):
    """There is no usable answer. The message is stable and contains no address; `status` is the HTTP status, if any."""

    def __init__(self, reason: Reason, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.status = status

    @property
    def missing(self) -> bool:
        """Whether the document does not exist."""
        return self.status in _NO_SUCH

    def absent(self) -> Absent:
        """The absence that is recorded for this failure."""
        return Absent(self.reason, self.detail)


class AdvisoryRetryPolicy(Struct, frozen=True, kw_only=True):
    """At most `attempts` requests, with waits of `first` seconds that double each time.

    A Retry-After is honoured up to `longest` seconds; a longer one ends the requests.
    """

    attempts: int = 4
    first: float = 1.0
    longest: float = 60.0


class AdvisoryClient:
    """A client of one source, opened for the first request; `what` names the source in messages."""

    def __init__(
        self,
        open_client: Callable[[], httpx.AsyncClient],
        *,
        what: str,
        sleep: Sleep = asyncio.sleep,
        insistence: AdvisoryRetryPolicy | None = None,
    ) -> None:
        self._open_client = open_client
        self._what = what
        self._sleep = sleep
        self._insistence = insistence or AdvisoryRetryPolicy()

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        return self._open_client()

    async def get(self, url: str, *, most: int = MAX_ANSWER) -> bytes:
        """A document; raise AdvisoriesUnavailable."""
        return await self._insist("GET", url, None, most)

    async def post(self, url: str, body: bytes, *, most: int = MAX_ANSWER) -> bytes:
        """The answer to a POST without side effects; raise AdvisoriesUnavailable."""
        return await self._insist("POST", url, body, most)

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """The chunks of a large document, requested once; raise AdvisoriesUnavailable, also from the iterator."""
        try:
            async with self._client.stream("GET", url, follow_redirects=False, timeout=None) as response:
                self._judge(response)
                yield response.aiter_bytes()
        except _request_errors() as error:
            raise self._failed(error) from error

    async def again(self, attempt: int, failure: AdvisoriesUnavailable) -> bool:
        """Wait before the next attempt; False when no attempt is left. Attempts count from 1."""
        hopeless = failure.status is not None and failure.status not in _PASSING
        if hopeless or failure.reason in _NOT_REPEATED or attempt >= self._insistence.attempts:
            return False
        wait = failure.wait if isinstance(failure, _Busy) else None
        if wait is not None and wait > self._insistence.longest:
            return False
        await self._sleep(self._insistence.first * 2 ** (attempt - 1) if wait is None else wait)
        return True

    async def _insist(self, method: str, url: str, body: bytes | None, most: int) -> bytes:
        attempt = 1
        while True:
            try:
                return await self._once(method, url, body, most)
            except AdvisoriesUnavailable as failure:
                if not await self.again(attempt, failure):
                    raise
                attempt += 1

    async def _once(self, method: str, url: str, body: bytes | None, most: int) -> bytes:
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body is not None else {})
        try:
            async with self._client.stream(
                method, url, content=body, headers=headers, follow_redirects=False, timeout=None
            ) as response:
                self._judge(response)
                found = bytearray()
                async for part in response.aiter_bytes():
                    found += part
                    if len(found) > most:
                        raise AdvisoriesUnavailable(
                            Reason.TOO_LARGE, f"{self._what}: an answer larger than {most} bytes"
                        )
                return bytes(found)
        except _request_errors() as error:
            raise self._failed(error) from error

    def _judge(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == HTTPStatus.OK:
            return
        detail = f"{self._what} answered HTTP {status}"
        if status in _PASSING:
            raise _Busy(Reason.RATE_LIMITED if status == 429 else Reason.UNREACHABLE, detail, status, _wait(response))
        raise AdvisoriesUnavailable(Reason.FORBIDDEN if status in {401, 403} else Reason.UNREACHABLE, detail, status)

    def _failed(self, error: Exception) -> AdvisoriesUnavailable:
        cause = error.__cause__
        if isinstance(cause, WireFailure):
            return AdvisoriesUnavailable(cause.reason, f"{self._what}: {cause.detail}")
        import httpx  # noqa: PLC0415  see _request_errors

        reason = Reason.TIMEOUT if isinstance(error, httpx.TimeoutException) else Reason.UNREACHABLE
        return AdvisoriesUnavailable(reason, f"{self._what} could not be reached ({type(error).__name__})")


class _Busy(AdvisoriesUnavailable):
    """A transient failure; `wait` is the number of seconds that the server asks for."""

    def __init__(self, reason: Reason, detail: str, status: int, wait: float | None) -> None:
        super().__init__(reason, detail, status)
        self.wait = wait


def _request_errors() -> tuple[type[Exception], ...]:
    """Evaluated after an exception only: httpx is then imported already, and most scans make no request."""
    import httpx  # noqa: PLC0415

    return httpx.HTTPError, httpx.InvalidURL


def _wait(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
