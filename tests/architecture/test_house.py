"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("crawler", "evidence", "publish", "scoring", "workers")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
NAMES_WITHOUT_MEANING = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
PACKAGE_REGISTRY_HOST = re.compile(r"registry\.npm[j]s|pyp[i]\.org|pythonhoste[d]|deb\.debia[n]|security\.debia[n]")


def _handlers(path: Path) -> list[ast.ExceptHandler]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ExceptHandler)]


def _swallows_anything(handler: ast.ExceptHandler) -> bool:
    """A broad handler that ends in a bare `raise` only cleans up."""
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(part is None or ast.unparse(part) in {"Exception", "BaseException"} for part in named)


def test_the_collector_boundary_is_the_only_broad_except() -> None:
    broad = [
        path.relative_to(ROOT).as_posix()
        for path in MODULES
        for handler in _handlers(path)
        if _swallows_anything(handler)
    ]
    assert broad == ["workers/stages/server_collection.py"]


def test_no_module_has_a_name_without_meaning() -> None:
    assert [path for path in MODULES if path.stem in NAMES_WITHOUT_MEANING] == []


def test_no_module_is_longer_than_400_lines() -> None:
    modules = [path for path in MODULES if "migrations" not in path.parts]
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in modules}
    assert len(lengths) > 100  # the folders were found
    assert {name: length for name, length in lengths.items() if length > 400} == {}, "split these modules"


def test_no_folder_holds_more_than_20_modules() -> None:
    """Families of rules, migrations and lockfile formats are lists of the same thing and may be longer."""
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES if path.name != "__init__.py")
    assert len(counts) > 50  # the folders were found
    lists = ("scoring/rules/", "evidence/store/migrations/", "evidence/lockfiles")
    assert {name: n for name, n in counts.items() if n > 20 and not name.startswith(lists)} == {}


def test_each_package_says_what_lives_in_it() -> None:
    packages = [path for path in MODULES if path.name == "__init__.py"]
    assert len(packages) > 50
    silent = [path for path in packages if len(ast.get_docstring(ast.parse(path.read_text())) or "") < 20]
    assert silent == []


def test_no_committed_file_names_a_package_registry_host() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    files = [ROOT / name for name in listed.split("\0") if name] or MODULES
    named = [
        path for path in files if path.is_file() and PACKAGE_REGISTRY_HOST.search(path.read_text(errors="replace"))
    ]
    assert named == []
