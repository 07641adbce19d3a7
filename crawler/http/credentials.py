"""Credentials that an operator configures for servers: the file format, and the addresses that receive them.

    ["https://notes.example/mcp"]
    bearer_env = "NOTES_TOKEN"

    ["https://files.example"]
    headers = { X-Api-Key = { file = "/run/secrets/files" } }

A key is an origin and a path prefix of whole segments. A credential is sent only to addresses below its key, never
to the target of a redirect, and over plain HTTP only within the operator's own network (docs/decisions/0007).
"""

from __future__ import annotations

import base64
import binascii
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct

from crawler.http.failures import InvalidTarget
from crawler.http.redaction import MIN_SECRET_LENGTH, Redaction
from crawler.http.url import Url, check_header, parse_url

MAX_SECRET_BYTES: Final = 64 * 1024  # of a file that holds one secret
_TRANSPORT: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "mcp-method", "mcp-name"}
    | {"mcp-protocol-version", "mcp-session-id", "origin", "te", "transfer-encoding", "upgrade", "user-agent"}
)
_SHAPE: Final = (
    'bearer_env = "NAME", bearer_file = "PATH" or headers = { NAME = { env = "NAME" } or { file = "PATH" } }'
)


class InvalidCredentials(ValueError):
    """The configuration is invalid. The message names the entry, what was expected and found, and no secret value."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Headers for the addresses below `below`, and the redaction that removes their values from responses."""

    below: Url
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    redaction: Redaction

    def headers_for(self, url: Url) -> tuple[tuple[str, str], ...]:
        """The headers if the address is the key or below it, otherwise none."""
        return self.headers if self.covers(url) else ()

    def covers(self, url: Url) -> bool:
        """Whether an address is the key or below it. Never one with dot segments, which the server would resolve."""
        if url.origin != self.below.origin:
            return False
        segments, beginning = _segments(url), _segments(self.below)
        return segments[: len(beginning)] == beginning and not {".", ".."} & {unquote(part) for part in segments}


class Credentials(Struct, frozen=True):
    """All configured credentials; none by default."""

    known: tuple[Credential, ...] = ()

    def find_credential(self, url: Url, *, private: bool) -> Credential | None:
        """The credential for an address: the one with the longest matching key, or None.

        `private`: the address is in the operator's own network, the only place where plain HTTP may carry a secret.
        """
        if url.origin.scheme != "https" and not private:
            return None
        fitting = [credential for credential in self.known if credential.covers(url)]
        return max(fitting, key=lambda one: len(_segments(one.below)), default=None)


def read_credentials(path: Path, variable: Callable[[str], str | None]) -> Credentials:
    """Read a TOML or JSON file (by its suffix); `variable` reads the environment. Raise InvalidCredentials."""
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InvalidCredentials(f"the credentials file {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        # Without the cause: a parser quotes the text around an error, which may be a misplaced secret.
        raise InvalidCredentials(f"the credentials file {path} is neither valid TOML nor JSON") from None
    if not isinstance(document, dict):
        raise InvalidCredentials(f"the credentials file {path} maps addresses to credentials")
    return Credentials(tuple(_credential(key, entry, path.parent, variable) for key, entry in document.items()))


def _credential(key: str, entry: Any, folder: Path, variable: Callable[[str], str | None]) -> Credential:
    below = _key(key)
    if not isinstance(entry, Mapping):
        raise InvalidCredentials(f"{key}: {_SHAPE} expected")
    headers = tuple(_headers(key, entry, folder, variable))
    secrets = frozenset(
        secret for _, value in headers for secret in _secrets(value) if len(secret) >= MIN_SECRET_LENGTH
    )
    return Credential(below, headers, Redaction(secrets))


def _key(key: str) -> Url:
    try:
        url = parse_url(key)
    except InvalidTarget as error:
        raise InvalidCredentials(f"{key!r}: the address of a server expected, {error.detail}") from error
    if "?" in url.target or "#" in key:
        raise InvalidCredentials(f"{url.origin.authority}: an address without query and fragment expected")
    return url


def _headers(
    key: str, entry: Mapping[str, Any], folder: Path, variable: Callable[[str], str | None]
) -> Iterator[tuple[str, str]]:
    match dict(entry):
        case {"bearer_env": str(name), **rest} if not rest:
            yield "authorization", f"Bearer {_value(key, {'env': name}, folder, variable)}"
        case {"bearer_file": str(name), **rest} if not rest:
            yield "authorization", f"Bearer {_value(key, {'file': name}, folder, variable)}"
        case {"headers": dict(named), **rest} if named and not rest:
            for name, source in named.items():
                yield _header_name(key, name), _value(key, source, folder, variable)
        case _:
            raise InvalidCredentials(f"{key}: {_SHAPE} expected")


def _header_name(key: str, name: str) -> str:
    lowered = name.lower()
    try:
        check_header(lowered, "")
    except InvalidTarget:
        raise InvalidCredentials(f"{key}: {name!r} is not a name of a header") from None
    if lowered in _TRANSPORT:
        raise InvalidCredentials(f"{key}: the header {lowered} belongs to the transport")
    return lowered


def _value(key: str, source: Any, folder: Path, variable: Callable[[str], str | None]) -> str:
    match source:
        case {"env": str(name), **rest} if not rest:
            where, value = f"the variable {name}", variable(name)
        case {"file": str(name), **rest} if not rest:
            where, value = f"the file {name}", _read_secret_file(folder / name)
        case _:
            raise InvalidCredentials(f"{key}: {_SHAPE} expected")
    if value is None:
        raise InvalidCredentials(f"{key}: {where} is not there or cannot be read")
    value = value.strip()
    if not value.isascii() or not value.isprintable() or "\\" in value:
        raise InvalidCredentials(f"{key}: {where} holds characters other than printable ASCII, or a backslash")
    if len(next(_secrets(value))) < MIN_SECRET_LENGTH:
        raise InvalidCredentials(
            f"{key}: {where} holds fewer than {MIN_SECRET_LENGTH} characters, too few to recognise it in a response"
        )
    return value


def _read_secret_file(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(MAX_SECRET_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _secrets(value: str) -> Iterator[str]:
    """The secrets in a header value: the text after a scheme; for Basic also the decoded pair and its password."""
    scheme, _, rest = value.partition(" ")
    secret = rest.strip() if rest else scheme
    yield secret
    if scheme.lower() == "basic":
        yield from _pair(secret)


def _pair(encoded: str) -> Iterator[str]:
    try:
        pair = base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return
    yield pair
    yield pair.partition(":")[2]


def _segments(url: Url) -> list[str]:
    path = url.target.partition("?")[0]
    return [part for part in path.split("/") if part]
