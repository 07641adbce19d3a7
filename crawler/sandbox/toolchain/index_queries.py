"""Queries package indexes about one package: whether it exists, its newest version, and the hosts of its files."""

from __future__ import annotations

import json
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urljoin

import httpx
from msgspec import Struct
from msgspec.structs import replace
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from crawler.http.tls_context import create_tls_context
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.package_spec import PackageFile, PackageSpec
from crawler.sandbox.toolchain.index_credentials import IndexCredentials
from crawler.sandbox.toolchain.package_indexes import Endpoint, NpmIndex, PythonIndex, parse_endpoint
from evidence.model import Absent, Reason

ANSWER_CAP = 48 << 20
TOOL_CAP = 128 << 20
INDEX_TIMEOUT = httpx.Timeout(30.0)
SIMPLE = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_UNSERVED = frozenset({401, 403, 407, 408, 429})  # with 5xx: the index does not serve us, regardless of the package


class IndexAnswer(Struct, frozen=True):
    """The index's data on a package: `newest` is the version for an unpinned request, `endpoints` serve its files.

    `requires_python`: the Requires-Python of the requested version (PEP 345), or None. `released`: the date of the
    requested version as YYYY-MM-DD; empty if it is unknown or was not asked for.
    """

    newest: str
    endpoints: tuple[Endpoint, ...]
    tarball: str | None = None
    requires_python: str | None = None
    released: str = ""


class _File(Struct, frozen=True):
    """A file of a Python package. `checked`: the index provides a digest, which uv verifies.

    `withdrawn`: yanked (PEP 592), for requests of exactly this version only. `python`: its Requires-Python.
    `uploaded`: the time of its upload (PEP 700).
    """

    url: str
    checked: bool
    withdrawn: bool
    python: str | None = None
    uploaded: str = ""


def authorise_requests(credentials: IndexCredentials) -> dict[str, list[Callable[[httpx.Request], Awaitable[None]]]]:
    """Hooks of httpx that add the credentials of the user's indexes to requests to them, and to no other address.

    They also see each request that follows a redirect, which may lead to another path.
    """

    async def authorise(request: httpx.Request) -> None:
        request.headers.pop("Authorization", None)
        if header := credentials.find_header(str(request.url)):
            request.headers["Authorization"] = header

    return {"request": [authorise]}


def open_index_client(bundle: Path, credentials: IndexCredentials) -> httpx.AsyncClient:
    """A client for the user's own indexes: their certificates and credentials, no proxy from the environment."""
    headers = {"User-Agent": "hallmark-sandbox"}
    return httpx.AsyncClient(
        verify=_read_bundle(bundle, bundle.stat().st_mtime_ns),
        event_hooks=authorise_requests(credentials),
        trust_env=False,
        follow_redirects=True,
        max_redirects=3,
        timeout=INDEX_TIMEOUT,
        headers=headers,
    )


@lru_cache(maxsize=4)
def _read_bundle(bundle: Path, changed: int) -> ssl.SSLContext:
    """To read the usual 140 authorities takes 25 ms, more than the questions about a package."""
    return create_tls_context(str(bundle))


async def query_index(
    index: NpmIndex | PythonIndex, wanted: PackageSpec, http: httpx.AsyncClient
) -> IndexAnswer | Absent:
    """Query an index of either kind for a package; with its release date, if the package is wanted as of that."""
    if isinstance(index, NpmIndex):
        answer = await query_npm_index(index, wanted.name, wanted.version, http)
        return await _add_npm_release(index, wanted.name, answer, http) if wanted.as_of else answer
    return await query_python_indexes(index, wanted.name, wanted.version, http)


async def query_for_file(
    index: NpmIndex | PythonIndex, wanted: PackageSpec, file: PackageFile, http: httpx.AsyncClient
) -> IndexAnswer | Absent:
    """What is needed to install a package of this machine: the hosts of its dependencies' files."""
    newest = wanted.version or ""
    if not file.needs:
        return IndexAnswer(newest, (), requires_python=file.requires_python)
    answer = await query_index(index, PackageSpec(wanted.ecosystem, file.needs, None), http)
    if isinstance(answer, IndexAnswer):
        return IndexAnswer(newest, answer.endpoints, requires_python=file.requires_python)
    if answer.reason in {Reason.NO_PACKAGE, Reason.NO_VERSION}:
        return Absent(Reason.INSTALL_FAILED, f"of a dependency: {answer.detail}")
    return answer


async def query_npm_index(
    index: NpmIndex, name: str, version: str | None, http: httpx.AsyncClient
) -> IndexAnswer | Absent:
    """Query the npm index for `name` at `version`, or at the newest one."""
    base = index.find_url(name)
    found = await _json(http, f"{base}{quote(name, safe='@')}/{quote(version or 'latest')}")
    if isinstance(found, Absent):
        return await _explain_missing_npm(base, name, version, http) if found.reason is Reason.NO_PACKAGE else found
    dist = found.get("dist")
    tarball = dist.get("tarball") if isinstance(dist, dict) else None
    newest = found.get("version")
    if not isinstance(tarball, str) or not isinstance(newest, str):
        return Absent(Reason.INSTALL_FAILED, "the npm index gave an answer without version or tarball")
    tarball = urljoin(base, tarball)
    return IndexAnswer(newest, _endpoints([base, tarball]), tarball)


async def query_python_indexes(
    index: PythonIndex, name: str, version: str | None, http: httpx.AsyncClient
) -> IndexAnswer | Absent:
    """Query the Python indexes for `name`; the first index that has it is used, as in uv."""
    failure: Absent | None = None
    for base in index.urls:
        page = f"{base.rstrip('/')}/{canonicalize_name(name)}/"
        found = await _simple(http, page)
        if isinstance(found, Absent):
            failure = found if found.reason is not Reason.NO_PACKAGE else failure
            continue
        known = {filename: v for filename in found if (v := _parse_version(filename)) is not None}
        asked = [v for v in known.values() if version and (v == Version(version) or v.public == version)]
        if version and not asked:
            return Absent(Reason.NO_VERSION, _describe_missing("Python", name, version))
        standing = sorted({v for filename, v in known.items() if not found[filename].withdrawn})
        if not version and not standing:
            return Absent(Reason.NO_VERSION, f"the Python index has no version of {name} that was not withdrawn")
        final = [v for v in standing if not v.is_prerelease] or standing
        newest = str(final[-1]) if final else ""
        if not any(file.checked for file in found.values()):
            return Absent(Reason.INSTALL_FAILED, f"the Python index gives no digest by which to check {name}")
        chosen = max(asked) if asked else final[-1]
        return IndexAnswer(
            newest,
            _endpoints([*index.urls, *(urljoin(page, file.url) for file in found.values())]),
            requires_python=_requirement(found[filename] for filename, v in sorted(known.items()) if v == chosen),
            released=min((found[filename].uploaded[:10] for filename, v in known.items() if v == chosen), default=""),
        )
    return failure or Absent(Reason.NO_PACKAGE, _describe_missing("Python", name, None))


async def _add_npm_release(
    index: NpmIndex, name: str, answer: IndexAnswer | Absent, http: httpx.AsyncClient
) -> IndexAnswer | Absent:
    """The answer with the release date of its version, which only the document of all versions has."""
    if isinstance(answer, Absent):
        return answer
    found = await _json(http, f"{index.find_url(name)}{quote(name, safe='@')}")
    if isinstance(found, Absent):
        return found
    times = found.get("time")
    released = times.get(answer.newest) if isinstance(times, dict) else None
    return replace(answer, released=released[:10]) if isinstance(released, str) else answer


async def _explain_missing_npm(base: str, name: str, version: str | None, http: httpx.AsyncClient) -> Absent:
    """Whether the npm index lacks the package or only the version."""
    if version is not None:
        found = await _json(http, f"{base}{quote(name, safe='@')}/latest")
        if not isinstance(found, Absent):
            return Absent(Reason.NO_VERSION, _describe_missing("npm", name, version))
        if found.reason is not Reason.NO_PACKAGE:
            return found
    return Absent(Reason.NO_PACKAGE, _describe_missing("npm", name, None))


async def find_python_file(index: PythonIndex, name: str, filename: str, http: httpx.AsyncClient) -> str | Absent:
    """The address of one file of a Python package, from the first index that has the file."""
    failure = Absent(Reason.NO_PACKAGE, f"the Python index has no file {filename}")
    for base in index.urls:
        page = f"{base.rstrip('/')}/{canonicalize_name(name)}/"
        found = await _simple(http, page)
        if isinstance(found, Absent):
            failure = found if found.reason is not Reason.NO_PACKAGE else failure
        elif filename in found:
            return urljoin(page, found[filename].url)
    return failure


async def download_file(url: str, http: httpx.AsyncClient, *, what: str) -> bytes:
    """A file of an index, limited in size; raises SandboxError, which names `what` and no address."""
    body = bytearray()
    try:
        async with http.stream("GET", url) as answer:
            answer.raise_for_status()
            async for chunk in answer.aiter_bytes(1 << 20):
                body += chunk
                if len(body) > TOOL_CAP:
                    raise SandboxError(f"the package of {what} is too large to be the pinned one")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SandboxError(f"{what} could not be downloaded from the package index ({type(error).__name__})") from error
    return bytes(body)


def _describe_missing(index: str, name: str, version: str | None) -> str:
    return f"the {index} index has no {name}{f' {version}' if version else ''}"


def _requirement(files: Iterable[_File]) -> str | None:
    """The Requires-Python of one version; that of a wheel first, since only wheels are installed."""
    ordered = sorted(files, key=lambda file: not file.url.partition("#")[0].endswith(".whl"))
    return next((file.python for file in ordered if file.python), None)


def _endpoints(urls: list[str]) -> tuple[Endpoint, ...]:
    return tuple(sorted({endpoint for url in urls if (endpoint := parse_endpoint(url))}))


async def _simple(http: httpx.AsyncClient, page: str) -> dict[str, _File] | Absent:
    """The files of a simple-API page (JSON or HTML) by name."""
    answer = await _get(http, page, SIMPLE)
    if isinstance(answer, Absent):
        return answer
    kind, body = answer
    if "json" not in kind:
        return dict(_links(body.decode("utf-8", "replace")))
    try:
        return {file["filename"]: _file(file) for file in json.loads(body).get("files", [])}
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return Absent(Reason.INSTALL_FAILED, "the Python index gave an answer that is not a simple-API page")


def _file(row: Mapping[str, object]) -> _File:
    python = row.get("requires-python")
    url = row["url"]
    if not isinstance(url, str):
        raise TypeError("a file has no address")
    uploaded = row.get("upload-time")
    return _File(
        url,
        bool(row.get("hashes")),
        bool(row.get("yanked")),
        python if isinstance(python, str) else None,
        uploaded if isinstance(uploaded, str) else "",
    )


def _links(page: str) -> Iterator[tuple[str, _File]]:
    parser = _Anchors()
    parser.feed(page)
    for href, withdrawn, python in parser.found:
        address, _, fragment = href.partition("#")
        yield address.rsplit("/", 1)[-1], _File(href, "=" in fragment, withdrawn, python)


class _Anchors(HTMLParser):
    """Collects href, yanked mark (PEP 592) and Requires-Python (PEP 503) of every link."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, bool, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        href = values.get("href")
        if tag == "a" and href:
            self.found.append((href, "data-yanked" in values, values.get("data-requires-python")))


def _parse_version(filename: str) -> Version | None:
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, ValueError):
        return None


async def _json(http: httpx.AsyncClient, url: str) -> Mapping[str, object] | Absent:
    answer = await _get(http, url, "application/json")
    if isinstance(answer, Absent):
        return answer
    try:
        found = json.loads(answer[1])
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else Absent(Reason.INSTALL_FAILED, "the package index gave no JSON object")


async def _get(http: httpx.AsyncClient, url: str, accept: str) -> tuple[str, bytes] | Absent:
    """Content type and body, limited in size; the Absent contains no address, so that it is stable and private."""
    try:
        async with http.stream("GET", url, headers={"Accept": accept}) as answer:
            if answer.status_code in {404, 410}:
                return Absent(Reason.NO_PACKAGE)
            if answer.status_code != 200:
                ours = answer.status_code in _UNSERVED or answer.status_code >= 500
                reason = Reason.NOT_COLLECTED if ours else Reason.INSTALL_FAILED
                return Absent(reason, f"the package index answered HTTP {answer.status_code}")
            body = bytearray()
            async for chunk in answer.aiter_bytes(65536):
                body += chunk
                if len(body) > ANSWER_CAP:
                    return Absent(Reason.INSTALL_FAILED, "the package index's answer is too large")
            return answer.headers.get("content-type", ""), bytes(body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Absent(Reason.NOT_COLLECTED, f"the package index could not be read ({type(error).__name__})")
