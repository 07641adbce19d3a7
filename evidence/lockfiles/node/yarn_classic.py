"""yarn.lock of Yarn 1: a format of its own, `key "value"` with indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Finding,
    InvalidLockfile,
    Relation,
    Scope,
    bound_ranges,
    to_printable_text,
)
from evidence.lockfiles.node.npm_sources import locate_package, read_range, split_alias
from evidence.lockfiles.parsing.bounded import (
    build_entry_fault,
    decode_generated_text,
    find_missing_packages,
    find_unfinished_end,
    iterate_lines,
)
from evidence.lockfiles.versions import parse_concrete_version

_PATTERN = re.compile(r'"((?:[^"\\]++|\\.)*+)("?)|([^\s",][^",]*+)')
_PAIR = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))(?:\s+(?:"((?:[^"\\]|\\.)*)"|(\S+)))?$')
_GROUPS = ("dependencies", "optionalDependencies")


class _Entry(Struct):
    patterns: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    needs: list[tuple[str, str]] = field(default_factory=list)
    options: list[tuple[str, str]] = field(default_factory=list)


class _Locked(Struct, frozen=True):
    """The parts of an entry that are kept until all entries are read."""

    patterns: tuple[str, ...]
    version: str
    resolved: str


class _Wanted(Struct, frozen=True):
    """The patterns that any entry depends on, with the first that does; those with a dependency that is not optional;
    and their names.
    """

    required: dict[str, str] = field(default_factory=dict)
    needed: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def add(self, entry: _Entry) -> None:
        """Add the dependencies of an entry."""
        package = split_alias(entry.patterns[0])[0]
        needed = [f"{name}@{spec}" for name, spec in entry.needs]
        self.needed.update(needed)
        for pattern in (*needed, *(f"{name}@{spec}" for name, spec in entry.options)):
            self.required.setdefault(pattern, package)
        self.names.update(name for name, _ in (*entry.needs, *entry.options))


def read_yarn_classic_lock(data: bytes) -> Iterator[Finding]:
    """All entries. The file does not list direct dependencies: they are those on which no entry depends."""
    text = decode_generated_text(data)
    yield from find_unfinished_end(text)
    if not text.strip():
        yield Fault(FaultKind.EMPTY, "the file is empty", 1)
    wanted, locked = _Wanted(), list[_Locked]()
    for entry in _entries(text):
        wanted.add(entry)
        fields = entry.fields
        locked.append(_Locked(tuple(entry.patterns), fields.get("version", ""), fields.get("resolved", "")))
    yield from find_missing_packages(
        wanted.names.difference(split_alias(pattern)[0] for one in locked for pattern in one.patterns)
    )
    for one in locked:
        yield _dependency(one, wanted)


def _dependency(entry: _Locked, wanted: _Wanted) -> Finding:
    alias, spec = split_alias(entry.patterns[0])
    if not entry.version:
        return build_entry_fault(entry.patterns[0], "no version")
    name = split_alias(spec.removeprefix("npm:"))[0] if spec.startswith("npm:") else alias
    source, location = locate_package(entry.resolved, spec if ":" in spec and name == alias else "")
    direct = not wanted.required.keys() >= set(entry.patterns)
    optional = not direct and wanted.needed.isdisjoint(entry.patterns)
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=name,
        alias=alias,
        version=parse_concrete_version(Ecosystem.NPM, entry.version),
        relation=Relation.DIRECT if direct else Relation.UNSTATED,
        scopes=frozenset({Scope.OPTIONAL} if optional else ()),
        source=source,
        location=location,
        ranges=bound_ranges(
            (wanted.required.get(pattern, ""), read_range(split_alias(pattern)[1])) for pattern in entry.patterns
        ),
    )


def _entries(text: str) -> Iterator[_Entry]:
    entry: _Entry | None = None
    group = ""
    for number, line in enumerate(iterate_lines(text), 1):
        body = line.strip()
        if not body or body.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent == 0:
            if entry is not None:
                yield entry
            entry, group = _Entry(_patterns(body, number)), ""
            continue
        pair = _PAIR.match(body.removesuffix(":") if indent == 2 and body.endswith(":") else body)
        if entry is None or pair is None or indent not in {2, 4}:
            raise InvalidLockfile(FaultKind.SYNTAX, f"not understood: {to_printable_text(body)!r}", number, indent + 1)
        key, value = pair.group(1) or pair.group(2) or "", pair.group(3) or pair.group(4) or ""
        match indent:
            case 2 if body.endswith(":"):
                group = key
            case 2:
                if key in entry.fields:
                    raise InvalidLockfile(
                        FaultKind.DUPLICATE_KEY, f"a key occurs twice: {to_printable_text(key)!r}", number, 3
                    )
                entry.fields[key] = value
                group = ""
            case _ if group in _GROUPS:
                (entry.needs if group == "dependencies" else entry.options).append((key, value))
    if entry is not None:
        yield entry


def _patterns(body: str, number: int) -> list[str]:
    matches = list(_PATTERN.finditer(body[:-1])) if body.endswith(":") else []
    found = [match.group(1) or (match.group(3) or "").rstrip() for match in matches]
    if not all(found) or not found or any(match.group(2) == "" for match in matches):
        raise InvalidLockfile(FaultKind.SYNTAX, f"expected `name@range:`, found {to_printable_text(body)!r}", number, 1)
    return found
