"""yarn.lock of Yarn 1: a format of its own, `key "value"` by indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Finding,
    Invalid,
    Relation,
    Scope,
    shown,
)
from evidence.lockfiles.npm_places import aliased, placed
from evidence.lockfiles.reading import entry_fault, generated_text, lines_of, missing, unfinished
from evidence.lockfiles.versions import concrete

_PATTERN = re.compile(r'"((?:[^"\\]++|\\.)*+)("?)|([^\s",][^",]*+)')
_PAIR = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))(?:\s+(?:"((?:[^"\\]|\\.)*)"|(\S+)))?$')
_GROUPS = ("dependencies", "optionalDependencies")


@dataclass(slots=True)
class _Entry:
    patterns: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    needs: list[tuple[str, str]] = field(default_factory=list)
    options: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Locked:
    """What stays of an entry until all are read."""

    patterns: tuple[str, ...]
    version: str
    resolved: str


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The patterns that any entry depends on, those on which one does that is not optional, and their names."""

    required: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def add(self, entry: _Entry) -> None:
        """Note what an entry depends on."""
        needed = [f"{name}@{spec}" for name, spec in entry.needs]
        self.needed.update(needed)
        self.required.update(needed, (f"{name}@{spec}" for name, spec in entry.options))
        self.names.update(name for name, _ in (*entry.needs, *entry.options))


def read(data: bytes) -> Iterator[Finding]:
    """Every entry. The file does not say what the project names: it is what no entry depends on."""
    text = generated_text(data)
    yield from unfinished(text)
    if not text.strip():
        yield Fault(FaultKind.EMPTY, "the file is empty", 1)
    wanted, locked = _Wanted(), list[_Locked]()
    for entry in _entries(text):
        wanted.add(entry)
        fields = entry.fields
        locked.append(_Locked(tuple(entry.patterns), fields.get("version", ""), fields.get("resolved", "")))
    yield from missing(wanted.names.difference(aliased(pattern)[0] for one in locked for pattern in one.patterns))
    for one in locked:
        yield _dependency(one, wanted)


def _dependency(entry: _Locked, wanted: _Wanted) -> Finding:
    alias, spec = aliased(entry.patterns[0])
    if not entry.version:
        return entry_fault(entry.patterns[0], "no version")
    name = aliased(spec.removeprefix("npm:"))[0] if spec.startswith("npm:") else alias
    source, location = placed(entry.resolved, spec if ":" in spec and name == alias else "")
    direct = not wanted.required.issuperset(entry.patterns)
    optional = not direct and wanted.needed.isdisjoint(entry.patterns)
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=name,
        alias=alias,
        version=concrete(Ecosystem.NPM, entry.version),
        relation=Relation.DIRECT if direct else Relation.UNSTATED,
        scopes=frozenset({Scope.OPTIONAL} if optional else ()),
        source=source,
        location=location,
    )


def _entries(text: str) -> Iterator[_Entry]:
    entry: _Entry | None = None
    group = ""
    for number, line in enumerate(lines_of(text), 1):
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
            raise Invalid(FaultKind.SYNTAX, f"not understood: {shown(body)!r}", number, indent + 1)
        key, value = pair.group(1) or pair.group(2) or "", pair.group(3) or pair.group(4) or ""
        match indent:
            case 2 if body.endswith(":"):
                group = key
            case 2:
                if key in entry.fields:
                    raise Invalid(FaultKind.DUPLICATE_KEY, f"a key occurs twice: {shown(key)!r}", number, 3)
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
        raise Invalid(FaultKind.SYNTAX, f"expected `name@range:`, found {shown(body)!r}", number, 1)
    return found
