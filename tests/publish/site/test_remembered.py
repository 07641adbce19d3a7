"""Lists in memory: the same pages, byte for byte, and nobody on them who has opted out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import pytest
from starlette.testclient import TestClient

from evidence.model import Dossier
from evidence.store import BoardQuery, Store, board_reading
from evidence.store.board_packing import Glance
from publish.site.remembered import Remembered
from publish.site.site import Site
from tests.evidence.store.board_samples import make_listed, make_many, make_server, show
from tests.publish.samples import HOSTILE
from tests.publish.site.conftest import SiteOf
from tests.publish.site.desks import PlainDesk
from tests.publish.site.fronts import encoded

ASKED = (
    "/servers",
    "/servers?sort=name&reverse=1",
    "/servers?by=lint%401",
    "/servers?state=measured&ecosystem=npm",
    "/servers?q=weather",
    "/servers?q=nobody",
    "/api/v1/servers?limit=200",
    "/api/v1/servers?text=mail&sort=seen",
    "/api/v1/servers?least=50&rubric=lint",
)


@pytest.fixture
def store(make_store: Callable[[Sequence[Dossier]], Store]) -> Store:
    store = make_store([])
    hostile = make_listed(make_server(f"https://{HOSTILE}.example/mcp", HOSTILE), random.Random(5))
    rows = [*make_many(130), hostile]
    show(store, sorted(rows, key=lambda one: one.server.id), front=encoded())
    return store


def load(store: Store) -> None:
    store.board.hold(1_000, 3_600, time.monotonic)
    store.board.revision()
    assert store.board.load()


def test_pages_are_the_same_with_lists_in_memory(
    store: Store, site_of: SiteOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_database = {path: site_of(store).get(path) for path in ASKED}
    load(store)
    monkeypatch.setattr(board_reading, "read_page", None)  # it would break
    site = site_of(store)
    for path, answer in from_database.items():
        again = site.get(path)
        assert (again.status_code, again.content) == (answer.status_code, answer.content)


def test_what_was_made_of_a_server_is_made_once(store: Store) -> None:
    load(store)
    made: list[str] = []

    def make(servers: Sequence[Glance], word: str) -> list[str]:
        made.extend(server.id for server in servers)
        return [f"{word} {server.id}" for server in servers]

    rows = Remembered(Site(store, PlainDesk()), 1_000, make)
    first, more = store.board.page(BoardQuery(), limit=20).servers, store.board.page(BoardQuery(), limit=30).servers
    assert rows.of(first, "seen") == [f"seen {one.server.id}" for one in first]
    assert rows.of(more, "seen") == [f"seen {one.server.id}" for one in more]
    assert made == [one.server.id for one in more]
    assert rows.of(first, "heard") == [f"heard {one.server.id}" for one in first]


def test_no_more_are_kept_than_there_is_room_for(store: Store) -> None:
    load(store)
    made: list[int] = []

    def make(servers: Sequence[Glance], _: None) -> list[str]:
        made.append(len(servers))
        return [server.id for server in servers]

    rows = Remembered(Site(store, PlainDesk()), 25, make)
    pages = [store.board.page(BoardQuery(), limit=limit).servers for limit in (20, 30, 5)]
    assert [[one.server.id for one in page] for page in pages] == [rows.of(page, None) for page in pages]
    assert made == [20, 10, 5]


@pytest.mark.parametrize("path", ["/servers", "/api/v1/servers"])
def test_who_opts_out_leaves_lists_that_were_shown_before(store: Store, site_of: SiteOf, path: str) -> None:
    load(store)
    desk = PlainDesk()
    site: TestClient = site_of(store, desk)
    server = store.board.page(BoardQuery()).servers[2].server.id
    assert server in site.get(path).text
    desk.hidden.add(server)
    desk.settings = "changed"
    desk.seconds += 60
    shown = site.get(path).text
    assert server not in shown
    assert store.board.page(BoardQuery()).servers[3].server.id in shown
    desk.hidden.clear()
    desk.settings, desk.seconds = "", desk.seconds + 60
    assert server in site.get(path).text
