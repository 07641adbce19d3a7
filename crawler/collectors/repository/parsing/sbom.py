"""GitHub's software bill of materials (SPDX) as a list of packages, by their package URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from crawler.collectors.repository.parsing.json_values import as_object, as_text, list_objects
from evidence.canonical import Json

MAX_PARTS: Final = 20_000

# https://github.com/package-url/purl-spec: pkg:TYPE/NAMESPACE/NAME@VERSION?QUALIFIERS#SUBPATH
_PURL: Final = re.compile(r"pkg:/*([A-Za-z][A-Za-z0-9.+-]*)/([^@?#]+)(?:@([^?#]*))?(?:[?#].*)?")
_ECOSYSTEMS: Final = {
    "cargo": "crates.io", "composer": "Packagist", "cran": "CRAN", "gem": "RubyGems", "githubactions": "GitHub Actions",
    "golang": "Go", "hackage": "Hackage", "hex": "Hex", "maven": "Maven", "npm": "npm", "nuget": "NuGet", "pub": "Pub",
    "pypi": "PyPI", "swift": "SwiftURL",
}  # fmt: skip


class SbomPart(Struct, frozen=True, kw_only=True):
    """One resolved dependency of an SBOM, as its package URL names it.

    `ecosystem` is spelled as in OSV (`npm`, `PyPI`, `Go`, `crates.io`, ...); `version` is None where the SBOM has a
    range or nothing. The SBOM does not separate direct from transitive dependencies.
    """

    ecosystem: str
    name: str
    version: str | None


def parse_sbom(document: Json) -> tuple[SbomPart, ...] | None:
    """At most `MAX_PARTS` packages of an SPDX document, without the repository itself; None when it is no SBOM."""
    listed = as_object(as_object(document).get("sbom")).get("packages")
    if not isinstance(listed, list):
        return None
    found = {part for package in list_objects(listed[:MAX_PARTS]) if (part := _part(package)) is not None}
    return tuple(sorted(found, key=lambda part: (part.ecosystem, part.name, part.version or "")))


def _part(package: Mapping[str, Json]) -> SbomPart | None:
    for reference in list_objects(package.get("externalRefs")):
        if reference.get("referenceType") == "purl":
            return parse_package_url(as_text(reference.get("referenceLocator"), 1000) or "")
    return None


def parse_package_url(purl: str) -> SbomPart | None:
    """The package of a package URL; None for a type without an ecosystem in OSV, such as `pkg:github/...`."""
    match = _PURL.fullmatch(purl)
    ecosystem = _ECOSYSTEMS.get(match[1].lower()) if match else None
    if match is None or ecosystem is None:
        return None
    steps = [unquote(step) for step in match[2].split("/") if step]
    version = as_text(unquote(match[3] or ""))
    name = _name(ecosystem, steps)
    if not as_text(name):
        return None
    return SbomPart(ecosystem=ecosystem, name=name, version=version)


def _name(ecosystem: str, steps: list[str]) -> str:
    if ecosystem == "Maven":
        return ":".join((".".join(steps[:-1]), steps[-1])) if len(steps) > 1 else "".join(steps)
    name = "/".join(steps)
    if ecosystem == "PyPI":
        return re.sub(r"[-_.]+", "-", name).lower()
    return name.lower() if ecosystem == "Packagist" else name
