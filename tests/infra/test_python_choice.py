"""Which Python `make` makes the virtual environment with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def choose(*pythons: str | Path) -> str:
    found = subprocess.run([ROOT / "infra" / "choose-python", *pythons], capture_output=True, text=True, check=True)
    return found.stdout.removesuffix("\n")


def python_that(fails_with: str, folder: Path) -> Path:
    """This Python, with a statement before every code that it is given."""
    path = folder / "python3"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{fails_with}\n$2"\n')
    path.chmod(0o755)
    return path


def test_the_first_that_can_make_an_environment_is_chosen(tmp_path: Path) -> None:
    assert choose(sys.executable, "python3") == sys.executable
    assert choose(python_that("pass", tmp_path), sys.executable) == str(tmp_path / "python3")
    assert choose(tmp_path / "absent", sys.executable, "python3") == sys.executable


def test_one_that_is_too_old_or_lacks_pip_is_passed_over(tmp_path: Path) -> None:
    old = python_that("import sys; sys.version_info = (3, 10, 9)", tmp_path)
    assert choose(old, sys.executable) == sys.executable
    without_pip = python_that("import sys; sys.modules['ensurepip'] = None", tmp_path)
    assert choose(without_pip, sys.executable) == sys.executable


def test_where_none_can_the_last_is_left_to_say_why(tmp_path: Path) -> None:
    assert choose(tmp_path / "absent", "python0") == "python0"
