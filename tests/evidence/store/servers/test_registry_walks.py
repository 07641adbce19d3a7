"""Walks over registries: pages, entries, the servers they name, and resuming."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from evidence.model import Status
from evidence.store import RegistryWalk, Store, StoreError, UnknownRun
from evidence.store.database import Database
from tests.evidence.store.build import AS_OF, LATER, ref, run, server

RUN = "20261121-1"


def test_walk_that_has_not_begun_is_at_its_beginning(store: Store) -> None:
    store.add_run(run())
    assert store.find_walk(RUN, "official") == RegistryWalk(registry="official")
    with pytest.raises(UnknownRun):
        store.find_walk("nope", "official")


def test_page_advances_the_walk(store: Store) -> None:
    store.add_run(run())
    one, two = server(1), server(2)
    store.put_registry_page(RUN, "official", [(one, ref(one, "official"))], cursor="c1", done=False, at=AS_OF)
    store.put_registry_page(
        RUN, "official", [(two, ref(two, "official", Status.INVALID))], cursor=None, done=True, at=LATER
    )
    assert store.find_walk(RUN, "official") == RegistryWalk(
        registry="official", cursor=None, pages=2, entries=2, invalid=1, done=True, at=LATER
    )
    assert store.find_walk(RUN, "starter") == RegistryWalk(registry="starter")


def test_what_a_whole_walk_did_not_see_is_retired_in_its_registry_only(store: Store) -> None:
    store.add_run(run())
    store.add_run(run("20261122-1"))
    one, two = server(1), server(2)
    both = [(one, ref(one, "official")), (two, ref(two, "official"))]
    store.put_registry_page(RUN, "official", both, cursor=None, done=True, at=AS_OF)
    store.put_registry_page(RUN, "starter", [(two, ref(two, "starter"))], cursor=None, done=True, at=AS_OF)
    store.put_registry_page("20261122-1", "official", both[:1], cursor=None, done=True, at=LATER)
    assert store.mark_unseen_deleted("20261122-1", "official") == 1
    assert store.mark_unseen_deleted("20261122-1", "official") == 0
    assert [found.status for found in store.find_refs([one.id])[one.id]] == [Status.ACTIVE]
    assert {found.registry: found.status for found in store.find_refs([two.id])[two.id]} == {
        "official": Status.DELETED,
        "starter": Status.ACTIVE,
    }


def test_page_that_is_stored_again_changes_nothing(store: Store) -> None:
    store.add_run(run())
    page = [(server(number), ref(server(number))) for number in range(3)]
    for cursor, done in (("c1", False), ("c1", False), (None, True), (None, True)):
        store.put_registry_page(RUN, "starter", page, cursor=cursor, done=done, at=AS_OF)
    assert store.find_walk(RUN, "starter") == RegistryWalk(
        registry="starter", cursor=None, pages=2, entries=6, done=True, at=AS_OF
    )
    assert len(store.list_active_servers()) == 3
    assert all(len(refs) == 1 for refs in store.find_refs([one.id for one, _ in page]).values())


def test_two_references_with_one_id_are_refused(store: Store, url: str) -> None:
    store.add_run(run())
    page = [(server(1), ref(server(1)))]
    store.put_registry_page(RUN, "starter", page, cursor="c1", done=False, at=AS_OF)
    database = Database(url)
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE server SET ref = 'npm:other'")
    database.close()
    with pytest.raises(StoreError, match="npm:other"):
        store.put_registry_page(RUN, "starter", page, cursor="c2", done=False, at=AS_OF)
    assert store.find_walk(RUN, "starter").cursor == "c1"


def test_empty_page_ends_a_walk(store: Store) -> None:
    store.add_run(run())
    store.put_registry_page(RUN, "starter", [], cursor=None, done=True, at=AS_OF)
    assert store.find_walk(RUN, "starter") == RegistryWalk(registry="starter", pages=1, done=True, at=AS_OF)


def test_failed_walk_keeps_its_place_and_the_next_page_clears_the_error(store: Store) -> None:
    store.add_run(run())
    store.put_registry_page(RUN, "starter", [(server(1), ref(server(1)))], cursor="c1", done=False, at=AS_OF)
    store.record_walk_failure(RUN, "starter", "HTTP 500", LATER)
    failed = RegistryWalk(registry="starter", cursor="c1", pages=1, entries=1, error="HTTP 500", at=LATER)
    assert store.find_walk(RUN, "starter") == failed
    store.put_registry_page(RUN, "starter", [], cursor=None, done=True, at=LATER)
    assert store.find_walk(RUN, "starter") == replace(failed, cursor=None, pages=2, done=True, error=None)


def test_newest_entry_of_a_registry_replaces_the_older_one(store: Store) -> None:
    store.add_run(run())
    one = server(1)
    renamed = replace(one, name="Renamed", targets=(), repository=None, seen_in=("starter",))
    newer = replace(ref(one), version="2.0", entry=b"{}", updated_at=None, repository=None, targets=())
    store.put_registry_page(RUN, "starter", [(one, ref(one))], cursor="c1", done=False, at=AS_OF)
    store.put_registry_page(RUN, "starter", [(renamed, newer)], cursor=None, done=True, at=LATER)
    assert store.find_server(one.id) == renamed
    assert store.find_refs([one.id]) == {one.id: [newer]}


def test_two_entries_of_one_page_may_name_the_same_server(store: Store) -> None:
    store.add_run(run())
    one = server(1)
    second = replace(ref(one), name="io.example/alias")
    store.put_registry_page(RUN, "starter", [(one, ref(one)), (one, second)], cursor=None, done=True, at=AS_OF)
    assert store.find_refs([one.id])[one.id] == [second, ref(one)]
    assert store.list_active_servers() == [one]


def test_entry_bytes_are_kept_verbatim(store: Store) -> None:
    store.add_run(run())
    page = [
        (server(number), ref(server(number), entry=entry)) for number, entry in enumerate((b"", b"\x00\xff <", b"{}"))
    ]
    store.put_registry_page(RUN, "starter", page, cursor=None, done=True, at=AS_OF)
    found = store.find_refs([one.id for one, _ in page])
    assert [found[one.id][0].entry for one, _ in page] == [b"", b"\x00\xff <", b"{}"]
    assert store.verify() == []


def test_watermark_never_moves_back(store: Store) -> None:
    assert store.find_watermark("official") is None
    store.set_watermark("official", LATER)
    store.set_watermark("official", AS_OF)
    assert store.find_watermark("official") == LATER
    assert store.find_watermark("docker") is None


def test_page_whose_write_fails_leaves_nothing(store: Store) -> None:
    store.add_run(run())
    good, bad = server(1), server(2)
    naive = replace(ref(bad), updated_at=AS_OF.replace(tzinfo=None))
    with pytest.raises(ValueError, match="time zone"):
        store.put_registry_page(RUN, "starter", [(good, ref(good)), (bad, naive)], cursor="c1", done=False, at=AS_OF)
    assert store.list_active_servers() == []
    assert store.find_walk(RUN, "starter") == RegistryWalk(registry="starter")
