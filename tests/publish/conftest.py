from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from evidence.model import Dossier, Run
from evidence.store import Store, open_store
from tests.publish import quick_apps, samples
from tests.publish.filled_stores import fill
from tests.servers import preloaded

quick_apps.install()


@pytest.fixture(autouse=True)
def without_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    preloaded.use_for_exports(monkeypatch)


@pytest.fixture
def make_store(tmp_path: Path, sqlite_template: Path) -> Iterator[Callable[..., Store]]:
    with made_stores(tmp_path, sqlite_template) as make:
        yield make


@contextmanager
def made_stores(folder: Path, template: Path) -> Iterator[Callable[..., Store]]:
    """Make filled stores in a folder, which are closed at the end."""
    opened: list[Store] = []

    def make(dossiers: Sequence[Dossier], run: Run = samples.RUN) -> Store:
        copied = shutil.copy(template, folder / f"{len(opened)}.db")
        store = open_store(f"sqlite:///{copied}")
        opened.append(store)
        fill(store, dossiers, run)
        return store

    yield make
    for store in opened:
        store.close()
