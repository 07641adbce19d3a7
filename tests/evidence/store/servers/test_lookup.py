"""Servers: read back whole, found by what people type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidence.model import Server, Status
from evidence.store import Store
from tests.evidence.store.build import AS_OF, ref, run, server

RUN = "20261121-1"


def ascii_id(text: str) -> str:
    return ascii(text[:8])


def put(store: Store, *servers: Server, registry: str = "starter", status: Status = Status.ACTIVE) -> None:
    store.add_run(run())
    page = [(one, ref(one, registry, status)) for one in servers]
    store.put_registry_page(RUN, registry, page, cursor=None, done=False, at=AS_OF)


def test_server_is_read_back_as_it_was_stored(store: Store) -> None:
    put(store, server(1), server(2))
    assert store.find_server(server(1).id) == server(1)
    assert store.find_servers([server(2).id, server(1).id, "srv_none"]) == sorted(
        [server(1), server(2)], key=lambda one: one.id
    )
    assert store.find_server("srv_none") is None
    assert store.find_servers([]) == []


def test_more_servers_than_one_statement_takes(store: Store) -> None:
    servers = [server(number) for number in range(1203)]
    put(store, *servers)
    assert store.find_servers([one.id for one in servers]) == store.list_active_servers()
    assert sum(len(refs) for refs in store.find_refs([one.id for one in servers]).values()) == 1203


def test_server_is_active_while_one_registry_still_lists_it(store: Store) -> None:
    put(store, server(1), registry="official", status=Status.DELETED)
    assert store.list_active_servers() == []
    put(store, server(1), registry="starter")
    assert store.list_active_servers() == [server(1)]
    assert store.list_active_servers(["official"]) == []
    assert store.list_active_servers(["starter", "docker"]) == [server(1)]
    assert store.list_active_servers([]) == []


@pytest.mark.parametrize("status", [Status.INVALID, Status.DEPRECATED])
def test_invalid_and_deprecated_entries_keep_a_server_active(store: Store, status: Status) -> None:
    put(store, server(1), status=status)
    assert store.list_active_servers() == [server(1)]


def test_references_of_a_server_are_sorted_by_registry(store: Store) -> None:
    for registry in ("starter", "docker", "official"):
        put(store, server(1), registry=registry)
    found = store.find_refs([server(1).id, "srv_none"])
    assert [one.registry for one in found[server(1).id]] == ["docker", "official", "starter"]
    assert found["srv_none"] == []


@pytest.mark.parametrize("text", [server(1).id, "npm:weather-1", "io.example/weather-1"])
def test_exact_id_ref_or_name_finds_one_server(store: Store, text: str) -> None:
    put(store, server(1), server(11), server(12))
    assert store.search_servers(text) == [server(1)]


def test_part_of_a_name_or_reference_finds_all_that_have_it(store: Store) -> None:
    put(store, *(server(number) for number in range(20)))
    assert len(store.search_servers("Weather-1")) == 11
    assert len(store.search_servers("weather-1", limit=4)) == 4
    assert store.search_servers("nothing like it") == []


def test_wildcards_in_a_search_are_ordinary_characters(store: Store) -> None:
    put(store, server(1), replace(server(2), name="100% sure"))
    assert [one.name for one in store.search_servers("0%")] == ["100% sure"]
    assert store.search_servers("_eather") == []


@pytest.mark.parametrize("text", ["\x00", "\ud800", "\u241b", "名前", "x" * 100_000], ids=ascii_id)
def test_hostile_search_finds_nothing_and_does_not_crash(store: Store, text: str) -> None:
    put(store, server(1))
    assert store.search_servers(text) == []
