"""Reads `.gitignore` and `.npmignore` files: which files of a folder are no part of the project.

https://git-scm.com/docs/gitignore
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

import re2
from msgspec import Struct

MAX_BYTES: Final = 256 * 1024
MAX_LINES: Final = 2_000
_MAX_LINE: Final = 1_000
_MAX_MEMORY: Final = 64 * 1024 * 1024  # of the automaton of one file
_NEVER: Final = rb"[^\x00-\xff]"


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
    *folders, last = words.split("/")
    if not folders and not pattern.startswith("/"):
        folders = ["**"]  # without a slash it holds at every depth
    found = [b"(?:.*/)?" if segment == "**" else _translate_segment(segment) + b"/" for segment in folders]
    end = b"/" if only_folders else b"/?"
    # `**` at the end is all that is in a folder, and not the folder.
    found.append(b".*[^/]" if last == "**" else _translate_segment(last))
    return b"".join(found) + end


def _translate_segment(segment: str) -> bytes:
    data, found, at = segment.encode("utf-8", "surrogatepass"), bytearray(), 0
    while at < len(data):
        letter = data[at : at + 1]
        at += 1
        if letter == b"*":
            found += b"[^/]*"
            at += len(data[at:]) - len(data[at:].lstrip(b"*"))
        elif letter == b"?":
            found += b"[^/]"
        elif letter == b"[":
            end = _find_class_end(data, at)
            found += _translate_class(data[at:end]) if end else _NEVER
            at = end + 1 if end else len(data)
        else:
            if letter == b"\\" and at < len(data):
                letter = data[at : at + 1]
                at += 1
            found += re2.escape(letter.decode("latin-1")).encode("latin-1")
    return bytes(found)


def _find_class_end(data: bytes, at: int) -> int:
    """The place of the `]` that ends a class; 0 if there is none. A `]` in the first place is a letter."""
    start = at + data[at:].startswith((b"!", b"^")) + 1
    return max(data.find(b"]", start), 0)


def _translate_class(inner: bytes) -> bytes:
    negated = inner.startswith((b"!", b"^"))
    letters = inner[negated:].replace(b"[", rb"\[").replace(b"]", rb"\]")
    return b"[^/" + letters + b"]" if negated else b"[" + letters + b"]"
