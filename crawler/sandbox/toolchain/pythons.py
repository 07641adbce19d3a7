"""Which Pythons a package may get: the one that runs us, and others that are installed on this machine.

The reasons are in docs/decisions/0036.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from crawler.sandbox.toolchain import host
from crawler.sandbox.toolchain.host import Interpreter

ALL, OWN = "all", "own"
"""Every Python that is found, and none but the one that runs us; else versions such as `3.12,3.13`."""

MIN_PYTHON_MINOR = 10
_NAME = re.compile(r"python(3\.(\d{1,3}))")
_ELF = b"\x7fELF"  # pyenv's shims are scripts that start whatever the folder they are called in wants
_PATIENCE = 20.0
_ASKED = """
import json, platform, sys, sysconfig
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
print(json.dumps({
    "plain": sys.implementation.name == "cpython" and sys.version_info.releaselevel == "final"
        and not sysconfig.get_config_var("Py_GIL_DISABLED"),
    "stdlib": sysconfig.get_path("stdlib", vars=base), "platstdlib": sysconfig.get_path("platstdlib", vars=base),
    "library_dir": sys.platlibdir, "version": "%d.%d" % sys.version_info[:2], "release": platform.python_version(),
}))
"""


@dataclass(frozen=True, slots=True)
class Pythons:
    """The interpreters of one sandbox. `others` are the binaries that call themselves a version, best first."""

    own: Interpreter = field(default_factory=host.find_own_interpreter)
    others: Mapping[str, Sequence[Path]] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        """The versions beside our own, oldest first, whether they can be started or not."""
        return sorted(self.others, key=_minor)

    @property
    def versions(self) -> Sequence[str]:
        """The versions that can be started, oldest first. Starts each once."""
        return sorted((each.version for each in self.usable()), key=_minor)

    def told(self) -> str:
        """All that can be started in the order in which packages get them, on one line; else why one cannot be."""
        able = [*self.usable()]
        dead = [name for name in self.names if name not in {each.version for each in able}]
        own, *others = (each.release for each in able)
        broken = f"; not usable: {', '.join(dead)}" if dead else ""
        return f"{own} (Hallmark's), {', '.join(others) or 'no other'}{broken}"

    def get(self, version: str) -> Interpreter | None:
        """The interpreter of a version; None when it is not there or cannot be asked."""
        if version == self.own.version:
            return self.own
        asked = (examine_interpreter(binary) for binary in self.others.get(version, ()))
        return next((found for found in asked if found is not None and found.version == version), None)

    def usable(self) -> Iterator[Interpreter]:
        """All that can be started: ours, then the nearest newer ones, then the nearest older ones."""
        yield self.own
        ours = _minor(self.own.version)
        for name in sorted(self.others, key=lambda name: (_minor(name) < ours, abs(_minor(name) - ours))):
            if (found := self.get(name)) is not None:
                yield found

    def allowed(self, requirement: str | None) -> Iterator[Interpreter]:
        """Those of `usable` that a Requires-Python allows; one that cannot be read allows all."""
        try:
            wanted = SpecifierSet(requirement or "")
        except InvalidSpecifier:
            wanted = SpecifierSet()
        return (each for each in self.usable() if wanted.contains(each.release, prereleases=True))


def find_interpreters(environ: Mapping[str, str], wanted: str = ALL) -> Pythons:
    """Our own interpreter and what is found on PATH and where pyenv and uv keep theirs, none of it started yet."""
    own = host.find_own_interpreter()
    chosen = None if wanted == ALL else {part.strip() for part in wanted.split(",")}
    others: dict[str, list[Path]] = {}
    for path in _binaries(environ) if wanted != OWN else ():
        version = path.name.removeprefix("python")
        if version != own.version and (chosen is None or version in chosen):
            others.setdefault(version, []).append(path)
    return Pythons(own, others)


@cache
def examine_interpreter(binary: Path) -> Interpreter | None:
    """What a binary says of itself; None unless it is a released CPython of the ordinary kind that can be started."""
    try:
        done = subprocess.run(  # noqa: S603
            [binary, "-I", "-S", "-c", _ASKED], env={}, cwd="/", capture_output=True, check=False, timeout=_PATIENCE
        )
        told = json.loads(done.stdout)
        stdlib, extensions = Path(told["stdlib"]), Path(told["platstdlib"]) / "lib-dynload"
        found = Interpreter(
            binary.resolve(), stdlib, extensions, str(told["library_dir"]), str(told["version"]), str(told["release"])
        )
    except (OSError, subprocess.TimeoutExpired, ValueError, TypeError, KeyError):
        return None
    return found if told.get("plain") is True and (stdlib / "os.py").is_file() else None


def _binaries(environ: Mapping[str, str]) -> Iterator[Path]:
    """Binaries by name, those on PATH first, then the newest release first."""
    home = Path(environ.get("HOME") or "/nonexistent")
    pyenv = Path(environ.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local/share")
    managed = Path(environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv/python")
    folders = [Path(part) for part in environ.get("PATH", "").split(":") if part.startswith("/")]
    for parent in (pyenv / "versions", managed):
        folders += [folder / "bin" for folder in sorted(_entries(parent), key=_natural, reverse=True)]
    for folder in folders:
        for path in sorted(_entries(folder)):
            match = _NAME.fullmatch(path.name)
            if match and int(match[2]) >= MIN_PYTHON_MINOR and _is_program(path):
                yield path


def _entries(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir()) if folder.is_absolute() else ()
    except OSError:
        return ()


def _is_program(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def _natural(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,6}", path.name)]


def _minor(version: str) -> int:
    return int(version.partition(".")[2])
