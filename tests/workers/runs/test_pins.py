"""The commit that a run is pinned to: given, of a checkout, or derived from the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.runs import pins

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation with one module for each of our packages and without a checkout."""
    for package in ("crawler", "evidence", "publish", "scoring", "workers"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f'"""{package}"""\n')
    monkeypatch.setattr(pins, "_ROOT", tmp_path)
    monkeypatch.setattr(pins, "_GIT", tmp_path / ".git")
    forget_code()
    yield tmp_path
    forget_code()


def forget_code() -> None:
    """Read the code again, as another process does."""
    pins._digest_source.cache_clear()
    pins._read_checked_out_commit.cache_clear()


def write_checkout(root: Path, head: str) -> None:
    (root / ".git" / "refs" / "heads").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text(head)


def test_a_given_commit_is_pinned(installed: Path) -> None:
    write_checkout(installed, COMMIT)
    assert pins.read_commit("mine") == "mine"


def test_the_commit_of_a_checkout_is_pinned(installed: Path) -> None:
    write_checkout(installed, "ref: refs/heads/main\n")
    (installed / ".git" / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    assert pins.read_commit() == COMMIT


def test_a_process_keeps_its_commit_when_the_checkout_moves_on(installed: Path) -> None:
    write_checkout(installed, COMMIT)
    assert pins.read_commit() == COMMIT
    (installed / ".git" / "HEAD").write_text("f" * 40)
    assert pins.read_commit() == COMMIT
    forget_code()
    assert pins.read_commit() == "f" * 40


def test_an_image_without_a_checkout_is_known_by_all_of_its_code(installed: Path) -> None:
    before = pins.read_commit()
    assert re.fullmatch("source-[0-9a-f]{16}", before)
    (installed / "crawler" / "__init__.py").write_text("changed = True\n")
    forget_code()
    assert pins.read_commit() != before


@pytest.mark.parametrize("changed", ["publish/site/page.html.j2", "scoring/table.json", "crawler/seccomp.bpf"])
def test_data_files_count_as_code_and_byte_code_does_not(installed: Path, changed: str) -> None:
    before = pins.read_commit()
    for name in ("scoring/__pycache__/rule.cpython-311.pyc", changed):
        (installed / name).parent.mkdir(parents=True, exist_ok=True)
        (installed / name).write_text("one")
        forget_code()
        assert (pins.read_commit() == before) == name.endswith(".pyc")


@pytest.mark.parametrize("package", ["evidence", "scoring", "publish"])
def test_an_uncommitted_change_of_what_makes_receipts_and_findings_is_pinned(installed: Path, package: str) -> None:
    write_checkout(installed, COMMIT)
    before = pins.read_current_pins([])
    (installed / package / "__init__.py").write_text("changed = True\n")
    forget_code()
    after = pins.read_current_pins([])
    assert [name for name in before if before[name] != after[name]] == ["source"]


def test_a_checkout_that_cannot_be_read_is_known_by_its_code(installed: Path) -> None:
    write_checkout(installed, "ref: refs/heads/missing\n")
    (installed / ".git" / "packed-refs").write_text(f"{COMMIT} refs/heads/main\n")
    assert pins.read_commit().startswith("source-")


def test_an_installation_without_sources_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "_ROOT", tmp_path)
    monkeypatch.setattr(pins, "_GIT", tmp_path / ".git")
    forget_code()
    assert pins.read_commit() == pins.UNKNOWN
    forget_code()
