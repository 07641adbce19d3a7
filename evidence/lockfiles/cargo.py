"""Cargo.lock, all versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Relation, Source
from evidence.lockfiles.parsing.bounded import (
    Table,
    build_entry_fault,
    decode_text,
    find_missing_packages,
    find_unfinished_end,
    read_rows,
    read_strings,
    read_toml,
    string_or_empty,
)
from evidence.lockfiles.reachability import infer_relation
from evidence.lockfiles.versions import parse_concrete_version


def read_cargo_lock(data: bytes) -> Iterator[Finding]:
    """All packages. Those without a source belong to the project; their dependencies of any kind are direct."""
    lock = read_toml(data)
    yield from find_unfinished_end(decode_text(data))
    if not lock:
        yield Fault(FaultKind.EMPTY, "the file holds nothing", 1)
    root = [lock["root"]] if isinstance(lock.get("root"), Mapping) else []
    entries = [*root, *read_rows(lock, "package")]
    own = [entry for entry in entries if "source" not in entry]
    if lock and not own:
        yield Fault(FaultKind.TRUNCATED, "no entry is the project itself")
    direct = {need for entry in own for need in _needs(entry)}
    required = {need for entry in entries for need in _needs(entry)}
    yield from find_missing_packages(
        {need.partition(" ")[0] for need in required} - {string_or_empty(entry.get("name")) for entry in entries}
    )
    for entry in entries:
        name = string_or_empty(entry.get("name"))
        if name and string_or_empty(entry.get("version")):
            yield _package(entry, name, direct if own else None, required)
        else:
            yield build_entry_fault(name, "no name or no version")


def _needs(entry: Table) -> Iterator[str]:
    """Dependencies as `name`, or as `name version` where the file contains several versions; the source is left out."""
    for need in read_strings(entry, "dependencies"):
        yield " ".join(need.split(" ", 2)[:2])


def _package(entry: Table, name: str, direct: set[str] | None, required: set[str]) -> Dependency:
    source, location = _source(string_or_empty(entry.get("source")))
    keys = {name, f"{name} {string_or_empty(entry.get('version'))}"}
    if direct is None:
        relation = infer_relation(name, () if keys.isdisjoint(required) else (name,))
    else:
        is_named = not keys.isdisjoint(direct) or source is Source.WORKSPACE
        relation = Relation.DIRECT if is_named else Relation.TRANSITIVE
    return Dependency(
        ecosystem=Ecosystem.CRATES,
        name=name,
        version=parse_concrete_version(Ecosystem.CRATES, string_or_empty(entry.get("version"))),
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
