"""uv.lock, the lock of Python that also holds the project itself and what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Relation, Source
from evidence.lockfiles.reach import Edges, Reach, Roots
from evidence.lockfiles.reading import (
    Table,
    entry_fault,
    missing,
    read_toml,
    rows,
    string,
    table,
    text_of,
    unfinished,
    words,
)
from evidence.lockfiles.versions import concrete, normalised

_OWN = ("editable", "virtual")


def read(data: bytes) -> Iterator[Finding]:
    """Every package but the project itself; other members of a workspace count as packages."""
    lock = read_toml(data)
    yield from unfinished(text_of(data))
    if not lock:
        yield Fault(FaultKind.EMPTY, "the file holds nothing", 1)
    entries = rows(lock, "package")
    members = _members(lock, entries)
    by_name: dict[str, list[str]] = {}
    for entry in entries:
        by_name.setdefault(string(entry.get("name")), []).append(_key(entry))
    roots, wanted, edges = Roots(), set[str](), dict[str, Edges]()
    for entry in entries:
        if _is_own(entry, members):
            roots.needs.update(_targets(entry.get("dependencies"), by_name, wanted))
            roots.options.update(_group(entry, "optional-dependencies", by_name, wanted))
            roots.dev.update(_group(entry, "dev-dependencies", by_name, wanted))
        edges[_key(entry)] = Edges(tuple(_targets(entry.get("dependencies"), by_name, wanted)))
        edges.update(_extras(entry, by_name, wanted))
    yield from missing(wanted)
    if lock and not any(_is_own(entry, members) for entry in entries):
        yield Fault(FaultKind.TRUNCATED, "no entry is the project itself")
    reach = Reach(roots, edges)
    for entry in entries:
        if _place(entry) != ".":
            yield _package(entry, reach, members)


def _package(entry: Table, reach: Reach, members: frozenset[str]) -> Finding:
    name = string(entry.get("name"))
    if not name:
        return entry_fault(entry, "no name")
    source, location = _source(entry.get("source"))
    if source is Source.PATH and _is_own(entry, members):
        source = Source.WORKSPACE
    return Dependency(
        ecosystem=Ecosystem.PYPI,
        name=normalised(Ecosystem.PYPI, name),
        version=concrete(Ecosystem.PYPI, string(entry.get("version"))),
        relation=Relation.DIRECT if source is Source.WORKSPACE else reach.relation(_key(entry)),
        scopes=reach.scopes(_key(entry)),
        source=source,
        location=location,
    )


def _source(source: Any) -> tuple[Source, str | None]:
    kinds = {
        "git": Source.GIT,
        "url": Source.URL,
        "path": Source.PATH,
        "directory": Source.PATH,
        "editable": Source.PATH,
        "virtual": Source.PATH,
    }
    if isinstance(source, Mapping):
        for key, kind in kinds.items():
            if (location := string(source.get(key))) != "":
                return kind, location
    return Source.REGISTRY, None


def _members(lock: Table, entries: list[Table]) -> frozenset[str]:
    """The names of the project and its workspace. Where the file lists none, and none is at its place, all local ones.

    A package in a folder that is none of them may be `editable` too, and is a dependency.
    """
    listed = {string(entry.get("name")) for entry in entries if _place(entry) == "."}
    listed.update(words(table(lock, "manifest"), "members"))
    return frozenset(listed or {string(entry.get("name")) for entry in entries if _place(entry)})


def _place(entry: Table) -> str:
    """The folder of a package that is installed from where it stands, empty for every other package."""
    source = entry.get("source")
    return (
        next((string(source.get(kind)) for kind in _OWN if kind in source), "") if isinstance(source, Mapping) else ""
    )


def _is_own(entry: Table, members: frozenset[str]) -> bool:
    return bool(_place(entry)) and string(entry.get("name")) in members


def _key(entry: Table) -> str:
    return f"{string(entry.get('name'))} {string(entry.get('version'))}"


def _extras(entry: Table, by_name: Mapping[str, list[str]], wanted: set[str]) -> Iterator[tuple[str, Edges]]:
    """An extra is a node of its own, `name version[extra]`, which those depend on who ask for it."""
    groups = entry.get("optional-dependencies")
    for extra, needs in groups.items() if isinstance(groups, Mapping) else ():
        yield f"{_key(entry)}[{extra}]", Edges(tuple(_targets(needs, by_name, wanted)))


def _group(entry: Table, part: str, by_name: Mapping[str, list[str]], wanted: set[str]) -> Iterator[str]:
    groups = entry.get(part)
    for group in groups.values() if isinstance(groups, Mapping) else ():
        yield from _targets(group, by_name, wanted)


def _targets(needs: Any, by_name: Mapping[str, list[str]], wanted: set[str]) -> Iterator[str]:
    """The nodes of a list of `{name, version, extra}`; the version stands there only when there are several."""
    for need in needs if isinstance(needs, list) else ():
        if not isinstance(need, Mapping):
            continue
        name, version = string(need.get("name")), string(need.get("version"))
        keys = by_name.get(name, [])
        chosen = [f"{name} {version}"] if version and f"{name} {version}" in keys else keys
        if not chosen:
            wanted.add(name)
        yield from chosen
        yield from (f"{key}[{extra}]" for key in chosen for extra in words(need, "extra"))
