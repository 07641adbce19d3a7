"""Reads the result of an installation: version, resolved packages, commands, and blocked install scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from crawler.sandbox.install import entrypoints
from crawler.sandbox.layers import layers, trees
from crawler.sandbox.package_spec import PackageSpec
from evidence.model import Absent, Reason, TargetType

_INTEGRITY = re.compile(r"sha(?:512|384|256|1)-\S+")
_SCRIPTS = frozenset({"preinstall", "install", "postinstall"})
_NAMED = 5
_LOCK = 32 << 20
_OWN = ("bunfig.toml", "package.json", "bun.lock")  # these files contain the address of the index
_MISSING = Absent(Reason.INSTALL_FAILED, "the installer ended well but the package is not there")


class InstalledTop(Struct, frozen=True, kw_only=True):
    """The requested package of a tree, and the lock of the whole tree. A command that cannot run here is empty."""

    version: str
    lock: list[str]
    commands: dict[str, list[str]]
    blocked_scripts: list[str]
    engines: str | None


def read_installed_top(tree: Path, spec: PackageSpec) -> InstalledTop | Absent:
    """Read a settled tree; Absent if it lacks the package or if the integrity of a package was not verified."""
    return _npm(tree, spec) if spec.ecosystem is TargetType.NPM else _pypi(tree, spec)


def _npm(tree: Path, spec: PackageSpec) -> InstalledTop | Absent:
    manifest = entrypoints.read_json_object(tree / "node_modules" / spec.name / "package.json")
    version = manifest.get("version")
    try:
        lock = layers.read_npm_lock(trees.read_file(tree / "bun.lock", _LOCK))
    except (OSError, ValueError):
        return _MISSING
    if not isinstance(version, str):
        return _MISSING
    if unchecked := _unchecked(lock, spec):
        names = ", ".join(unchecked[:_NAMED])
        return Absent(Reason.INSTALL_FAILED, f"the index gives no digest by which to check {names}")
    for name in _OWN:
        (tree / name).unlink(missing_ok=True)
    engines = manifest.get("engines")
    node = engines.get("node") if isinstance(engines, dict) else None
    return InstalledTop(
        version=version,
        lock=lock,
        commands=entrypoints.list_npm_commands(tree, spec.name),
        blocked_scripts=sorted(_blocked(tree)),
        engines=node if isinstance(node, str) else None,
    )


def _unchecked(lock: list[str], spec: PackageSpec) -> list[str]:
    """The packages of a lock without a digest, but for one that is a file of this machine.

    bun verified the digests of all others while it unpacked them.
    """
    entries = [(*line.split(" ", 2), "", "") for line in lock]
    own = spec.name if spec.file else None
    return [package for place, package, digest, *_ in entries if place != own and not _INTEGRITY.fullmatch(digest)]


def _pypi(tree: Path, spec: PackageSpec) -> InstalledTop | Absent:
    info = entrypoints.find_dist_info(tree, spec.name)
    if info is None:
        return _MISSING
    return InstalledTop(
        version=info.name.removesuffix(".dist-info").rsplit("-", 1)[1],
        lock=layers.read_pypi_lock(tree),
        commands=entrypoints.list_pypi_commands(tree, spec.name),
        blocked_scripts=[],
        engines=None,
    )


def _blocked(tree: Path) -> Iterator[str]:
    """The packages that declare install scripts, which were not run."""
    for folder in _packages(tree / "node_modules"):
        table = entrypoints.read_json_object(folder / "package.json")
        scripts = table.get("scripts")
        if (isinstance(scripts, dict) and _SCRIPTS & scripts.keys()) or (folder / "binding.gyp").is_file():
            yield str(table.get("name") or folder.name)


def _packages(modules: Path) -> Iterator[Path]:
    """The folders of packages in a `node_modules` folder and in nested ones."""
    pending = [modules]
    while pending:
        for entry in _folders(pending.pop()):
            inner = _folders(entry) if entry.name.startswith("@") else [entry]
            for package in inner:
                yield package
                pending.append(package / "node_modules")


def _folders(parent: Path) -> list[Path]:
    if not parent.is_dir() or parent.is_symlink():
        return []
    return [path for path in parent.iterdir() if path.is_dir() and not path.is_symlink()]
