"""pnpm-lock.yaml, lockfileVersion 5 to 9."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Finding,
    InvalidLockfile,
    Relation,
    Scope,
    UnknownVersion,
    to_printable_text,
)
from evidence.lockfiles.node.npm_sources import locate_package, split_alias
from evidence.lockfiles.parsing.bounded import (
    Table,
    build_entry_fault,
    decode_generated_text,
    find_missing_packages,
    find_unfinished_end,
    read_strings,
    read_table,
    string_or_empty,
)
from evidence.lockfiles.parsing.yaml_outline import find_dangling_entry, read_documents
from evidence.lockfiles.reachability import Edges, Reach, Roots
from evidence.lockfiles.versions import parse_concrete_version

_KNOWN: Final = {"5", "6", "7", "8", "9"}
_PARTS: Final = ("dependencies", "optionalDependencies", "devDependencies")
_VERSION = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.+-]*")
_HOST = re.compile(r"^[\w-]+(?:\.[\w-]+)+(?::\d+)?/")


def read_pnpm_lock(data: bytes) -> Iterator[Finding]:
    """All packages of all documents. Projects of the workspace are named by their path only and are left out."""
    text = decode_generated_text(data)
    found = [document for document in read_documents(text) if document]
    if not found:
        yield Fault(FaultKind.EMPTY, "the file holds nothing", 1)
    yield from find_unfinished_end(text)
    yield from find_dangling_entry(text)
    for document in found:
        yield from _document(document)


def _document(lock: Table) -> Iterator[Finding]:
    stated = string_or_empty(lock.get("lockfileVersion"))
    if (major := stated.partition(".")[0]) not in _KNOWN:
        raise InvalidLockfile(
            FaultKind.SHAPE, f"lockfileVersion 5 to 9 expected, found {to_printable_text(stated)!r}", 1
        )
    packages = read_table(lock, "packages")
    nodes = read_table(lock, "snapshots") if major == "9" else packages
    wanted: set[str] = set()
    roots = Roots()
    projects = list(_projects(lock))
    wanted.update(name for project in projects for name in _unlocked(project))
    if "packages" not in lock and "importers" not in lock:
        yield Fault(FaultKind.TRUNCATED, "neither importers nor packages")
    for project in projects:
        roots.needs.update(_targets(project, "dependencies", nodes, wanted))
        roots.options.update(_targets(project, "optionalDependencies", nodes, wanted))
        roots.dev.update(_targets(project, "devDependencies", nodes, wanted))
    edges = {
        key: Edges(
            tuple(_targets(entry, "dependencies", nodes, wanted)),
            tuple(_targets(entry, "optionalDependencies", nodes, wanted)),
        )
        for key, entry in nodes.items()
    }
    yield from find_missing_packages(wanted)
    reach = Reach(roots, edges)
    bare = {key: _without_peers(key) for key in nodes}
    for key in nodes:
        yield _package(key, packages.get(bare[key], nodes[key]) if major == "9" else nodes[key], major, reach)
    for key in packages.keys() - nodes.keys() - set(bare.values()):
        yield _package(key, packages[key], major, reach)


def _projects(lock: Table) -> Iterator[Any]:
    yield lock
    yield from read_table(lock, "importers").values()


def _unlocked(project: Any) -> Iterator[str]:
    """The dependencies of a project for which the file has no version."""
    if isinstance(project, Mapping):
        locked = {name for part in _PARTS for name in read_strings(project, part)}
        yield from (name for name in read_strings(project, "specifiers") if name not in locked)


def _targets(entry: Any, part: str, nodes: Table, wanted: set[str]) -> Iterator[str]:
    """The keys of an entry's dependencies; missing ones are added to `wanted`."""
    needs = entry.get(part) if isinstance(entry, Mapping) else None
    for name, value in needs.items() if isinstance(needs, Mapping) else ():
        ref = string_or_empty(value.get("version") if isinstance(value, Mapping) else value)
        if not ref:
            wanted.add(name)
            continue
        if ref.startswith(("link:", "workspace:")):
            continue
        for key in (f"{name}@{ref}", f"/{name}@{ref}", f"/{name}/{ref}", ref):
            if key in nodes:
                yield key
                break
        else:
            wanted.add(f"{name}@{ref}")


def _package(key: str, entry: Any, major: str, reach: Reach) -> Finding:
    details = entry if isinstance(entry, Mapping) else {}
    if entry != "" and not isinstance(entry, Mapping):
        return build_entry_fault(key, "expected a mapping")
    path = _read_path(key, major)
    name = string_or_empty(details.get("name")) or path[0]
    if not name:
        return build_entry_fault(key, "no name, and the path holds none")
    resolution = details.get("resolution")
    source, location = locate_package(_location(resolution) if isinstance(resolution, Mapping) else "", path[1])
    version = parse_concrete_version(
        Ecosystem.NPM, string_or_empty(details.get("version")) or path[1] or location or ""
    )
    if isinstance(version, UnknownVersion) and source.value == "registry":
        return build_entry_fault(key, "no version, and the path holds none")
    # Before lock 9 pnpm sets at most one flag: a package for development that is also optional has none.
    is_reached = major == "9" or reach.relation(key) is not Relation.UNSTATED
    scopes = {Scope.DEV: details.get("dev") == "true", Scope.OPTIONAL: details.get("optional") == "true"}
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=name,
        version=version,
        relation=reach.relation(key),
        scopes=reach.scopes(key) if is_reached else frozenset(scope for scope, is_set in scopes.items() if is_set),
        source=source,
        location=location,
        via=tuple(sorted({_read_path(root, major)[0] for root in reach.via(key)})),
    )


def _read_path(key: str, major: str) -> tuple[str, str]:
    return _from_path_5(key) if major == "5" else _from_path(key)


def _location(resolution: Table) -> str:
    """The source of the code; empty for the default registry, because a tarball is only named for another one."""
    if (repository := string_or_empty(resolution.get("repo"))) != "":
        return f"git+{repository}#{string_or_empty(resolution.get('commit'))}"
    if (folder := string_or_empty(resolution.get("directory"))) != "":
        return f"file:{folder}"
    return string_or_empty(resolution.get("tarball"))


def _without_peers(path: str) -> str:
    at = path.find("(", 1)
    return path if at < 0 else path[:at]


def _from_path(path: str) -> tuple[str, str]:
    """Name and version of `/name@version(peers)`; lock 9 has no leading slash, and a registry's host may precede it."""
    name, version = split_alias(_HOST.sub("", _without_peers(path), count=1).removeprefix("/"))
    return (name, version) if version and "@" not in name[1:] and ":" not in name else ("", version)


def _from_path_5(path: str) -> tuple[str, str]:
    """Name and version of `/name/version_peers`, possibly with the host of a registry in front of it."""
    host = "" if path.startswith("/") else (found.group() if (found := _HOST.match(path)) else None)
    if host is None:
        return "", path if ":" in path else ""
    parts = path[len(host) :].strip("/").split("/")
    if len(parts) < 2 or not (version := _VERSION.match(parts[-1])):
        return "", ""
    return "/".join(parts[-3:-1] if len(parts) > 2 and parts[-3].startswith("@") else parts[-2:-1]), version.group()
