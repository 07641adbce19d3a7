"""The earlier record of the same package: for conditional requests, and in place of a failure of ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from crawler.collectors.earlier_values import read_time
from crawler.collectors.package.archives import KINDS, Archive
from crawler.collectors.package.document_fields import as_exact_text, as_object, as_web_url
from crawler.collectors.package.package_probe import SourceDocument, parse_source_documents
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex, parse_endpoint
from evidence.canonical import Json, NotJson
from evidence.kinds.package import SCHEMA, Package
from evidence.model import Absent, Observed, Reason, Record

CARRIED: Final = timedelta(days=14)
LOOKED_AT: Final = "looked_at"
DOCUMENTS: Final = "documents"
INCOMPLETE: Final = "incomplete"
ARCHIVE: Final = "archive"

# Failures of ours or of the index, which show nothing about the package.
_OURS: Final = frozenset(
    {
        Reason.RATE_LIMITED, Reason.UNREACHABLE, Reason.TIMEOUT, Reason.TLS_ERROR, Reason.BLOCKED_ADDRESS,
        Reason.FORBIDDEN, Reason.NOT_COLLECTED, Reason.COLLECTOR_OFFLINE,
    }
)  # fmt: skip


class WantedPackage(Struct, frozen=True):
    """The package that a server declares. `version` None: the latest."""

    ecosystem: Literal["npm", "PyPI"]
    name: str
    version: str | None


class EarlierPackageRecord(Struct, frozen=True):
    """An earlier record about the same package."""

    record: Record
    content: Observed

    @staticmethod
    def if_same_package(record: Record | None, wanted: WantedPackage) -> EarlierPackageRecord | None:
        """The record, if it observed the wanted package."""
        if record is None or record.schema != SCHEMA or not isinstance(record.content, Observed):
            return None
        try:
            package = Package.parse(record.content.body)
        except NotJson:
            return None
        same = (package.ecosystem, package.name, package.declared) == (wanted.ecosystem, wanted.name, wanted.version)
        return EarlierPackageRecord(record, record.content) if same else None

    @property
    def archive(self) -> Archive | None:
        return _archive(self.record.observation.get(ARCHIVE))

    def is_repeatable(self, version: int) -> bool:
        """Whether this version of the collector would write the same again from unchanged documents."""
        return self.record.collector_version == version and not self.record.observation.get(INCOMPLETE)

    def read_documents(self, index: NpmIndex | PythonIndex) -> tuple[SourceDocument, ...]:
        """The documents that were read then; none when one of them is not at an index that is configured now."""
        known = parse_source_documents(self.record.observation.get(DOCUMENTS))
        endpoints = {parse_endpoint(url) for url in index.urls}
        return known if all(parse_endpoint(source.address) in endpoints for source in known) else ()

    def replaces(self, content: Observed | Absent, observation: Mapping[str, Json], now: datetime) -> bool:
        """Whether it replaces the new content: that is our failure, and this record is recent and complete."""
        failed = content.reason in _OURS if isinstance(content, Absent) else bool(observation.get(INCOMPLETE))
        looked_at = read_time(self.record, LOOKED_AT)
        if looked_at is None or not failed:
            return False
        whole_then = isinstance(content, Absent) or not self.record.observation.get(INCOMPLETE)
        return whole_then and timedelta() <= now - looked_at <= CARRIED


def archive_to_json(archive: Archive) -> dict[str, Json]:
    return {
        "ecosystem": archive.ecosystem,
        "name": archive.name,
        "version": archive.version,
        "kind": archive.kind,
        "filename": archive.filename,
        "address": archive.address,
        "digest": list(archive.digest) if archive.digest else None,
        "size": archive.size,
    }


def _archive(value: Json) -> Archive | None:
    given = as_object(value)
    ecosystem, kind, size = given.get("ecosystem"), given.get("kind"), given.get("size")
    name, version, filename = (as_exact_text(given.get(member), 1024) for member in ("name", "version", "filename"))
    address, digest = as_web_url(given.get("address")), given.get("digest")
    if ecosystem not in {"npm", "PyPI"} or kind not in KINDS or not (name and version and filename and address):
        return None
    texts = [text for text in digest if isinstance(text, str)] if isinstance(digest, list) else []
    return Archive(
        ecosystem="npm" if ecosystem == "npm" else "PyPI",
        name=name,
        version=version,
        kind=next(known for known in KINDS if known == kind),
        filename=filename,
        address=address,
        digest=(texts[0], texts[1]) if len(texts) == 2 else None,
        size=size if isinstance(size, int) else None,
    )
