"""Finds the packages that code imports, and whether it may import others that its text does not name."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import re2
from msgspec import Struct, field

from evidence.canonical import Json
from evidence.json_members import object_or_empty, text_or_empty
from evidence.lockfiles.lockfile import Ecosystem
from evidence.lockfiles.versions import normalize_package_name

MAX_NAMES: Final = 500
MAX_OWN: Final = 2_000
MAX_SCRIPT: Final = 2_000

_SCRIPTS: Final = (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")
_COMPONENTS: Final = (".vue", ".svelte", ".astro", ".coffee", ".min.js")
"""Files whose imports are not read."""

_FROM_SCRIPT: Final = re2.compile(
    r"""(?:\bfrom|\bimport|\brequire(?:\.resolve)?)\s*\(?\s*(?:["'`])([@\w][\w.~@/-]{0,213})["'`]"""
)
_COMPUTED_SCRIPT: Final = re2.compile(
    r"""\b(?:require|import)(?:\.resolve)?\s*\(\s*(?:[^\s"'`)]|`[^`]*\$\{)|\bcreateRequire\b|\bmodule\.require\b|\beval\s*\("""
)
_SPECIFIER: Final = re.compile(r"(?:@[\w.~-]+/)?[\w.~-]+")

_FROM_PYTHON: Final = re2.compile(
    r"(?m)(?:^|[;:])[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+((?:\\\r?\n|[^\n#;])+))"
)
_COMPUTED_PYTHON: Final = re2.compile(
    r"\bimport_module\s*\(|\b__import__\s*\(|\bentry_points\s*\(|\bexec\s*\(|\biter_modules\s*\(|\brunpy\b"
)
_MODULE: Final = re.compile(r"[A-Za-z_]\w*")

_DISTRIBUTIONS: Final = {
    "attr": "attrs", "bs4": "beautifulsoup4", "crypto": "pycryptodome", "cv2": "opencv-python",
    "dateutil": "python-dateutil", "docx": "python-docx", "dotenv": "python-dotenv", "fitz": "pymupdf",
    "git": "gitpython", "github": "pygithub", "jose": "python-jose", "jwt": "pyjwt", "magic": "python-magic",
    "multipart": "python-multipart", "openssl": "pyopenssl", "pil": "pillow", "pptx": "python-pptx",
    "serial": "pyserial", "sklearn": "scikit-learn", "yaml": "pyyaml",
}  # fmt: skip
"""Well-known packages whose module has another name."""


class ImportedNames(Struct):
    """What the code of one server imports. `unread` are the ecosystems of which it may import more."""

    npm: set[str] = field(default_factory=set)
    python: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)

    def read(self, path: str, text: str) -> None:
        """Record the imports of a file."""
        names = self.python if path.endswith(".py") else self.npm
        names.update(find_imports(path, text))
        if path.endswith(".py"):
            self.own.update(part.removesuffix(".py") for part in path.split("/"))
        if len(names) > MAX_NAMES or len(self.own) > MAX_OWN or may_import_more(path, text):
            self.leave_out(path)

    def read_scripts(self, manifest: Mapping[str, Json]) -> None:
        """Record what the scripts of a package.json name, since they may run a package that no code imports."""
        for script in object_or_empty(manifest.get("scripts")).values():
            self.npm.update(_SPECIFIER.findall(text_or_empty(script)[:MAX_SCRIPT]))

    def leave_out(self, path: str) -> None:
        """Record that a file was not read, or not completely."""
        if path.endswith(".py"):
            self.unread.add(Ecosystem.PYPI.value)
        elif path.endswith((*_SCRIPTS, *_COMPONENTS)):
            self.unread.add(Ecosystem.NPM.value)

    def to_json(self) -> dict[str, Json]:
        return {
            "npm": list[Json](sorted(self.npm)[:MAX_NAMES]),
            "python": list[Json](sorted(self.python)[:MAX_NAMES]),
            "own": list[Json](sorted(self.own)[:MAX_OWN]),
            "unread": list[Json](sorted(self.unread)),
        }


def find_imports(path: str, text: str) -> Iterator[str]:
    """The npm packages, or the top modules of Python, that a file imports."""
    if path.endswith(_SCRIPTS):
        for found in _FROM_SCRIPT.finditer(text):
            if name := _SPECIFIER.match(found[1]):
                yield name[0]
    elif path.endswith(".py"):
        for found in _FROM_PYTHON.finditer(text):
            names = [found[1]] if found[1] else found[2].split(",")
            yield from (module[0] for name in names if (module := _MODULE.match(name.strip(" \t\r\n\\"))))


def may_import_more(path: str, text: str) -> bool:
    """Whether a file may import a package that its text does not name."""
    if path.endswith(_SCRIPTS):
        return _COMPUTED_SCRIPT.search(text) is not None
    return path.endswith(".py") and _COMPUTED_PYTHON.search(text) is not None


def list_python_distributions(
    modules: Collection[str], own: Collection[str], installed: Collection[str]
) -> tuple[frozenset[str], bool]:
    """The distributions behind imported modules, and whether every module is explained by one.

    A module belongs to the standard library, to the project itself, or to the distribution of its name among
    `installed`. Any other module may come from any distribution.
    """
    found: set[str] = set()
    explained = True
    for module in modules:
        plain = normalize_package_name(Ecosystem.PYPI, module)
        names = {plain, _DISTRIBUTIONS.get(module.lower(), plain)} & set(installed)
        found |= names
        explained = explained and bool(names or module in own or module in sys.stdlib_module_names)
    return frozenset(found), explained
