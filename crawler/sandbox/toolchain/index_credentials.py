"""Credentials of private package indexes, from the user's npm, pip, uv and netrc configuration.

They stay in our own process: a box gets the addresses without them, and the relay adds them outside of it. They are
neither stored nor shown.
"""

from __future__ import annotations

import base64
import binascii
import netrc
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote, urlsplit

from msgspec import Struct

Origin: TypeAlias = tuple[str, str, int]
"""Scheme, host and port."""

_NPM_KEY: Final = re.compile(r"(//[^:/]+(?::\d{1,5})?/(?:.*/)?):(_authToken|_auth|username|_password)")
_VARIABLE: Final = re.compile(r"\$\{(\w{1,200})\??\}")
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class IndexCredential:
    """The Authorization header for the addresses of an origin whose path begins with `path`, which ends with `/`."""

    origin: Origin
    path: str
    header: str = field(repr=False)


class IndexCredentials(Struct, frozen=True):
    """The credentials of all configured indexes of one kind."""

    entries: tuple[IndexCredential, ...] = ()

    def find_header(self, url: str) -> str | None:
        """The Authorization header for an address, that of the longest path; None without one."""
        origin, path = parse_origin(url), urlsplit(url).path or "/"
        fitting = [one for one in self.entries if one.origin == origin and f"{path}/".startswith(one.path)]
        return max(fitting, key=lambda one: len(one.path)).header if fitting else None

    def covers(self, origin: Origin) -> bool:
        """Whether there is a credential for any address of an origin."""
        return any(one.origin == origin for one in self.entries)


def parse_origin(url: str) -> Origin | None:
    """Scheme, host and port of an http(s) URL; None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname.lower(), port or _PORTS[parts.scheme]


def read_python_credentials(
    environ: Mapping[str, str], urls: Sequence[str], names: Mapping[str, str]
) -> IndexCredentials:
    """Those of index addresses with a password, of uv's variables (`names`: index name to address), and of netrc.

    They hold for the whole origin, as in pip and uv: files often lie beside the index.
    """
    found = [*_in_addresses(urls), *_in_uv_variables(environ, names), *_in_netrc(environ, urls)]
    return IndexCredentials(tuple({one.origin: one for one in reversed(found)}.values()))


def read_npm_credentials(
    environ: Mapping[str, str], files: Sequence[Path], urls: Sequence[str]
) -> tuple[Mapping[str, str], IndexCredentials]:
    """All settings of npm's environment variables and configuration files, best first, and their credentials.

    npm itself shows neither passwords nor addresses with one.
    """
    settings = _npm_settings(environ, files)
    addresses = [*urls, *(value for key, value in settings.items() if key.endswith("registry"))]
    found = {(one.origin, one.path): one for one in (*_in_addresses(addresses), *_in_npm(settings, addresses))}
    return settings, IndexCredentials(tuple(found.values()))


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _in_addresses(urls: Iterable[str]) -> Iterator[IndexCredential]:
    for url in urls:
        parts, origin = urlsplit(url), parse_origin(url)
        if origin and (parts.username or parts.password):
            header = _basic(unquote(parts.username or ""), unquote(parts.password or ""))
            yield IndexCredential(origin, "/", header)


def _in_uv_variables(environ: Mapping[str, str], names: Mapping[str, str]) -> Iterator[IndexCredential]:
    for name, url in names.items():
        place = re.sub(r"[^A-Z0-9]", "_", name.upper())
        user, password = (environ.get(f"UV_INDEX_{place}_{part}", "") for part in ("USERNAME", "PASSWORD"))
        if (user or password) and (origin := parse_origin(url)):
            yield IndexCredential(origin, "/", _basic(user, password))


def _in_netrc(environ: Mapping[str, str], urls: Iterable[str]) -> Iterator[IndexCredential]:
    place = environ.get("NETRC") or f"{environ.get('HOME') or '/nonexistent'}/.netrc"
    try:
        known = netrc.netrc(place).hosts
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
        return
    for origin in dict.fromkeys(filter(None, map(parse_origin, urls))):
        if origin[1] in known:
            login, _, password = known[origin[1]]
            yield IndexCredential(origin, "/", _basic(login or "", password or ""))


def _npm_settings(environ: Mapping[str, str], files: Sequence[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in environ.items():
        if name.lower().startswith("npm_config_"):
            key = name[len("npm_config_") :]
            found.setdefault(key if key.startswith(("//", "@")) else key.lower(), value)
    for file in files:
        try:
            lines = file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            key, mark, value = line.strip().partition("=")
            if mark and not key.startswith((";", "#")):
                found.setdefault(key.strip(), value.strip().strip("\"'"))
    return {key: _VARIABLE.sub(lambda name: environ.get(name[1], name[0]), value) for key, value in found.items()}


def _in_npm(settings: Mapping[str, str], urls: Sequence[str]) -> Iterator[IndexCredential]:
    """`//host/path/:_authToken=...` and its relatives; they name no scheme, so that of a configured index counts."""
    stated: dict[str, dict[str, str]] = {}
    for key, value in settings.items():
        if match := _NPM_KEY.fullmatch(key):
            stated.setdefault(match[1], {})[match[2]] = value
    known = {origin for url in urls if (origin := parse_origin(url))}
    for place, parts in stated.items():
        header = _npm_header(parts)
        for scheme in _PORTS:
            origin = parse_origin(f"{scheme}:{place}")
            if header and origin and (scheme == "https" or origin in known):
                yield IndexCredential(origin, urlsplit(f"{scheme}:{place}").path, header)


def _npm_header(parts: Mapping[str, str]) -> str:
    if token := parts.get("_authToken"):
        return f"Bearer {token}"
    if pair := parts.get("_auth"):
        return f"Basic {pair}"
    try:
        password = base64.b64decode(parts.get("_password", "")).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return _basic(parts.get("username", ""), password) if password else ""
