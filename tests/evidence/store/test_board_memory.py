"""Lists come from memory only while they are what is shown."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from evidence.store import BoardQuery, Store, board_reading
from evidence.store.board_places import Places
from evidence.store.board_rows import BoardPage
from tests.evidence.store.board_samples import RUN, make_many, show

LATER = "20261123T030000Z-1"
WINDOW = 3.0


@dataclass
class Clock:
    seconds: float = 100.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock(store: Store) -> Clock:
    """That of a store which holds lists of up to twenty servers in memory."""
    clock = Clock()
    store.board.hold(20, WINDOW, clock.monotonic)
    return clock


def is_held(page: BoardPage) -> bool:
    return isinstance(page.servers, Places)


def load(store: Store) -> bool:
    store.board.revision()
    return store.board.load()


def test_nothing_is_held_before_it_was_loaded(store: Store, clock: Clock) -> None:
    rows = make_many(9)
    show(store, rows)
    store.board.revision()
    assert not is_held(store.board.page(BoardQuery()))
    assert store.board.is_behind()
    assert store.board.load()
    assert not store.board.is_behind()
    assert is_held(store.board.page(BoardQuery()))
    assert store.board.find(rows[4].server.id) == rows[4]


def test_a_later_run_comes_from_the_database_until_it_is_loaded(store: Store, clock: Clock) -> None:
    show(store, make_many(9))
    load(store)
    show(store, make_many(12, seed=2, run=LATER), LATER)
    assert store.board.page(BoardQuery()).run == RUN  # nobody has seen it yet
    store.board.revision()
    page = store.board.page(BoardQuery())
    assert (page.run, is_held(page)) == (LATER, False)
    assert load(store)
    page = store.board.page(BoardQuery())
    assert (page.run, is_held(page), page.total) == (LATER, True, 12)


def test_what_nobody_looked_at_for_a_while_is_not_taken_for_what_is_shown(store: Store, clock: Clock) -> None:
    rows = make_many(9)
    show(store, rows)
    load(store)
    store.board.hide([rows[3].server.id])
    clock.seconds += WINDOW
    page = store.board.page(BoardQuery())
    assert (is_held(page), page.total) == (False, 8)
    assert store.board.find(rows[3].server.id) is None


def test_who_is_hidden_leaves_every_list_with_the_next_look(store: Store, clock: Clock) -> None:
    rows = make_many(9)
    show(store, rows)
    load(store)
    hidden = rows[3]
    store.board.hide([hidden.server.id])
    store.board.revision()
    for query in (BoardQuery(), BoardQuery(state=hidden.state), BoardQuery(text=hidden.server.ref)):
        page = store.board.page(query)
        assert is_held(page)
        assert hidden.server.id not in {one.server.id for one in page.servers}
    assert store.board.page(BoardQuery()).total == 8
    assert store.board.find(hidden.server.id) is None
    store.board.hide([])
    store.board.revision()
    assert store.board.find(hidden.server.id) == hidden


def test_more_servers_than_there_is_room_for_are_asked_of_the_database(store: Store, clock: Clock) -> None:
    show(store, make_many(21))
    assert not load(store)
    assert not store.board.is_behind()  # it is not tried again
    assert not is_held(store.board.page(BoardQuery()))


def test_an_edition_that_is_replaced_while_it_is_read_is_not_held(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(store, make_many(9))
    store.board.revision()
    read = board_reading.read_edition

    def replaced_meanwhile(*arguments: object) -> object:
        edition = read(*arguments)  # type: ignore[arg-type]
        monkeypatch.undo()
        show(store, make_many(12, seed=2, run=LATER), LATER)
        return edition

    monkeypatch.setattr("evidence.store.board_reading.read_edition", replaced_meanwhile)
    if store.board._database.is_sqlite:
        pytest.skip("a reader of SQLite sees one state of all tables")
    assert not load(store)
    store.board.revision()
    assert store.board.page(BoardQuery()).run == LATER


def test_a_board_without_servers_is_read_from_the_database(store: Store, clock: Clock) -> None:
    assert not load(store)
    assert store.board.page(BoardQuery()) == BoardPage()
    show(store, [])
    assert not load(store)
    assert store.board.page(BoardQuery(sort="name")).total == 0
