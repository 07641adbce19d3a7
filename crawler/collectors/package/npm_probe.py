"""Reads an npm package: the packument, its short form when that is too large, and the attestations."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import quote

from crawler.collectors.package import npm_metadata
from crawler.collectors.package.document_fields import Members
from crawler.collectors.package.index_client import Missing
from crawler.collectors.package.package_probe import PackageProbe, PackageResult
from crawler.collectors.package.provenance import empty_provenance, has_npm_attestations, read_npm_provenance
from crawler.sandbox.toolchain.package_indexes import NpmIndex
from evidence.canonical import Json
from evidence.kinds.package import NPM
from evidence.model import Absent, Reason

ATTESTATIONS: Final = "-/npm/v1/attestations/"


async def probe_npm_package(
    probe: PackageProbe, index: NpmIndex, name: str, declared: str | None
) -> PackageResult | Absent:
    base = index.find_url(name)
    address = base + quote(name, safe="@")
    top = await probe.fetch_object("packument", address, npm_metadata.FULL_PACKUMENT)
    short = isinstance(top, Absent) and top.reason is Reason.TOO_LARGE
    if short:
        top = await probe.fetch_object("packument", address, npm_metadata.SHORT_PACKUMENT)
    if isinstance(top, Absent):
        return top
    if isinstance(top, Missing):
        return _unknown(name, declared)
    if not npm_metadata.is_about_package(name, top):
        return probe.refusal(Reason.UNREACHABLE, "gave a document that is not about the package")
    packument = npm_metadata.Packument.from_document(name, declared, top)
    if not packument.exists:
        return _unknown(name, declared)
    manifest = await _whole_manifest(probe, packument, address) if short else packument.manifest
    if isinstance(manifest, Absent):
        return manifest
    provenance = await _provenance(probe, packument, manifest, base)
    archive = npm_metadata.find_npm_archive(packument, manifest, base) or _no_file(name, declared)
    return PackageResult(npm_metadata.npm_body(packument, manifest, provenance), archive)


async def _whole_manifest(probe: PackageProbe, packument: npm_metadata.Packument, address: str) -> Members | Absent:
    """The version's own document, since the short form omits most of package.json."""
    if packument.version is None:
        return {}
    url = f"{address}/{quote(packument.version, safe='')}"
    found = await probe.fetch_object("version", url, npm_metadata.FULL_PACKUMENT)
    if isinstance(found, Missing):
        return probe.refusal(Reason.UNREACHABLE, "has no document of a version that it lists")
    return found if isinstance(found, Absent) else {**packument.manifest, **found}


async def _provenance(probe: PackageProbe, packument: npm_metadata.Packument, manifest: Members, base: str) -> Json:
    attested = has_npm_attestations(manifest)
    if not attested or packument.version is None:
        return empty_provenance() if attested is False else None
    # Not the address in the document, which could lead to any host.
    address = f"{base}{ATTESTATIONS}{quote(packument.name, safe='@')}@{quote(packument.version, safe='')}"
    answer = await probe.fetch_optional_object("attestations", address, npm_metadata.FULL_PACKUMENT)
    return await asyncio.to_thread(read_npm_provenance, manifest, answer)


def _unknown(name: str, declared: str | None) -> PackageResult:
    absent = Absent(Reason.NO_PACKAGE, f"the npm index has no {name}")
    return PackageResult(missing_package_body(NPM, name, declared), absent)


def _no_file(name: str, declared: str | None) -> Absent:
    reason = Reason.NO_VERSION if declared else Reason.NO_PACKAGE
    return Absent(reason, f"the npm index has no file of {name}{f' {declared}' if declared else ''}")


def missing_package_body(ecosystem: str, name: str, declared: str | None) -> dict[str, Json]:
    """The body for a name that the index does not have."""
    unknown = (
        "version", "latest", "versions", "first_published", "published", "latest_published", "deprecated", "yanked",
        "install_scripts", "provenance", "maintainers", "licence", "repository", "mcp_name", "has_readme", "requires",
    )  # fmt: skip
    known: dict[str, Json] = {
        "ecosystem": ecosystem,
        "name": name,
        "declared": declared,
        "exists": False,
        "version_exists": False,
    }
    return {**known, **dict.fromkeys(unknown)}
