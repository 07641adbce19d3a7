"""Rule `package-version-floating`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_package
from scoring.results.outcome import Severity
from scoring.scopes.base import Package
from scoring.text.evidence_path import quote_text

_FLOATING = frozenset({"latest", "next", "main", "master"})
_RANGE = re.compile(r"[\^~<>=*]")


@rule(
    "package-version-floating",
    scope=Package,
    reads="registration",
    severity=Severity.WARNING,
    title="Package is not pinned to a version",
    remedy="Set `version` of the package to an exact version such as `1.2.3`. For an OCI image, put a tag or digest "
    "into `identifier`; for an MCPB package, add `fileSha256`.",
    since="2026.1",
    version=1,
    fix=(build_package(version="latest"), build_package()),
    good=[build_package(registryType="oci", identifier="docker.io/example/notes:1.0", version=None)],
    bad=[build_package(version=None), build_package(version="^1.2.3")],
)
def package_version_floating(package: Package) -> Iterator[str]:
    """Without an exact version two users of the same entry run different code, and the tested version is unknown."""
    version = package.text("version")
    digest = package.text("fileSha256") or "@sha256:" in package.text("identifier")
    tagged = ":" in package.text("identifier").rpartition("/")[2]
    if not digest and not tagged and (not version or version.lower() in _FLOATING or _RANGE.match(version)):
        yield f"version is {quote_text(version)}, an exact version expected" if version else "no version"
