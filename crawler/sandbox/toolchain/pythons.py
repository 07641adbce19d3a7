"""The Pythons available to packages: our own, and others that are installed on this machine (docs/decisions/0036)."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct, field
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from crawler.sandbox.toolchain import host
from crawler.sandbox.toolchain.host import Interpreter

ALL, OWN = "all", "own"
"""All Pythons that are found, or only our own; otherwise versions such as `3.12,3.13`."""

MIN_PYTHON_MINOR = 10
_NAME = re.compile(r"python(3\.(\d{1,3}))")
_ELF = b"\x7fELF"  # pyenv's shims are scripts, which choose a version by the current folder
_TIMEOUT = 20.0
_EXAMINE = """
import json, platform, sys, sysconfig
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
print(json.dumps({
    "plain": sys.implementation.name == "cpython" and sys.version_info.releaselevel == "final"
        and not sysconfig.get_config_var("Py_GIL_DISABLED"),
    "stdlib": sysconfig.get_path("stdlib", vars=base), "platstdlib": sysconfig.get_path("platstdlib", vars=base),
    "library_dir": sys.platlibdir, "version": "%d.%d" % sys.version_info[:2], "release": platform.python_version(),
}))
"""


class Pythons(Struct, frozen=True):
    """The interpreters of one sandbox. `others`: the candidate binaries of each version, best first."""

    own: Interpreter = field(default_factory=host.find_own_interpreter)
    others: Mapping[str, Sequence[Path]] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        """The other versions, oldest first, including unusable ones."""
        return sorted(self.others, key=_minor)

    @property
    def versions(self) -> Sequence[str]:
        """The usable versions, oldest first. Starts each interpreter once."""
        return sorted((each.version for each in self.usable()), key=_minor)

    def describe(self) -> str:
        """The usable releases on one line, in the order in which packages get them, and the unusable versions."""
        usable = [*self.usable()]
        unusable = [name for name in self.names if name not in {each.version for each in usable}]
        own, *others = (each.release for each in usable)
        broken = f"; not usable: {', '.join(unusable)}" if unusable else ""
        return f"{own} (Hallmark's), {', '.join(others) or 'no other'}{broken}"

    def get(self, version: str) -> Interpreter | None:
        """The interpreter of a version; None if there is no usable one."""
        if version == self.own.version:
            return self.own
        examined = (examine_interpreter(binary) for binary in self.others.get(version, ()))
        return next((found for found in examined if found is not None and found.version == version), None)

    def usable(self) -> Iterator[Interpreter]:
        """The usable interpreters: ours, then newer ones, then older ones, each from the nearest version on."""
        yield self.own
        ours = _minor(self.own.version)
        for name in sorted(self.others, key=lambda name: (_minor(name) < ours, abs(_minor(name) - ours))):
            if (found := self.get(name)) is not None:
                yield found

    def allowed(self, requirement: str | None, first: str = "") -> Iterator[Interpreter]:
        """The usable interpreters that a Requires-Python allows, beginning with the version `first` if it is there.

        An invalid requirement allows all.
        """
        try:
            wanted = SpecifierSet(requirement or "")
        except InvalidSpecifier:
            wanted = SpecifierSet()
        chosen = self.get(first) if first else None
        others = (each for each in self.usable() if each is not chosen)
        ordered = itertools.chain((chosen,) if chosen else (), others)
        return (each for each in ordered if wanted.contains(each.release, prereleases=True))


def find_interpreters(environ: Mapping[str, str], wanted: str = ALL) -> Pythons:
    """Our own interpreter and those on PATH, of pyenv and of uv, without starting any of them."""
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
    """Start a binary and read its facts; None unless it is a usable, released CPython with a GIL."""
    try:
        done = subprocess.run(  # noqa: S603
            [binary, "-I", "-S", "-c", _EXAMINE], env={}, cwd="/", capture_output=True, check=False, timeout=_TIMEOUT
        )
        facts = json.loads(done.stdout)
        stdlib, extensions = Path(facts["stdlib"]), Path(facts["platstdlib"]) / "lib-dynload"
        found = Interpreter(
            binary.resolve(),
            stdlib,
            extensions,
            str(facts["library_dir"]),
            str(facts["version"]),
            str(facts["release"]),
        )
    except (OSError, subprocess.TimeoutExpired, ValueError, TypeError, KeyError):
        return None
    return found if facts.get("plain") is True and (stdlib / "os.py").is_file() else None


def _binaries(environ: Mapping[str, str]) -> Iterator[Path]:
    """Interpreter binaries: those on PATH first, then those of pyenv and uv from the newest release on."""
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
