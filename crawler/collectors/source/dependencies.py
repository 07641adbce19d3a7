"""Dependencies of a server without a lockfile: GitHub's SBOM of its repository, else the tree of its installation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from crawler.collectors.repository.github import GitHub
from crawler.collectors.repository.parsing.sbom import SbomPart
from crawler.collectors.source.archive_origin import ArchiveOrigin, find_package_target
from crawler.sandbox.install.package_inventory import InstalledTree
from evidence.canonical import Json
from evidence.kinds.dependencies import INSTALLED, MAX_DEPENDENCIES, SBOM
from evidence.kinds.source import GITHUB
from evidence.model import Absent, Dossier, Reason, Target

_BY_MANIFEST = "manifests"


class InstallationSource(Protocol):
    """A sandbox that lists the packages of an installation."""

    async def installed(self, target: Target) -> InstalledTree | Absent:
        """The packages of an installation, which is made first if needed."""
        ...


async def find_dependencies_elsewhere(
    found: Dossier,
    origin: ArchiveOrigin | None,
    sboms: GitHub | None,
    installs: InstallationSource | None,
    *,
    own_failures: frozenset[Reason] = frozenset(),
) -> dict[str, Json] | Absent:
    """The body of kind `dependencies` of a server without a lockfile, or why there is none.

    GitHub's SBOM covers a whole repository, so it is not used for a server in a folder of one. When the SBOM is absent
    for one of the reasons `ours`, the installation does not replace it.
    """
    refused: Absent | None = None
    if origin is not None and origin.origin == GITHUB and not origin.subfolder and sboms is not None:
        parts = await sboms.sbom(origin.name)
        if not isinstance(parts, Absent) and parts:
            return _sbom_body(origin, parts)
        refused = parts if isinstance(parts, Absent) else None
        if refused is not None and refused.reason in own_failures:
            return refused
    target = find_package_target(found)
    if target is None or installs is None:
        return refused or Absent(Reason.NO_PACKAGE, "there is neither a lockfile nor a package to install")
    tree = await installs.installed(target)
    return tree if isinstance(tree, Absent) else make_installation_body(tree)


def _sbom_body(origin: ArchiveOrigin, parts: Iterable[SbomPart]) -> dict[str, Json]:
    from crawler.collectors.source.lockfiles import sort_dependency_rows  # noqa: PLC0415  with the readers of lockfiles

    rows = sort_dependency_rows(_row(part.ecosystem, part.name, part.version, "unknown", "") for part in parts)
    head: dict[str, Json] = {"origin": origin.origin, "name": origin.name, "ref": origin.ref, "from": SBOM}
    return _body(head, rows, complete=True, sources=[{"path": "", "format": SBOM}])


def make_installation_body(tree: InstalledTree) -> dict[str, Json]:
    """The body of kind `dependencies` of an installed package."""
    from crawler.collectors.source.lockfiles import sort_dependency_rows  # noqa: PLC0415

    rows = sort_dependency_rows(
        {
            **_row(package.ecosystem, package.name, package.version, package.relation, package.path),
            **({"ranges": [list(pair) for pair in package.ranges]} if package.ranges else {}),
        }
        for package in tree.packages
    )
    head: dict[str, Json] = {"origin": tree.ecosystem, "name": tree.name, "ref": tree.version, "from": INSTALLED}
    unread: list[Json] = [{"path": one.path, "why": one.why} for one in tree.unread]
    source: Json = {"path": "", "format": _BY_MANIFEST}
    return {**_body(head, rows, complete=tree.complete, sources=[source]), "unread": unread}


def _body(head: dict[str, Json], rows: list[Json], *, complete: bool, sources: list[Json]) -> dict[str, Json]:
    return {
        **head,
        "lockfile": False,
        "complete": complete and len(rows) <= MAX_DEPENDENCIES,
        "sources": sources,
        "unread": [],
        "dependencies": rows[:MAX_DEPENDENCIES],
    }


def _row(ecosystem: str, name: str, version: str | None, relation: str, path: str) -> dict[str, Json]:
    return {
        "ecosystem": ecosystem,
        "name": name,
        "version": version,
        "relation": relation,
        "scopes": [],
        "path": path,
    }
