"""Runs an installer of Python packages and byte-compiles what a start of the package is likely to import.

A start imports about half of the files of an installation, and compiling a file costs more than copying it. What was
missed is compiled at each start. The box that installs runs the text of this module with a Python of any supported
version, and the arguments `PACKAGE INSTALLER...`.
"""

# Without pathlib and subprocess, whose import takes as long as finding the files.
# ruff: noqa: PTH109, PTH113, PTH118, PTH123, PTH208, S606

from __future__ import annotations

import contextlib
import os
import py_compile
import re
import sys

# anyio imports it by a computed name in every server on the official SDK.
COMPUTED = ("anyio._backends._asyncio",)

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)(\w[\w.]*|)[ \t]+import[ \t]+(\([^()]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
_LATER = re.compile(
    rb"^(?:def|async def|class|if TYPE_CHECKING|if typing\.TYPE_CHECKING)\b[^\n]*\n(?:[ \t][^\n]*\n|\n|\)[^\n]*\n)*",
    re.MULTILINE,
)
"""What an import does not run, or rarely: the bodies of functions and classes, and what only type checkers read."""

_MOST = 1 << 20  # bytes of a file that are searched for imports
_LONGEST = 250  # letters of the name of a module; each of its parents is looked for too
_NAME = re.compile(rb"[\w.]+")
_COMMENT = re.compile(rb"#[^\n]*")
_SCRIPT = re.compile(r"=\s*([\w.]+)\s*:")
_MODULE = re.compile(r"^([\w/]+?)(?:/__init__)?\.py,", re.MULTILINE)  # of a line of RECORD
_COMPUTES = re.compile(rb"\b(?:import_module|__import__)\(")


def find_imported_files(tree: str, package: str) -> list[str]:
    """The files below `tree` that the commands of a package import, and those that these import in turn.

    If one of the package's own modules imports by a computed name, as those do that load a folder of tools, all of its
    own modules count as imported.
    """
    found: dict[str, str] = {}
    own = set(_own_modules(tree, package))
    pending = [*_commands(tree, package), *COMPUTED]
    while pending:
        module = pending.pop()
        if not module or module in found or len(module) > _LONGEST:
            continue
        found[module] = file = _find_file(tree, module)
        parents = module.rpartition(".")[0]
        pending.append(parents)
        if file:
            with open(file, "rb") as opened:
                text = opened.read(_MOST)
            pending += _imports(text, module if file.endswith("__init__.py") else parents)
            if module in own and _COMPUTES.search(text):
                pending += own
    return sorted(filter(None, found.values()))


def _commands(tree: str, package: str) -> list[str]:
    """The modules that the commands of a package start, and the module of its name."""
    return [f"{_normal(package)}.__main__", *_SCRIPT.findall(_read_metadata(tree, package, "entry_points.txt"))]


def _own_modules(tree: str, package: str) -> list[str]:
    """The modules that a package itself installs, without those of what it depends on."""
    return [module.replace("/", ".") for module in _MODULE.findall(_read_metadata(tree, package, "RECORD"))]


def _read_metadata(tree: str, package: str, name: str) -> str:
    for folder in os.listdir(tree):
        if folder.endswith(".dist-info") and _normal(folder.split("-")[0]) == _normal(package):
            path = os.path.join(tree, folder, name)
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    return file.read()
    return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _find_file(tree: str, module: str) -> str:
    """The file of a module; empty for one that is not installed, and for a package without a file of its own."""
    base = os.path.join(tree, *module.split("."))
    return next((path for path in (f"{base}/__init__.py", f"{base}.py") if os.path.isfile(path)), "")


def _imports(text: bytes, package: str) -> list[str]:
    """The modules that an import of a text of a package may import."""
    found: list[str] = []
    for dots, source, members, plain in _IMPORT.findall(_LATER.sub(b"", text)):
        if plain:
            found += [name for part in plain.split(b",") if (name := _first(part))]
            continue
        parents = package.split(".")
        base = ".".join((*parents[: len(parents) + 1 - len(dots)], *filter(None, [source.decode()]))) if dots else ""
        module = base or source.decode("utf-8", "replace")
        names = (_first(part) for part in _COMMENT.sub(b"", members).strip(b"()").split(b","))
        found += [module, *(f"{module}.{name}" for name in names if name)]
    return found


def _first(part: bytes) -> str:
    match = _NAME.search(part)
    return match[0].decode("utf-8", "replace") if match else ""


def compile_imported_files(tree: str, package: str) -> None:
    """Compile in two processes, which a hostile file may end: what is left is compiled at each start."""
    workers = []
    for half in (0, 1):
        worker = os.fork()
        if worker == 0:
            try:
                _compile(find_imported_files(tree, package)[half::2])
            finally:
                os._exit(0)
        workers.append(worker)
    for worker in workers:
        os.waitpid(worker, 0)


def _compile(files: list[str]) -> None:
    for file in files:
        with contextlib.suppress(OSError):
            py_compile.compile(file, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def main(package: str, command: list[str]) -> int:
    """Run the installer in the folder of the tree, and compile if it succeeds."""
    code = os.spawnv(os.P_WAIT, command[0], command)
    if code == 0:
        compile_imported_files(os.getcwd(), package)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
