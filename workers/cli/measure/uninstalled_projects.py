"""Tells a project whose dependencies are not installed from a server that does not start."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from crawler.projects.manifests import declares_dependencies
from crawler.projects.project import Project, describe_folder
from crawler.sandbox.user_command import ENVIRONMENTS, find_site_packages
from evidence.kinds import listing
from evidence.model import Absent, Dossier, Reason, Record

_MISSING: Final = re.compile(
    r"No module named|ModuleNotFoundError|PackageNotFoundError|No package metadata|Cannot find (?:module|package)"
    r"|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND"
)


def excuse_missing_dependencies(dossier: Dossier, project: Project) -> Dossier:
    """The dossier with another reason for a failed start that follows from missing dependencies."""
    content = dossier.read(listing.KIND)
    if project.is_file or not isinstance(content, Absent) or content.reason is not Reason.START_FAILED:
        return dossier
    if not _MISSING.search(content.detail) or not (advice := advise_on_dependencies(project)):
        return dossier
    why = Absent(Reason.NOT_COLLECTED, f"{advice} (the start ended with: {content.detail})")
    records = {kind: _excuse(record, why) for kind, record in dossier.records.items()}
    return replace(dossier, records=records)


def advise_on_dependencies(project: Project) -> str:
    """Where dependencies were expected and what was found; empty when they are installed or not needed."""
    _, manifests = describe_folder(project.folder)
    needs_node, needs_python = declares_dependencies(manifests)
    folder, python = project.folder, f"{sys.version_info.major}.{sys.version_info.minor}"
    if needs_node and not _has_modules(project):
        return "dependencies are not installed: expected the folder node_modules, found none; run npm ci first"
    if needs_python and find_site_packages(folder, python) is None:
        others = sorted(found.name for name in ENVIRONMENTS for found in (folder / name / "lib").glob("python3.*"))
        found = f"found one for {others[0]}" if others else "found none"
        install = f"python{python} -m venv .venv && .venv/bin/pip install ."
        return f"dependencies are not installed: expected .venv with Python {python}, {found}; run {install}"
    return ""


def _has_modules(project: Project) -> bool:
    folders: tuple[Path, ...] = (project.folder, *project.folder.parents)
    return any((one / "node_modules").is_dir() for one in folders if one.is_relative_to(project.root))


def _excuse(record: Record, why: Absent) -> Record:
    is_of_start = isinstance(record.content, Absent) and record.content.reason is Reason.START_FAILED
    return replace(record, content=why) if is_of_start else record
