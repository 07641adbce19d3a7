"""go.mod and go.sum."""

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
    Source,
    UnknownVersion,
    to_printable_text,
)
from evidence.lockfiles.parsing.bounded import decode_generated_text, find_unfinished_end
from evidence.lockfiles.versions import parse_concrete_version

MAX_LINES = 2_000_000

_WORD = re.compile(r'"(?:[^"\\]++|\\.)*+"?|`[^`]*+`?|[()]|[^\s()"`]+')
_BLOCKS = frozenset({"require", "replace", "exclude", "retract", "tool", "godebug", "ignore"})
_KNOWN = _BLOCKS | {"module", "go", "toolchain"}
_TOOLCHAIN = re.compile(r"go(\d+(?:\.\d+)*(?:rc\d+|beta\d+)?)")
_ALL_INDIRECT_SINCE = (1, 17)


class _Module(Struct):
    """The statements of a go.mod."""

    go: str = ""
    toolchain: str = ""
    required: list[tuple[str, str, bool]] = field(default_factory=list)
    replaced: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)


def read_go_mod(data: bytes) -> Iterator[Finding]:
    """All required modules, replaced where the file replaces them, and the standard library of the stated toolchain."""
    text = decode_generated_text(data)
    if not text.strip():
        yield Fault(FaultKind.EMPTY, "the file is empty", 1)
    yield from find_unfinished_end(text)
    module = _parse(text)
    release = tuple(int(part) for part in re.findall(r"[0-9]{1,9}", module.go)[:2])
    if module.required and release and release < _ALL_INDIRECT_SINCE:
        yield Fault(FaultKind.ELSEWHERE, f"go {module.go} does not list indirect modules; go.sum holds them")
    toolchain = _TOOLCHAIN.match(module.toolchain)
    library = toolchain.group(1) if toolchain else module.go
    if library:
        version = parse_concrete_version(Ecosystem.GO, library)
        yield Dependency(ecosystem=Ecosystem.GO, name="stdlib", version=version, relation=Relation.DIRECT)
    for path, version_text, indirect in module.required:
        yield _required(module, path, version_text, indirect=indirect)


def read_go_sum(data: bytes) -> Iterator[Finding]:
    """All modules with a checksum: a superset, because Go also keeps those of versions that it did not select."""
    text = decode_generated_text(data)
    if not text.strip():
        yield Fault(FaultKind.EMPTY, "the file is empty", 1)
    yield from find_unfinished_end(text)
    for number, line in enumerate(_lines(text), 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 3 or not words[1].startswith("v") or not words[2].startswith("h1:"):
            raise InvalidLockfile(
                FaultKind.SYNTAX, f"expected `module version h1:checksum`, found {to_printable_text(line)!r}", number, 1
            )
        if not words[1].endswith("/go.mod"):
            yield Dependency(
                ecosystem=Ecosystem.GO, name=words[0], version=parse_concrete_version(Ecosystem.GO, words[1])
            )


def _required(module: _Module, path: str, version: str, *, indirect: bool) -> Dependency:
    target = module.replaced.get((path, version)) or module.replaced.get((path, ""))
    name, chosen = target or (path, version)
    local = target is not None and not chosen
    return Dependency(
        ecosystem=Ecosystem.GO,
        name=name,
        alias=path,
        version=UnknownVersion("") if local else parse_concrete_version(Ecosystem.GO, chosen),
        relation=Relation.TRANSITIVE if indirect else Relation.DIRECT,
        source=Source.PATH if local else Source.REGISTRY,
        location=name if local else None,
    )


def _parse(text: str) -> _Module:
    module = _Module()
    block = ""
    for number, line in enumerate(_lines(text), 1):
        code, _, comment = line.partition("//") if not line.lstrip().startswith("//") else ("", "", "")
        words = _WORD.findall(code.replace("\t", " "))
        if not words:
            continue
        if block and words == [")"]:
            block = ""
            continue
        directive, rest = (block, words) if block else (words[0], words[1:])
        if directive not in _KNOWN:
            raise InvalidLockfile(
                FaultKind.SYNTAX, f"not a directive of go.mod: {to_printable_text(line.strip())!r}", number, 1
            )
        if not block and rest == ["("] and directive in _BLOCKS:
            block = directive
        elif not _directive(module, directive, [word.strip('"`') for word in rest], comment.strip()):
            raise InvalidLockfile(FaultKind.SYNTAX, f"not understood: {to_printable_text(line.strip())!r}", number, 1)
    if block:
        raise InvalidLockfile(FaultKind.TRUNCATED, f"a block of {block} is never closed", text.count("\n") + 1)
    return module


def _directive(module: _Module, name: str, words: list[str], comment: str) -> bool:
    """Process one statement; False when its words do not match the directive."""
    match name, words:
        case "require", [path, version]:
            module.required.append((path, version, comment == "indirect" or comment.startswith("indirect;")))
        case "replace", [path, "=>", target]:
            module.replaced[path, ""] = (target, "")
        case "replace", [path, "=>", target, version]:
            module.replaced[path, ""] = (target, version)
        case "replace", [path, old, "=>", target]:
            module.replaced[path, old] = (target, "")
        case "replace", [path, old, "=>", target, version]:
            module.replaced[path, old] = (target, version)
        case "go", [version]:
            module.go = version
        case "toolchain", [version]:
            module.toolchain = version
        case "module", [_]:
            pass
        case (("module" | "require" | "replace" | "go" | "toolchain"), _):
            return False
    return True


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_LINES} lines")
    return lines
