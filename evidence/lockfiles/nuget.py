"""packages.lock.json of NuGet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.lockfiles.lockfile import Dependency, Ecosystem, FaultKind, Finding, Invalid, Relation, Source
from evidence.lockfiles.reading import entry_fault, read_json, string, table
from evidence.lockfiles.versions import concrete


def read(data: bytes) -> Iterator[Finding]:
    """Every package of every target framework."""
    lock = read_json(data)
    if "dependencies" not in lock or "version" not in lock:
        raise Invalid(FaultKind.SHAPE, "no version or no dependencies: not a packages.lock.json", 1)
    frameworks = table(lock, "dependencies")
    for framework in frameworks:
        for name, entry in table(frameworks, framework).items():
            if not isinstance(entry, Mapping):
                yield entry_fault(name, "expected an object")
                continue
            kind = string(entry.get("type"))
            yield Dependency(
                ecosystem=Ecosystem.NUGET,
                name=name,
                version=concrete(Ecosystem.NUGET, string(entry.get("resolved"))),
                relation=Relation.DIRECT if kind in {"Direct", "Project"} else Relation.TRANSITIVE,
                source=Source.WORKSPACE if kind == "Project" else Source.REGISTRY,
            )
