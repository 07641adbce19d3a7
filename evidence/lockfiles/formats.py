"""The lockfiles that we read, by the names that tools give them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from evidence.lockfiles import (
    bun,
    cargo,
    composer,
    golang,
    gradle,
    maven,
    npm,
    nuget,
    pdm,
    pipfile,
    pnpm,
    poetry,
    requirements,
    rubygems,
    uv,
    yarn_berry,
    yarn_classic,
)
from evidence.lockfiles.lockfile import Ecosystem, Finding, Invalid, Lockfile, Unreadable, gather
from evidence.lockfiles.reading import check_size


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its id, the ecosystem, the names of its files, and its reader."""

    id: str
    ecosystem: Ecosystem
    names: tuple[str, ...]
    read: Callable[[bytes], Iterator[Finding]]


def _yarn(data: bytes) -> Iterator[Finding]:
    """Yarn 2 and newer begin with their metadata; Yarn 1 says its name."""
    is_berry = b"__metadata:" in data and b"# yarn lockfile v1" not in data[:4096]
    return yarn_berry.read(data) if is_berry else yarn_classic.read(data)


_REQUIREMENTS: Final = ("requirements*.txt", "*-requirements.txt", "*_requirements.txt", "*.requirements.txt")


FORMATS: Final = {
    form.id: form
    for form in (
        Format("package-lock", Ecosystem.NPM, ("package-lock.json", "npm-shrinkwrap.json"), npm.read),
        Format("yarn", Ecosystem.NPM, ("yarn.lock",), _yarn),
        Format("pnpm", Ecosystem.NPM, ("pnpm-lock.yaml",), pnpm.read),
        Format("bun", Ecosystem.NPM, ("bun.lock",), bun.read),
        Format("uv", Ecosystem.PYPI, ("uv.lock",), uv.read),
        Format("poetry", Ecosystem.PYPI, ("poetry.lock",), poetry.read),
        Format("pdm", Ecosystem.PYPI, ("pdm.lock",), pdm.read_pdm),
        Format("pipfile", Ecosystem.PYPI, ("Pipfile.lock",), pipfile.read),
        Format("pylock", Ecosystem.PYPI, ("pylock.toml", "pylock.*.toml"), pdm.read_pylock),
        Format("requirements", Ecosystem.PYPI, _REQUIREMENTS, requirements.read),
        Format("go.mod", Ecosystem.GO, ("go.mod",), golang.read_mod),
        Format("go.sum", Ecosystem.GO, ("go.sum",), golang.read_sum),
        Format("cargo", Ecosystem.CRATES, ("Cargo.lock",), cargo.read),
        Format("gemfile", Ecosystem.RUBYGEMS, ("Gemfile.lock", "gems.locked"), rubygems.read),
        Format("composer", Ecosystem.PACKAGIST, ("composer.lock",), composer.read),
        Format("nuget", Ecosystem.NUGET, ("packages.lock.json", "packages.*.lock.json"), nuget.read),
        Format("pom", Ecosystem.MAVEN, ("pom.xml",), maven.read),
        Format("gradle", Ecosystem.MAVEN, ("gradle.lockfile", "buildscript-gradle.lockfile"), gradle.read),
    )
}  # fmt: skip


def format_of(path: str) -> Format | None:
    """The format of a file by its name, None when it is no lockfile that we read; `requirements/*.txt` is one."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    if folder.rpartition("/")[2] == "requirements" and name.endswith(".txt"):
        return FORMATS["requirements"]
    return next((form for form in FORMATS.values() if any(fnmatchcase(name, pattern) for pattern in form.names)), None)


def parse(form: Format, data: bytes) -> Lockfile | Unreadable:
    """The dependencies of a file, or why none can be told. Every input gets one of the two, whatever it holds."""
    try:
        check_size(data)
        return gather(form.id, form.read(data))
    except Invalid as error:
        return Unreadable(form.id, error.fault)
