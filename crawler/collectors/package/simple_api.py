"""The simple API of a Python index, as JSON (PEP 691, 700, 740, 792) or HTML (PEP 503, 592, 658). Pure and tolerant."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from crawler.collectors.package.document_fields import (
    Members,
    as_exact_text,
    as_masked_notice,
    as_object,
    as_plain_text,
    as_timestamp,
    resolve_link,
)
from evidence.canonical import Json

ACCEPT: Final = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"

MOST_TAGS: Final = 200_000
LONGEST_PAGE: Final = 8 << 20
"""Tags and bytes of an HTML page; the HTML parser is much slower than that of JSON."""

_MOST_FILES: Final = 50_000
_FILENAME: Final = 300
_HASHES: Final = {"sha512": 128, "sha384": 96, "sha256": 64}
_HEX: Final = re.compile(r"[0-9a-f]+")
_API: Final = re.compile(r"1\.(\d{1,3})")
_UNWELL: Final = frozenset({"archived", "deprecated", "quarantined"})


class IndexFile(Struct, frozen=True, kw_only=True):
    """One file of a project. `yanked` is the reason, "" for none given, None when it is not yanked."""

    filename: str
    version: Version
    kind: Literal["sdist", "wheel"]
    address: str
    digest: tuple[str, str] | None
    size: int | None
    uploaded: str | None
    yanked: str | None
    requires: str | None
    provenance: str | None
    has_metadata: bool


class ProjectPage(Struct, frozen=True):
    """A project's page. `minor` is the API version of the index, None for HTML without one."""

    files: tuple[IndexFile, ...]
    minor: int | None
    notice: str | None = None

    @property
    def has_provenance(self) -> bool:
        """Whether an absent provenance means that there is none (PEP 740 is part of version 1.3)."""
        return self.minor is not None and self.minor >= 3

    @property
    def versions(self) -> list[Version]:
        """All versions with files, oldest first."""
        return sorted({file.version for file in self.files})

    @property
    def latest(self) -> Version | None:
        """The version that an installer takes: the newest final one that is not yanked, else any other."""
        kept = sorted({file.version for file in self.files if file.yanked is None}) or self.versions
        final = [version for version in kept if not version.is_prerelease] or kept
        return final[-1] if final else None

    def files_of(self, version: Version | None) -> tuple[IndexFile, ...]:
        return tuple(file for file in self.files if file.version == version)


def parse_json_page(name: str, address: str, document: Members) -> ProjectPage | None:
    """The page in JSON; None when it is no page, or one of another project."""
    listed = document.get("files")
    named = document.get("name")
    if (
        not isinstance(listed, list)
        or not isinstance(named, str)
        or canonicalize_name(named) != canonicalize_name(name)
    ):
        return None
    files = (_from_entry(name, address, as_object(entry)) for entry in listed[:_MOST_FILES])
    api = as_object(document.get("meta")).get("api-version")
    match = _API.fullmatch(api) if isinstance(api, str) else None
    return ProjectPage(tuple(file for file in files if file), int(match[1]) if match else 0, _status(document))


def parse_html_page(name: str, address: str, text: str) -> ProjectPage | None:
    """The page in HTML; None when it is not clearly one: a sign-in page shows nothing about the project."""
    anchors = _Anchors()
    anchors.feed(text)
    match = _API.fullmatch(anchors.api or "")
    files = [file for found in anchors.found if (file := _from_anchor(name, address, found))]
    return ProjectPage(tuple(files), int(match[1]) if match else None) if files or match else None


def _from_entry(name: str, address: str, entry: Members) -> IndexFile | None:
    yanked, size = entry.get("yanked"), entry.get("size")
    return _file(
        name,
        entry.get("filename"),
        resolve_link(address, entry.get("url")),
        digest=_strongest(as_object(entry.get("hashes"))),
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
        uploaded=as_timestamp(entry.get("upload-time")),
        yanked=(as_masked_notice(yanked) or "") if yanked is True or isinstance(yanked, str) else None,
        requires=as_plain_text(entry.get("requires-python"), 100),
        provenance=entry.get("provenance"),
        has_metadata=bool(entry.get("core-metadata") or entry.get("dist-info-metadata")),
    )


def _from_anchor(name: str, address: str, found: dict[str, str]) -> IndexFile | None:
    link, _, fragment = found["href"].partition("#")
    algorithm, _, value = fragment.partition("=")
    metadata = found.get("data-core-metadata", found.get("data-dist-info-metadata"))
    return _file(
        name,
        unquote(link.rsplit("/", 1)[-1]),
        resolve_link(address, link),
        digest=_strongest({algorithm: value}),
        size=None,
        uploaded=None,
        yanked=(as_masked_notice(found["data-yanked"]) or "") if "data-yanked" in found else None,
        requires=as_plain_text(found.get("data-requires-python"), 100),
        provenance=found.get("data-provenance"),
        has_metadata=metadata is not None and metadata != "false",
    )


def _file(
    name: str,
    filename: Json,
    where: str | None,
    *,
    digest: tuple[str, str] | None,
    size: int | None,
    uploaded: str | None,
    yanked: str | None,
    requires: str | None,
    provenance: Json,
    has_metadata: bool,
) -> IndexFile | None:
    plain_name = as_exact_text(filename, _FILENAME)
    read = _parsed(plain_name) if plain_name else None
    if plain_name is None or where is None or read is None or read[0] != canonicalize_name(name):
        return None
    return IndexFile(
        filename=plain_name,
        version=read[1],
        kind="wheel" if plain_name.endswith(".whl") else "sdist",
        address=where,
        digest=digest,
        size=size,
        uploaded=uploaded,
        yanked=yanked,
        requires=requires,
        provenance=resolve_link(where, provenance),
        has_metadata=has_metadata,
    )


def _parsed(filename: str) -> tuple[str, Version] | None:
    try:
        return parse_wheel_filename(filename)[:2] if filename.endswith(".whl") else parse_sdist_filename(filename)
    except (InvalidWheelFilename, InvalidSdistFilename, ValueError):
        return None


def _strongest(hashes: Members) -> tuple[str, str] | None:
    for algorithm, length in _HASHES.items():
        value = hashes.get(algorithm)
        if isinstance(value, str) and len(value) == length and _HEX.fullmatch(value):
            return algorithm, value
    return None


def _status(document: Members) -> str | None:
    """PEP 792: a status that advises against the project, and why."""
    state = as_object(document.get("project-status"))
    status, reason = state.get("status"), as_masked_notice(state.get("reason"))
    if not isinstance(status, str) or status not in _UNWELL:
        return None
    return f"{status}: {reason}" if reason else status


class _Anchors(HTMLParser):
    """Collects the links of a page, and the version of the API in its head."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self.api: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in values and len(self.found) < _MOST_FILES:
            self.found.append(values)
        if tag == "meta" and values.get("name") == "pypi:repository-version":
            self.api = values.get("content")


def project_json_url(base: str, name: str) -> str | None:
    """The address of a project's JSON at an index whose simple API ends in `simple`, as at PyPI."""
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if not path.endswith("/simple"):
        return None
    return f"{parts.scheme}://{parts.netloc}{path.removesuffix('simple')}pypi/{canonicalize_name(name)}"
