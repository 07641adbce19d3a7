"""Describes a project in a folder or an archive: its name, its version and its place in a repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec import Struct
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

from crawler.archives.folder import decode_path
from crawler.archives.published_files import NOTHING, ReleaseContents
from crawler.projects.manifests import GIT, Manifests, read_manifests
from crawler.projects.release_contents import read_release_contents

WHOLE: Final = "project"
ARCHIVE: Final = "archive"
ARCHIVE_ENDINGS: Final = (".tgz", ".tar.gz", ".whl")

_UNNAMED: Final = "unnamed"  # the folder's own name differs between machines

_NPM_FILE: Final = re.compile(r"(?P<name>.+?)-(?P<version>[0-9]+\.[0-9]+\.[0-9]+.*)")


class Project(Struct, frozen=True, kw_only=True):
    """`root` is the repository around the folder `subfolder`, or the folder itself; for an archive it is the file.

    `origin` is WHOLE for the folder of a repository. Other folders are ARCHIVE too: an unpacked package lacks files
    that its repository has. `strip` counts the outer folders of a file. `release` is what a release holds of the
    files that git ignores.
    """

    root: Path
    origin: str
    is_file: bool = False
    name: str
    version: str = ""
    subfolder: str = ""
    strip: int = 0
    release: ReleaseContents = NOTHING

    @property
    def folder(self) -> Path:
        return self.root / self.subfolder

    @property
    def path_in_repository(self) -> str:
        """The subfolder as text for evidence and reports."""
        return decode_path(self.subfolder)


def describe_folder(folder: Path) -> tuple[Project, Manifests]:
    """The project in a folder, and what its manifests state."""
    folder = folder.resolve()
    root = _find_repository(folder)
    subfolder = "" if root == folder else folder.relative_to(root).as_posix()
    found = read_manifests(folder)
    project = Project(
        root=root,
        origin=WHOLE if (root / GIT).exists() else ARCHIVE,
        name=found.name or decode_path(subfolder) or _UNNAMED,
        version=found.version,
        subfolder=subfolder,
        release=read_release_contents(root, subfolder, found),
    )
    return project, found


def describe_archive(file: Path) -> Project:
    """The package in an archive, by the conventions of npm and Python for the names of files."""
    name, version = _parse_filename(decode_path(file.name))
    strip = 0 if file.name.endswith(".whl") else 1
    return Project(root=file.resolve(), origin=ARCHIVE, is_file=True, name=name, version=version, strip=strip)


def _find_repository(folder: Path) -> Path:
    """The nearest folder that holds `.git`; the folder itself when there is none, or when it would be a home folder."""
    for candidate in (folder, *folder.parents):
        if (candidate / GIT).exists():
            return folder if candidate == Path.home() else candidate
    return folder


def _parse_filename(name: str) -> tuple[str, str]:
    try:
        if name.endswith(".whl"):
            wheel, version, *_ = parse_wheel_filename(name)
            return str(wheel), str(version)
        if name.endswith(".tar.gz"):
            sdist, version = parse_sdist_filename(name)
            return str(sdist), str(version)
    except (InvalidWheelFilename, InvalidSdistFilename):
        pass
    plain = name.removesuffix(".tgz").removesuffix(".tar.gz").removesuffix(".whl")
    match = _NPM_FILE.fullmatch(plain)
    return (match["name"], match["version"]) if match else (plain, "")
