"""The import contracts hold, and a violation makes each of them fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("crawler", "evidence", "publish", "scoring", "workers")
LAYERS = "workers > publish > crawler | scoring > evidence"
PURITY = "scoring and the pure part of evidence reach no I/O"


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "COLUMNS": "200"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def _broken_contracts(output: str) -> list[str]:
    return [line.removesuffix(" BROKEN").strip() for line in output.splitlines() if line.endswith(" BROKEN")]


@pytest.fixture
def copy_of_the_house(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def test_the_house_keeps_its_contracts(copy_of_the_house: Path) -> None:
    result = _lint(copy_of_the_house)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("scoring/results/outcome.py", "import crawler.collector", LAYERS),
        ("crawler/collector.py", "import scoring.results.outcome", LAYERS),
        ("evidence/model.py", "import scoring.results.outcome", LAYERS),
        ("publish/__init__.py", "import workers", LAYERS),
        ("publish/__init__.py", "import crawler.collector", "publish never reaches the crawler"),
        ("scoring/results/outcome.py", "import socket", PURITY),
        ("evidence/canonical.py", "import sqlite3", PURITY),
        ("evidence/kinds/listing.py", "import httpx", PURITY),
        ("scoring/results/scorecard.py", "import evidence.store", PURITY),
    ],
)
def test_a_forbidden_import_breaks_its_contract(copy_of_the_house: Path, module: str, line: str, contract: str) -> None:
    path = copy_of_the_house / module
    path.write_text(f"{path.read_text()}\n{line}\n")
    result = _lint(copy_of_the_house)
    assert result.returncode != 0
    assert contract in _broken_contracts(result.stdout), result.stdout


def test_an_indirect_import_breaks_purity(copy_of_the_house: Path) -> None:
    (copy_of_the_house / "evidence" / "detour.py").write_text('"""Detour."""\n\nimport subprocess\n')
    path = copy_of_the_house / "scoring" / "results" / "outcome.py"
    path.write_text(f"{path.read_text()}\nimport evidence.detour\n")
    assert PURITY in _broken_contracts(_lint(copy_of_the_house).stdout)
