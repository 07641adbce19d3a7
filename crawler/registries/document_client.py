"""GET of a registry document with bounded size and bounded retries; Retry-After is honoured up to a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, TypeAlias, TypeVar

import httpx
from msgspec import Struct

from crawler.http.failures import WireFailure
from evidence.canonical import NotJson

Clock: TypeAlias = Callable[[], datetime]
Sleep: TypeAlias = Callable[[float], Awaitable[object]]
Parsed = TypeVar("Parsed")

MAX_BODY: Final = 32 * 1024 * 1024

_RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class RegistryRetryPolicy(Struct, frozen=True, kw_only=True):
    """At most `attempts` for each document, with waits that double from `first` to `longest` seconds.

    A Retry-After above `longest_asked` ends the walk; a later run resumes it.
    """

    attempts: int = 6
    first: float = 1.0
    longest: float = 60.0
    longest_asked: float = 300.0
    timeout: float = 30.0
    max_body: int = MAX_BODY


class DocumentUnavailable(Exception):
    """The document is not available. The message is stable and contains no header value and no query."""


class _TryAgain(Exception):
    """A transient failure; `wait` is the wait that the registry asks for."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.wait = wait


def _explain(error: httpx.TransportError) -> _TryAgain | DocumentUnavailable:
    """Classifies an error of the guarded transport as transient or final; the message has no addresses or secrets."""
    cause = error.__cause__
    if isinstance(cause, WireFailure):
        why = f"it could not be read: {cause.detail}"
        return _TryAgain(why) if cause.transient else DocumentUnavailable(why)
    if isinstance(error, httpx.TimeoutException):
        return _TryAgain("it did not answer in time")
    return _TryAgain(f"it could not be reached ({type(error).__name__})")


class DocumentClient:
    """GETs documents through an injected client.

    `headers` may contain secrets: they never appear in messages or representations, and redirects are refused because
    they
    could send them elsewhere.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        clock: Clock,
        sleep: Sleep = asyncio.sleep,
        headers: Mapping[str, str] | None = None,
        patience: RegistryRetryPolicy | None = None,
    ) -> None:
        self._client = client
        self._headers = {"Accept": "application/json", **(headers or {})}
        self._patience = patience or RegistryRetryPolicy()
        self._clock = clock
        self._sleep = sleep

    async def get(self, url: str, parameters: Mapping[str, str], parse: Callable[[bytes], Parsed]) -> Parsed:
        """The parsed document; raise DocumentUnavailable after the last attempt. A document that `parse` rejects is
        requested again.
        """
        wait = self._patience.first
        for attempt in range(1, self._patience.attempts + 1):
            try:
                return parse(await self._attempt(url, parameters))
            except NotJson as error:
                failure = _TryAgain(f"not a registry document: {error}")
            except _TryAgain as error:
                failure = error
            if attempt < self._patience.attempts:
                await self._sleep(wait if failure.wait is None else failure.wait)
                wait = min(wait * 2, self._patience.longest)
        raise DocumentUnavailable(f"{failure.why}, {self._patience.attempts} times")

    async def _attempt(self, url: str, parameters: Mapping[str, str]) -> bytes:
        try:
            async with self._client.stream(
                "GET",
                url,
                params=dict(parameters) or None,
                headers=self._headers,
                timeout=self._patience.timeout,
                follow_redirects=False,
            ) as response:
                self._judge(response)
                return await self._read(response)
        except httpx.TransportError as error:
            raise _explain(error) from error
        except (httpx.InvalidURL, httpx.DecodingError) as error:
            raise DocumentUnavailable(f"{type(error).__name__}") from error

    def _judge(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == httpx.codes.OK:
            return
        if status in _RETRIED:
            raise _TryAgain(f"it answered HTTP {status}", self._asked_wait(response))
        if status in {401, 403}:
            raise DocumentUnavailable(f"it answered HTTP {status}: check the headers configured for this registry")
        if 300 <= status < 400:
            raise DocumentUnavailable(f"it answered HTTP {status}: configure the address it redirects to")
        raise DocumentUnavailable(f"it answered HTTP {status}")

    def _asked_wait(self, response: httpx.Response) -> float | None:
        """The seconds of Retry-After (RFC 9110, 10.2.3); raise DocumentUnavailable when they exceed the limit."""
        text = response.headers.get("Retry-After", "").strip()
        seconds = float(text) if text.isascii() and text.isdigit() and len(text) < 10 else self._until(text)
        if seconds is not None and seconds > self._patience.longest_asked:
            raise DocumentUnavailable(f"it answered HTTP {response.status_code} and asks to come back later")
        return seconds

    def _until(self, text: str) -> float | None:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - self._clock()).total_seconds())

    async def _read(self, response: httpx.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._patience.max_body:
                raise DocumentUnavailable(f"its document is larger than {self._patience.max_body} bytes")
        return bytes(body)
