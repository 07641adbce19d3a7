from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from evidence.model import Dossier, Reason
from evidence.store import open_store
from tests.publish import samples
from tests.publish.filled_stores import fill
from tests.servers import preloaded, scripted
from workers.cli import app

SCRIPT = Path(sys.executable).parent / "hallmark"


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, object]]:
        """Its output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


Hallmark = Callable[..., Outcome]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own; nothing of the developer's settings is seen."""
    for name in [name for name in os.environ if name.startswith("HALLMARK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HALLMARK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HALLMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HALLMARK_SOURCES", "[]")  # out of reach here
    monkeypatch.setenv("HALLMARK_CANARIES", "[]")  # out of reach too
    monkeypatch.setenv("HALLMARK_INTEROP", "off")  # a process of the SDK for each server
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def without_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    preloaded.use_for_conversations(monkeypatch)
    preloaded.use_for_exports(monkeypatch)


@pytest.fixture
def hallmark(home: Path) -> Hallmark:
    """Run a command in this process, which takes a tenth of what it takes to start one."""

    def run(*words: str, stdin: str | None = None, env: Mapping[str, str] | None = None) -> Outcome:
        result = CliRunner().invoke(app, words, input=stdin, env=env, prog_name="hallmark")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process(home: Path) -> Hallmark:
    """Run the real console script."""

    def run(*words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Outcome:
        done = preloaded.run(
            [str(SCRIPT), *words],
            env={**os.environ, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def stored_dossiers() -> Sequence[Dossier]:
    """Ordinary, absent and hostile servers."""
    return [
        *samples.dossiers(10),
        samples.hostile_dossier(),
        samples.absent_dossier(Reason.START_FAILED, f"exit 1 {samples.HOSTILE}"),
    ]


@pytest.fixture(scope="session")
def filled_database(
    stored_dossiers: Sequence[Dossier], tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Path:
    """A published run of them, to be copied."""
    path = Path(shutil.copy(sqlite_template, tmp_path_factory.mktemp("stored") / "hallmark.db"))
    store = open_store(f"sqlite:///{path}")
    fill(store, stored_dossiers)
    store.close()
    return path


@pytest.fixture
def stored(home: Path, filled_database: Path, stored_dossiers: Sequence[Dossier]) -> Sequence[str]:
    """A home with that run; the ids of its servers."""
    home.mkdir()
    shutil.copy(filled_database, home / "hallmark.db")
    return [dossier.server.id for dossier in stored_dossiers]


@pytest.fixture(scope="session")
def fleet() -> Iterator[str]:
    with scripted.running(20, seed=1) as base:
        yield base


@pytest.fixture
def registry(fleet: str, tmp_path: Path) -> Path:
    """A folder of server.json documents of the fleet, and one that is none."""
    folder = tmp_path / "servers"
    folder.mkdir()
    for number in range(20):
        document = {
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": f"com.example/server-{number}",
            "description": "A scripted server",
            "version": "1.0.0",
            "remotes": [{"type": "streamable-http", "url": f"{fleet}/s/{number}/mcp"}],
        }
        (folder / f"{number}.json").write_text(json.dumps(document))
    (folder / "broken.json").write_text('{"name": 3}')
    return folder
