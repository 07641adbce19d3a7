"""Translates a command of the user for the box: the working directory is /project, with the box's interpreters."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from msgspec import Struct

from crawler.sandbox.boxes.box import Bind
from crawler.sandbox.install.entrypoints import NODE, PYTHON, choose_interpreter
from evidence.model import Absent, Reason, Target

PROJECT = "/project"
ENVIRONMENTS = (".venv", "venv", "env")


class ResolvedCommand(Struct, frozen=True):
    """A command line inside the box, with its mounts and environment."""

    argv: tuple[str, ...]
    binds: tuple[Bind, ...]
    environment: dict[str, str]


def resolve_command(target: Target, python: str) -> ResolvedCommand | Absent:
    """The command line of a command target in a box with the Python version `python` (`3.11`)."""
    folder = Path(target.identifier).resolve()
    if not folder.is_dir():
        return Absent(Reason.START_FAILED, "the command's working directory does not exist")
    if not target.arguments:
        return Absent(Reason.START_FAILED, "there is no command to start")
    binds, environment = [Bind(folder, PROJECT)], {"PYTHONPATH": f"{PROJECT}/src:{PROJECT}"}
    if (packages := find_site_packages(folder, python)) is not None:
        binds.append(Bind(packages, "/app"))
    program = _program(target.arguments[0], folder)
    if isinstance(program, Absent):
        return program
    rest = (_inside(argument, folder) for argument in target.arguments[1:])
    return ResolvedCommand((*program, *rest), tuple(binds), environment)


def find_site_packages(folder: Path, python: str) -> Path | None:
    """The packages of the folder's virtual environment with this version of Python."""
    places = (folder / name / "lib" / f"python{python}" / "site-packages" for name in ENVIRONMENTS)
    return next((place for place in places if place.is_dir() and _holds_packages(place, folder)), None)


def _holds_packages(place: Path, folder: Path) -> bool:
    """Whether a folder is in the project or in a virtual environment: a link would show any folder to the box."""
    real = place.resolve()
    is_environment = real.name == "site-packages" and (real / "../../../pyvenv.cfg").is_file()
    return is_environment or real.is_relative_to(folder.resolve())


def _program(name: str, folder: Path) -> list[str] | Absent:
    plain = PurePosixPath(name).name
    if re.fullmatch(r"python(3(\.\d+)?)?", plain):
        return [PYTHON]
    if plain in {"node", "nodejs"}:
        return [NODE]
    places = (".", *(f"{one}/bin" for one in ENVIRONMENTS), "node_modules/.bin")
    for candidate in (folder / place / name for place in places):
        real = candidate.resolve()
        if real.is_file() and real.is_relative_to(folder):
            if found := choose_interpreter(real, f"{PROJECT}/{real.relative_to(folder)}"):
                return found
            return Absent(Reason.RUNTIME_UNSUPPORTED, f"{plain} needs an interpreter that the sandbox does not have")
    return Absent(Reason.RUNTIME_UNSUPPORTED, f"the sandbox has python and node, and files of the folder; not {plain}")


def _inside(argument: str, folder: Path) -> str:
    path = Path(argument)
    return f"{PROJECT}/{path.relative_to(folder)}" if path.is_absolute() and path.is_relative_to(folder) else argument
