"""Reads the manifests of a project: package.json, pyproject.toml and server.json. Every member may be of any type."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from crawler.archives.folder import open_regular_file
from crawler.collectors.package.document_fields import as_repository_url
from crawler.collectors.package.python_metadata import find_source_repository
from crawler.registries.targets import find_reachable_targets
from evidence.canonical import Json, NotJson, parse_json
from evidence.model import Target

PACKAGE_JSON: Final = "package.json"
PYPROJECT: Final = "pyproject.toml"
SERVER_JSON: Final = "server.json"
NAMES: Final = (PACKAGE_JSON, PYPROJECT, SERVER_JSON)
OTHER_NAMES: Final = (
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "deno.json",
    "go.mod",
    "Cargo.toml",
    ".git",
)
"""Further files that mark the folder of a project."""

GIT: Final = ".git"

MAX_BYTES: Final = 1024 * 1024
_LONGEST: Final = 200


class Manifests(Struct, frozen=True, kw_only=True):
    """What the manifests state; an unreadable one is empty and named in `unread`, with the reason."""

    npm: Mapping[str, Any] | None = None
    python: Mapping[str, Any] | None = None
    server: Target | None = None
    name: str = ""
    version: str = ""
    repository: str | None = None
    present: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    python_scripts: Mapping[str, str] = field(default_factory=dict)


def read_manifests(folder: Path) -> Manifests:
    unread: list[str] = []
    npm = _read(folder / PACKAGE_JSON, _parse_json, unread)
    pyproject = _read(folder / PYPROJECT, _parse_toml, unread)
    document = _read(folder / SERVER_JSON, _parse_json, unread)
    project = read_table(pyproject, "project") or read_table(read_table(pyproject, "tool"), "poetry")
    stated = [read_table({"": each}, "") for each in (npm, project, document)]
    return Manifests(
        npm=npm,
        python=pyproject,
        server=_declared_package(document),
        name=next((name for each in stated if (name := _word(each.get("name")))), ""),
        version=next((version for each in stated if (version := _word(each.get("version")))), ""),
        repository=_find_repository(npm, project),
        present=tuple(name for name in (*NAMES, *OTHER_NAMES, GIT) if (folder / name).exists()),
        unread=tuple(unread),
        python_scripts={
            str(name): point for name, point in read_table(project, "scripts").items() if isinstance(point, str)
        },
    )


def declares_dependencies(manifests: Manifests) -> tuple[bool, bool]:
    """Whether the npm and the Python manifest name a package that must be installed before a start."""
    project = read_table(manifests.python, "project")
    poetry = read_table(read_table(manifests.python, "tool"), "poetry")
    needed = project.get("dependencies") or [name for name in read_table(poetry, "dependencies") if name != "python"]
    return bool(read_table(manifests.npm, "dependencies")), bool(needed)


def read_table(value: Any, member: str) -> Mapping[str, Any]:
    """A member that is a table; empty for anything else."""
    found = value.get(member) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _find_repository(npm: Mapping[str, Any] | None, project: Mapping[str, Any]) -> str | None:
    """The declared repository, with its folder after `#`, as registries identify one."""
    stated = npm.get("repository") if npm else None
    folder = stated.get("directory") if isinstance(stated, Mapping) else None
    url = stated.get("url") if isinstance(stated, Mapping) else stated
    found = as_repository_url(url, folder) or find_source_repository({"project_urls": read_table(project, "urls")})
    if found is None:
        return None
    return f"{found['url']}#{found['directory']}" if found["directory"] else str(found["url"])


def _declared_package(document: Mapping[str, Any] | None) -> Target | None:
    """The package of a server.json, for the arguments and variables that it declares."""
    targets = find_reachable_targets(document).targets if document else ()
    return next((target for target in targets if not target.type.is_remote), None)


def _read(path: Path, parse: Any, unread: list[str]) -> Mapping[str, Any] | None:
    try:
        with open_regular_file(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError:
        unread.append(f"{path.name} cannot be read as a file")
        return None
    try:
        found: Mapping[str, Any] = parse(data)
    except ValueError as error:
        unread.append(f"{path.name} cannot be read: {error}")
        return None
    return found


def _parse_json(data: bytes) -> Mapping[str, Json]:
    try:
        value = parse_json(data.removeprefix(b"\xef\xbb\xbf"), max_bytes=MAX_BYTES)
    except NotJson as error:
        raise ValueError(str(error)) from error
    if not isinstance(value, Mapping):
        raise ValueError("expected a JSON object")
    return value


def _parse_toml(data: bytes) -> Mapping[str, Any]:
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    try:
        return tomllib.loads(data.decode())
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _word(value: Any) -> str:
    return value.strip() if isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable() else ""
