"""requirements.txt, as pip reads it: pins, hashes, ranges, URLs, and references to other files."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Finding,
    InvalidLockfile,
    Source,
    UnknownVersion,
    to_printable_text,
)
from evidence.lockfiles.parsing.bounded import decode_text
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version

MAX_LINES = 2_000_000
MAX_LINE = 1_000_000

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")
_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\[\]]*\])?\s*")
_SPECIFIER = re.compile(
    r"\(?\s*((?:===|==|~=|!=|<=|>=|<|>)\s*[^\s,;()]+(?:\s*,\s*(?:===|==|~=|!=|<=|>=|<|>)\s*[^\s,;()]+)*)\s*,?\s*\)?"
)
_PIN = re.compile(r"={2,3}\s*([^\s,]+)$")
_ARCHIVE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]*)-[0-9][^-\s]*(?:\.tar\.(?:gz|bz2|xz|Z)|\.tgz|\.tbz|\.zip)", re.IGNORECASE
)
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9._-]+)")
_OPTION = re.compile(r"\s--?[a-z]")
_URL = re.compile(r"(?:(git|hg|svn|bzr)\+)?(?:https?|ssh|file|git):", re.IGNORECASE)
_OTHER_FILE = re.compile(r"(?:-r|-c|--requirement|--constraint)(?:\s*=?\s*)(\S.*)$")
_EDITABLE = re.compile(r"(?:-e|--editable)(?:\s*=?\s*)(\S.*)$")


def read_requirements(data: bytes) -> Iterator[Finding]:
    """All requirements. One is a pin only with exactly one `==` of a version; otherwise its version is unknown."""
    text = _decode(data)
    if text.count("\n") > MAX_LINES:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_LINES} lines")
    if "\0" in text:
        raise InvalidLockfile(FaultKind.SYNTAX, "not text", text.count("\n", 0, text.index("\0")) + 1)
    for number, line in _logical_lines(text):
        if (found := _requirement(line, number)) is not None:
            yield found


def _decode(data: bytes) -> str:
    """The text, as Latin-1 when it is not UTF-8, so that one byte in a comment does not hide all requirements."""
    try:
        return decode_text(data)
    except InvalidLockfile as error:
        if error.fault.kind is not FaultKind.ENCODING or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise
    return decode_text(data.decode("latin-1").encode())


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and lines, joined where they end in a backslash, without comments."""
    parts: list[str] = []
    first = length = 0
    for number, line in enumerate(text.split("\n"), 1):
        first = first if parts else number
        length = length + len(line) if parts else len(line)
        if length > MAX_LINE:
            raise InvalidLockfile(FaultKind.TOO_LARGE, f"a line of more than {MAX_LINE} characters", first)
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            parts.append(line[:-1])
            continue
        joined = _COMMENT.sub("", " ".join((*parts, line))).strip()
        parts = []
        if joined:
            yield first, joined
    if parts:
        raise InvalidLockfile(FaultKind.TRUNCATED, "the last line goes on, and nothing follows", first)


def _requirement(line: str, number: int) -> Finding | None:
    if (other := _OTHER_FILE.match(line)) is not None:
        return Fault(FaultKind.ELSEWHERE, f"more requirements are in {to_printable_text(other.group(1))!r}", number)
    if (editable := _EDITABLE.match(line)) is not None:
        return _place(editable.group(1), number)
    if line.startswith("-"):
        return None
    if _URL.match(line) or line.startswith((".", "/")) or _in_file(_without_tail(line)):
        return _place(line, number)
    return _named(line, number)


def _named(line: str, number: int) -> Finding:
    name = _NAME.match(line)
    if name is None:
        return Fault(FaultKind.ENTRY, f"not a requirement: {to_printable_text(line)!r}", number)
    known, rest = normalize_package_name(Ecosystem.PYPI, name.group(1)), line[name.end() :]
    if rest.startswith("@"):
        return _located(known, _without_tail(rest[1:].strip()))
    specifier = _SPECIFIER.match(rest)
    after = rest[specifier.end() :].strip() if specifier else rest.strip()
    if after and not after.startswith((";", "--", "-")):
        return Fault(FaultKind.ENTRY, f"not a requirement: {to_printable_text(line)!r}", number)
    stated = specifier.group(1) if specifier else ""
    return Dependency(ecosystem=Ecosystem.PYPI, name=known, version=_pinned(stated))


def _pinned(stated: str) -> str | UnknownVersion:
    """The one version that a specifier admits; a range beside it can only exclude it."""
    pins = {pin.group(1) for part in stated.split(",") if (pin := _PIN.match(part.strip())) and "*" not in pin.group(1)}
    version = parse_concrete_version(Ecosystem.PYPI, pins.pop()) if len(pins) == 1 else UnknownVersion(stated)
    return UnknownVersion(stated) if isinstance(version, UnknownVersion) else version


def _place(text: str, number: int) -> Finding:
    """A URL or a path without a preceding name: the name is in `#egg=`, or in the file name."""
    place = _without_tail(text)
    if (egg := _EGG.search(place)) is not None:
        return _located(normalize_package_name(Ecosystem.PYPI, egg.group(1)), place)
    name = _in_file(place)
    if not name:
        return Fault(FaultKind.ELSEWHERE, f"name and version are only in {to_printable_text(place)!r}", number)
    return _located(normalize_package_name(Ecosystem.PYPI, name), place)


def _in_file(place: str) -> str:
    """The name in the file name of a wheel or a source archive; empty for other files."""
    name = place.partition("#")[0].partition("?")[0].rpartition("/")[2]
    if name.endswith(".whl"):
        return name.partition("-")[0]
    archive = _ARCHIVE.fullmatch(name)
    return archive.group(1) if archive else ""


def _located(name: str, place: str) -> Dependency:
    prefix = _URL.match(place)
    source = Source.PATH
    if prefix is not None and not place.lower().startswith("file:"):
        source = Source.GIT if prefix.group(1) or place.startswith("git:") else Source.URL
    return Dependency(ecosystem=Ecosystem.PYPI, name=name, version=UnknownVersion(place), source=source, location=place)


def _without_tail(text: str) -> str:
    """The text without environment marker and options."""
    text = re.split(r"\s;|;\s", text, maxsplit=1)[0]
    return text[: tail.start()].strip() if (tail := _OPTION.search(text)) else text.strip()
