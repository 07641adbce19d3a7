"""The packages of which a server consists, by the evidence of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.advisories.package_matching import Package
from evidence.canonical import NotJson
from evidence.kinds import dependencies, package
from evidence.kinds.advisories import Reach
from evidence.kinds.dependencies import Dependencies
from evidence.model import Absent, Dossier, Observed, Reason

_REACHES: Final = {reach.value: reach for reach in (Reach.DIRECT, Reach.TRANSITIVE)}


def list_used_packages(found: Dossier) -> tuple[Package, ...] | Absent:
    """The server's own package and its dependencies; Absent when neither is known."""
    listed = found.read(dependencies.KIND)
    own = list(_itself(found.read(package.KIND)))
    if isinstance(listed, Absent):
        return tuple(own) or Absent(listed.reason, f"neither dependencies nor a published version: {listed.detail}")
    try:
        members = Dependencies.parse(listed.body).dependencies
    except NotJson as error:
        return tuple(own) or Absent(Reason.NOT_COLLECTED, f"the list of dependencies cannot be read: {error}")
    return (
        *own,
        *(
            Package(
                ecosystem=member.ecosystem,
                name=member.name,
                version=member.version,
                relation=_REACHES.get(member.relation, Reach.UNKNOWN),
                scopes=frozenset(member.scopes),
            )
            for member in members
        ),
    )


def _itself(content: Observed | Absent) -> Iterator[Package]:
    if isinstance(content, Absent):
        return
    try:
        seen = package.Package.parse(content.body)
    except NotJson:
        return
    if seen.exists and seen.version and seen.name and seen.ecosystem:
        yield Package(ecosystem=seen.ecosystem, name=seen.name, version=seen.version, relation=Reach.ITSELF)
