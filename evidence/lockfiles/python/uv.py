"""uv.lock, which also contains the project itself and its direct dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Relation, Source
from evidence.lockfiles.parsing.bounded import (
    Table,
    build_entry_fault,
    decode_text,
    find_missing_packages,
    find_unfinished_end,
    read_rows,
    read_strings,
    read_table,
    read_toml,
    string_or_empty,
)
from evidence.lockfiles.python.uv_graph import Graph
from evidence.lockfiles.reachability import Reach
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version

_OWN = ("editable", "virtual")


def read_uv_lock(data: bytes) -> Iterator[Finding]:
    """All packages except the project itself; other members of a workspace count as packages."""
    lock = read_toml(data)
    yield from find_unfinished_end(decode_text(data))
    if not lock:
        yield Fault(FaultKind.EMPTY, "the file holds nothing", 1)
    entries = read_rows(lock, "package")
    members = _members(lock, entries)
    own = [entry for entry in entries if _is_own(entry, members)]
    graph = Graph(entries)
    reach = graph.reach(own)
    yield from find_missing_packages(graph.wanted)
    if lock and not own:
        yield Fault(FaultKind.TRUNCATED, "no entry is the project itself")
    for number, entry in enumerate(entries):
        if _place(entry) != ".":
            yield _package(entry, str(number), graph, reach, members)


def _package(entry: Table, node: str, graph: Graph, reach: Reach, members: frozenset[str]) -> Finding:
    name = string_or_empty(entry.get("name"))
    if not name:
        return build_entry_fault(entry, "no name")
    source, location = _source(entry.get("source"))
    if source is Source.PATH and _is_own(entry, members):
        source = Source.WORKSPACE
    return Dependency(
        ecosystem=Ecosystem.PYPI,
        name=normalize_package_name(Ecosystem.PYPI, name),
        version=parse_concrete_version(Ecosystem.PYPI, string_or_empty(entry.get("version"))),
        relation=Relation.DIRECT if source is Source.WORKSPACE else reach.relation(node),
        scopes=reach.scopes(node),
        source=source,
        location=location,
        via=graph.via(node, reach),
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
            if (location := string_or_empty(source.get(key))) != "":
                return kind, location
    return Source.REGISTRY, None


def _members(lock: Table, entries: list[Table]) -> frozenset[str]:
    """The names of the project and its workspace. When the file lists none, and none is at its place, all local ones.

    A package in another folder may be `editable` too, and is a dependency.
    """
    listed = {string_or_empty(entry.get("name")) for entry in entries if _place(entry) == "."}
    listed.update(read_strings(read_table(lock, "manifest"), "members"))
    return frozenset(listed or {string_or_empty(entry.get("name")) for entry in entries if _place(entry)})


def _place(entry: Table) -> str:
    """The folder of a package that is installed from its own folder; empty for every other package."""
    source = entry.get("source")
    return (
        next((string_or_empty(source.get(kind)) for kind in _OWN if kind in source), "")
        if isinstance(source, Mapping)
        else ""
    )


def _is_own(entry: Table, members: frozenset[str]) -> bool:
    return bool(_place(entry)) and string_or_empty(entry.get("name")) in members
