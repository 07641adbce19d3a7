"""Reads `.gitignore` files: which files of a folder are no part of the project.

https://git-scm.com/docs/gitignore
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Final

MAX_BYTES: Final = 256 * 1024
_MAX_LINES: Final = 2_000
_MAX_LINE: Final = 1_000
_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line. `base` has the parts of the folder of its file; a segment that is None stands for `**`."""

    base: tuple[str, ...]
    segments: tuple[re.Pattern[str] | None, ...]
    negated: bool
    only_folders: bool

    def matches(self, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        if (self.only_folders and not is_folder) or parts[: len(self.base)] != self.base:
            return False
        return _match(self.segments, parts[len(self.base) :])


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of the `.gitignore` files from the root down to one folder; of several matches the last decides."""

    patterns: tuple[_Pattern, ...] = ()

    def extend(self, folder: str, data: bytes) -> IgnoreRules:
        """These rules and those of the `.gitignore` in `folder`, which apply to everything below it."""
        base = tuple(folder.split("/")) if folder else ()
        lines = data[:MAX_BYTES].decode("utf-8", "replace").splitlines()[:_MAX_LINES]
        return IgnoreRules((*self.patterns, *_parse(base, lines)))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        parts = tuple(path.split("/"))
        for pattern in reversed(self.patterns):
            if pattern.matches(parts, is_folder=is_folder):
                return not pattern.negated
        return False


def _parse(base: tuple[str, ...], lines: Sequence[str]) -> Iterator[_Pattern]:
    for line in lines:
        text = line.rstrip()
        if not text or text.startswith("#") or len(text) > _MAX_LINE:
            continue
        negated = text.startswith("!")
        text = text[negated:]
        only_folders = text.endswith("/")
        words = text.rstrip("/")
        if not words:
            continue
        if "/" not in words:
            words = f"**/{words}"  # without a slash it holds at every depth
        segments = words.lstrip("/").split("/")
        if segments[-1] == "**":
            segments.append("*")  # all that is in a folder, and not the folder
        yield _Pattern(base, tuple(map(_compile, segments)), negated, only_folders)


def _compile(segment: str) -> re.Pattern[str] | None:
    if segment == "**":
        return None
    plain = _ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], segment)
    return re.compile(translate(plain.replace("[^", "[!")))


def _match(segments: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    """Whether the segments cover all parts; linear, since patterns are not trusted."""
    reached = {0}
    for segment in segments:
        if segment is None:
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and segment.match(parts[at])}
        if not reached:
            return False
    return len(parts) in reached
