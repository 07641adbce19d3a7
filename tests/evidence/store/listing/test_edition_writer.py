"""A publication replaces the listing index at once, even if a writer is interrupted, late, or concurrent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select, text

from evidence.model import Run, Trigger
from evidence.store import ListedServer, ListingQuery, RunState, Store, open_store
from evidence.store.database import Database
from evidence.store.tables.listing import LISTING_EDITION, LISTING_ORDER, LISTING_SERVER
from tests.evidence.store.build import AS_OF, card
from tests.evidence.store.listing_samples import RUN, know, make_many, show

LATER = "20261123T030000Z-1"
OLDER = "20261121T030000Z-1"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = Database(url)
    yield opened
    opened.close()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.store.listing.edition_writer.BATCH_SIZE", 4)


def shown(store: Store) -> list[ListedServer]:
    """All that is in the lists, through a page as anybody reads it."""
    return sorted(store.listing.read_page(ListingQuery(), limit=200).servers, key=lambda one: one.server.id)


def editions(database: Database) -> dict[str, set[int]]:
    """By table, the editions of which rows are stored."""
    with database.reading() as connection:
        tables = (LISTING_SERVER, LISTING_ORDER)
        found = {one.name: set(connection.scalars(select(one.c.edition).distinct())) for one in tables}
        edition = "rowid >> 32" if database.is_sqlite else "edition"
        found["listing_text"] = set(connection.scalars(text(f"SELECT DISTINCT {edition} FROM listing_text")))
        return found


def heads(database: Database) -> int:
    with database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(LISTING_EDITION)) or 0


def test_a_newer_run_replaces_the_older_one(store: Store) -> None:
    old, new = make_many(9), make_many(12, seed=2, run=LATER)
    show(store, old, front=b'{"of":"old"}')
    revision = store.listing.read_revision()
    show(store, new, LATER, b'{"of":"new"}')
    assert shown(store) == new
    assert store.listing.find_newest_run() == LATER
    assert store.listing.read_dashboard() == (LATER, {"of": "new"})
    assert store.listing.read_dashboard(RUN) == (RUN, {"of": "old"})
    assert store.listing.read_dashboard("nonsense") is None
    assert store.listing.read_revision() != revision


def test_an_older_run_that_comes_late_stays_behind(store: Store, database: Database) -> None:
    new = make_many(9)
    show(store, new)
    before = editions(database)
    show(store, make_many(5, seed=2, run=OLDER), OLDER, b'{"of":"old"}')
    assert shown(store) == new
    assert store.listing.read_dashboard(OLDER) == (OLDER, {"of": "old"})
    assert editions(database) == before


def test_an_edition_is_shown_from_the_moment_on_at_which_its_run_is_published(store: Store) -> None:
    old, new = make_many(9), make_many(12, seed=2, run=LATER)
    show(store, old)
    know(store, [one.server for one in new], LATER, RunState.PLANNED)
    store.listing.write_listing(LATER, new, lambda: b'{"of":"new"}')
    assert shown(store) == old
    assert store.listing.read_dashboard(LATER) is None
    revision = store.listing.read_revision()
    assert store.publish_run(LATER, b"{}", AS_OF)
    assert shown(store) == new
    assert store.listing.read_revision() != revision


def test_the_same_run_again_changes_nothing_and_leaves_nothing_behind(store: Store, database: Database) -> None:
    rows = make_many(9)
    for _ in range(4):
        show(store, rows)
    assert shown(store) == rows
    assert heads(database) == 2  # the shown edition, and the one before it, which a reader may still use
    assert {len(found) for found in editions(database).values()} == {2}


class Killed(BaseException):
    """Ends a process in the middle."""


@pytest.mark.usefixtures("small_batches")
def test_a_process_that_is_killed_in_the_middle_shows_nothing_and_is_tidied_up_after(
    store: Store, database: Database
) -> None:
    old, new = make_many(9), make_many(12, seed=2, run=LATER)
    show(store, old)

    def dying() -> Iterator[ListedServer]:
        yield from new[:10]
        raise Killed

    know(store, [one.server for one in new], LATER)
    with pytest.raises(Killed):
        store.listing.write_listing(LATER, dying(), lambda: b"{}")
    assert shown(store) == old
    assert store.listing.find_newest_run() == RUN
    store.listing.write_listing(LATER, new, lambda: b"{}")
    assert shown(store) == new
    assert {len(found) for found in editions(database).values()} == {2}


@pytest.mark.usefixtures("small_batches")
def test_two_who_publish_at_once_show_one_whole_edition(store: Store, url: str, database: Database) -> None:
    rows = make_many(30)
    know(store, [one.server for one in rows])
    other = open_store(url)
    first, second = store.listing.write_edition(RUN), other.listing.write_edition(RUN)
    for listed in rows[:20]:
        first.add(listed)
        second.add(listed)
    for listed in rows[20:]:
        second.add(listed)
    second.finish(b'{"of":"second"}')
    assert shown(store) == rows
    for listed in rows[20:]:
        first.add(listed)  # what is dropped under it is not written again
    first.finish(b'{"of":"first"}')
    assert shown(store) == rows
    assert store.listing.read_dashboard() == (RUN, {"of": "second"})
    assert [len(found) for found in editions(database).values()] == [1, 1, 1]
    other.close()


def test_many_who_finish_in_the_same_moment_wait_for_each_other(store: Store, database: Database) -> None:
    rows = make_many(9)
    know(store, [one.server for one in rows])
    postings = [store.listing.write_edition(RUN) for _ in range(6)]
    for posting in postings:
        for listed in rows:
            posting.add(listed)
    together = threading.Barrier(len(postings))

    def finish(at: int) -> None:
        together.wait()
        postings[at].finish(b"{}")

    with ThreadPoolExecutor(len(postings)) as threads:
        list(threads.map(finish, range(len(postings))))
    assert shown(store) == rows
    assert heads(database) <= 2


@pytest.mark.usefixtures("small_batches")
def test_an_older_run_does_not_stop_a_newer_one_that_is_being_written(store: Store) -> None:
    old, new = make_many(9), make_many(12, seed=2, run=LATER)
    know(store, [one.server for one in new], LATER, RunState.PLANNED)
    coming = store.listing.write_edition(LATER)
    for listed in new[:8]:
        coming.add(listed)
    show(store, old)
    for listed in new[8:]:
        coming.add(listed)
    coming.finish(b"{}")
    assert shown(store) == old
    store.publish_run(LATER, b"{}", AS_OF)
    assert shown(store) == new


def test_cursors_of_the_board_before_lead_on(store: Store) -> None:
    show(store, make_many(20))
    cursor = store.listing.read_page(ListingQuery(), limit=10).after
    new = make_many(20, run=LATER)
    show(store, new, LATER)
    assert store.listing.read_page(ListingQuery(), cursor, 10).run == LATER
    assert len(store.listing.read_page(ListingQuery(), cursor, 10).servers) == 10


def test_servers_for_search_engines_are_those_that_pass_the_gate(store: Store) -> None:
    rows = make_many(40)
    show(store, rows)
    gated = [(one.server.id, one.as_of) for one in rows if one.gate]
    assert store.listing.list_indexable() == gated
    prefix = gated[0][0][:5]
    assert store.listing.list_indexable(prefix) == [one for one in gated if one[0].startswith(prefix)]
    store.listing.set_hidden_servers([gated[0][0]])
    assert store.listing.list_indexable() == gated[1:]
    assert store.listing.list_indexable("%") == []


def test_history_is_what_published_runs_and_finished_retests_said(store: Store) -> None:
    rows = make_many(2)
    server = rows[0].server.id
    retest = "20261122T090000Z-retest"
    store.add_run(Run(id=retest, trigger=Trigger.RETEST, as_of=AS_OF, pins={"code": "2"}))
    ends = {
        OLDER: ("70", RunState.PUBLISHED),
        "20261121T090000Z-1": ("10", RunState.WITHHELD),
        RUN: ("80", RunState.PUBLISHED),
        retest: ("90", RunState.DONE),
        LATER: ("5", RunState.PLANNED),
    }
    for run, (score, state) in ends.items():
        know(store, [one.server for one in rows], run, None)
        store.plan_run(run, [server], AS_OF)
        cards = [card(server, "lint", 1, score), card(server, "adaptive", 1, None)]
        store.put_scorecards(run, cards, done=[server], at=AS_OF)
        store.set_run_state(run, state, AS_OF)
    assert store.listing.read_history(server) == ()  # nothing is listed yet
    store.listing.write_listing(RUN, rows, lambda: b"{}")
    points = store.listing.read_history(server, "lint")
    assert [(str(point.score), point.grade) for point in points] == [("70", "B"), ("80", "B"), ("90", "B")]
    assert [point.trigger for point in points] == [Trigger.NIGHTLY, Trigger.NIGHTLY, Trigger.RETEST]
    assert points[0].pins == points[1].pins != points[2].pins
    assert points[2].pinned == {"code": "2"}
    everything = store.listing.read_history(server)
    assert [point.rubric for point in everything] == ["adaptive", "lint"] * 3
    assert everything[0].score is None
    assert [run.run.id for run in store.listing.list_published_runs()] == [RUN, OLDER]
    store.listing.set_hidden_servers([server])
    assert store.listing.read_history(server) == ()


def test_a_server_that_a_run_withheld_has_no_history(store: Store) -> None:
    rows = make_many(3)
    server = rows[0].server.id
    for run, shown_rows in ((OLDER, rows[1:]), (RUN, rows)):
        know(store, [one.server for one in rows], run, None)
        store.plan_run(run, [one.server.id for one in rows], AS_OF)
        cards = [card(one.server.id, "lint", 1) for one in rows]
        store.put_scorecards(run, cards, done=[one.server.id for one in rows], at=AS_OF)
        store.set_run_state(run, RunState.PUBLISHED, AS_OF)
        store.listing.write_listing(run, shown_rows, lambda: b"{}")
    assert [point.run for point in store.listing.read_history(server)] == [RUN]
    assert [point.run for point in store.listing.read_history(rows[1].server.id)] == [OLDER, RUN]
    assert server not in store.listing.read_scores(OLDER, [one.server.id for one in rows], "lint")
