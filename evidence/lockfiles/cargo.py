"""Cargo.lock, all versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Relation, Source
from evidence.lockfiles.reach import inferred
from evidence.lockfiles.reading import (
    Table,
    entry_fault,
    missing,
    read_toml,
    rows,
    string,
    text_of,
    unfinished,
    words,
)
from evidence.lockfiles.versions import concrete


def read(data: bytes) -> Iterator[Finding]:
    """Every package. Those without a source are the project's own; what they name is direct, of whichever kind."""
    lock = read_toml(data)
    yield from unfinished(text_of(data))
    if not lock:
        yield Fault(FaultKind.EMPTY, "the file holds nothing", 1)
    root = [lock["root"]] if isinstance(lock.get("root"), Mapping) else []
    entries = [*root, *rows(lock, "package")]
    own = [entry for entry in entries if "source" not in entry]
    if lock and not own:
        yield Fault(FaultKind.TRUNCATED, "no entry is the project itself")
    direct = {need for entry in own for need in _needs(entry)}
    required = {need for entry in entries for need in _needs(entry)}
    yield from missing({need.partition(" ")[0] for need in required} - {string(entry.get("name")) for entry in entries})
    for entry in entries:
        name = string(entry.get("name"))
        if name and string(entry.get("version")):
            yield _package(entry, name, direct if own else None, required)
        else:
            yield entry_fault(name, "no name or no version")


def _needs(entry: Table) -> Iterator[str]:
    """Dependencies as `name`, or as `name version` where the file holds several; what follows is the source."""
    for need in words(entry, "dependencies"):
        yield " ".join(need.split(" ", 2)[:2])


def _package(entry: Table, name: str, direct: set[str] | None, required: set[str]) -> Dependency:
    source, location = _source(string(entry.get("source")))
    keys = {name, f"{name} {string(entry.get('version'))}"}
    if direct is None:
        relation = inferred(name, () if keys.isdisjoint(required) else (name,))
    else:
        is_named = not keys.isdisjoint(direct) or source is Source.WORKSPACE
        relation = Relation.DIRECT if is_named else Relation.TRANSITIVE
    return Dependency(
        ecosystem=Ecosystem.CRATES,
        name=name,
        version=concrete(Ecosystem.CRATES, string(entry.get("version"))),
        relation=relation,
        source=source,
        location=location,
    )


def _source(text: str) -> tuple[Source, str | None]:
    kind, _, rest = text.partition("+")
    match kind:
        case "":
            return Source.WORKSPACE, None
        case "git":
            return Source.GIT, rest
        case "path":
            return Source.PATH, rest
    return Source.REGISTRY, None
