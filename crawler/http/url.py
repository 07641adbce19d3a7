"""Parsed URLs: origin, request target and Host header, without characters that could inject headers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from crawler.http.failures import InvalidTarget

_PORTS: Final = {"http": 80, "https": 443}
_SAFE: Final = "/%:@!$&'()*+,;=~-._?[]"
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_HOST: Final = re.compile(r"[A-Za-z0-9._:-]+")


class Origin(Struct, frozen=True):
    """Scheme, host and port of a connection."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The Host header; without the port if it is the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


class Url(Struct, frozen=True):
    """An absolute http or https URL. `target` is path and query, percent-encoded."""

    origin: Origin
    target: str

    def __str__(self) -> str:
        return f"{self.origin.scheme}://{self.origin.authority}{self.target}"

    def join(self, reference: str) -> Url:
        """Resolve a reference against this URL; raise InvalidTarget if the result is not an http(s) URL."""
        try:
            return parse_url(urljoin(str(self), reference))
        except ValueError as error:
            raise InvalidTarget("a reference is not a URL") from error


@lru_cache(maxsize=1024)
def parse_url(text: str) -> Url:
    """Parse an absolute URL; raise InvalidTarget for templates, credentials, other schemes and malformed hosts."""
    if "{" in text or "}" in text:
        raise InvalidTarget("the URL holds an unresolved {variable}")
    try:
        parts = urlsplit(text.strip())
        port = parts.port
        host = (parts.hostname or "").rstrip(".")
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError as error:
        raise InvalidTarget("the URL is malformed") from error
    if parts.scheme not in _PORTS:
        raise InvalidTarget("the URL is neither http nor https")
    if parts.username is not None or parts.password is not None:
        raise InvalidTarget("the URL holds credentials")
    if not _HOST.fullmatch(host) or port == 0:
        raise InvalidTarget("the URL names no valid host")
    target = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE)}" if parts.query else "")
    return Url(Origin(parts.scheme, host, port or _PORTS[parts.scheme]), target)


def check_header(name: str, value: str) -> None:
    """Raise InvalidTarget for a header that would break the framing of the message."""
    is_plain = value.isascii() and value.isprintable()  # true of most values, and cheaper than the pattern
    if not _is_name(name) or not (is_plain or _VALUE.fullmatch(value)):
        raise InvalidTarget("a header holds characters that HTTP does not allow")


@lru_cache(maxsize=256)
def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None
