from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.store import Store, open_store
from publish.datasets.export import ExportOrder, export_snapshot
from tests.publish.datasets import nights


@pytest.fixture(scope="session")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with one published run; no test writes to it."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('night')}/night.db")
    store.migrate()
    yield nights.fill(store, nights.servers())
    store.close()


@pytest.fixture(scope="session")
def written(night: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of that run; no test changes it."""
    folder = tmp_path_factory.mktemp("written") / "snapshot"
    export_snapshot(night, ExportOrder(run=nights.RUN.id), folder)
    return folder


@pytest.fixture
def snapshot(written: Path, tmp_path: Path) -> Path:
    """A copy of the snapshot, to be changed."""
    return Path(shutil.copytree(written, tmp_path / "snapshot"))
