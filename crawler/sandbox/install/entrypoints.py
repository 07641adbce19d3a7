"""The commands that start an installed package: npm's `bin`, Python's console scripts."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct
from packaging.utils import canonicalize_name

from crawler.sandbox.layers import trees
from evidence.model import Absent, Reason

APP = "/app"
NODE = "/usr/bin/node"
PYTHON = "/usr/bin/python3"
_ENV_SHEBANG = re.compile(r"^#!\s*\S*/env\s+(?:-S\s*)?(?P<rest>.*)$")
_PLAIN_SHEBANG = re.compile(r"^#!\s*(?P<rest>.*)$")


class Command(Struct, frozen=True):
    """A command line, and the name of the package's command that it runs."""

    name: str
    argv: tuple[str, ...]


def choose_command(
    commands: Mapping[str, Sequence[str]], package: str, arguments: Sequence[str], registered: str = ""
) -> Command | Absent:
    """Choose the registered command, else the one with the package's name, else the one named by the first argument,
    else the first one. A registered command that the package does not have is ignored.
    """
    for name in commands:
        if registered and canonicalize_name(name) == canonicalize_name(registered):
            return Command(name, (*commands[name], *arguments))
    short = package.rsplit("/", 1)[-1]
    for name in commands:
        if canonicalize_name(name) == canonicalize_name(short):
            return Command(name, (*commands[name], *arguments))
    if arguments and arguments[0] in commands:
        return Command(arguments[0], (*commands[arguments[0]], *arguments[1:]))
    for name in commands:
        return Command(name, (*commands[name], *arguments))
    return Absent(Reason.START_FAILED, "the package has no command to start")


def find_module_command(tree: Path, registered: str, arguments: Sequence[str]) -> Command | None:
    """The command line of a registered `-m MODULE`, if the module is in the tree and can be run."""
    module = registered.removeprefix("-m ")
    place = tree.joinpath(*module.split("."))
    if module == registered or not (place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()):
        return None
    return Command(registered, (PYTHON, "-m", module, *arguments))


def list_npm_commands(tree: Path, package: str) -> dict[str, list[str]]:
    """The commands of an npm package; an empty command line for one that cannot run here."""
    folder = tree / "node_modules" / package
    found = read_json_object(folder / "package.json").get("bin")
    short = package.rsplit("/", 1)[-1]
    bins = {short: found} if isinstance(found, str) else found if isinstance(found, dict) else {}
    commands = {}
    for name, relative in bins.items():
        place = _inside(f"node_modules/{package}", relative) if isinstance(relative, str) else None
        if place is not None and (tree / place).is_file():
            commands[str(name)] = choose_interpreter(tree / place, f"{APP}/{place}")
    return commands


def list_pypi_commands(tree: Path, package: str) -> dict[str, list[str]]:
    """The console scripts of a Python package, or its module if it can run with `python -m`."""
    info = find_dist_info(tree, package)
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(trees.read_file(info / "entry_points.txt").decode("utf-8") if info else "")
        scripts = dict(parser["console_scripts"]) if parser.has_section("console_scripts") else {}
    except (OSError, ValueError, configparser.Error):
        scripts = {}
    commands = {name: [PYTHON, f"{APP}/bin/{name}"] for name in scripts if (tree / "bin" / name).is_file()}
    module = package.replace("-", "_")
    if not commands and (tree / module / "__main__.py").is_file():
        commands[module] = [PYTHON, "-m", module]
    return commands


def choose_interpreter(path: Path, place: str) -> list[str]:
    """The command line for a script or binary, without arguments; empty if no interpreter here can run it."""
    with path.open("rb") as file:
        head = file.read(256)
    if head.startswith(b"\x7fELF"):
        return [place]
    line = head.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    match = _ENV_SHEBANG.match(line) or _PLAIN_SHEBANG.match(line)
    try:
        words = shlex.split(match["rest"]) if match else []
    except ValueError:
        words = []
    name = PurePosixPath(words[0]).name if words else "node" if path.suffix in {".js", ".mjs", ".cjs", ""} else ""
    if name in {"node", "nodejs"}:
        return [NODE, *words[1:], place]
    if re.fullmatch(r"python(3(\.\d+)?)?", name):
        return [PYTHON, *words[1:], place]
    return []


def read_json_object(path: Path) -> dict[str, object]:
    """Read a JSON object from a settled layer; empty if the file is missing or anything else."""
    try:
        found = json.loads(trees.read_file(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _inside(folder: str, relative: str) -> str | None:
    parts: list[str] = []
    for part in PurePosixPath(relative).parts:
        if part == "..":
            return None
        if part not in {"/", "."}:
            parts.append(part)
    return str(PurePosixPath(folder, *parts)) if parts else None


def find_dist_info(tree: Path, package: str) -> Path | None:
    """The metadata folder of an installed Python distribution."""
    for info in sorted(tree.glob("*.dist-info")):
        if canonicalize_name(info.name.removesuffix(".dist-info").rsplit("-", 1)[0]) == canonicalize_name(package):
            return info
    return None
