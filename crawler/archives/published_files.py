"""Which files of a project a release holds although git ignores them: npm and Python's builders read other lists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.archives.ignore_rules import MAX_LINES, NO_RULES, IgnoreFile, IgnoreRules, parse_patterns

NPM_NEVER: Final = (
    ".npmrc", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
    "*.orig", ".*.swp", "._*", ".DS_Store", "npm-debug.log", "CVS/", "config.gypi", ".lock-wscript", ".wafpickle-*",
)  # fmt: skip
"""What npm never publishes: https://docs.npmjs.com/cli/configuring-npm/package-json#files"""

_GLOB: Final = frozenset("*?[\\")


class ReleaseContents(Struct, frozen=True, dict=True):
    """What releases of the project hold, as the lines of ignore files, relative to its folder: what they match is held.

    `npm` is `files` of package.json, None where `.npmignore` or `.gitignore` decide. `has_npm` is false where npm
    publishes nothing. `inherits`: ignore files above the project apply, as in a workspace of npm.
    """

    folder: str = ""
    has_npm: bool = False
    npm: tuple[str, ...] | None = None
    inherits: bool = False
    python: tuple[str, ...] = ()

    @cached_property
    def npm_files(self) -> IgnoreFile | None:
        return parse_patterns(self.folder, self.npm or ())

    @cached_property
    def python_files(self) -> IgnoreFile | None:
        return parse_patterns(self.folder, self.python)

    def contains(self, path: str) -> bool:
        """Whether a path lies in the project."""
        return not self.folder or path.startswith(f"{self.folder}/")


NOTHING: Final = ReleaseContents()


class FolderRules(Struct, frozen=True):
    """The rules for the entries of one folder. `is_ignored`: git ignores the folder; `is_unpublished`: npm does."""

    release: ReleaseContents
    git: IgnoreRules = NO_RULES
    npm: IgnoreRules = NO_RULES
    is_ignored: bool = False
    is_unpublished: bool = False

    @classmethod
    def at_root(cls, release: ReleaseContents) -> FolderRules:
        never = parse_patterns("", NPM_NEVER)
        return cls(release, npm=IgnoreRules((never,) if never else ()))

    def extend(self, folder: str, gitignore: bytes | None, npmignore: bytes | None) -> FolderRules:
        """These rules and those of the ignore files in `folder`."""
        git = self.git.extend(folder, gitignore) if gitignore is not None else self.git
        data = npmignore if npmignore is not None else gitignore
        npm = self.npm.extend(folder, data) if data is not None and self._reads_npm(folder) else self.npm
        return replace(self, git=git, npm=npm)

    def enter(self, folder: str) -> FolderRules:
        """The rules for what is in a folder."""
        return replace(
            self,
            is_ignored=self.is_ignored or self.git.ignores(folder, is_folder=True),
            is_unpublished=self.is_unpublished or self.npm.ignores(folder, is_folder=True),
        )

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        return self.is_ignored or self.git.ignores(path, is_folder=is_folder)

    def publishes(self, path: str) -> bool:
        """Whether a release holds a file."""
        held = self.release
        if not held.contains(path):
            return False
        by_npm = held.has_npm and not self.is_unpublished and not self.npm.ignores(path, is_folder=False)
        if by_npm and (held.npm is None or _includes(held.npm_files, path)):
            return True
        return _includes(held.python_files, path)

    def may_publish_in(self, folder: str) -> bool:
        """Whether a release may hold a file in a folder, which is worth a look into it."""
        held = self.release
        if not held.contains(f"{folder}/"):
            return False
        by_npm = held.has_npm and not self.is_unpublished and not self.npm.ignores(folder, is_folder=True)
        relative = folder[len(held.folder) :].lstrip("/")
        npm = held.npm if by_npm else ()
        return npm is None or any(_may_match(line, relative) for line in (*npm[:MAX_LINES], *held.python[:MAX_LINES]))

    def _reads_npm(self, folder: str) -> bool:
        """Whether npm reads the ignore files of a folder: with `files` not those of the project's own folder."""
        held = self.release
        if folder == held.folder:
            return held.npm is None
        return held.inherits or held.contains(f"{folder}/")


def _includes(patterns: IgnoreFile | None, path: str) -> bool:
    """Whether the last pattern that matches the path, or a folder above it, includes it."""
    if patterns is None:
        return False
    included, parts = False, path.split("/")
    for end in range(1, len(parts) + 1):
        decision = patterns.decide("/".join(parts[:end]), is_folder=end < len(parts))
        included = included if decision is None else decision
    return included


def _may_match(line: str, folder: str) -> bool:
    """Whether a pattern may match something below a folder, by the part of it that has no wildcard."""
    if line.startswith("!"):
        return False
    parts = line.strip("/").split("/")
    if "/" not in line.rstrip("/"):
        return True
    fixed: Sequence[str] = parts[: next((at for at, part in enumerate(parts) if _GLOB & set(part)), len(parts))]
    inside = folder.split("/")
    length = min(len(fixed), len(inside))
    return list(fixed[:length]) == inside[:length]
