"""Which files of an installed Python package are byte-compiled."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from crawler.sandbox.install.byte_code import compile_imported_files, find_imported_files, main
from tests.durations import cpu_below

FILES = {
    "my_server-1.0.dist-info/entry_points.txt": "[console_scripts]\nmy-server = my_server.cli:main\n",
    "my_server/__init__.py": "",
    "my_server/cli.py": (
        "from typing import TYPE_CHECKING\n"
        "import base.parts as parts, other\n"
        "from . import tools\n"
        "from .deep.place import (\n    one,  # a module, not.this\n    two,\n)\n"
        "if TYPE_CHECKING:\n    import only_typed\n"
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n"
        "def main(\n    text,\n):\n    import later\n\nclass Any:\n    import never\n"
    ),
    "my_server/tools.py": "from ..my_server import unused_name\n",
    "my_server/deep/place/__init__.py": "",
    "my_server/deep/place/one.py": "from ...tools import x\nfrom .... import beyond\n",
    "my_server/unused.py": "",
    "base/__init__.py": "",
    "base/parts.py": "",
    "base/unused.py": "",
    "other.py": "\x00 from import (\nfrom",
    "fast.py": "",
    "later.py": "",
    "never.py": "",
    "only_typed.py": "",
}


def installed(tree: Path) -> Path:
    for name, text in FILES.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


def found(tree: Path, package: str) -> list[str]:
    return [str(Path(file).relative_to(tree)) for file in find_imported_files(str(tree), package)]


def compiled(tree: Path) -> set[str]:
    return {path.name.partition(".")[0] for path in tree.rglob("*.pyc")}


@pytest.mark.parametrize("package", ["my-server", "My.Server", "my_server"])
def test_the_files_are_those_that_the_commands_of_the_package_import(tmp_path: Path, package: str) -> None:
    assert found(installed(tmp_path), package) == [
        "base/__init__.py",
        "base/parts.py",
        "fast.py",
        "my_server/__init__.py",
        "my_server/cli.py",
        "my_server/deep/place/__init__.py",
        "my_server/deep/place/one.py",
        "my_server/tools.py",
        "other.py",
    ]


def test_a_package_without_commands_begins_with_the_module_of_its_name(tmp_path: Path) -> None:
    assert found(installed(tmp_path), "base") == ["base/__init__.py"]


COMPUTED_IMPORT = "def load():\n    for name in names():\n        importlib.import_module(f'my_server.{name}')\n"


def test_the_package_s_own_modules_are_found_if_one_of_them_imports_by_a_computed_name(tmp_path: Path) -> None:
    tree = installed(tmp_path)
    record = "my_server/__init__.py,sha256=x,0\nmy_server/unused.py,,\nmy_server/data.json,,\n../../bin/my-server,,\n"
    (tree / "my_server-1.0.dist-info/RECORD").write_text(record)
    (tree / "my_server/unused.py").write_text("import base.unused\n")
    (tree / "my_server/__init__.py").write_text(COMPUTED_IMPORT)
    assert {"my_server/unused.py", "base/unused.py"} <= set(found(tree, "my-server"))


def test_no_unused_module_is_found_if_a_dependency_imports_by_a_computed_name(tmp_path: Path) -> None:
    tree = installed(tmp_path)
    (tree / "my_server-1.0.dist-info/RECORD").write_text("my_server/__init__.py,,\nmy_server/unused.py,,\n")
    (tree / "base/__init__.py").write_text(COMPUTED_IMPORT)
    assert not {"my_server/unused.py", "base/unused.py"} & set(found(tree, "my-server"))


def test_no_import_leads_out_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "outside.py").touch()
    tree = installed(tmp_path / "tree")
    (tree / "other.py").write_text("import ..outside\nfrom ... import outside\nimport ....outside, /etc.passwd\n")
    assert all(not name.startswith("..") for name in found(tree, "my-server"))
    assert "other.py" in found(tree, "my-server")


def test_a_file_that_cannot_be_compiled_leaves_the_others(tmp_path: Path) -> None:
    tree = installed(tmp_path)
    (tree / "fast.py").write_text("x = " + "(" * 100_000)
    (tree / "base" / "__pycache__").touch()  # where a folder is needed
    compile_imported_files(str(tree), "my-server")
    assert compiled(tree) == {"__init__", "cli", "one", "tools"}


def test_nothing_is_compiled_after_a_failed_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(installed(tmp_path))
    assert main("my-server", [sys.executable, "-c", "raise SystemExit(7)"]) == 7
    assert compiled(tmp_path) == set()
    assert main("my-server", [sys.executable, "-c", ""]) == 0
    assert "cli" in compiled(tmp_path)


def test_a_tree_that_cannot_be_searched_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(installed(tmp_path))
    script = tmp_path / "my_server-1.0.dist-info/entry_points.txt"
    script.unlink()
    script.symlink_to("/proc/self/mem")  # a file that cannot be read, also by root
    assert main("my-server", [sys.executable, "-c", ""]) == 0
    assert compiled(tmp_path) == set()


def test_imports_without_an_end_are_searched_in_linear_time(tmp_path: Path) -> None:
    tree = installed(tmp_path)
    (tree / "my_server/cli.py").write_text("from other import (\n" * 50_000)
    began = time.process_time()
    assert "other.py" in found(tree, "my-server")
    assert time.process_time() - began < 5


@pytest.mark.parametrize("text", ["from " + "." * 200_000, "import " + "a." * 100_000, "from a import (" * 20_000])
def test_a_hostile_import_costs_little(tmp_path: Path, text: str) -> None:
    (installed(tmp_path) / "my_server/cli.py").write_text(f"{text}\n")
    with cpu_below(2):
        assert "my_server/cli.py" in found(tmp_path, "my_server")
