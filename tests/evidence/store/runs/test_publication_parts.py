"""A part of a publication is written once, whatever is killed, repeated or late, and nothing of the run changes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from evidence.model import ServerId
from evidence.store import ListedServer, ListingQuery, RunAction, RunEvent, RunState, Stage, Store, open_store
from evidence.store.database import Database
from evidence.store.runs.publication_parts import PublicationPart
from evidence.store.tables.core import PUBLICATION_PART
from tests.evidence.store.build import AS_OF, body, card, record
from tests.evidence.store.listing_samples import RUN, know, make_many

TTL = timedelta(minutes=3)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = Database(url)
    yield opened
    opened.close()


@pytest.fixture
def rows(store: Store) -> list[ListedServer]:
    """The servers of a run that is planned."""
    made = make_many(10)
    know(store, [one.server for one in made], RUN, None)
    store.plan_run(RUN, [one.server.id for one in made], AS_OF)
    return made


def lease(store: Store, later: timedelta = timedelta(0)) -> PublicationPart | None:
    return store.publication.lease(RUN, ttl=TTL, now=AS_OF + later)


def held(store: Store) -> PublicationPart:
    part = lease(store)
    assert part is not None
    return part


def take_over(database: Database, store: Store) -> PublicationPart | None:
    """Lease a part whose lease has expired by the clock of PostgreSQL."""
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE publication_part SET leased_until = now()")
    return lease(store)


def listed(rows: list[ListedServer], part: PublicationPart) -> list[ListedServer]:
    return [one for one in rows if one.server.id in set(part.servers)]


def find_edition(store: Store) -> int:
    edition = store.publication.find_edition(RUN)
    assert edition is not None
    return edition


def publish(store: Store) -> None:
    edition = find_edition(store)
    store.publication.complete_listing(edition, b"{}")
    assert store.publish_run(RUN, b"{}", AS_OF, edition=edition)


def shown(store: Store, sort: str = "name") -> list[ServerId]:
    return [one.server.id for one in store.listing.read_page(ListingQuery(sort=sort), limit=200).servers]


def test_parts_divide_the_servers_in_the_order_of_their_ids(store: Store, rows: list[ListedServer]) -> None:
    store.publication.begin(RUN, 4, AS_OF)
    parts = [held(store) for _ in range(3)]
    assert [server for part in parts for server in part.servers] == sorted(one.server.id for one in rows)
    assert [(part.number, part.first, len(part.servers)) for part in parts] == [(0, 0, 4), (1, 4, 4), (2, 8, 2)]
    assert lease(store) is None


@pytest.mark.parametrize("size", [3, 100])
def test_parts_that_come_in_any_order_are_one_listing(store: Store, rows: list[ListedServer], size: int) -> None:
    store.publication.begin(RUN, size, AS_OF)
    parts = []
    while (part := lease(store)) is not None:
        parts.append(part)
    for part in reversed(parts):
        assert store.publication.finish(part, listed(rows, part), b"%d" % part.number)
    assert list(store.publication.read_counts(RUN)) == [b"%d" % part.number for part in parts]
    publish(store)
    page = store.listing.read_page(ListingQuery(), limit=200)
    assert (page.total, sorted(page.servers, key=lambda one: one.server.id)) == (10, rows)
    for state in ("measured", "partial", "not_testable"):
        expected = [one.server.id for one in rows if one.state == state]
        found = store.listing.read_page(ListingQuery(state=state), limit=200)
        assert (found.total, sorted(one.server.id for one in found.servers)) == (len(expected), expected)
    for access in ("open", "credentials"):
        found = store.listing.read_page(ListingQuery(access=access), limit=200)
        expected = [one.server.id for one in rows if one.facets.access == access]
        assert sorted(one.server.id for one in found.servers) == expected


def test_withheld_servers_leave_no_gap_that_a_reader_sees(store: Store, rows: list[ListedServer]) -> None:
    store.publication.begin(RUN, 4, AS_OF)
    while (part := lease(store)) is not None:
        assert store.publication.finish(part, listed(rows, part)[1:], b"{}")
    publish(store)
    assert len(shown(store)) == 7


def test_a_part_of_a_killed_worker_is_leased_again_and_its_late_write_is_refused(
    store: Store, rows: list[ListedServer], database: Database
) -> None:
    store.publication.begin(RUN, 100, AS_OF)
    first = held(store)
    assert lease(store) is None
    second = lease(store, TTL) if database.is_sqlite else take_over(database, store)
    assert second is not None
    assert (second.servers, second.token) == (first.servers, first.token + 1)
    assert not store.publication.finish(first, listed(rows, first)[:2], b"late")
    assert store.publication.finish(second, rows, b"{}")
    assert not store.publication.finish(second, rows[:1], b"again")
    assert list(store.publication.read_counts(RUN)) == [b"{}"]
    publish(store)
    assert sorted(shown(store)) == [one.server.id for one in rows]


def test_a_renewed_part_is_not_leased_again(store: Store, rows: list[ListedServer], database: Database) -> None:
    store.publication.begin(RUN, 100, AS_OF)
    first = held(store)
    assert store.publication.renew(first, ttl=3 * TTL, now=AS_OF)
    with database.reading() as connection:
        until = connection.scalar(select(PUBLICATION_PART.c.leased_until))
    if database.is_sqlite:
        assert until == AS_OF + 3 * TTL
        assert lease(store, TTL) is None
    else:
        assert until > datetime.now(UTC) + 2 * TTL
    second = lease(store, 3 * TTL) if database.is_sqlite else take_over(database, store)
    assert second is not None
    assert not store.publication.renew(first, ttl=TTL, now=AS_OF), "it was leased again"
    assert store.publication.finish(second, rows, b"{}")
    assert not store.publication.renew(second, ttl=TTL, now=AS_OF), "it is done"


def test_two_publishers_at_once_write_each_part_once(store: Store, rows: list[ListedServer], url: str) -> None:
    def work(_: int) -> int:
        mine, written = open_store(url), 0
        mine.publication.begin(RUN, 1, AS_OF)
        while (part := lease(mine)) is not None:
            written += mine.publication.finish(part, listed(rows, part), b"{}")
        mine.close()
        return written

    with ThreadPoolExecutor(3) as threads:
        assert sum(threads.map(work, range(3))) == 10
    assert store.publication.read_progress(RUN).is_done
    publish(store)
    assert sorted(shown(store)) == [one.server.id for one in rows]


def test_completing_twice_changes_nothing(store: Store, rows: list[ListedServer]) -> None:
    store.publication.begin(RUN, 100, AS_OF)
    assert store.publication.finish(held(store), rows, b"{}")
    for front in (b'{"of": 1}', b'{"of": 2}'):
        store.publication.complete_listing(find_edition(store), front)
    assert store.publish_run(RUN, b"{}", AS_OF)
    assert store.listing.read_dashboard() == (RUN, {"of": 1})
    assert store.publication.read_progress(RUN).parts == 0, "parts are dropped with the publication"


def test_what_is_collected_after_the_beginning_is_refused(store: Store, rows: list[ListedServer]) -> None:
    chosen = {"limit": 3, "ttl": TTL, "now": AS_OF}
    tokens = store.lease_servers(RUN, Stage.COLLECT, "worker", **chosen)  # type: ignore[arg-type]
    store.publication.begin(RUN, 100, AS_OF)
    assert store.lease_servers(RUN, Stage.COLLECT, "other", **chosen) == {}  # type: ignore[arg-type]
    late = min(tokens)
    lost = store.put_records(
        RUN, [record(late, body(1))], done=[late], at=AS_OF, stage=Stage.COLLECT, tokens={late: tokens[late]}
    )
    assert lost == {late}
    assert store.read_progress(RUN).done[Stage.COLLECT] == 0


def test_a_process_without_leases_writes_nothing_after_the_beginning(store: Store, rows: list[ListedServer]) -> None:
    first, second = rows[0].server.id, rows[1].server.id
    tokens = store.read_tokens(RUN, Stage.SCORE, [first, second])
    assert set(tokens) == {first, second}

    def write(server: ServerId) -> frozenset[ServerId]:
        named = {server: tokens[server]}
        return store.put_scorecards(RUN, [card(server)], done=[server], at=AS_OF, tokens=named)

    assert write(first) == frozenset()
    store.publication.begin(RUN, 100, AS_OF)
    assert write(second) == {second}
    assert store.read_progress(RUN).done[Stage.SCORE] == 1
    assert store.read_tokens(RUN, Stage.SCORE, [second]) == {}


@pytest.mark.parametrize("what", [RunAction.PAUSED, RunAction.CANCELLED])
def test_a_run_that_an_operator_stops_is_published_no_further(
    store: Store, rows: list[ListedServer], what: RunAction
) -> None:
    store.publication.begin(RUN, 4, AS_OF)
    part = held(store)
    store.apply_run_action(RUN, RunEvent(at=AS_OF, who="ana", what=what))
    assert not store.publication.finish(part, listed(rows, part), b"{}")
    assert (store.publication.read_progress(RUN).parts, lease(store)) == (0, None)
    if what is RunAction.PAUSED:
        store.apply_run_action(RUN, RunEvent(at=AS_OF, who="ana", what=RunAction.RESUMED))
        assert store.lease_servers(RUN, Stage.COLLECT, "worker", limit=3, ttl=TTL, now=AS_OF)
        store.publication.begin(RUN, 4, AS_OF)
        assert not store.publication.finish(part, listed(rows, part), b"{}"), "the publication is another one"


@pytest.mark.parametrize("again", [False, True])
def test_a_run_that_was_stopped_since_its_parts_were_joined_is_not_published_with_them(
    store: Store, rows: list[ListedServer], *, again: bool
) -> None:
    store.publication.begin(RUN, 100, AS_OF)
    part = held(store)
    assert store.publication.finish(part, rows, b"{}")
    for what in (RunAction.PAUSED, RunAction.RESUMED):
        store.apply_run_action(RUN, RunEvent(at=AS_OF, who="ana", what=what))
    if again:
        store.publication.begin(RUN, 100, AS_OF)
    store.publication.complete_listing(part.edition, b"{}")
    assert not store.publish_run(RUN, b"{}", AS_OF, edition=part.edition)
    row = store.find_run(RUN)
    assert row is not None
    assert row.state is RunState.PLANNED
    assert store.find_snapshot(RUN) is None
    store.publication.begin(RUN, 100, AS_OF)
    assert store.publication.finish(held(store), rows, b"{}")
    publish(store)
    assert sorted(shown(store)) == [one.server.id for one in rows]


def test_an_older_run_is_finished_without_its_listing_when_a_newer_one_came_first(
    store: Store, rows: list[ListedServer]
) -> None:
    store.publication.begin(RUN, 4, AS_OF)
    first = held(store)
    assert store.publication.finish(first, listed(rows, first), b"{}")
    newer = make_many(5, seed=2, run="20261130T030000Z-1")
    know(store, [one.server for one in newer], "20261130T030000Z-1", RunState.PUBLISHED)
    store.listing.write_listing("20261130T030000Z-1", newer, lambda: b"{}")
    while (part := lease(store)) is not None:
        assert store.publication.finish(part, listed(rows, part), b"{}")
    publish(store)
    assert sorted(shown(store)) == [one.server.id for one in newer]


def test_receipts_of_scored_servers_stay(store: Store, rows: list[ListedServer]) -> None:
    ids = [one.server.id for one in rows]
    store.put_scorecards(RUN, [card(server, "lint", 1) for server in ids], done=ids, at=AS_OF)
    store.publication.begin(RUN, 4, AS_OF)
    assert store.read_progress(RUN).done[Stage.SCORE] == 10
