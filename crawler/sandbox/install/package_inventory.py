"""The packages of an installed layer with their versions, read from their manifests without executing anything.

The files are untrusted: no link is followed, only regular files are opened, and bytes, files and nesting are limited.
Places that could not be read are listed (docs/decisions/0017).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from email.errors import MessageError
from email.parser import BytesHeaderParser
from email.policy import compat32
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace
from packaging.utils import canonicalize_name

from crawler.addresses import UnusableAddress, normalise_npm_name, normalise_pypi_name
from evidence.canonical import Json, NotJson, parse_json
from evidence.compiled_on_use import compile_on_use
from evidence.model import TargetType

_MODULES: Final = "node_modules"
_DIST_INFO: Final = ".dist-info"
_PRINTABLE: Final = compile_on_use(r"[^\x00-\x20\x7f-\x9f\ud800-\udfff]{1,256}")
_PLAIN_PATH: Final = compile_on_use(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_NEEDS: Final = ("dependencies", "optionalDependencies", "peerDependencies")
_SPECIFIERS: Final = compile_on_use(r"(?:\[[^\]]*+\])?\s*+\(?([\w\s.*<>=!~,+-]*+)\)?")
_REQUIRED: Final = compile_on_use(r"[A-Za-z0-9][A-Za-z0-9._-]{0,213}")  # a requirement begins with the name


class TreeLimits(Struct, frozen=True, kw_only=True):
    """`manifest` and `total`: bytes of one manifest and of all. `entries`: directory entries read."""

    packages: int = 20_000
    manifest: int = 1 << 20
    total: int = 256 << 20
    entries: int = 200_000
    depth: int = 32
    unread: int = 200


class InstalledPackage(Struct, frozen=True, kw_only=True):
    """One package of the tree according to its manifest. `path`: the relative path of its folder or metadata."""

    ecosystem: Literal["npm", "PyPI"]
    name: str
    version: str
    relation: Literal["direct", "transitive"]
    path: str
    ranges: tuple[tuple[str, str], ...] = ()
    """The declared ranges that the version must suit, each after a package that declares it, "" for the top one."""


class UnreadPlace(Struct, frozen=True):
    """A path in the tree that could not be read, and the reason."""

    path: str
    why: str


class InstalledTree(Struct, frozen=True, kw_only=True):
    """An installed package and its sorted dependencies; `packages` does not contain the package itself.

    `complete`: no limit was reached and everything could be read.
    """

    ecosystem: Literal["npm", "PyPI"]
    name: str
    version: str
    packages: tuple[InstalledPackage, ...]
    unread: tuple[UnreadPlace, ...] = ()
    complete: bool = True


def read_tree(
    tree: Path, ecosystem: TargetType, name: str, version: str, limits: TreeLimits | None = None
) -> InstalledTree:
    """Read the packages of a settled layer that was installed for the npm or PyPI package `name`."""
    reading = _Reading(tree, limits or TreeLimits())
    from evidence.lockfiles.node.npm import find_ranges  # noqa: PLC0415  with the readers of lockfiles

    if ecosystem is TargetType.NPM:
        found = reading.tree_of("npm", name, version, _npm_packages(reading, name))
        return _add_ranges(found, find_ranges(reading.needs), [one.path for one in found.packages])
    found = reading.tree_of("PyPI", name, version, _python_packages(reading, name))
    return _add_ranges(found, _find_python_ranges(reading.needs), [one.name for one in found.packages])


class _Reading(Struct):
    """A tree that is being read, with its limits and their use."""

    tree: Path
    limits: TreeLimits
    unread: list[UnreadPlace] = field(default_factory=list)
    complete: bool = True
    bytes_read: int = 0
    entries_seen: int = 0
    needs: dict[str, Mapping[str, Json]] = field(default_factory=dict)
    """What each package declares, by its place, or by its name for Python."""

    def tree_of(
        self, ecosystem: Literal["npm", "PyPI"], name: str, version: str, found: Iterator[InstalledPackage]
    ) -> InstalledTree:
        """Collect the packages, up to the limit."""
        packages: list[InstalledPackage] = []
        for package in found:
            if len(packages) == self.limits.packages:
                self.leave_out("", f"more than {self.limits.packages} packages")
                break
            packages.append(package)
        return InstalledTree(
            ecosystem=ecosystem,
            name=name,
            version=version,
            packages=tuple(sorted(packages, key=lambda one: (one.name, one.version, one.path))),
            unread=tuple(sorted(self.unread, key=lambda one: (one.path, one.why))),
            complete=self.complete,
        )

    def leave_out(self, path: str, why: str) -> None:
        """Record a path that was not read."""
        self.complete = False
        if len(self.unread) < self.limits.unread:
            self.unread.append(UnreadPlace(_shown(path), why))

    def folders(self, path: str) -> list[str]:
        """The sorted names of the folders in a folder, without links; empty if it does not exist."""
        try:
            at = _open_inside(self.tree, path, os.O_DIRECTORY)
        except (OSError, ValueError):
            return []
        found: list[str] = []
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    self.entries_seen += 1
                    if self.entries_seen > self.limits.entries:
                        self.leave_out(path, f"more than {self.limits.entries} entries")
                        break
                    if entry.is_dir(follow_symlinks=False):
                        found.append(entry.name)
        except OSError:
            self.leave_out(path, "it cannot be listed")
        finally:
            os.close(at)
        return sorted(found)

    def text(self, path: str) -> bytes | None:
        """The bytes of a manifest; None and a record if it is not a regular file within the limits."""
        try:
            at = _open_inside(self.tree, path, os.O_NONBLOCK)
        except (OSError, ValueError):
            self.leave_out(path, "it cannot be opened as a file")
            return None
        try:
            info = os.fstat(at)
            if not stat.S_ISREG(info.st_mode):
                self.leave_out(path, "it is not a regular file")
            elif info.st_size > self.limits.manifest:
                self.leave_out(path, f"more than {self.limits.manifest} bytes")
            elif self.bytes_read + info.st_size > self.limits.total:
                self.leave_out(path, f"more than {self.limits.total} bytes of manifests")
            else:
                self.bytes_read += info.st_size
                return os.read(at, self.limits.manifest)
        except OSError:
            self.leave_out(path, "it cannot be read")
        finally:
            os.close(at)
        return None

    def members(self, path: str) -> Mapping[str, Json] | None:
        """The JSON object of a manifest."""
        raw = self.text(path)
        try:
            value = parse_json(raw.removeprefix(b"\xef\xbb\xbf"), max_bytes=self.limits.manifest) if raw else None
        except NotJson:
            value = None
        if raw is not None and not isinstance(value, Mapping):
            self.leave_out(path, "it is not a JSON object")
        return value if isinstance(value, Mapping) else None


def _npm_packages(reading: _Reading, top: str) -> Iterator[InstalledPackage]:
    own = f"{_MODULES}/{top}"
    places = list(_npm_places(reading, _MODULES, 1))
    direct = _direct_places(reading, own, frozenset(places))
    for path in places:
        if path == own:
            continue
        manifest = reading.members(f"{path}/package.json")
        if manifest is None:
            continue
        name, version = _npm_name(manifest.get("name")), _word(manifest.get("version"))
        if name is None or version is None:
            reading.leave_out(f"{path}/package.json", "it has no name and version")
            continue
        reading.needs[path] = {part: manifest.get(part) for part in _NEEDS}
        relation: Literal["direct", "transitive"] = "direct" if path in direct else "transitive"
        yield InstalledPackage(ecosystem="npm", name=name, version=version, relation=relation, path=_shown(path))


def _npm_places(reading: _Reading, modules: str, depth: int) -> Iterator[str]:
    """The folders of packages in a `node_modules` folder and in nested ones."""
    if depth > reading.limits.depth:
        reading.leave_out(modules, f"nested more than {reading.limits.depth} deep")
        return
    for name in reading.folders(modules):
        if name.startswith("."):
            continue  # .bin and similar folders contain no packages
        inner = [f"{name}/{part}" for part in reading.folders(f"{modules}/{name}")] if name.startswith("@") else [name]
        for package in inner:
            path = f"{modules}/{package}"
            yield path
            yield from _npm_places(reading, f"{path}/{_MODULES}", depth + 1)


def _direct_places(reading: _Reading, own: str, places: frozenset[str]) -> frozenset[str]:
    """Where Node finds the direct dependencies: first in the package's own `node_modules`, then in the top one."""
    manifest = (reading.members(f"{own}/package.json") if own in places else None) or {}
    tables = (manifest.get(member) for member in _NEEDS)
    reading.needs[own] = {part: manifest.get(part) for part in _NEEDS}
    needed = {name for table in tables if isinstance(table, Mapping) for name in table if _npm_name(name)}
    inner = {name for name in needed if f"{own}/{_MODULES}/{name}" in places}
    return frozenset({f"{own}/{_MODULES}/{name}" for name in inner} | {f"{_MODULES}/{name}" for name in needed - inner})


def _python_packages(reading: _Reading, top: str) -> Iterator[InstalledPackage]:
    infos = [name for name in reading.folders("") if name.endswith(_DIST_INFO)]
    headers = {info: found for info in infos if (found := _headers(reading, info)) is not None}
    own = {info for info, found in headers.items() if found.name == canonicalize_name(top)}
    needed = {name for info in own for name in headers[info].needs}
    for info, found in headers.items():
        reading.needs[found.name] = found.needs
        if info not in own:
            relation: Literal["direct", "transitive"] = "direct" if found.name in needed else "transitive"
            yield InstalledPackage(
                ecosystem="PyPI", name=found.name, version=found.version, relation=relation, path=_shown(info)
            )


class _Headers(Struct, frozen=True):
    name: str
    version: str
    needs: Mapping[str, str]
    """The names of required packages, with their ranges."""


def _headers(reading: _Reading, info: str) -> _Headers | None:
    path = f"{info}/METADATA"
    raw = reading.text(path)
    if raw is None:
        return None
    try:
        message = BytesHeaderParser(policy=compat32).parsebytes(raw)
        name = normalise_pypi_name(str(message["Name"] or "").strip())
        version = _word(str(message["Version"] or "").strip())
        texts = (str(text) for text in message.get_all("Requires-Dist", []))
        needs = _read_needs(texts)
    except (MessageError, UnusableAddress, ValueError, LookupError):
        name, version, needs = "", None, {}
    if version is None:
        reading.leave_out(path, "it has no name and version")
        return None
    return _Headers(canonicalize_name(name), version, needs)


def _read_needs(requirements: Iterable[str]) -> dict[str, str]:
    """The names of required packages, each with its ranges from all requirements."""
    found: dict[str, list[str]] = {}
    for text in requirements:
        if match := _REQUIRED.match(text):
            found.setdefault(canonicalize_name(match[0]), []).append(_read_range(text[match.end() :]))
    return {name: ",".join(filter(None, ranges)) for name, ranges in found.items()}


def _read_range(text: str) -> str:
    """The range of a requirement after its name; `?` for one that depends on an extra or the machine."""
    declared, condition, _ = text.partition(";")
    found = _SPECIFIERS.fullmatch(declared.strip())
    known = found is not None and not (condition and found[1].strip())
    return found[1].strip() if found and known else "?"


def _find_python_ranges(needs: Mapping[str, Mapping[str, Json]]) -> Mapping[str, tuple[tuple[str, str], ...]]:
    from evidence.lockfiles.lockfile import bound_ranges  # noqa: PLC0415

    found: dict[str, list[tuple[str, str]]] = {}
    for package, wanted in needs.items():
        for name, declared in wanted.items():
            found.setdefault(name, []).append((package, str(declared)))
    return {name: bound_ranges(ranges) for name, ranges in found.items()}


def _add_ranges(
    tree: InstalledTree, found: Mapping[str, tuple[tuple[str, str], ...]], keys: Sequence[str]
) -> InstalledTree:
    """The tree with the ranges of its packages by key; without them when something could not be read."""
    if not tree.complete:
        return tree
    top = canonicalize_name(tree.name) if tree.ecosystem == "PyPI" else tree.name
    packages = (
        replace(one, ranges=tuple(("" if owner == top else owner, declared) for owner, declared in found.get(key, ())))
        for one, key in zip(tree.packages, keys, strict=True)
    )
    return replace(tree, packages=tuple(packages))


def _open_inside(tree: Path, path: str, how: int) -> int:
    """Open a file or folder component by component, so that no component is a link."""
    at = os.open(tree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    steps = path.split("/") if path else []
    for n, step in enumerate(steps, start=1):
        flags = how if n == len(steps) else os.O_DIRECTORY
        try:
            inner = os.open(step, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=at)
        finally:
            os.close(at)
        at = inner
    return at


def _npm_name(value: Json) -> str | None:
    try:
        return normalise_npm_name(value) if isinstance(value, str) else None
    except UnusableAddress:
        return None


def _word(value: Json) -> str | None:
    return value if isinstance(value, str) and _PRINTABLE.fullmatch(value) else None


def _shown(path: str) -> str:
    """A path as evidence, with undecodable and control characters escaped."""
    return path if _PLAIN_PATH.fullmatch(path) or not path else ascii(path)[1:-1]
