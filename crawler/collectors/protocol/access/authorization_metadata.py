"""Fetches the documents in which a locked server names its token issuers: RFC 9728, then RFC 8414 or OpenID.

Every address comes from the probed server. All requests therefore pass the address guard, redirects are not followed,
and only GET is sent.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Final

from msgspec import Struct, structs

from crawler.http.connection import Limits
from crawler.http.engine import HttpSession, Request
from crawler.http.failures import BlockedAddress, BudgetSpent, InvalidTarget, TimedOut, WireFailure
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.url import Origin, Url, parse_url
from evidence.canonical import Json, NotJson, parse_json
from evidence.kinds.access import HEADER, LEGACY_LAYOUT

RESOURCE_METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
AUTHORIZATION_METADATA_PATH: Final = "/.well-known/oauth-authorization-server"
OPENID_METADATA_PATH: Final = "/.well-known/openid-configuration"

_MOST_ISSUERS: Final = 3
_MOST_FROM_HEADERS: Final = 2
_LONGEST_ISSUER: Final = 2048
_DEEPEST: Final = 64
_ACCEPT: Final = (("accept", "application/json"),)
# A JSON object without any of these members is an error message, or the host's answer to every address.
_MARKS_RESOURCE: Final = frozenset({"resource", "authorization_servers"})
_MARKS_SERVER: Final = frozenset({"issuer", "authorization_endpoint", "token_endpoint"})
_LOOPBACK: Final = re.compile(r"127(?:\.[0-9]{1,3}){3}")
_QUERY_VALUE: Final = re.compile(r"(?<==)[^&#]+")
_USER: Final = re.compile(r"(?<=://)[^/?#@]*@")
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s\"'<>]+")
MASK: Final = "[removed]"


class AccessLimits(Struct, frozen=True, kw_only=True):
    """Bounds of one access probe: metadata requests, bytes of one document, seconds of one request and of all."""

    metadata: int = 12
    document_bytes: int = 256 * 1024
    seconds: float = 10.0
    total: float = 30.0


class MetadataAttempt(Struct, frozen=True, kw_only=True):
    """One request for a document: `document` is its bytes if it is one, else `problem` names what came instead."""

    by: str
    url: str
    status: int | None = None
    location: str | None = None
    document: bytes | None = None
    problem: str = ""
    failure: WireFailure | None = None


class IssuerMetadata(Struct, frozen=True, kw_only=True):
    """One authorization server and the requests for its metadata."""

    issuer: str
    layout: str
    attempts: tuple[MetadataAttempt, ...]


class MetadataReader:
    """Reads metadata on the connections of one HTTP session, at most `limits.metadata` documents.

    `home` is the server's own host. Private addresses may be opened only for the operator's own target. What that
    target advertises may be on its own host, but not elsewhere in the operator's network.
    """

    def __init__(self, session: HttpSession, limiter: HostRateLimiter, limits: AccessLimits, *, home: str) -> None:
        self._session = session
        self._home = home
        self._limiter = limiter
        self._limits = limits
        self._end = asyncio.get_running_loop().time() + limits.total
        self.requests = 0
        self.cut = False

    async def read_resource_metadata(self, server: Url, advertised: Sequence[str]) -> tuple[MetadataAttempt, ...]:
        """Protected resource metadata: what challenges advertise, else below the path, else at the root."""
        return await self._fetch_first(_resource_addresses(server, advertised), _MARKS_RESOURCE)

    async def read_issuers(self, document: Json) -> tuple[IssuerMetadata, ...]:
        """The authorization servers that a document names, each with its metadata."""
        named = document.get("authorization_servers") if isinstance(document, Mapping) else None
        texts = [text[:_LONGEST_ISSUER] for text in named if isinstance(text, str)] if isinstance(named, list) else []
        wanted = list(dict.fromkeys(texts))
        self.cut = self.cut or len(wanted) > _MOST_ISSUERS
        return tuple([await self._issuer(text) for text in wanted[:_MOST_ISSUERS]])

    async def root_metadata(self, server: Url) -> tuple[IssuerMetadata, ...]:
        """Authorization server metadata at the root of the server's own origin (2025-03-26); empty without any."""
        attempts = await self._fetch_first(
            [("rfc8414", str(_at(server.origin, AUTHORIZATION_METADATA_PATH)))], _MARKS_SERVER
        )
        if attempts[-1].document is None:
            return ()
        return (
            IssuerMetadata(issuer=str(_at(server.origin, "")).rstrip("/"), layout=LEGACY_LAYOUT, attempts=attempts),
        )

    async def _issuer(self, text: str) -> IssuerMetadata:
        try:
            addresses = list(_server_addresses(parse_url(text)))
        except InvalidTarget as error:
            broken = MetadataAttempt(by="rfc8414", url=mask_url(text), problem=error.detail)
            return IssuerMetadata(issuer=mask_url(text), layout="discovered", attempts=(broken,))
        attempts = await self._fetch_first(addresses, _MARKS_SERVER)
        return IssuerMetadata(issuer=mask_url(text), layout="discovered", attempts=attempts)

    async def _fetch_first(
        self, addresses: Sequence[tuple[str, str]], marks: frozenset[str]
    ) -> tuple[MetadataAttempt, ...]:
        """Request one address after the other until a document is found."""
        attempts: list[MetadataAttempt] = []
        for by, address in addresses:
            attempts.append(await self._attempt(by, address, marks))
            if attempts[-1].document is not None:
                break
        return tuple(attempts)

    async def _attempt(self, by: str, address: str, marks: frozenset[str]) -> MetadataAttempt:
        shown = mask_url(address)
        seconds_left = self._end - asyncio.get_running_loop().time()
        if self.requests >= self._limits.metadata or seconds_left <= 0:
            self.cut = True
            return MetadataAttempt(by=by, url=shown, failure=BudgetSpent("the request budget is spent"))
        try:
            url = parse_url(address)
        except InvalidTarget as error:
            return MetadataAttempt(by=by, url=shown, problem=error.detail)
        self.requests += 1
        try:
            async with asyncio.timeout(seconds_left):
                return await self._get(by, url, shown, marks)
        except TimeoutError:
            return MetadataAttempt(by=by, url=shown, failure=TimedOut("no answer in time"))
        except WireFailure as error:
            return MetadataAttempt(by=by, url=shown, failure=error)

    async def _get(self, by: str, url: Url, shown: str, marks: frozenset[str]) -> MetadataAttempt:
        is_private = await self._session.is_private(url.origin)
        if is_private and not _is_same_host(url.origin.host, self._home):
            raise BlockedAddress("the name leads to another private host than the server's own")
        async with nullcontext() if is_private else self._limiter.request_slot(url.origin.host):
            response = await self._session.open(Request("GET", url, _ACCEPT, limits=self._http_limits()))
            try:
                status = response.head.status
                if status != 200:
                    location = mask_url(response.head.get("location"))[:_LONGEST_ISSUER]
                    moved = location if 300 <= status < 400 else None
                    return MetadataAttempt(
                        by=by, url=shown, status=status, location=moved or None, problem=f"HTTP {status}"
                    )
                if response.head.get("content-type").lower().startswith("text/event-stream"):
                    return MetadataAttempt(by=by, url=shown, status=status, problem="an event stream")
                body = await response.read_all()
            finally:
                response.close()
        document, problem = _read(body, marks)
        return MetadataAttempt(by=by, url=shown, status=status, document=document, problem=problem)

    def _http_limits(self) -> Limits:
        seconds, most = self._limits.seconds, self._limits.document_bytes
        known = self._session.engine.limits
        return structs.replace(
            known,
            connect=min(known.connect, seconds),
            first_byte=min(known.first_byte, seconds),
            between_bytes=min(known.between_bytes, seconds),
            total=min(known.total, seconds),
            wire_bytes=most + known.head_bytes,
            body_bytes=most,
        )


def _is_same_host(one: str, other: str) -> bool:
    return one == other or (_is_loopback(one) and _is_loopback(other))


def _is_loopback(host: str) -> bool:
    return host in {"localhost", "::1", "[::1]"} or _LOOPBACK.fullmatch(host) is not None


def mask_url(text: str) -> str:
    """The address without possible secrets: values of the query, and a user before the host."""
    address, mark, fragment = text.partition("#")
    path, question, query = _USER.sub("", address).partition("?")
    masked = "&".join(_QUERY_VALUE.sub(MASK, part) if "=" in part else MASK for part in query.split("&") if part)
    return f"{path}{question}{masked}" + (mark + MASK if fragment else mark)


def mask_document(document: bytes) -> bytes:
    """The JSON document with the addresses in its strings masked; all other bytes stay."""
    return _STRING.sub(_mask_addresses, document)


def _mask_addresses(string: re.Match[bytes]) -> bytes:
    try:
        text = json.loads(string[0])
    except ValueError:  # invalid UTF-8 cannot be in a document
        return string[0]
    masked = _ADDRESS.sub(lambda address: mask_url(address[0]), text)
    return string[0] if masked == text else json.dumps(masked).encode()


def _resource_addresses(server: Url, advertised: Sequence[str]) -> list[tuple[str, str]]:
    path = server.target.partition("?")[0]
    found = [(HEADER, text) for text in advertised[:_MOST_FROM_HEADERS]]
    if path != "/":
        found.append(("path", str(_at(server.origin, RESOURCE_METADATA_PATH + path))))
    found.append(("root", str(_at(server.origin, RESOURCE_METADATA_PATH))))
    return list({address: (by, address) for by, address in reversed(found)}.values())[::-1]


def _server_addresses(issuer: Url) -> Iterator[tuple[str, str]]:
    path = issuer.target.partition("?")[0].rstrip("/")
    yield "rfc8414", str(_at(issuer.origin, AUTHORIZATION_METADATA_PATH + path))
    yield "openid", str(_at(issuer.origin, OPENID_METADATA_PATH + path))
    if path:
        yield "openid-appended", str(_at(issuer.origin, path + OPENID_METADATA_PATH))


def _at(origin: Origin, path: str) -> Url:
    return Url(origin, path or "/")


def _read(body: bytes, marks: frozenset[str]) -> tuple[bytes | None, str]:
    text = body.removeprefix(b"\xef\xbb\xbf").strip()
    try:
        value = parse_json(text, max_depth=_DEEPEST)
    except NotJson:
        return None, "not JSON" if text[:1] != b"<" else "a page instead of JSON"
    if not isinstance(value, Mapping):
        return None, "JSON, but no object"
    if not marks & value.keys():
        return None, f"an object without {', '.join(sorted(marks))}"
    return text, ""
