"""Reads the manifest of a package in a file of this machine: a tarball of npm, or a wheel."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from pathlib import Path
from typing import Final

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from crawler.archives import ArchiveWalk
from crawler.sandbox.package_spec import PackageFile, PackageSpec, parse_package_spec
from evidence.canonical import Json, NotJson, parse_json
from evidence.model import Absent, Reason, Target, TargetType

_NPM_MANIFEST: Final = re.compile(r"[^/]+/package\.json")
_WHEEL_MANIFEST: Final = re.compile(r"[^/]+\.dist-info/METADATA")
_SDIST_MANIFEST: Final = re.compile(r"[^/]+/PKG-INFO")
_MAX_BYTES: Final = 1024 * 1024
_REQUIRED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,213}")  # a requirement begins with the name

_ELSEWHERE: Final = frozenset(":/")
"""In `npm:other@1`, `file:folder`, `user/repository` and addresses, and in no range of versions."""

_SDIST: Final = Absent(
    Reason.NOT_COLLECTED,
    "a source distribution is not built here, since that runs its code. To measure its server, scan the wheel",
)


def read_package_file(file: Path) -> PackageSpec | Absent:
    """The package in a file as something to install; Absent says why it cannot be installed."""
    try:
        digest = _compute_digest(file)
        path, data = _find_manifest(file)
    except OSError as error:
        return Absent(Reason.NOT_COLLECTED, f"the file cannot be read: {error.strerror}")
    if _SDIST_MANIFEST.fullmatch(path):
        return _SDIST
    if _NPM_MANIFEST.fullmatch(path):
        return _read_npm(data, PackageFile(file, digest))
    if _WHEEL_MANIFEST.fullmatch(path):
        return _read_wheel(data, PackageFile(file, digest))
    return Absent(Reason.INSTALL_FAILED, "it is no package: it has neither package.json nor the metadata of a wheel")


def _find_manifest(file: Path) -> tuple[str, bytes]:
    """The first manifest in the archive; empty if there is none."""
    forms = (_WHEEL_MANIFEST,) if file.name.endswith(".whl") else (_NPM_MANIFEST, _SDIST_MANIFEST)

    def limit_size(path: str) -> int:
        return _MAX_BYTES if any(form.fullmatch(path) for form in forms) else 0

    with file.open("rb") as opened:
        for member in ArchiveWalk(opened, limit_size):
            if member.data is not None and limit_size(member.path):
                return member.path, member.data
    return "", b""


def _read_npm(data: bytes, file: PackageFile) -> PackageSpec | Absent:
    try:
        found = parse_json(data.removeprefix(b"\xef\xbb\xbf"), max_bytes=_MAX_BYTES)
    except NotJson as error:
        return Absent(Reason.INSTALL_FAILED, f"its package.json cannot be read: {error}")
    manifest = found if isinstance(found, Mapping) else {}
    return _make_spec(
        TargetType.NPM,
        manifest.get("name"),
        manifest.get("version"),
        PackageFile(file.path, file.digest, needs=_find_npm_dependency(manifest.get("dependencies"))),
    )


def _find_npm_dependency(dependencies: Json) -> str:
    """The first dependency of that name in the index: not an alias, an address or a folder."""
    stated = dependencies.items() if isinstance(dependencies, Mapping) else ()
    plain = (name for name, version in stated if isinstance(version, str) and not _ELSEWHERE & set(version))
    return next((name for name in plain if _is_npm_name(name)), "")


def _is_npm_name(name: str) -> bool:
    return not isinstance(parse_package_spec(Target(type=TargetType.NPM, identifier=name)), Absent)


def _read_wheel(data: bytes, file: PackageFile) -> PackageSpec | Absent:
    try:
        named, *_ = parse_wheel_filename(file.path.name)
    except InvalidWheelFilename:
        return Absent(Reason.INSTALL_FAILED, "its file name is not that of a wheel, NAME-VERSION-PYTHON-ABI-PLATFORM")
    metadata: Message = BytesHeaderParser(policy=compat32).parsebytes(data)
    name, version = str(metadata["Name"] or ""), str(metadata["Version"] or "")
    if canonicalize_name(name) != named:
        return Absent(Reason.INSTALL_FAILED, "its metadata name another package than its file name")
    needed = [str(text) for text in metadata.get_all("Requires-Dist") or () if ";" not in str(text)]
    match = _REQUIRED.match(needed[0]) if needed else None
    needs, python = match[0] if match else "", metadata["Requires-Python"]
    return _make_spec(
        TargetType.PYPI,
        name,
        version,
        PackageFile(file.path, file.digest, needs=needs, requires_python=str(python) if python else None),
    )


def _make_spec(ecosystem: TargetType, name: Json, version: Json, file: PackageFile) -> PackageSpec | Absent:
    if not isinstance(name, str) or not isinstance(version, str) or not version[:1].isdigit():
        return Absent(Reason.INSTALL_FAILED, "its manifest states no name or no version")
    found = parse_package_spec(Target(type=ecosystem, identifier=name, version=version))
    return found if isinstance(found, Absent) else found.from_file(file)


def _compute_digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
