"""A backup that is restored holds every server, record and scorecard, and nothing is overwritten by a restore."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

from evidence.store import open_store
from publish.publication import run_export
from tests.publish import samples
from tests.publish.filled_stores import fill
from tests.servers.postgres import PostgresServer, _reachable_binaries

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def postgres(session_postgres: PostgresServer) -> PostgresServer:
    return session_postgres


@dataclass
class Done:
    """How the script ended."""

    code: int
    out: str
    err: str


Backup = Callable[..., Done]


@pytest.fixture
def backup(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Backup:
    spec = importlib.util.spec_from_file_location("backup", ROOT / "infra" / "backup.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def run(home: Path, *words: str | Path, url: str = "") -> Done:
        monkeypatch.setenv("PATH", f"{_reachable_binaries(home, None)}:{os.environ['PATH']}")
        monkeypatch.setenv("HALLMARK_HOME", str(home))
        monkeypatch.setenv("HALLMARK_DATABASE_URL", url or f"sqlite:///{home}/hallmark.db")
        code = script.main([str(word) for word in words])
        return Done(code, *capfd.readouterr())

    return run


def filled(url: str) -> bytes:
    store = open_store(url)
    try:
        store.migrate()
        fill(store, [*samples.dossiers(5), samples.hostile_dossier()])
    finally:
        store.close()
    return exported(url)


def exported(url: str) -> bytes:
    store = open_store(url)
    try:
        assert store.verify() == []
        out = BytesIO()
        run_export.export_run(store, samples.RUN.id, out, format="jsonl")
        return out.getvalue()
    finally:
        store.close()


def test_sqlite_comes_back_whole_and_is_never_overwritten(tmp_path: Path, backup: Backup) -> None:
    home, new, saved = tmp_path / "home", tmp_path / "new", tmp_path / "saved"
    home.mkdir()
    before = filled(f"sqlite:///{home}/hallmark.db")
    writer = open_store(f"sqlite:///{home}/hallmark.db")  # a run that goes on
    writer.list_runs()
    done = backup(home, "save", saved)
    writer.close()
    assert done.code == 0, done.err
    [file] = saved.iterdir()
    assert done.out.strip() == str(file)
    restored = backup(new, "restore", file)
    assert (restored.code, "every digest is right" in restored.out) == (0, True), restored.err
    assert exported(f"sqlite:///{new}/hallmark.db") == before
    again = backup(new, "restore", file)
    assert again.code == 1
    assert "move it away first" in again.err


def test_postgres_comes_back_whole(tmp_path: Path, postgres: PostgresServer, backup: Backup) -> None:
    one, other = postgres.create_database(), postgres.create_database()
    before = filled(one)
    done = backup(tmp_path, "save", tmp_path / "saved", url=one)
    assert done.code == 0, done.err
    [file] = (tmp_path / "saved").iterdir()
    restored = backup(tmp_path, "restore", file, url=other)
    assert restored.code == 0, restored.err
    assert exported(other) == before
    assert backup(tmp_path, "restore", file, url=other).code == 1
    assert exported(other) == before


def test_only_the_newest_are_kept_and_a_failure_leaves_nothing(tmp_path: Path, backup: Backup) -> None:
    home, saved = tmp_path / "home", tmp_path / "saved"
    home.mkdir()
    assert backup(home, "save", saved).code == 1
    assert list(saved.iterdir()) == []
    filled(f"sqlite:///{home}/hallmark.db")
    (saved / "hallmark-20200101T000000Z.db").write_text("")
    (saved / "other.db").write_text("")
    assert backup(home, "save", saved, "--keep", "1").code == 0
    assert len(list(saved.iterdir())) == 2
    assert not (saved / "hallmark-20200101T000000Z.db").exists()


def test_a_damaged_backup_is_not_called_restored(tmp_path: Path, backup: Backup) -> None:
    home, saved = tmp_path / "home", tmp_path / "saved"
    home.mkdir()
    filled(f"sqlite:///{home}/hallmark.db")
    backup(home, "save", saved)
    [file] = saved.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert backup(tmp_path / "new", "restore", file).code == 1
