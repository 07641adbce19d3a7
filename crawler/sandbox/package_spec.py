"""The package of a target, validated before it is passed to any tool."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from crawler.addresses import UnusableAddress, parse_requirement
from evidence.model import Absent, Reason, Target, TargetType

RELEASE = "release"

_NPM_NAME = re.compile(r"(?:@[a-z0-9~_.-]+/)?[A-Za-z0-9~_.-]+")
_NPM_VERSION = re.compile(r"v?\d[0-9A-Za-z.+-]*")
_NPM_TAG = re.compile(r"[A-Za-z][\w.-]*")
_PYTHON = re.compile(r"3\.\d{1,2}")
_PYPI_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[A-Za-z0-9._, -]*\])?")


class PackageFile(Struct, frozen=True):
    """A package in a file of this machine, by its SHA-256. `needs`: a package that it depends on, empty for none."""

    path: Path
    digest: str
    needs: str = ""
    requires_python: str | None = None


class PackageSpec(Struct, frozen=True):
    """A package to install. `version`: exact, or a tag of the npm index; None: the newest.

    `as_of`: the release date as of which the dependencies are resolved; RELEASE while it is not known, empty for today.
    `python`: the version of Python that is tried first. `requirements`: what is installed beside a Python package.
    `file`: the package itself, when it does not come from an index.
    """

    ecosystem: TargetType
    name: str
    version: str | None
    extras: str = ""
    as_of: str = ""
    python: str = ""
    requirements: tuple[str, ...] = ()
    file: PackageFile | None = None

    @property
    def pinned(self) -> bool:
        """True if the request always means the same package version."""
        return self.version is not None and self.version[0].isdigit()

    def with_version(self, version: str) -> PackageSpec:
        return replace(self, version=version)

    def from_file(self, file: PackageFile) -> PackageSpec:
        return replace(self, file=file)

    @property
    def text(self) -> str:
        """`npm:NAME@VERSION` or `pypi:NAME==VERSION`."""
        mark = "@" if self.ecosystem is TargetType.NPM else "=="
        version = f"{mark}{self.version}" if self.version else ""
        notes = (
            f" as of {self.as_of}" if self.as_of else "",
            f" with Python {self.python}" if self.python else "",
            *(f" and {each}" for each in self.requirements),
            f" in {self.file.digest}" if self.file else "",
        )
        return f"{self.ecosystem.value}:{self.name}{self.extras}{version}{''.join(notes)}"

    @property
    def key(self) -> str:
        """A file name for this request."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]


def parse_package_spec(target: Target) -> PackageSpec | Absent:
    """The package of a target. URLs, paths and version ranges are refused, since installers would follow them."""
    found = _npm(target) if target.type is TargetType.NPM else _pypi(target)
    return replace(found, as_of=RELEASE) if isinstance(found, PackageSpec) and target.as_of_release else found


def compute_cutoff(released: str) -> datetime:
    """The moment before which dependencies count that were there when a version was released on that date.

    A day is left for the files of the version itself. Without a date the cutoff is never reached.
    """
    try:
        day = datetime.fromisoformat(released).replace(tzinfo=UTC)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return day + timedelta(days=2)


def _npm(target: Target) -> PackageSpec | Absent:
    name, version = target.identifier, target.version
    if not _NPM_NAME.fullmatch(name) or name.startswith("."):
        return Absent(Reason.NO_PACKAGE, "this is not an npm package name")
    if version in {None, "", "latest", "*"}:
        return PackageSpec(TargetType.NPM, name, None)
    assert version is not None
    if _NPM_VERSION.fullmatch(version):
        return PackageSpec(TargetType.NPM, name, version.removeprefix("v"))
    if _NPM_TAG.fullmatch(version):
        return PackageSpec(TargetType.NPM, name, version)
    return Absent(Reason.NO_PACKAGE, "the npm version is neither a version nor a tag")


def _pypi(target: Target) -> PackageSpec | Absent:
    match = _PYPI_NAME.fullmatch(target.identifier)
    if match is None:
        return Absent(Reason.NO_PACKAGE, "this is not a Python package name")
    extras, python = (match[2] or "").replace(" ", ""), target.launch.python
    newest = PackageSpec(
        TargetType.PYPI,
        canonicalize_name(match[1]),
        None,
        extras,
        python=python if _PYTHON.fullmatch(python) else "",
        requirements=tuple(filter(_is_plain_requirement, target.launch.requirements)),
    )
    if target.version in {None, "", "latest", "*"}:
        return newest
    try:
        return newest.with_version(str(Version(target.version or "")))
    except InvalidVersion:
        return Absent(Reason.NO_PACKAGE, "the Python version is not a version")


def _is_plain_requirement(text: str) -> bool:
    """Whether a requirement names a package of an index, and nothing that an installer would follow elsewhere."""
    try:
        return "".join(parse_requirement(text)) == text
    except UnusableAddress:
        return False
