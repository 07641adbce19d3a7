"""The packages of which a server consists, by the evidence of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crawler.collectors.advisories.imported_packages import list_imported
from evidence.advisories.package_matching import Package
from evidence.canonical import NotJson
from evidence.kinds import dependencies, package
from evidence.kinds.advisories import Reach
from evidence.kinds.dependencies import INSTALLED, Dependencies
from evidence.model import Absent, Dossier, Observed, Reason

_REACHES: Final = {reach.value: reach for reach in (Reach.DIRECT, Reach.TRANSITIVE)}


def list_used_packages(found: Dossier) -> tuple[Package, ...] | Absent:
    """The server's own package and its dependencies; Absent when neither is known."""
    listed = found.read(dependencies.KIND)
    own = list(_list_own_package(found.read(package.KIND)))
    if isinstance(listed, Absent):
        return tuple(own) or Absent(listed.reason, f"neither dependencies nor a published version: {listed.detail}")
    try:
        parsed = Dependencies.parse(listed.body)
    except NotJson as error:
        return tuple(own) or Absent(Reason.NOT_COLLECTED, f"the list of dependencies cannot be read: {error}")
    imported = list_imported(found, parsed)
    formats = dict(parsed.sources)
    return (
        *own,
        *(
            Package(
                ecosystem=member.ecosystem,
                name=member.name,
                version=member.version,
                relation=_REACHES.get(member.relation, Reach.UNKNOWN),
                scopes=frozenset(member.scopes),
                via=member.via,
                imported=imported.get((member.ecosystem, member.name)),
                ranges=member.ranges,
                lock=INSTALLED if parsed.taken_from == INSTALLED else formats.get(member.path, ""),
            )
            for member in parsed.dependencies
        ),
    )


def _list_own_package(content: Observed | Absent) -> Iterator[Package]:
    if isinstance(content, Absent):
        return
    try:
        own = package.Package.parse(content.body)
    except NotJson:
        return
    if own.exists and own.version and own.name and own.ecosystem:
        yield Package(ecosystem=own.ecosystem, name=own.name, version=own.version, relation=Reach.ITSELF)
