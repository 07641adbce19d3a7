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
from publish.datasets.export import Order, export
from publish.site.app import create_app
from tests.publish.leaks.crawling import BASE, Crawl
from tests.publish.leaks.planting import NIGHT, WITHHELD, Planted, plant
from workers.clock import SteppingClock
from workers.settings import Settings
from workers.web import Counter


@dataclass
class House:
    """The site as it runs, over a store full of secrets; `said` is what it logged."""

    store: Store
    client: TestClient
    clock: SteppingClock
    desk: Counter
    planted: Planted
    said: list[str]

    def crawl(self, *skipped: str) -> Crawl:
        return Crawl(self.client, skipped)


@contextmanager
def built(folder: Path) -> Iterator[House]:
    settings = Settings(home=folder, web_url=BASE, web_rate=0, datasets=str(folder / "datasets"))
    store = open_store(settings.store_url)
    store.migrate()
    planted = plant(store)
    export(store, Order(run=NIGHT.id, hidden=frozenset({planted.gone.id})), folder / "datasets" / NIGHT.id)
    clock = SteppingClock(WITHHELD.as_of)
    said: list[str] = []
    with _listening(said):
        desk = Counter(settings, store, clock)
        app = create_app(store, desk)
        with TestClient(app, base_url=BASE, raise_server_exceptions=False, follow_redirects=False) as client:
            yield House(store, client, clock, desk, planted, said)
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
