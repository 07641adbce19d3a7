from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
from starlette.testclient import TestClient

from evidence.store import Store, open_store
from publish.app import create_app
from publish.datasets.export import ExportOrder, export_snapshot
from tests.publish.leaks.crawling import BASE, VARIANTS, Crawl
from tests.publish.leaks.planting import NIGHT, WITHHELD, Planted, plant
from tests.stepping_clock import SteppingClock
from workers.settings.environment import read_settings
from workers.web.app import SiteServices


@dataclass
class House:
    """The site as it runs, over a store full of secrets; `said` is what it logged."""

    store: Store
    client: TestClient
    clock: SteppingClock
    backend: SiteServices
    planted: Planted
    said: list[str]

    def crawl(self, *skipped: str, variants: int = VARIANTS, sampled: tuple[str, ...] = ()) -> Crawl:
        return Crawl(self.client, skipped, variants, sampled)


@contextmanager
def built(folder: Path) -> Iterator[House]:
    settings = read_settings(home=folder, web_url=BASE, web_rate=0, datasets=str(folder / "datasets"))
    store = open_store(settings.store_url)
    store.migrate()
    planted = plant(store)
    export_snapshot(
        store, ExportOrder(run=NIGHT.id, hidden=frozenset({planted.gone.id})), folder / "datasets" / NIGHT.id
    )
    clock = SteppingClock(WITHHELD.as_of)
    said: list[str] = []
    with _listening(said):
        backend = SiteServices(settings, store, clock)
        app = create_app(store, backend)
        with TestClient(app, base_url=BASE, raise_server_exceptions=False, follow_redirects=False) as client:
            yield House(store, client, clock, backend, planted, said)
    store.close()


@contextmanager
def _listening(said: list[str]) -> Iterator[None]:
    """Keep whatever anything logs, at every level."""

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(self.format(record))

    root, kept = logging.getLogger(), Kept()
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    with structlog.testing.capture_logs() as events:
        try:
            yield
        finally:
            root.removeHandler(kept)
            root.setLevel(level)
            said.extend(map(repr, events))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for all tests that change nothing."""
    with built(tmp_path_factory.mktemp("house")) as house:
        yield house
