"""The work of SQLite for one server or a rare word does not grow with the number of servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event

from evidence.model import Absent, Reason
from evidence.store import ListedServer, ListingQuery, Retest, RetestState, Store, open_store
from tests.evidence.store.build import AS_OF, card, record
from tests.evidence.store.listing_samples import RUN, make_many, show

FEW, MANY = 100, 2_000


@contextmanager
def steps() -> Iterator[Callable[[], int]]:
    """The steps of SQLite's virtual machine in connections that are opened within the block."""
    seen = 0

    def step() -> int:
        nonlocal seen
        seen += 1
        return 0

    def watch(connection: Any, *_: Any) -> None:
        connection.set_progress_handler(step, 1)

    event.listen(Engine, "connect", watch)
    try:
        yield lambda: seen
    finally:
        event.remove(Engine, "connect", watch)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, list[ListedServer]]]:
    """The addresses of a store with few servers and of one with many, and their servers."""
    folder = tmp_path_factory.mktemp("costs")
    return [fill(f"sqlite:///{folder / str(count)}.db", count) for count in (FEW, MANY)]


def fill(url: str, count: int) -> tuple[str, list[ListedServer]]:
    store = open_store(url)
    store.migrate()
    rows = make_many(count)
    show(store, rows)
    absent = Absent(Reason.NO_REPOSITORY, "none")
    store.put_records(RUN, [record(row.server.id, absent, kind="repository") for row in rows], at=AS_OF)
    store.put_scorecards(RUN, [card(row.server.id) for row in rows], at=AS_OF)
    for at, row in enumerate(rows[1::10]):
        store.retests.request_retest(Retest(id=f"r{at}", server=row.server.id, client="c", asked_at=AS_OF))
        store.retests.finish_retest(f"r{at}", RetestState.DONE, AS_OF)
    store.close()
    return url, rows


def work(url: str, rows: list[ListedServer], ask: Callable[[Store, ListedServer], object]) -> int:
    """Steps for a question about one server, when the lists are known already."""
    with steps() as so_far:
        store = open_store(url)
        ask(store, rows[0])
        before = so_far()
        ask(store, rows[len(rows) // 2])
        done = so_far() - before
        store.close()
    return done


def find(store: Store, listed: ListedServer) -> None:
    assert store.listing.find_server(listed.server.id) is not None


def history(store: Store, listed: ListedServer) -> None:
    store.listing.read_history(listed.server.id)


def search(store: Store, listed: ListedServer) -> None:
    """By the number in its name, which no other begins with where it has three digits or more."""
    number = listed.server.ref.rpartition("-")[2]
    assert listed.server.id in {one.server.id for one in store.listing.read_page(ListingQuery(text=number)).servers}


def relevance(store: Store, listed: ListedServer) -> None:
    number = listed.server.ref.rpartition("-")[2]
    found = store.listing.read_page(ListingQuery(text=number, sort="relevance", rubric="lint"))
    assert listed.server.id in {one.server.id for one in found.servers}


def newest_scores(store: Store, listed: ListedServer) -> None:
    assert len(store.listing.read_newest_scores(listed.server.id, "lint", 1, 30)) == 1


def receipt(store: Store, listed: ListedServer) -> None:
    assert store.listing.find_newest_scorecard(RUN, listed.server.id, "lint", 12) is not None
    assert len(store.read_scorecards(RUN, servers=[listed.server.id])) == 1


def absence(store: Store, listed: ListedServer) -> None:
    assert store.find_absence(RUN, listed.server.id, "repository") is not None


@pytest.mark.parametrize("ask", [find, history, newest_scores, search, relevance, receipt, absence])
def test_a_question_about_one_server_costs_as_much_among_twenty_times_as_many(
    stores: list[tuple[str, list[ListedServer]]], ask: Callable[[Store, ListedServer], object]
) -> None:
    few, many = (work(url, rows, ask) for url, rows in stores)
    assert few > 0
    assert many < 2 * few + 500
