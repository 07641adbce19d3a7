"""What the next release of a project holds, from its manifests: npm's `files`, and the builders of Python packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from crawler.archives.folder import open_regular_file
from crawler.archives.published_files import NOTHING, ReleaseContents
from crawler.projects.manifests import PACKAGE_JSON, Manifests, read_manifests, read_table
from evidence.json_members import strings_in

_WHOLE_MODULES: Final = ("uv_build", "flit", "pdm")
"""Builders that pack all files of the module, whatever git ignores."""

_MANIFEST_IN: Final = "MANIFEST.in"
_MAX_MANIFEST_IN: Final = 64 * 1024
_CACHES: Final = ("!__pycache__/", "!*.pyc")


def read_release_contents(root: Path, subfolder: str, manifests: Manifests) -> ReleaseContents:
    """What is published of the project in a folder of `root`; nothing if its manifests forbid it or are missing."""
    folder = root / subfolder
    npm = manifests.npm
    has_npm = npm is not None and npm.get("private") is not True
    python = tuple(_list_python(folder, manifests)) if _publishes_python(folder, manifests.python) else ()
    if not has_npm and not python:
        return NOTHING
    return ReleaseContents(
        folder=subfolder,
        has_npm=has_npm,
        npm=_list_npm(npm) if npm is not None and has_npm else None,
        inherits=has_npm and _is_in_workspace(root, folder),
        python=python,
    )


def _list_npm(npm: Mapping[str, Any]) -> tuple[str, ...] | None:
    """`files` as lines of an ignore file, with what npm adds; None where package.json has no `files`."""
    files = npm.get("files")
    if not isinstance(files, list):
        return None
    bins = npm.get("bin")
    added = [npm.get("main"), *(bins.values() if isinstance(bins, Mapping) else [bins])]
    always = ("package.json", "README*", "LICEN[CS]E*")
    return tuple(_anchor(text) for text in (*strings_in(files), *strings_in(added), *always) if text.strip("!/."))


def _anchor(text: str) -> str:
    negation = "!" if text.startswith("!") else ""
    plain = text.removeprefix("!").removeprefix("./").strip("/")
    return f"{negation}/{plain}*" if plain.endswith("/*") else f"{negation}/{plain}"


def _is_in_workspace(root: Path, folder: Path) -> bool:
    """Whether a folder above declares workspaces of npm, whose ignore files then apply too."""
    above = [one for one in folder.parents if one.is_relative_to(root)]
    return any((one / PACKAGE_JSON).is_file() and "workspaces" in (read_manifests(one).npm or {}) for one in above)


def _publishes_python(folder: Path, pyproject: Mapping[str, Any] | None) -> bool:
    if pyproject is None:
        return (folder / "setup.py").is_file()
    classifiers = strings_in(read_table(pyproject, "project").get("classifiers"))
    is_package = any(name in pyproject for name in ("build-system", "project")) or bool(_tool(pyproject, "poetry"))
    return is_package and not any(one.startswith("Private ::") for one in classifiers)


def _list_python(folder: Path, manifests: Manifests) -> Iterator[str]:
    """What the builder packs although git ignores it; hatchling and Poetry follow git otherwise."""
    pyproject = manifests.python or {}
    backend = str(read_table(pyproject, "build-system").get("build-backend", "setuptools"))
    modules = list(_list_modules(folder, manifests.name))
    if backend.startswith("hatchling"):
        yield from _list_hatch(pyproject, modules)
    elif backend.startswith("poetry"):
        yield from _list_poetry(pyproject)
    elif backend.startswith(_WHOLE_MODULES):
        yield from (f"{module}/**" for module in modules)
        yield from _list_uv(pyproject)
    elif backend.startswith("setuptools"):
        yield from (f"{module}/**/*.py" for module in modules)
        yield from _list_setuptools(folder, pyproject, modules)
    yield from _CACHES


def _list_modules(folder: Path, name: str) -> Iterator[str]:
    module = name.replace("-", "_").replace(".", "_").lower()
    if (folder / "src").is_dir():
        yield "/src"
    if module and (folder / module).is_dir():
        yield f"/{module}"


def _list_hatch(pyproject: Mapping[str, Any], modules: Iterable[str]) -> Iterator[str]:
    build = read_table(_tool(pyproject, "hatch"), "build")
    targets = read_table(build, "targets")
    for table in (build, *(read_table(targets, name) for name in ("wheel", "sdist"))):
        yield from strings_in(table.get("artifacts"))
        yield from (f"/{name.strip('/')}" for name in read_table(table, "force-include") if not name.startswith("../"))
        if table.get("ignore-vcs") is True:
            yield from (f"{module}/**" for module in modules)


def _list_poetry(pyproject: Mapping[str, Any]) -> Iterator[str]:
    included = _tool(pyproject, "poetry").get("include")
    for entry in included if isinstance(included, list) else []:
        path = entry.get("path") if isinstance(entry, Mapping) else entry
        if isinstance(path, str) and path.strip("/"):
            yield f"/{path.strip('/')}"


def _list_uv(pyproject: Mapping[str, Any]) -> Iterator[str]:
    table = read_table(_tool(pyproject, "uv"), "build-backend")
    yield from (f"/{path.strip('/')}" for path in strings_in(table.get("source-include")))
    yield from (f"!{path}" for path in strings_in(table.get("source-exclude")))


def _list_setuptools(folder: Path, pyproject: Mapping[str, Any], modules: list[str]) -> Iterator[str]:
    data = read_table(_tool(pyproject, "setuptools"), "package-data")
    for patterns in data.values():
        yield from (f"{module}/**/{pattern}" for pattern in strings_in(patterns) for module in modules)
    yield from _read_manifest_in(folder)


def _read_manifest_in(folder: Path) -> Iterator[str]:
    """https://setuptools.pypa.io/en/latest/userguide/miscellaneous.html"""
    try:
        with open_regular_file(folder / _MANIFEST_IN) as file:
            lines = file.read(_MAX_MANIFEST_IN).decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for words in map(str.split, lines):
        match words:
            case ["include", *patterns]:
                yield from (f"/{one}" for one in patterns)
            case ["exclude", *patterns]:
                yield from (f"!/{one}" for one in patterns)
            case ["recursive-include", top, *patterns]:
                yield from (f"/{top}/**/{one}" for one in patterns)
            case ["recursive-exclude", top, *patterns]:
                yield from (f"!/{top}/**/{one}" for one in patterns)
            case ["graft", top]:
                yield f"/{top}/**"
            case ["prune", top]:
                yield f"!/{top}/**"
            case ["global-include", *patterns]:
                yield from (f"**/{one}" for one in patterns)
            case ["global-exclude", *patterns]:
                yield from (f"!**/{one}" for one in patterns)


def _tool(pyproject: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return read_table(read_table(pyproject, "tool"), name)
