"""The supported lockfile formats by file name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from evidence.lockfiles import cargo, composer, go_modules, gradle, maven, nuget, rubygems
from evidence.lockfiles.lockfile import Ecosystem, Finding, InvalidLockfile, Lockfile, Unreadable, build_lockfile
from evidence.lockfiles.node import bun, npm, pnpm, yarn_berry, yarn_classic
from evidence.lockfiles.parsing.bounded import check_size
from evidence.lockfiles.python import pdm, pipfile, poetry, requirements, uv


class Format(Struct, frozen=True):
    """One format: its id, the ecosystem, the names of its files, and its reader."""

    id: str
    ecosystem: Ecosystem
    names: tuple[str, ...]
    read: Callable[[bytes], Iterator[Finding]]


def _yarn(data: bytes) -> Iterator[Finding]:
    """Lockfiles of Yarn 2 and newer begin with metadata; those of Yarn 1 name it."""
    is_berry = b"__metadata:" in data and b"# yarn lockfile v1" not in data[:4096]
    return yarn_berry.read_yarn_berry_lock(data) if is_berry else yarn_classic.read_yarn_classic_lock(data)


_REQUIREMENTS: Final = ("requirements*.txt", "*-requirements.txt", "*_requirements.txt", "*.requirements.txt")


FORMATS: Final = {
    form.id: form
    for form in (
        Format("package-lock", Ecosystem.NPM, ("package-lock.json", "npm-shrinkwrap.json"), npm.read_npm_lock),
        Format("yarn", Ecosystem.NPM, ("yarn.lock",), _yarn),
        Format("pnpm", Ecosystem.NPM, ("pnpm-lock.yaml",), pnpm.read_pnpm_lock),
        Format("bun", Ecosystem.NPM, ("bun.lock",), bun.read_bun_lock),
        Format("uv", Ecosystem.PYPI, ("uv.lock",), uv.read_uv_lock),
        Format("poetry", Ecosystem.PYPI, ("poetry.lock",), poetry.read_poetry_lock),
        Format("pdm", Ecosystem.PYPI, ("pdm.lock",), pdm.read_pdm_lock),
        Format("pipfile", Ecosystem.PYPI, ("Pipfile.lock",), pipfile.read_pipfile_lock),
        Format("pylock", Ecosystem.PYPI, ("pylock.toml", "pylock.*.toml"), pdm.read_pylock),
        Format("requirements", Ecosystem.PYPI, _REQUIREMENTS, requirements.read_requirements),
        Format("go.mod", Ecosystem.GO, ("go.mod",), go_modules.read_go_mod),
        Format("go.sum", Ecosystem.GO, ("go.sum",), go_modules.read_go_sum),
        Format("cargo", Ecosystem.CRATES, ("Cargo.lock",), cargo.read_cargo_lock),
        Format("gemfile", Ecosystem.RUBYGEMS, ("Gemfile.lock", "gems.locked"), rubygems.read_gemfile_lock),
        Format("composer", Ecosystem.PACKAGIST, ("composer.lock",), composer.read_composer_lock),
        Format("nuget", Ecosystem.NUGET, ("packages.lock.json", "packages.*.lock.json"), nuget.read_nuget_lock),
        Format("pom", Ecosystem.MAVEN, ("pom.xml",), maven.read_pom),
        Format("gradle", Ecosystem.MAVEN, ("gradle.lockfile", "buildscript-gradle.lockfile"), gradle.read_gradle_lock),
    )
}  # fmt: skip


def find_format(path: str) -> Format | None:
    """The format of a file by its name, also for `requirements/*.txt`; None for other files."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    if folder.rpartition("/")[2] == "requirements" and name.endswith(".txt"):
        return FORMATS["requirements"]
    return next((form for form in FORMATS.values() if any(fnmatchcase(name, pattern) for pattern in form.names)), None)


def parse_lockfile(form: Format, data: bytes) -> Lockfile | Unreadable:
    """The dependencies of a file, or why there are none. Never raises for the content of the file."""
    try:
        check_size(data)
        return build_lockfile(form.id, form.read(data))
    except InvalidLockfile as error:
        return Unreadable(form.id, error.fault)
