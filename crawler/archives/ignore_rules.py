"""Reads `.gitignore` and `.npmignore` files: which files of a folder are no part of the project.

https://git-scm.com/docs/gitignore
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, hexdigits, punctuation
from typing import Final

import re2
from msgspec import Struct

from evidence.compiled_on_use import compile_on_use

MAX_BYTES: Final = 256 * 1024
MAX_LINES: Final = 2_000
_MAX_LINE: Final = 1_000
_MAX_MEMORY: Final = 64 * 1024 * 1024  # of the automaton of one file
_NEVER: Final = rb"[^\x00-\xff]"
_SLASH: Final = ord("/")
_CLASS_END: Final = ord("]")
_BYTES: Final = frozenset(range(256))
_NAMED_CLASS: Final = compile_on_use(rb"\[:([^\]]*):\]")
_CLASSES: Final = {
    name.encode(): frozenset(map(ord, letters))
    for name, letters in {
        "alnum": ascii_letters + digits,
        "alpha": ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, (*range(32), 127))),
        "digit": digits,
        "graph": ascii_letters + digits + punctuation,
        "lower": ascii_lowercase,
        "print": ascii_letters + digits + punctuation + " ",
        "punct": punctuation,
        "space": " \t\n\v\f\r",
        "upper": ascii_uppercase,
        "xdigit": hexdigits,
    }.items()
}
"""The named classes of `[[:alpha:]]`."""


class IgnoreFile(Struct, frozen=True):
    """The patterns of one file, all matched in one linear pass, since they are not trusted.

    `base` is the folder to which they apply. A file that needs too much memory ignores nothing.
    """

    base: str
    patterns: re2.Set
    negated: tuple[bool, ...]

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the last pattern that matches ignores the path; None if none matches."""
        prefix = f"{self.base}/" if self.base else ""
        if not path.startswith(prefix):
            return None
        subject = os.fsencode(path[len(prefix) :]) + (b"/" if is_folder else b"")
        matched = self.patterns.Match(subject)
        return not self.negated[max(matched)] if matched else None


class IgnoreRules(Struct, frozen=True):
    """The ignore files from the root down to one folder; the nearest one with a match decides."""

    files: tuple[IgnoreFile, ...] = ()

    def extend(self, folder: str, data: bytes) -> IgnoreRules:
        """These rules and those of the ignore file in `folder`, which apply to everything below it."""
        found = parse_patterns(folder, data[:MAX_BYTES].decode("utf-8", "replace").splitlines())
        return IgnoreRules((*self.files, found)) if found else self

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        decisions = (file.decide(path, is_folder=is_folder) for file in reversed(self.files))
        return next((decision for decision in decisions if decision is not None), False)


NO_RULES: Final = IgnoreRules()


def parse_patterns(base: str, lines: Sequence[str]) -> IgnoreFile | None:
    """The patterns of lines; None if there are none."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # git compares bytes
    options.dot_nl = True
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MAX_MEMORY
    patterns, negated = re2.Set.FullMatchSet(options), []
    for text, is_negated in _read_lines(lines[:MAX_LINES]):
        if (expression := _translate(text)) is None:
            continue
        try:
            patterns.Add(expression)
        except re2.error:
            continue
        negated.append(is_negated)
    if not negated:
        return None
    try:
        patterns.Compile()
    except re2.error:
        return None
    return IgnoreFile(base, patterns, tuple(negated))


def _read_lines(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each pattern without its mark of negation, and whether it had one."""
    for line in lines:
        text = line.rstrip()
        if text and not text.startswith("#") and len(text) <= _MAX_LINE:
            negated = text.startswith("!")
            yield text[negated:], negated


def _translate(pattern: str) -> bytes | None:
    """The expression that paths match, those of folders with a slash at the end; None for an empty pattern."""
    only_folders, words = pattern.endswith("/"), pattern.strip("/")
    if not words:
        return None
    *folders, last = _split_segments(words.encode("utf-8", "surrogatepass"))
    if "/" not in words and not pattern.startswith("/"):
        folders = [b"**"]  # without a slash it holds at every depth
    found = [b"(?:.*/)?" if segment == b"**" else _translate_segment(segment) + b"/" for segment in folders]
    end = b"/" if only_folders else b"/?"
    # `**` at the end is all that is in a folder, and not the folder.
    found.append(b".*[^/]" if last == b"**" else _translate_segment(last))
    return b"".join(found) + end


def _split_segments(data: bytes) -> Iterator[bytes]:
    """The parts between the slashes, of which one in a class is none."""
    start = at = 0
    while at < len(data):
        letter = data[at : at + 1]
        at = _read_class(data, at + 1)[1] if letter == b"[" else at + (2 if letter == b"\\" else 1)
        if letter == b"/":
            yield data[start : at - 1]
            start = at
    yield data[start:]


def _translate_segment(data: bytes) -> bytes:
    found, at = bytearray(), 0
    while at < len(data):
        letter = data[at : at + 1]
        at += 1
        if letter == b"*":
            found += b"[^/]*"
            at += len(data[at:]) - len(data[at:].lstrip(b"*"))
        elif letter == b"?":
            found += b"[^/]"
        elif letter == b"[":
            members, at = _read_class(data, at)
            found += _write_class(members)
        else:
            if letter == b"\\" and at < len(data):
                letter = data[at : at + 1]
                at += 1
            found += re2.escape(letter.decode("latin-1")).encode("latin-1")
    return bytes(found)


def _read_class(data: bytes, at: int) -> tuple[frozenset[int], int]:
    """The bytes that the class which begins at a place matches, and its end; none if it is malformed.

    As `wildmatch` of git reads it: a `]` in the first place is a letter, and no class matches a slash.
    """
    negated = data[at : at + 1] in {b"!", b"^"} and bool(data[at:])
    at += negated
    members: set[int] = set()
    first, last = at, -1
    while at < len(data) and (at == first or data[at] != _CLASS_END):
        if named := _NAMED_CLASS.match(data, at):
            if named[1] not in _CLASSES:
                return frozenset(), len(data)
            members |= _CLASSES[named[1]]
            at, last = named.end(), -1
            continue
        is_range = data[at : at + 1] == b"-" and last >= 0 and data[at + 1 : at + 2] not in {b"", b"]"}
        at += is_range
        at += data[at : at + 1] == b"\\"
        if at >= len(data):
            return frozenset(), len(data)
        members |= set(range(last, data[at] + 1)) if is_range else {data[at]}
        last = -1 if is_range else data[at]
        at += 1
    if at >= len(data):
        return frozenset(), len(data)
    return (_BYTES - members if negated else frozenset(members)) - {_SLASH}, at + 1


def _write_class(members: frozenset[int]) -> bytes:
    return b"[%b]" % b"".join(rb"\x%02x" % member for member in sorted(members)) if members else _NEVER
