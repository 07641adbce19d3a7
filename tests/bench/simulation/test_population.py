"""The simulated world is like the counted one, and always the same."""

from __future__ import annotations

import json
import statistics
from collections import Counter

import pytest

from bench.simulation import content
from bench.simulation.answers import Simulated
from bench.simulation.names import respond
from bench.simulation.population import DOMAIN, NETWORK, Kind, Population, address_of, host_sizes, kinds

QUESTION = b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00%s\x00\x00%s\x00\x01"


def _question(name: str, kind: bytes = b"\x01") -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return QUESTION % (labels, kind)


def test_hosts_are_shared_as_in_the_registry() -> None:
    sizes = host_sizes(10_371, 1279)
    assert sum(sizes) == 10_371
    assert abs(len(sizes) - 7_444) < 20
    assert sizes[:3] == [1279, 216, 120]


@pytest.mark.parametrize("servers", [1, 7, 50, 1_000, 10_000])
def test_every_server_has_a_host_and_none_too_many(servers: int) -> None:
    sizes = host_sizes(servers, 20)
    assert sum(sizes) == servers
    assert min(sizes) > 0 and max(sizes) <= 20


def test_nuisances_come_after_the_others_and_change_none_of_them() -> None:
    plain = Population(500, largest=5)
    more = Population(500, largest=5, crowd=40, sluggish=3, loner=True)
    assert more.remotes[:500] == plain.remotes
    crowd, sluggish, [loner] = more.remotes[500:540], more.remotes[540:543], more.remotes[543:]
    assert {one.kind for one in sluggish} == {Kind.SLUGGISH}
    hosts = [len({one.host for one in some}) for some in (crowd, sluggish, (*crowd, *sluggish, loner))]
    assert hosts == [1, 3, 5]
    assert {one.host for one in plain.remotes}.isdisjoint(one.host for one in more.remotes[500:])
    assert [one.number for one in more.remotes] == list(range(544))


def test_the_mix_is_the_census() -> None:
    found = kinds(Population(10_000).remotes)
    assert found[Kind.OPEN] == pytest.approx(5_800, abs=150)
    assert found[Kind.GATED] == pytest.approx(2_700, abs=150)
    assert found[Kind.HTML] + found[Kind.MISSING] == pytest.approx(1_000, abs=100)


def test_a_seed_decides_everything() -> None:
    assert Population(200, seed=3).remotes == Population(200, seed=3).remotes
    assert Population(200, seed=3).remotes != Population(200, seed=4).remotes
    assert content.items(3, 5, "tools") == content.items(3, 5, "tools")


def test_latency_is_about_300_milliseconds() -> None:
    assert statistics.mean(remote.latency for remote in Population(5_000).remotes) == pytest.approx(0.3, abs=0.03)


def test_tool_lists_have_the_size_of_real_ones() -> None:
    lists = [content.items(1, number, "tools") for number in range(400)]
    assert statistics.mean(map(len, lists)) == pytest.approx(14, abs=2)
    assert 400 < statistics.mean(len(json.dumps(tool)) for tools in lists for tool in tools) < 2_000


def test_every_host_has_an_address_of_its_own() -> None:
    hosts = {remote.host_name for remote in Population(1_000).remotes if remote.kind is not Kind.UNNAMED}
    addresses = Counter(address_of(host) for host in hosts)
    assert None not in addresses and max(addresses.values()) == 1


def test_the_name_server_resolves_only_the_hosts_of_the_population() -> None:
    known = respond(_question(f"h0.{DOMAIN}"), address_of)
    assert known is not None and known[-4:] == NETWORK[1].packed
    sixth = respond(_question(f"h0.{DOMAIN}", b"\x1c"), address_of)
    assert sixth is not None and sixth[6:8] == b"\x00\x00" and not sixth[3] & 0xF
    for stranger in (f"gone1.{DOMAIN}", "h0.example.org"):
        answer = respond(_question(stranger), address_of)
        assert answer is not None and answer[3] & 0xF == 3


@pytest.mark.parametrize("broken", [b"", b"\x00" * 12, b"\x00\x07\x01\x00\x00\x01" + b"\x00" * 6 + b"\x3fshort"])
def test_what_is_no_question_gets_no_answer(broken: bytes) -> None:
    assert respond(broken, address_of) is None


def test_a_share_of_the_servers_changes_each_day() -> None:
    population = Population(2_000, changed=[0.0, 0.05])
    changes = [[population.count_changes(number, day) for number in range(2_000)] for day in range(4)]
    assert [sum(day) for day in changes[:2]] == [0, 0]
    assert sum(changes[2]) == pytest.approx(100, rel=0.3)
    assert sum(changes[3]) == pytest.approx(200, rel=0.3)
    assert all(before <= after for before, after in zip(changes[2], changes[3], strict=True))


def test_a_change_concerns_the_first_tool() -> None:
    before, after = Simulated(1, 3).items("tools"), Simulated(1, 3, changes=2).items("tools")
    assert after[0] == {**before[0], "description": f"{before[0]['description']} Revision 2."}
    assert after[1:] == before[1:]
