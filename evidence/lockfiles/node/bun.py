"""bun.lock, the text form; lockfileVersion 0 and 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from evidence.lockfiles.lockfile import (
    MAX_TEXT,
    Dependency,
    Ecosystem,
    FaultKind,
    Finding,
    InvalidLockfile,
    Relation,
    Source,
    UnknownVersion,
    bound_ranges,
    to_printable_text,
)
from evidence.lockfiles.node.npm_sources import locate_package, read_range, split_alias
from evidence.lockfiles.parsing.bounded import MAX_DEPTH, Table, build_entry_fault, read_json, read_strings, read_table
from evidence.lockfiles.reachability import Edges, Reach, Roots
from evidence.lockfiles.versions import parse_concrete_version

_OPTIONAL: Final = ("optionalDependencies", "peerDependencies")

Inside: TypeAlias = dict[str, dict[str, str]]
"""The keys of the packages in each folder, by name; packages at the top are in the folder without name."""


def read_bun_lock(data: bytes) -> Iterator[Finding]:
    """All packages. Keys are folders: `a/b` is the b that only a resolves."""
    lock = read_json(data, relaxed=True)
    packages = read_table(lock, "packages")
    inside = _inside(packages)
    roots = Roots()
    for path, workspace in read_table(lock, "workspaces").items():
        own = workspace.get("name") if isinstance(workspace, Mapping) and path else None
        for part, into in (
            ("dependencies", roots.needs),
            ("peerDependencies", roots.needs),
            ("optionalDependencies", roots.options),
            ("devDependencies", roots.dev),
        ):
            into.update(_resolve(own if isinstance(own, str) else "", read_strings(workspace, part), inside))
    ranges = _ranges(lock, packages, inside)
    reach = Reach(roots, {key: _edges(key, entry, inside) for key, entry in packages.items()})
    for key, entry in packages.items():
        yield _package(key, entry, reach, ranges.get(key, ()))


def _ranges(lock: Table, packages: Table, inside: Inside) -> dict[str, tuple[tuple[str, str], ...]]:
    """The ranges that each package must suit."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path, workspace in read_table(lock, "workspaces").items():
        own = workspace.get("name") if isinstance(workspace, Mapping) and path else None
        folder = own if isinstance(own, str) else ""
        for place, declared in _declared(folder, workspace, ("dependencies", *_OPTIONAL, "devDependencies"), inside):
            found.setdefault(place, []).append((folder, declared))
    for key, entry in packages.items():
        for place, declared in _declared(key, _details(entry), ("dependencies", *_OPTIONAL), inside):
            found.setdefault(place, []).append((_folders(key)[-1], declared))
    return {place: bound_ranges(ranges) for place, ranges in found.items()}


def _declared(key: str, entry: Any, parts: tuple[str, ...], inside: Inside) -> Iterator[tuple[str, str]]:
    """The packages that an entry needs, by their keys, with the ranges."""
    for part in parts:
        needs = entry.get(part) if isinstance(entry, Mapping) else None
        if isinstance(needs, Mapping):
            for name, place in _resolve_each(key, [*needs], inside):
                yield place, read_range(needs[name] if isinstance(needs[name], str) else ":")


def _package(key: str, entry: Any, reach: Reach, ranges: tuple[tuple[str, str], ...]) -> Finding:
    if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
        return build_entry_fault(key, "expected a list that begins with `name@version`")
    name, place = split_alias(entry[0])
    if not place:
        return build_entry_fault(key, f"expected `name@version`, found {entry[0][:80]!r}")
    version = parse_concrete_version(Ecosystem.NPM, place)
    source, location = locate_package("", place)
    if isinstance(version, UnknownVersion) and source is Source.REGISTRY:
        return build_entry_fault(key, f"neither a version nor a place: {place[:80]!r}")
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=name,
        alias=_folders(key)[-1],
        version=version,
        relation=Relation.DIRECT if source is Source.WORKSPACE else reach.relation(key),
        scopes=reach.scopes(key),
        source=source,
        location=location,
        via=tuple(sorted(_folders(root)[-1] for root in reach.via(key))),
        ranges=ranges,
    )


def _edges(key: str, entry: Any, inside: Inside) -> Edges:
    details = _details(entry)
    optional_peers = set(read_strings(details, "optionalPeers"))
    peers = [name for name in read_strings(details, "peerDependencies") if name not in optional_peers]
    return Edges(
        tuple(_resolve(key, [*read_strings(details, "dependencies"), *peers], inside)),
        tuple(_resolve(key, read_strings(details, "optionalDependencies"), inside)),
    )


def _details(entry: Any) -> Table:
    return next((part for part in entry if isinstance(part, Mapping)), {}) if isinstance(entry, list) else {}


def _resolve(key: str, names: list[str], inside: Inside) -> Iterator[str]:
    return (place for _, place in _resolve_each(key, names, inside))


def _resolve_each(key: str, names: list[str], inside: Inside) -> Iterator[tuple[str, str]]:
    """Names and the keys to which they resolve for a package: in its own folder first, then in those around it."""
    folders = _folders(key) if key and names else []
    around = [inside[place] for count in range(len(folders), -1, -1) if (place := "/".join(folders[:count])) in inside]
    for name in names:
        found = next((level[name] for level in around if name in level), None)
        if found is not None:
            yield name, found


def _inside(packages: Table) -> Inside:
    found: Inside = {}
    for key in packages:
        folders = _folders(key)
        found.setdefault("/".join(folders[:-1]), {})[folders[-1]] = key
    return found


def _folders(key: str) -> list[str]:
    """The package names of a key; a scope and its name are one."""
    if key.count("/") > MAX_DEPTH or len(key) > MAX_DEPTH * MAX_TEXT:
        raise InvalidLockfile(FaultKind.TOO_DEEP, f"a key of more than {MAX_DEPTH} folders: {to_printable_text(key)!r}")
    found: list[str] = []
    for part in key.split("/"):
        if found and found[-1].startswith("@") and "/" not in found[-1]:
            found[-1] = f"{found[-1]}/{part}"
        else:
            found.append(part)
    return found
