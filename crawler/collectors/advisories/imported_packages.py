"""Whether the code of a server imports its dependencies, as far as its source tells for certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from evidence.canonical import NotJson
from evidence.derive.source.imports import list_python_distributions
from evidence.kinds import source
from evidence.kinds.dependencies import Dependencies, Dependency
from evidence.kinds.source import Source
from evidence.lockfiles.lockfile import MAX_VIA
from evidence.model import Absent, Dossier

Imported: TypeAlias = "Mapping[tuple[str, str], bool | None]"
"""By ecosystem and name: whether the code imports a package, or one that brings it. None: unknown."""

_NPM: Final = "npm"
_PYPI: Final = "PyPI"


def list_imported(found: Dossier, listed: Dependencies) -> Imported:
    """The dependencies that the source imports; "not imported" needs the complete source of the same project.

    In a folder of a repository other folders may import for it, so nothing is "not imported" there.
    """
    read = _source_of(found, listed)
    if read is None or read.imports is None:
        return {}
    names = {
        _NPM: (frozenset(read.imports.npm), True),
        _PYPI: list_python_distributions(
            read.imports.python,
            read.imports.own,
            {one.name for one in listed.dependencies if one.ecosystem == _PYPI},
        ),
    }
    whole = read.complete and not read.subfolder
    direct: dict[tuple[str, str], bool | None] = {}
    for ecosystem, (imported, explained) in names.items():
        otherwise = False if whole and explained and ecosystem not in read.imports.unread else None
        for one in listed.dependencies:
            if one.ecosystem == ecosystem:
                direct[ecosystem, one.name] = True if one.name in imported else otherwise
    return {(one.ecosystem, one.name): _judge(one, direct) for one in listed.dependencies}


def _source_of(found: Dossier, listed: Dependencies) -> Source | None:
    content = found.read(source.KIND)
    if isinstance(content, Absent):
        return None
    try:
        read = Source.parse(content.body)
    except NotJson:
        return None
    same = all(listed.body.get(member) == read.body.get(member) for member in ("origin", "name", "ref"))
    return read if same else None


def _judge(one: Dependency, direct: Mapping[tuple[str, str], bool | None]) -> bool | None:
    """A transitive dependency is imported by the packages that bring it, so it counts as they do."""
    own = direct.get((one.ecosystem, one.name))
    if own or one.relation == "direct":
        return own
    brought: Sequence[bool | None] = [direct.get((one.ecosystem, name)) for name in one.via]
    if any(brought):
        return True
    known = own is False and 0 < len(one.via) < MAX_VIA and all(each is False for each in brought)
    return False if known else None
