"""Finds how a project is started: from its server.json, package.json and pyproject.toml, without running anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from packaging.utils import canonicalize_name

from crawler.projects.manifests import Manifests
from crawler.projects.project import Project
from evidence.model import Target, TargetType

EXPLICIT: Final = "give the command: hallmark scan FOLDER -- COMMAND"

_SHELL: Final = re.compile(r"[;&|<>$`()]|\s#")
_ENTRY_POINT: Final = re.compile(r"(?P<module>[A-Za-z_][\w.]*)\s*:\s*(?P<object>[A-Za-z_][\w.]*)(?:\s*\[.*\])?")
_RUN_ENTRY: Final = (
    "import importlib, functools, sys; sys.argv[0] = {name!r}; "
    "sys.exit(functools.reduce(getattr, {object!r}.split('.'), importlib.import_module({module!r}))())"
)
_SHOWN: Final = 200  # characters of a path
_NAMED_LIKE_SERVERS: Final = re.compile(r"mcp|server", re.IGNORECASE)


class Start(Struct, frozen=True):
    """A command line in the folder of the project, and where it was stated, such as `bin of package.json`."""

    words: tuple[str, ...]
    stated_in: str


def find_start(project: Project, manifests: Manifests) -> Start | str:
    """How the server is started; a text says what was expected, what was found, and what to do."""
    kinds: list[Callable[[Path, Manifests], Iterator[Start | str]]] = [_find_node_starts, _find_python_starts]
    if manifests.server is not None and manifests.server.type is TargetType.PYPI:
        kinds.reverse()
    refused = list(manifests.unread)
    for find in kinds:
        for found in find(project.folder, manifests):
            if isinstance(found, Start):
                return found
            refused.append(found)
    expected = "`bin`, `main` or `scripts.start` in package.json, or `[project.scripts]` in pyproject.toml"
    return f"{'; '.join(refused) or f'expected {expected}; found none of them'}. Or {EXPLICIT}"


def build_target(project: Project, start: Start, manifests: Manifests) -> Target:
    """The command with the arguments and variables that server.json declares for the package."""
    folder, words = _include_installed_modules(project, start.words)
    target = Target(type=TargetType.COMMAND, identifier=str(folder), arguments=words)
    declared = manifests.server
    if declared is None:
        return target
    inputs = tuple(replace(each, at=each.at + len(words)) for each in declared.inputs)
    arguments = (*words, *declared.arguments)
    return replace(target, arguments=arguments, environment=declared.environment, inputs=inputs)


def _include_installed_modules(project: Project, words: tuple[str, ...]) -> tuple[Path, tuple[str, ...]]:
    """The command from the folder above that holds `node_modules`, as workspaces of npm, pnpm and Yarn install them."""
    folder = project.folder
    if words[0] != "node" or len(words) < 2 or (folder / "node_modules").is_dir():
        return folder, words
    for above in folder.parents:
        if not above.is_relative_to(project.root):
            break
        if (above / "node_modules").is_dir():
            return above, (words[0], (folder.relative_to(above) / words[1]).as_posix(), *words[2:])
    return folder, words


def _find_node_starts(folder: Path, manifests: Manifests) -> Iterator[Start | str]:
    npm = manifests.npm
    if npm is None:
        return
    bins = npm.get("bin")
    if isinstance(bins, str):
        bins = {manifests.name: bins}
    if isinstance(bins, Mapping) and (name := _choose(bins, manifests.name)):
        yield _node_file(folder, bins[name], f"`bin` of package.json ({name})")
    scripts = npm.get("scripts")
    if isinstance(scripts, Mapping) and isinstance(text := scripts.get("start"), str):
        yield _start_script(text)
    if isinstance(main := npm.get("main"), str):
        yield _node_file(folder, main, "`main` of package.json")


def _node_file(folder: Path, stated: Any, where: str) -> Start | str:
    path = PurePosixPath(stated) if isinstance(stated, str) else PurePosixPath("..")
    if path.is_absolute() or ".." in path.parts:
        return f"{where} leads out of the folder"
    if not _is_file(folder / path):
        missing = f"{where} names {str(path)[:_SHOWN]}, which does not exist"
        return f"{missing}: build the project first, for example npm run build"
    return Start(("node", str(path)), where)


def _is_file(path: Path) -> bool:
    """Whether there is a file; a path that the disk refuses is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _start_script(text: str) -> Start | str:
    where = "`scripts.start` of package.json"
    if _SHELL.search(text):
        return f"{where} needs a shell, which the sandbox does not have"
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    return Start(tuple(words), where) if words else f"{where} is empty"


def _find_python_starts(folder: Path, manifests: Manifests) -> Iterator[Start | str]:
    scripts = manifests.python_scripts
    if name := _choose(scripts, manifests.name):
        match = _ENTRY_POINT.fullmatch(scripts[name].strip())
        where = f"`[project.scripts]` of pyproject.toml ({name})"
        if match is None:
            yield f"{where} is no entry point such as package.module:main"
        else:
            code = _RUN_ENTRY.format(name=name, module=match["module"], object=match["object"])
            yield Start(("python", "-c", code), where)
    elif len(scripts) > 1:
        yield f"`[project.scripts]` of pyproject.toml has {len(scripts)} commands, none named as the project"
    module = manifests.name.replace("-", "_")
    if module.isidentifier() and any((folder / part / module / "__main__.py").is_file() for part in ("src", ".")):
        yield Start(("python", "-m", module), f"{module}/__main__.py")


def _choose(commands: Mapping[str, Any], package: str) -> str | None:
    """The command with the name of the package, else the only one, else the only one named like a server."""
    short = canonicalize_name(package.rsplit("/", 1)[-1])
    named = [name for name in commands if canonicalize_name(str(name)) == short]
    likely = [name for name in commands if _NAMED_LIKE_SERVERS.search(str(name))]
    for candidates in (named, list(commands), likely):
        if len(candidates) == 1:
            return candidates[0]
    return None
