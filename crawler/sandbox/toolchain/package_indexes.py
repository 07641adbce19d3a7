"""The package indexes of the user's npm, pip and uv configuration, or the defaults of these tools.

This module contains no address of a package index: each tool reports its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec import field as struct_field

from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain import host
from crawler.sandbox.toolchain.index_credentials import (
    IndexCredentials,
    read_npm_credentials,
    read_python_credentials,
)

ASK_PIP = """
import json
from pip._internal.configuration import Configuration
from pip._internal.models.index import PyPI
found = Configuration(isolated=False)
found.load()
values = {}
for key, value in found.items():
    pairs = value.items() if isinstance(value, dict) else [(key, value)]
    values.update((name.split(".", 1)[-1], text) for name, text in pairs)
print(json.dumps({"default": PyPI.simple_url, "values": values}))
"""
_UV_DEFAULT = re.compile(r"default package index[^<]*<(https?://[^>]+)>")
_PIP_VARIABLES = frozenset({"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"})
CONFIG_SECONDS = 30.0


class Endpoint(Struct, frozen=True, order=True):
    """Scheme, host and port of a server."""

    scheme: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class NpmIndex:
    """The npm index, and the ones that the user's configuration gives to single scopes (`@scope`)."""

    url: str
    scopes: tuple[tuple[str, str], ...] = ()
    credentials: IndexCredentials = field(default_factory=IndexCredentials, repr=False, compare=False)

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of all indexes."""
        return (self.url, *(url for _, url in self.scopes))

    def find_url(self, package: str) -> str:
        """The URL of the index for `package`."""
        scope = package.split("/", 1)[0] if package.startswith("@") else ""
        return dict(self.scopes).get(scope, self.url)


@dataclass(frozen=True, slots=True)
class PythonIndex:
    """The Python index and the extra ones, http(s) only; `file:` indexes and find-links are left out."""

    url: str
    extra: tuple[str, ...] = ()
    credentials: IndexCredentials = field(default_factory=IndexCredentials, repr=False, compare=False)

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of all indexes in the order of preference."""
        return (*self.extra, self.url)


def parse_endpoint(url: str) -> Endpoint | None:
    """The (scheme, host, port) of an http(s) URL; None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    return Endpoint(parts.scheme, parts.hostname.lower(), port or (443 if parts.scheme == "https" else 80))


def strip_credentials(url: str) -> str:
    """The URL without user name and password: the user's credentials never enter the sandbox."""
    parts = urlsplit(url)
    netloc = parts.netloc.rsplit("@", 1)[-1]
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))


def read_npm_index(environ: Mapping[str, str], npm: Sequence[str]) -> NpmIndex:
    """Read the configuration that `npm`, a command, reports, and what it hides: addresses with a password."""
    # Node would keep compiled code in /tmp, where another user of the machine could have put some before.
    ours = {**environ, "NODE_DISABLE_COMPILE_CACHE": "1"}
    values = _json([*npm, "config", "list", "--json"], ours, "npm config list")
    told = {key: value for key, value in values.items() if isinstance(value, str)}
    files = [Path(told[name]) for name in ("userconfig", "globalconfig") if told.get(name)]
    settings, credentials = read_npm_credentials(environ, files, list(told.values()))
    urls = {key: value for key, value in {**settings, **told}.items() if parse_endpoint(value)}
    if "registry" not in urls:
        raise SandboxError("npm names no registry; set npm_config_registry")
    scopes = {k.removesuffix(":registry"): _slash(v) for k, v in urls.items() if re.fullmatch(r"@[^:]+:registry", k)}
    return NpmIndex(_slash(urls["registry"]), tuple(sorted(scopes.items())), credentials)


def read_python_index(environ: Mapping[str, str]) -> PythonIndex:
    """Read uv's settings, else pip's, else the default of uv or pip."""
    uv = _uv_settings(environ)
    pip = _pip_settings(environ)
    default = uv.default or pip.default or _uv_default(environ)
    others = [url for url in (*uv.extra, *pip.extra) if parse_endpoint(url)]
    extra = dict.fromkeys(map(strip_credentials, others))
    extra.pop(strip_credentials(default), None)
    credentials = read_python_credentials(environ, [default, *others], uv.names)
    return PythonIndex(strip_credentials(default), tuple(extra), credentials)


class _Settings(Struct, frozen=True):
    default: str | None = None
    extra: tuple[str, ...] = ()
    names: Mapping[str, str] = struct_field(default_factory=dict)


def _json(command: Sequence[str], environ: Mapping[str, str], what: str) -> dict[str, object]:
    # From "/", so that no project's configuration file in the current folder is used.
    try:
        done = subprocess.run(  # noqa: S603
            command, env=dict(environ), cwd="/", capture_output=True, text=True, check=False, timeout=CONFIG_SECONDS
        )
        found = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise SandboxError(f"`{what}` gave no answer ({type(error).__name__}); run it to see why") from error
    return found if isinstance(found, dict) else {}


def _pip_settings(environ: Mapping[str, str]) -> _Settings:
    if not _may_configure_pip(environ):
        return _Settings()
    try:
        found = _json([sys.executable, "-c", ASK_PIP], environ, "pip config list")
    except SandboxError:  # an environment made by uv has no pip
        found = {}
    values = found.get("values")
    values = values if isinstance(values, dict) else {}
    default = values.get("index-url") or found.get("default")
    extra = values.get("extra-index-url")
    return _Settings(
        default if isinstance(default, str) and parse_endpoint(default) else None,
        tuple(extra.split()) if isinstance(extra, str) else (),
    )


def _may_configure_pip(environ: Mapping[str, str]) -> bool:
    """Whether a variable or one of pip's configuration files may name an index. To ask pip takes half a second."""
    if not _PIP_VARIABLES.isdisjoint(name.upper() for name in environ) or not environ.get("HOME"):
        return True
    named = environ.get("PIP_CONFIG_FILE")
    return named != os.devnull and any(path.is_file() for path in _pip_files(environ, named))


def _pip_files(environ: Mapping[str, str], named: str | None) -> list[Path]:
    """Where pip looks for a configuration on Linux and macOS (section "Configuration" of its documentation)."""
    home = Path(environ["HOME"])
    user = [Path(environ.get("XDG_CONFIG_HOME") or home / ".config"), home / "Library/Application Support"]
    machine = [Path(each) for each in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)]
    folders = [folder / "pip" for folder in (*user, *machine, Path("/Library/Application Support"))]
    files = [folder / "pip.conf" for folder in (*folders, home / ".pip", Path("/etc"), Path(sys.prefix))]
    return [Path(named), *files] if named else files


def _uv_settings(environ: Mapping[str, str]) -> _Settings:
    tables = [_uv_table(path) for path in _uv_files(environ)]
    default = environ.get("UV_DEFAULT_INDEX") or environ.get("UV_INDEX_URL")
    stated = [url for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL") for url in environ.get(name, "").split()]
    extra = [_unnamed(url) for url in stated]
    names = {url.partition("=")[0]: _unnamed(url) for url in (*stated, default or "") if url != _unnamed(url)}
    for table in tables:
        default = default or table.default
        extra += table.extra
        names = {**table.names, **names}
    chosen = _unnamed(default) if default and parse_endpoint(_unnamed(default)) else None
    return _Settings(chosen, tuple(extra), names)


def _unnamed(url: str) -> str:
    """The URL of an index in uv's format `name=https://...`."""
    return url.split("=", 1)[1] if re.match(r"[\w.-]+=https?://", url) else url


def _uv_files(environ: Mapping[str, str]) -> list[Path]:
    if named := environ.get("UV_CONFIG_FILE"):
        return [Path(named)]
    config = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '/nonexistent')}/.config"
    return [Path(config) / "uv/uv.toml", Path("/etc/uv/uv.toml")]


def _uv_table(path: Path) -> _Settings:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return _Settings()
    pip = table.get("pip") if isinstance(table.get("pip"), dict) else {}
    listed = [
        entry for entry in table.get("index", []) if isinstance(entry, dict) and isinstance(entry.get("url"), str)
    ]
    named = [entry["url"] for entry in listed if entry.get("default")]
    default = next(iter(named), None) or table.get("index-url") or (pip or {}).get("index-url")
    extra = [entry["url"] for entry in listed if not entry.get("default") and not entry.get("explicit")]
    extra += [url for url in table.get("extra-index-url", []) if isinstance(url, str)]
    names = {str(entry["name"]): entry["url"] for entry in listed if entry.get("name")}
    return _Settings(default if isinstance(default, str) else None, tuple(extra), names)


def _uv_default(environ: Mapping[str, str]) -> str:
    command = [str(host.find_uv_binary()), "help", "pip", "install"]
    done = subprocess.run(  # noqa: S603
        command, env=dict(environ), cwd="/", capture_output=True, text=True, check=False, timeout=CONFIG_SECONDS
    )
    if match := _UV_DEFAULT.search(done.stdout):
        return match[1]
    raise SandboxError("neither pip nor uv names a Python package index; set UV_DEFAULT_INDEX")


def _slash(url: str) -> str:
    return strip_credentials(url).rstrip("/") + "/"
