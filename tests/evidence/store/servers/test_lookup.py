"""Servers: read back whole, found by what people type."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from evidence.model import Server, Status, Target, TargetType
from evidence.store import Store
from evidence.store.servers.hosts import find_host
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


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://A.example:8443/mcp", "a.example"),
        ("https://[::1]/mcp", "::1"),
        ("https://[broken/mcp", ""),
        ("mcp", ""),
        (f"https://{'a' * 253}/mcp", "a" * 253),
        (f"https://{'a' * 254}/mcp", ""),
    ],
)
def test_the_host_of_a_server_is_that_of_its_first_remote(address: str, host: str) -> None:
    package = Target(type=TargetType.NPM, identifier="weather")
    first, second = (Target(type=TargetType.STREAMABLE_HTTP, identifier=one) for one in (address, "https://b.example"))
    assert find_host(Server(ref="a", name="a", targets=(package, first, second))) == host
    assert find_host(Server(ref="npm:weather", name="a", targets=(package,))) == ""


def test_servers_are_read_page_by_page_in_the_order_of_hosts(store: Store) -> None:
    hosts = ["b.example", "", "a.example", "b.example", "a.example", "", "hostile\x00\ud800.example"]
    servers = [
        replace(
            server(number),
            targets=(Target(type=TargetType.STREAMABLE_HTTP, identifier=f"https://{host}/mcp" if host else ""),),
        )
        for number, host in enumerate(hosts)
    ]
    put(store, *servers)
    put(store, replace(servers[0], ref="npm:gone", name="gone"), status=Status.DELETED)
    found, host, key = [], "", 0
    while page := store.list_servers_by_host(["starter"], host, key, limit=2):
        found += [one for _, one in page]
        (key, last) = page[-1]
        host = find_host(last)
    assert sorted(found, key=lambda one: one.id) == sorted(servers, key=lambda one: one.id)
    assert [find_host(one) for one in found] == sorted(find_host(one) for one in servers)
    alone = store.list_servers_by_host(["starter"], "a.example", 0, limit=9, alone=True)
    assert {one.id for _, one in alone} == {servers[2].id, servers[4].id}
    assert store.list_servers_by_host(["official"], "", 0, limit=9) == []


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
