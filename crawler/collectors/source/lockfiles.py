"""The lockfiles of a tree: which of them are the server's, what they hold, and the body of kind `dependencies`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from evidence.canonical import Json
from evidence.derive.secrets.path_discounts import find_path_discount
from evidence.kinds.dependencies import LOCKFILE, MAX_DEPENDENCIES
from evidence.kinds.secrets import Discount
from evidence.lockfiles import (
    FORMATS,
    Dependency,
    Format,
    Lockfile,
    Relation,
    Source,
    UnknownVersion,
    Unreadable,
    find_format,
    parse_lockfile,
)

MAX_FILES: Final = 30
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_TOTAL: Final = 96 * 1024 * 1024
MAX_UNREAD: Final = 50

_NOT_OURS: Final = frozenset({Discount.TEST, Discount.EXAMPLE, Discount.VENDORED})
_ENDINGS: Final = tuple({"." + name.rpartition(".")[2] for form in FORMATS.values() for name in form.names})
_LOOSE: Final = "requirements"


class FoundLockfile(Struct, frozen=True):
    """A lockfile and the result of parsing it."""

    path: str
    form: Format
    parsed: Lockfile | Unreadable

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def error(self) -> str | None:
        """Why it could not be parsed, or not completely; None when it was."""
        match self.parsed:
            case Unreadable(fault=fault):
                return fault.message
            case Lockfile(faults=faults):
                return faults[0].message if faults else None

    @property
    def packages(self) -> int | None:
        """The number of packages; None when it could not be parsed."""
        return len(self.parsed.dependencies) if isinstance(self.parsed, Lockfile) else None

    @property
    def is_lock(self) -> bool:
        """Whether it pins what is installed. A list of requirements does when each has a version."""
        if self.form.id != _LOOSE or not isinstance(self.parsed, Lockfile):
            return self.form.id != _LOOSE
        pinned = [one for one in self.parsed.dependencies if isinstance(one.version, str)]
        return bool(pinned) and len(pinned) == len(self.parsed.dependencies)


class FoundLockfiles(Struct):
    """The lockfiles so far; `inside` are those of the server's folder, `outside` those of the root."""

    inside: list[FoundLockfile] = field(default_factory=list)
    outside: list[FoundLockfile] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    _taken: int = 0

    def add(self, path: str, form: Format, data: bytes | None, *, inside: bool) -> None:
        """Parse a lockfile; `data` is None for one that is too large."""
        if data is None or self._taken + len(data) > MAX_TOTAL:
            self.refuse(path, "too large")
        elif len(self.inside) + len(self.outside) >= MAX_FILES:
            self.refuse(path, f"more than {MAX_FILES} lockfiles")
        else:
            self._taken += len(data)
            (self.inside if inside else self.outside).append(FoundLockfile(path, form, parse_lockfile(form, data)))

    def refuse(self, path: str, why: str) -> None:
        if len(self.unread) < MAX_UNREAD:
            self.unread.append((path, why))

    def chosen(self) -> list[FoundLockfile]:
        """The lockfiles of the server: those of the highest folder that has any, else of the archive's root."""
        found = self.inside or self.outside
        highest = min((lock.path.count("/") for lock in found), default=0)
        own = [lock for lock in found if lock.path.count("/") == highest]
        names = {(lock.folder, lock.form.ecosystem) for lock in own if lock.is_lock}
        modules = {lock.folder for lock in own if lock.form.id == "go.mod" and lock.packages is not None}
        return [
            lock
            for lock in own
            if (lock.is_lock or (lock.folder, lock.form.ecosystem) not in names)
            # go.sum also lists versions that are not selected.
            and not (lock.form.id == "go.sum" and lock.folder in modules)
        ]


def detect_lock_format(path: str) -> Format | None:
    """The format of a lockfile of the project; None for other files and those of tests, examples and vendored code."""
    if not path.endswith(_ENDINGS):
        return None
    form = find_format(path)
    folder = path.rpartition("/")[0]
    return None if form is None or find_path_discount(f"{folder}/x") in _NOT_OURS else form


def dependencies_body(locks: FoundLockfiles) -> dict[str, Json] | None:
    """The members of a dependencies body that come from lockfiles; None when none could be parsed."""
    chosen = locks.chosen()
    read = [lock for lock in chosen if isinstance(lock.parsed, Lockfile)]
    if not read:
        return None
    rows = sort_dependency_rows(row for lock in read for row in _rows(lock))
    unread = [(lock.path, lock.error) for lock in chosen if lock.error] + ([] if locks.inside else locks.unread)
    return {
        "from": LOCKFILE,
        "lockfile": any(lock.is_lock for lock in read),
        "complete": not unread and len(rows) <= MAX_DEPENDENCIES,
        "sources": [{"path": lock.path, "format": lock.form.id} for lock in read],
        "unread": [{"path": path, "why": why} for path, why in unread],
        "dependencies": rows[:MAX_DEPENDENCIES],
    }


def sort_dependency_rows(rows: Iterator[dict[str, Json]]) -> list[Json]:
    """Sorted rows of dependencies, each package of a file once."""
    keyed = {_key(row): row for row in rows}
    return [keyed[key] for key in sorted(keyed)]


def _rows(lock: FoundLockfile) -> Iterator[dict[str, Json]]:
    for one in lock.parsed.dependencies if isinstance(lock.parsed, Lockfile) else ():
        if one.source is Source.REGISTRY:
            yield {
                "ecosystem": one.ecosystem.value,
                "name": one.name,
                "version": _version(one),
                "relation": _relation(one),
                "scopes": sorted(scope.value for scope in one.scopes),
                "path": lock.path,
                **({"via": list(one.via)} if one.via else {}),
                **({"ranges": [list(pair) for pair in one.ranges]} if one.ranges else {}),
            }


def _version(one: Dependency) -> str | None:
    return None if isinstance(one.version, UnknownVersion) else one.version


def _relation(one: Dependency) -> str:
    return "unknown" if one.relation is Relation.UNSTATED else one.relation.value


def _key(one: Mapping[str, Json]) -> tuple[str, str, str, str]:
    return str(one["ecosystem"]), str(one["name"]), str(one["version"] or ""), str(one["path"])
