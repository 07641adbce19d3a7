"""The import contracts hold, and a violation makes each of them fail."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from itertools import pairwise
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


def _imports_by_contract(output: str) -> dict[str, set[str]]:
    """The imports `importer -> imported` that the report names under the heading of each broken contract."""
    _, _, report = output.partition("Broken contracts\n")
    found: dict[str, set[str]] = {}
    contract = ""
    for heading, underline in pairwise(report.splitlines()):
        if underline and set(underline) == {"-"}:
            contract = heading
        found.setdefault(contract, set()).update(re.findall(r"[\w.]+ -> [\w.]+(?= \(l\.)", heading))
    return found


@pytest.fixture
def copy_of_the_house(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def test_the_house_keeps_its_contracts(copy_of_the_house: Path) -> None:
    result = _lint(copy_of_the_house)
    assert result.returncode == 0, result.stdout + result.stderr


FORBIDDEN = (
    ("scoring/results/outcome.py", "crawler.collector", LAYERS),
    ("crawler/collector.py", "scoring.results.outcome", LAYERS),
    ("evidence/model.py", "scoring.results.outcome", LAYERS),
    ("publish/__init__.py", "workers", LAYERS),
    ("publish/__init__.py", "crawler.collector", "publish never reaches the crawler"),
    ("scoring/results/outcome.py", "socket", PURITY),
    ("evidence/canonical.py", "sqlite3", PURITY),
    ("evidence/kinds/listing.py", "httpx", PURITY),
    ("scoring/results/scorecard.py", "evidence.store", PURITY),
)
"""Modules, what each may not import, and the contract that the import breaks."""


def test_each_forbidden_import_is_named_by_its_contract(copy_of_the_house: Path) -> None:
    for module, imported, _ in FORBIDDEN:
        path = copy_of_the_house / module
        path.write_text(f"{path.read_text()}\nimport {imported}\n")
    result = _lint(copy_of_the_house)
    assert result.returncode != 0
    found = _imports_by_contract(result.stdout)
    for module, imported, contract in FORBIDDEN:
        importer = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        assert f"{importer} -> {imported}" in found[contract], (module, imported, result.stdout)


def test_an_indirect_import_breaks_purity(copy_of_the_house: Path) -> None:
    (copy_of_the_house / "evidence" / "detour.py").write_text('"""Detour."""\n\nimport subprocess\n')
    path = copy_of_the_house / "scoring" / "results" / "outcome.py"
    path.write_text(f"{path.read_text()}\nimport evidence.detour\n")
    assert PURITY in _broken_contracts(_lint(copy_of_the_house).stdout)
