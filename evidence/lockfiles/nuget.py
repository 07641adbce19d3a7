"""packages.lock.json of NuGet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.lockfiles.lockfile import Dependency, Ecosystem, FaultKind, Finding, InvalidLockfile, Relation, Source
from evidence.lockfiles.parsing.bounded import build_entry_fault, read_json, read_table, string_or_empty
from evidence.lockfiles.versions import parse_concrete_version


def read_nuget_lock(data: bytes) -> Iterator[Finding]:
    """All packages of all target frameworks."""
    lock = read_json(data)
    if "dependencies" not in lock or "version" not in lock:
        raise InvalidLockfile(FaultKind.SHAPE, "no version or no dependencies: not a packages.lock.json", 1)
    frameworks = read_table(lock, "dependencies")
    for framework in frameworks:
        for name, entry in read_table(frameworks, framework).items():
            if not isinstance(entry, Mapping):
                yield build_entry_fault(name, "expected an object")
                continue
            kind = string_or_empty(entry.get("type"))
            yield Dependency(
                ecosystem=Ecosystem.NUGET,
                name=name,
                version=parse_concrete_version(Ecosystem.NUGET, string_or_empty(entry.get("resolved"))),
                relation=Relation.DIRECT if kind in {"Direct", "Project"} else Relation.TRANSITIVE,
                source=Source.WORKSPACE if kind == "Project" else Source.REGISTRY,
            )
