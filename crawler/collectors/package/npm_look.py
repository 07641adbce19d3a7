"""A look at an npm package: the packument, its short form when that is too large, and the attestations."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from crawler.collectors.package import npm
from crawler.collectors.package.asking import Missing
from crawler.collectors.package.looking import Found, Look
from crawler.collectors.package.provenance import nothing_attested, npm_provenance, npm_says
from crawler.collectors.package.reading import Members
from crawler.wire.sandbox.provisioning.indexes import NpmIndex
from evidence.canonical import Json
from evidence.kinds.package import NPM
from evidence.model import Absent, Reason

ATTESTATIONS: Final = "-/npm/v1/attestations/"


async def look_at_npm(look: Look, index: NpmIndex, name: str, declared: str | None) -> Found | Absent:
    """What the npm index says of a package."""
    base = index.of(name)
    address = base + quote(name, safe="@")
    top = await look.members("packument", address, npm.FULL)
    short = isinstance(top, Absent) and top.reason is Reason.TOO_LARGE
    if short:
        top = await look.members("packument", address, npm.SHORT)
    if isinstance(top, Absent):
        return top
    if isinstance(top, Missing):
        return _unknown(name, declared)
    if not npm.concerns(name, top):
        return look.refusal(Reason.UNREACHABLE, "gave a document that is not about the package")
    packument = npm.Packument.read(name, declared, top)
    if not packument.exists:
        return _unknown(name, declared)
    manifest = await _whole_manifest(look, packument, address) if short else packument.manifest
    if isinstance(manifest, Absent):
        return manifest
    provenance = await _provenance(look, packument, manifest, base)
    archive = npm.archive(packument, manifest, base) or _no_file(name, declared)
    return Found(npm.body(packument, manifest, provenance), archive)


async def _whole_manifest(look: Look, packument: npm.Packument, address: str) -> Members | Absent:
    """The short form leaves out most of package.json; the version's own document has it."""
    if packument.version is None:
        return {}
    found = await look.members("version", f"{address}/{quote(packument.version, safe='')}", npm.FULL)
    if isinstance(found, Missing):
        return look.refusal(Reason.UNREACHABLE, "has no document of a version that it lists")
    return found if isinstance(found, Absent) else {**packument.manifest, **found}


async def _provenance(look: Look, packument: npm.Packument, manifest: Members, base: str) -> Json:
    attested = npm_says(manifest)
    if not attested or packument.version is None:
        return nothing_attested() if attested is False else None
    # The address that the document names could be anybody's; this one is the index's own.
    address = f"{base}{ATTESTATIONS}{quote(packument.name, safe='@')}@{quote(packument.version, safe='')}"
    return npm_provenance(manifest, await look.optional("attestations", address, npm.FULL))


def _unknown(name: str, declared: str | None) -> Found:
    absent = Absent(Reason.NO_PACKAGE, f"the npm index has no {name}")
    return Found(missing(NPM, name, declared), absent)


def _no_file(name: str, declared: str | None) -> Absent:
    return Absent(Reason.NO_PACKAGE, f"the npm index has no file of {name}{f' {declared}' if declared else ''}")


def missing(ecosystem: str, name: str, declared: str | None) -> dict[str, Json]:
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
