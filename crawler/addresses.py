"""Canonical spellings of URLs, npm and PyPI names, OCI references, repositories and bundles.

Every function returns the canonical spelling or raises UnusableAddress; none of them opens anything.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import idna
from msgspec import Struct

from evidence.compiled_on_use import compile_on_use

MAX_ADDRESS: Final = 2048

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ESCAPE: Final = compile_on_use(r"%[0-9A-Fa-f]{2}")
_BAD_ESCAPE: Final = compile_on_use(r"%(?![0-9A-Fa-f]{2})")
_FORBIDDEN: Final = compile_on_use(r"[\x00-\x20\x7f-\x9f\\<>\"^`{|}\ud800-\udfff]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_LABEL: Final = compile_on_use(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_IPV4_LIKE: Final = compile_on_use(r"[0-9]+|0x[0-9a-f]*")

# https://docs.npmjs.com/cli/configuring-npm/package-json#name; capitals are legal in names older than the rule.
_NPM: Final = compile_on_use(r"(?:@[a-z0-9~][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*")
# https://packaging.python.org/en/latest/specifications/name-normalization/
_LONGEST_REQUIREMENT: Final = 300
_REQUIREMENT: Final = compile_on_use(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?P<extras>\[[A-Za-z0-9._,-]+\])?"
    r"(?P<versions>(?:(?:[<>=!~]=?|===)[A-Za-z0-9.*+!_-]+(?:,(?=[<>=!~]))?)*)"
)
_PYPI: Final = compile_on_use(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
# https://github.com/distribution/reference: path components, tag, digest.
_OCI_PART: Final = compile_on_use(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*")
_OCI_TAG: Final = compile_on_use(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_OCI_DIGEST: Final = compile_on_use(r"[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,}")
_PLAIN_NAME: Final = compile_on_use(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")

_SCP_LIKE: Final = compile_on_use(r"(?:[\w.-]+@)?([\w.-]+\.[\w.-]+):(?!//)(.+)")
_SHORTHAND: Final = compile_on_use(r"(github|gitlab|bitbucket):([\w.-]+/[\w./-]+)")
_FORGES: Final = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
_BROWSING: Final = compile_on_use(r"^(/.+?)/(?:-/)?(?:tree|blob|src)/([^/]+)(?:/(.*))?$")
_RELEASE: Final = compile_on_use(r"^(/.+?)/(?:-/)?releases/(?:download/([^/]+)|([^/]+)/downloads)/(.+)$")


class UnusableAddress(ValueError):
    """The text is not an address of its kind; the message states the expected kind, as in "an npm package name"."""


class OciReference(Struct, frozen=True):
    """An image: its repository with registry host, its tag and its digest."""

    repository: str
    tag: str | None = None
    digest: str | None = None


def normalise_url(url: str) -> str:
    """The canonical http(s) URL, without fragment and without slashes at the end of its path."""
    parts = _split(url, schemes=("http", "https"))
    if parts.username is not None or parts.password is not None:
        raise UnusableAddress("a URL without user name and password")
    path = _remove_dots(_normalise_escapes(parts.path)).rstrip("/")
    query = f"?{_normalise_escapes(parts.query)}" if parts.query else ""
    return f"{parts.scheme}://{_authority(parts)}{path}{query}"


def is_local_url(url: str) -> bool:
    """Whether a URL means a different machine for each reader: loopback, private, or without a domain."""
    host = urlsplit(normalise_url(url)).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal", ".test", ".invalid"))


def normalise_npm_name(name: str) -> str:
    """An npm package name with its scope; npm names have one spelling."""
    if len(name) > 214 or not _NPM.fullmatch(name):
        raise UnusableAddress("an npm package name")
    return name


def normalise_pypi_name(name: str) -> str:
    """A Python package name, normalised by the packaging specification (PEP 503)."""
    if len(name) > 214 or not _PYPI.fullmatch(name):
        raise UnusableAddress("a Python package name")
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_requirement(text: str) -> tuple[str, str, str]:
    """Name, extras and versions of a requirement of a Python package in an index: no address, path or marker."""
    found = _REQUIREMENT.fullmatch(re.sub(r"\s+", "", text[:_LONGEST_REQUIREMENT]))
    if found is None or len(text) > _LONGEST_REQUIREMENT:
        raise UnusableAddress("a Python package of an index")
    return found["name"], found["extras"] or "", found["versions"]


def normalise_plain_name(name: str) -> str:
    """A valid NuGet or Cargo name, unchanged."""
    if len(name) > 214 or not _PLAIN_NAME.fullmatch(name):
        raise UnusableAddress("a package name")
    return name


def parse_oci_reference(text: str) -> OciReference:
    """An image reference with its defaults (`time` is `docker.io/library/time`)."""
    if len(text) > MAX_ADDRESS:
        raise UnusableAddress("an image reference")
    text = text.removeprefix("docker://").removeprefix("https://")
    rest, _, digest = text.partition("@")
    head, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:
        head, tag = rest, ""
    host, path = _oci_host(head)
    parts = path.split("/")
    valid = all(_OCI_PART.fullmatch(part) for part in parts) and (not tag or _OCI_TAG.fullmatch(tag))
    if not valid or rest.endswith(":") or ("@" in text and not _OCI_DIGEST.fullmatch(digest)):
        raise UnusableAddress("an image reference")
    return OciReference(f"{host}/{path}", tag or None, digest or None)


def normalise_repository_url(text: str) -> str:
    """A source repository as `https://HOST/PATH`, with `#FOLDER` for a folder inside it."""
    if len(text) > MAX_ADDRESS:
        raise UnusableAddress("the URL of a repository")
    address, _, folder = text.partition("#")
    url = _as_https(address.strip())
    parts = _split(url, schemes=("https",))
    path = _remove_dots(_normalise_escapes(parts.path)).rstrip("/")
    if browsing := _BROWSING.match(path):
        path, folder = browsing[1], folder or browsing[3] or ""
    path = path.removesuffix(".git").rstrip("/")
    host = _authority(parts).removeprefix("www.")
    if host in _FORGES.values():
        path = path.lower()
    if path.count("/") < 2 and host in _FORGES.values():
        raise UnusableAddress("a repository with owner and name")
    folder = normalise_folder(folder)
    return f"https://{host}{path}" + (f"#{folder}" if folder else "")


def normalise_folder(folder: str) -> str:
    """A relative folder without empty, `.` and `..` steps; raise UnusableAddress when it leaves its root."""
    steps = [step for step in folder.split("/") if step not in {"", "."}]
    if ".." in steps or _FORBIDDEN.search(folder) or len(folder) > MAX_ADDRESS:
        raise UnusableAddress("a folder inside the repository")
    return "/".join(steps)


def normalise_bundle_url(url: str) -> str:
    """The download URL of a bundle. The version in a release asset's URL is removed, so all releases are one server."""
    address = normalise_url(url)
    parts = urlsplit(address)
    release = _RELEASE.match(parts.path)
    if not release:
        return address
    tag, asset = unquote(release[2] or release[3]), unquote(release[4])
    version = tag.rpartition("@")[2].removeprefix("v")
    return f"{parts.scheme}://{parts.netloc}{release[1].lower()}#{asset.replace(version, '*') if version else asset}"


def _split(url: str, *, schemes: tuple[str, ...]) -> SplitResult:
    expected = f"an {' or '.join(schemes)} URL"
    if len(url) > MAX_ADDRESS or _FORBIDDEN.search(url) or _BAD_ESCAPE.search(url):
        raise UnusableAddress(expected)
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError as error:
        raise UnusableAddress(f"{expected} ({error})") from error
    if parts.scheme not in schemes or not parts.hostname:
        raise UnusableAddress(expected)
    return parts


def _authority(parts: SplitResult) -> str:
    host = _normalise_host(parts.hostname or "")
    if parts.port is None or parts.port == _DEFAULT_PORTS.get(parts.scheme):
        return host
    if parts.port == 0:
        raise UnusableAddress("a port from 1 to 65535")
    return f"{host}:{parts.port}"


def _normalise_host(host: str) -> str:
    if ":" in host:
        try:
            # A zone (`%eth0`) names an interface of one machine.
            if "%" in host:
                raise ValueError("with a zone")
            return f"[{ipaddress.IPv6Address(host).compressed}]"
        except ValueError as error:
            raise UnusableAddress(f"a host ({error})") from error
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError) as error:
            raise UnusableAddress(f"a host name ({error})") from error
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UnusableAddress("a host name")
    # Spellings of an IPv4 address other than the dotted one (0x7f.1, 2130706433) only serve to hide it.
    if _IPV4_LIKE.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError as error:
            raise UnusableAddress(f"a host ({error})") from error
    return host


def _normalise_escapes(text: str) -> str:
    """Percent-encode reserved characters in capitals and decode unreserved ones (RFC 3986, 6.2.2.2)."""
    encoded = "".join(char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode()) for char in text)
    return _ESCAPE.sub(_normalise_escape, encoded)


def _normalise_escape(found: re.Match[str]) -> str:
    char = chr(int(found[0][1:], 16))
    return char if char in _UNRESERVED else found[0].upper()


def _remove_dots(path: str) -> str:
    """Resolve `.` and `..` steps (RFC 3986, 5.2.4)."""
    steps: list[str] = []
    for step in path.split("/")[1:]:
        if step == "..":
            del steps[-1:]
        elif step != ".":
            steps.append(step)
    return "".join(f"/{step}" for step in steps)


def _oci_host(name: str) -> tuple[str, str]:
    first, slash, rest = name.partition("/")
    if not slash or not ("." in first or ":" in first or first == "localhost"):
        first, rest = "docker.io", name
    host = first.lower()
    if host in {"index.docker.io", "registry-1.docker.io", "hub.docker.com"}:
        host = "docker.io"
    bare, _, port = host.partition(":")
    if port and not (port.isascii() and port.isdigit() and len(port) < 6):
        raise UnusableAddress("an image reference")
    _normalise_host(bare)
    return host, f"library/{rest}" if host == "docker.io" and "/" not in rest else rest


def _as_https(address: str) -> str:
    address = address.removeprefix("git+")
    if shorthand := _SHORTHAND.fullmatch(address):
        return f"https://{_FORGES[shorthand[1]]}/{shorthand[2]}"
    scheme, separator, rest = address.partition("://")
    if separator and scheme.lower() in {"http", "https", "git", "ssh"}:
        authority, slash, path = rest.partition("/")
        authority = authority.rpartition("@")[2]
        if scheme.lower() in {"git", "ssh", "http"}:
            authority = authority.partition(":")[0]
        return f"https://{authority}{slash}{path.partition('?')[0]}"
    if scp := _SCP_LIKE.fullmatch(address):
        return f"https://{scp[1]}/{scp[2]}"
    raise UnusableAddress("the URL of a repository")
