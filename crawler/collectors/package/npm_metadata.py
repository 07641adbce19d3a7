"""From an npm packument to the body of the kind. Pure; every member may be of any type (docs/decisions/0016)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from crawler.collectors.package.archives import Archive
from crawler.collectors.package.document_fields import (
    NAME,
    VERSION,
    Members,
    as_exact_text,
    as_masked_notice,
    as_object,
    as_person_names,
    as_plain_text,
    as_repository_url,
    as_timestamp,
    find_earliest_timestamp,
    resolve_link,
)
from crawler.collectors.package.licence import npm_licence
from evidence.canonical import Json
from evidence.kinds.package import NPM

FULL_PACKUMENT: Final = "application/json"
SHORT_PACKUMENT: Final = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"

# Scripts that run when a package is installed as a dependency; `prepare` runs only for its authors.
# https://docs.npmjs.com/cli/using-npm/scripts#npm-install
_SCRIPTS: Final = ("preinstall", "install", "postinstall")
_NO_README: Final = "ERROR: No README"
_DIGESTS: Final = {"sha512": 64, "sha384": 48, "sha256": 32, "sha1": 20}
_HEX: Final = re.compile(r"[0-9a-f]{40}")


class Packument(Struct, frozen=True):
    """An npm document about a package, and the collected version (None: it has no such version)."""

    name: str
    declared: str | None
    top: Members
    version: str | None

    @staticmethod
    def from_document(name: str, declared: str | None, top: Members) -> Packument:
        """Resolve `declared`, which is a version, a tag, or None for `latest`, to a version of the packument."""
        return Packument(name, declared, top, _resolve(declared, top))

    @property
    def exists(self) -> bool:
        """False when every version was unpublished, of which only the dates remain."""
        return bool(as_object(self.top.get("versions")))

    @property
    def latest(self) -> str | None:
        return _resolve(None, self.top)

    @property
    def manifest(self) -> Members:
        return as_object(as_object(self.top.get("versions")).get(self.version)) if self.version else {}


def is_about_package(name: str, top: Members) -> bool:
    """Whether the document is about this package, as a packument or as the remainder of an unpublished one."""
    shaped = isinstance(top.get("versions"), Mapping) or "unpublished" in as_object(top.get("time"))
    return top.get("name") == name and shaped


def npm_body(packument: Packument, manifest: Members, provenance: Json) -> dict[str, Json]:
    """The body. `manifest` is the version's package.json as far as the index keeps it, empty without a version."""
    times, top = as_object(packument.top.get("time")), packument.top
    versions = as_object(top.get("versions"))
    return {
        "ecosystem": NPM,
        "name": packument.name,
        "declared": packument.declared,
        "exists": True,
        "version": packument.version,
        "version_exists": packument.version is not None,
        "latest": packument.latest,
        "versions": len(versions),
        "first_published": find_earliest_timestamp(times.get(version) for version in versions),
        "published": as_timestamp(times.get(packument.version)) if packument.version else None,
        "latest_published": as_timestamp(times.get(packument.latest)) if packument.latest else None,
        "deprecated": _deprecated(manifest.get("deprecated")),
        "yanked": None,
        "install_scripts": list_install_scripts(manifest) if packument.version else None,
        "provenance": provenance,
        "maintainers": as_person_names(top.get("maintainers", manifest.get("maintainers"))),
        "licence": npm_licence(manifest),
        "repository": _repository(manifest),
        "mcp_name": as_exact_text(manifest.get("mcpName"), NAME),
        "has_readme": _has_readme(top),
        "requires": as_plain_text(as_object(manifest.get("engines")).get("node"), 100),
    }


def list_install_scripts(manifest: Members) -> list[Json]:
    """The scripts that npm runs at an installation; `binding.gyp` when only a native build is declared."""
    scripts = as_object(manifest.get("scripts"))
    found: list[Json] = [name for name in _SCRIPTS if isinstance(text := scripts.get(name), str) and text.strip()]
    builds_native = manifest.get("gypfile") is True or manifest.get("hasInstallScript") is True
    return found or (["binding.gyp"] if builds_native else [])


def find_npm_archive(packument: Packument, manifest: Members, base: str) -> Archive | None:
    dist = as_object(manifest.get("dist"))
    address = resolve_link(base, dist.get("tarball"))
    if packument.version is None or address is None:
        return None
    return Archive(
        ecosystem="npm",
        name=packument.name,
        version=packument.version,
        kind="tgz",
        filename=address.partition("?")[0].rsplit("/", 1)[-1],
        address=address,
        digest=_digest(dist),
    )


def _resolve(declared: str | None, top: Members) -> str | None:
    versions, tags = as_object(top.get("versions")), as_object(top.get("dist-tags"))
    exact = (declared or "").removeprefix("v").partition("+")[0]
    found = declared if declared in versions else exact if exact in versions else tags.get(declared or "latest")
    return as_exact_text(found, VERSION) if isinstance(found, str) and found in versions else None


def _deprecated(value: Json) -> str | None:
    # An empty text withdraws a deprecation.
    return (
        (as_masked_notice(value) or "deprecated")
        if value is True or (isinstance(value, str) and value.strip())
        else None
    )


def _repository(manifest: Members) -> dict[str, Json] | None:
    declared = manifest.get("repository")
    if isinstance(declared, Mapping):
        return as_repository_url(declared.get("url"), declared.get("directory"))
    return as_repository_url(declared)


def _has_readme(top: Members) -> bool | None:
    text = top.get("readme")
    if not isinstance(text, str):
        return None
    named = bool(as_exact_text(top.get("readmeFilename"), NAME))
    return (bool(text.strip()) or named) and not text.startswith(_NO_README)


def _digest(dist: Members) -> tuple[str, str] | None:
    """The strongest digest of `integrity` (https://www.w3.org/TR/SRI), else the SHA-1 of old packages."""
    text = dist.get("integrity")
    words = text.split() if isinstance(text, str) and len(text) <= 1000 else []
    offered = dict(word.partition("?")[0].split("-", 1) for word in words if "-" in word)
    for algorithm, length in _DIGESTS.items():
        try:
            raw = base64.b64decode(offered.get(algorithm, ""), validate=True)
        except (binascii.Error, ValueError):
            continue
        if len(raw) == length:
            return algorithm, raw.hex()
    shasum = dist.get("shasum")
    return ("sha1", shasum) if isinstance(shasum, str) and _HEX.fullmatch(shasum) else None
