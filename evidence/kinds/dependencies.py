"""Kind `dependencies`: the packages that a server depends on, from its own files or its installation.

Body, schema 1 (canonical JSON):

    {"origin": ORIGIN, "name": STRING, "ref": COMMIT | VERSION,
     "from": "lockfile" | "sbom" | "installed", "complete": BOOL, "lockfile": BOOL,
     "sources": [{"path": PATH, "format": ID}, ...], "unread": [{"path": PATH, "why": TEXT}, ...],
     "dependencies": [{"ecosystem": STRING, "name": STRING, "version": TEXT | null,
                       "relation": "direct" | "transitive" | "unknown", "scopes": ["dev" | "optional" | "peer", ...],
                       "path": PATH, "via": [NAME, ...], "ranges": [[NAME, RANGE], ...]}, ...]}

ORIGIN is that of kind `source`. Sorted, at most 20,000 dependencies. `via` are at most three direct dependencies that
bring a transitive one; it is missing where the file does not show them. `ranges` are the at most eight declared ranges
that the version must suit, each after a package that declares it, "" for the project. `lockfile` states whether the
project itself has a lockfile, `from` the source of the dependencies: the lockfiles of the server's folder, else of the
root, else GitHub's list, else the installed tree.
`version` is null for what is no version (a range, a commit). Only packages of registries are listed; what comes from
git, a path, a URL or the workspace is left out. `complete` is false when a lockfile could not be read completely or the
list was cut. The record is Absent when there is neither a lockfile, nor a list, nor an installed tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from evidence.canonical import Json, parse_json
from evidence.json_members import object_or_empty, objects_in, read_members, text_or_empty
from evidence.kinds import source
from evidence.kinds.traits import FACTS, Traits

KIND: Final = "dependencies"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=FACTS, stands_with=source.KIND)

MAX_DEPENDENCIES: Final = 20_000

LOCKFILE: Final = "lockfile"
SBOM: Final = "sbom"
INSTALLED: Final = "installed"


class Dependency(Struct, frozen=True, kw_only=True):
    """One package. `version` is None when unknown; `relation` is direct, transitive or unknown; `via` may be empty."""

    ecosystem: str
    name: str
    version: str | None
    relation: str
    scopes: tuple[str, ...]
    path: str
    via: tuple[str, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()


class Dependencies(Struct, frozen=True, dict=True):
    """Typed, tolerant view of a dependencies body."""

    body: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def parse(cls, body: bytes) -> Dependencies:
        """View over the body; raise NotJson when the bytes are not JSON."""
        return cls(object_or_empty(parse_json(body)))

    @property
    def taken_from(self) -> str:
        """`lockfile`, `sbom` or `installed`."""
        return text_or_empty(self.body.get("from"))

    @property
    def complete(self) -> bool:
        return self.body.get("complete") is True

    @property
    def lockfile(self) -> bool:
        """Whether the project itself has a lockfile."""
        return self.body.get("lockfile") is True

    @cached_property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """Path and format of each file that was read."""
        return tuple(
            (text_or_empty(raw.get("path")), text_or_empty(raw.get("format")))
            for raw in objects_in(self.body.get("sources"))
        )

    @cached_property
    def unread(self) -> tuple[tuple[str, str], ...]:
        """Path of each file that was not read completely, and why."""
        return tuple(
            (text_or_empty(raw.get("path")), text_or_empty(raw.get("why")))
            for raw in objects_in(self.body.get("unread"))
        )

    @cached_property
    def dependencies(self) -> tuple[Dependency, ...]:
        return tuple(
            read_members(Dependency, raw, relation=text_or_empty(raw.get("relation")) or "unknown")
            for raw in objects_in(self.body.get("dependencies"))
        )
