"""GET of an index's documents: bounded bytes, few tries, few redirects, Retry-After obeyed, ETags used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from crawler.http.failures import TooLarge, WireFailure
from crawler.http.rate_limiting import parse_retry_after
from evidence.model import Absent, Reason

if TYPE_CHECKING:
    import httpx

_RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 3
_NAMED_REASONS: Final = frozenset({Reason.TIMEOUT, Reason.TLS_ERROR, Reason.BLOCKED_ADDRESS, Reason.COLLECTOR_OFFLINE})
_LONGEST_ETAG: Final = 256


class Document(Struct, frozen=True):
    """A document as received; `etag` is for the next run and `address` is the one after redirects."""

    body: bytes
    media: str
    etag: str | None
    address: str


class Unchanged(Struct, frozen=True):
    """The document still has the ETag that was sent."""


class Missing(Struct, frozen=True):
    """The index has no such document."""


Answer: TypeAlias = Document | Unchanged | Missing | Absent


class IndexRetryPolicy(Struct, frozen=True, kw_only=True):
    """`attempts` per document, waits doubling from `first` seconds; a Retry-After above `longest` is not waited for."""

    attempts: int = 3
    first: float = 1.0
    longest: float = 15.0


class _Passing(Struct, frozen=True):
    why: Absent
    wait: float | None = None


class IndexClient:
    """Reads one index through `client`. `who` names it in absences, which hold no address: `the npm index`."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        index_name: str,
        *,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        retries: IndexRetryPolicy | None = None,
    ) -> None:
        self._client = client
        self._index_name = index_name
        self._clock = clock
        self._sleep = sleep
        self._retries = retries or IndexRetryPolicy()

    async def get(self, url: str, accept: str, etag: str | None = None) -> Answer:
        """The document; a refusal of the index is an Absent with a stable detail."""
        wait, attempt = self._retries.first, 1
        while isinstance(answer := await self._follow(url, accept, etag), _Passing):
            if attempt == self._retries.attempts or (answer.wait or 0.0) > self._retries.longest:
                return answer.why
            await self._sleep(wait if answer.wait is None else answer.wait)
            wait, attempt = wait * 2, attempt + 1
        return answer

    def refusal(self, reason: Reason, what: str) -> Absent:
        return Absent(reason, f"{self._index_name} {what}")

    async def _follow(self, url: str, accept: str, etag: str | None) -> Answer | _Passing:
        import httpx  # noqa: PLC0415  a scan of a remote reads no index

        for _ in range(_MOST_REDIRECTS + 1):
            try:
                answer = await self._attempt(url, accept, etag)
            except httpx.TransportError as error:
                return self._failed(error)
            except (httpx.InvalidURL, httpx.DecodingError, ValueError) as error:
                return self.refusal(Reason.UNREACHABLE, f"could not be read ({type(error).__name__})")
            if not isinstance(answer, str):
                return answer
            if _origin(answer) != _origin(url):
                etag = None
            url = answer
        return self.refusal(Reason.UNREACHABLE, "redirects in circles")

    async def _attempt(self, url: str, accept: str, etag: str | None) -> Answer | _Passing | str:
        """One request; a text is the address of a redirect."""
        headers = {"Accept": accept, **({"If-None-Match": etag} if etag else {})}
        async with self._client.stream("GET", url, headers=headers, follow_redirects=False) as response:
            status = response.status_code
            if status == HTTPStatus.OK:
                body = await response.aread()
                return Document(body, response.headers.get("content-type", ""), _etag(response), url)
            if status == HTTPStatus.NOT_MODIFIED and etag:
                return Unchanged()
            if status in {404, 410}:
                return Missing()
            location = response.headers.get("location", "")
            if status in _REDIRECTS and location:
                onward = urljoin(url, location)
                return onward if urlsplit(onward).scheme in {"http", "https"} else self._status(status)
            if status in _RETRIED:
                return _Passing(
                    self._status(status), parse_retry_after(response.headers.get("retry-after", ""), self._clock())
                )
            return self._status(status)

    def _status(self, status: int) -> Absent:
        reason = {401: Reason.FORBIDDEN, 403: Reason.FORBIDDEN, 408: Reason.TIMEOUT, 429: Reason.RATE_LIMITED}
        return self.refusal(reason.get(status, Reason.UNREACHABLE), f"answered HTTP {status}")

    def _failed(self, error: httpx.TransportError) -> Absent | _Passing:
        """The absence for a failure, in words without addresses."""
        import httpx  # noqa: PLC0415

        cause = error.__cause__
        if isinstance(cause, TooLarge):
            return self.refusal(Reason.TOO_LARGE, "gave a document that is too large")
        if isinstance(cause, WireFailure):
            known = cause.reason in _NAMED_REASONS
            absent = self.refusal(cause.reason if known else Reason.UNREACHABLE, f"could not be read: {cause.detail}")
            return _Passing(absent) if cause.transient else absent
        reason = Reason.TIMEOUT if isinstance(error, httpx.TimeoutException) else Reason.UNREACHABLE
        return _Passing(self.refusal(reason, f"could not be read ({type(error).__name__})"))


def _etag(response: httpx.Response) -> str | None:
    etag = str(response.headers.get("etag", ""))
    return etag if etag.isascii() and etag.isprintable() and 0 < len(etag) <= _LONGEST_ETAG else None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
