"""The host schedule of a run: every server has a turn, no host is crowded, and each run has another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil

import pytest

from evidence.model import Server, ServerId, Target, TargetType
from workers.stages.host_schedule import HostPace, HostSchedule, schedule_servers

NIGHT = datetime(2026, 11, 21, 3, tzinfo=UTC)
PACE = HostPace(gap=0.6, requests=8.0, window=timedelta(hours=6))
LARGEST = 1279  # servers of one host in the official registry


def _server(number: int, host: str) -> Server:
    url = f"https://{host}/servers/{number}/mcp"
    return Server(ref=url, name=url, targets=(Target(type=TargetType.STREAMABLE_HTTP, identifier=url),))


def _package(number: int) -> Server:
    name = f"weather-{number}"
    return Server(ref=f"npm:{name}", name=name, targets=(Target(type=TargetType.NPM, identifier=name),))


def _never(_: Sequence[ServerId]) -> Mapping[ServerId, datetime]:
    return {}


def _turn(layout: HostSchedule) -> set[ServerId]:
    return set(layout.offsets)


def test_the_largest_host_of_the_registry_fits_the_window() -> None:
    crowd = [_server(number, "big.example") for number in range(LARGEST)]
    assert schedule_servers("n", crowd, _never, PACE).carried == frozenset()


@pytest.mark.parametrize("window", [timedelta(minutes=10), timedelta(hours=1), timedelta(hours=2)])
def test_every_server_of_a_host_that_is_too_big_comes_round(window: timedelta) -> None:
    crowd = [_server(number, "big.example") for number in range(LARGEST)]
    pace = HostPace(gap=0.6, requests=8.0, window=window)
    share = pace.room("big.example")
    rounds = ceil(LARGEST / share)
    seen: dict[ServerId, datetime] = {}
    turns: list[set[ServerId]] = []

    def last(_: Sequence[ServerId]) -> Mapping[ServerId, datetime]:
        return seen

    for night in range(3 * rounds):
        layout = schedule_servers(str(night), crowd, last, pace)
        assert len(layout.offsets) == share
        turns.append(_turn(layout))
        seen.update(dict.fromkeys(layout.offsets, NIGHT + night * timedelta(days=1)))
    everybody = {server.id for server in crowd}
    for first in range(len(turns) - rounds + 1):
        assert set().union(*turns[first : first + rounds]) == everybody


def test_new_servers_have_their_turn_first_and_removed_servers_delay_none() -> None:
    pace = HostPace(gap=0.6, requests=8.0, window=timedelta(seconds=72))
    crowd = [_server(number, "big.example") for number in range(30)]
    seen = {server.id: NIGHT - timedelta(days=number) for number, server in enumerate(crowd)}
    new = [_server(number, "big.example") for number in range(30, 33)]
    staying = crowd[:25]
    layout = schedule_servers("n", [*staying, *new], lambda _: seen, pace)
    assert len(layout.offsets) == 10
    assert {server.id for server in new} <= _turn(layout)
    assert _turn(layout) - {server.id for server in new} == {server.id for server in staying[-7:]}


def test_only_hosts_that_are_too_big_are_asked_about() -> None:
    asked: list[int] = []

    def seen(servers: Sequence[ServerId]) -> Mapping[ServerId, datetime]:
        asked.append(len(servers))
        return {}

    pace = HostPace(gap=0.6, requests=8.0, window=timedelta(seconds=72))
    crowd = [_server(number, "big.example") for number in range(11)]
    others = [_server(number, f"{number}.example") for number in range(50)]
    schedule_servers("n", [*others, *crowd], seen, pace)
    assert asked == [11]


def test_servers_of_one_host_follow_each_other_as_its_gap_allows() -> None:
    crowd = [_server(number, "big.example") for number in range(20)]
    starts = sorted(schedule_servers("n", crowd, _never, PACE).offsets.values())
    assert starts[0] <= timedelta(0)
    step = timedelta(seconds=2 * 0.6)
    assert 18 * step < starts[-1] - starts[0] < 20 * step


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_nothing_is_spaced_where_no_gap_is_kept(host: str) -> None:
    crowd = [_server(number, host) for number in range(20)]
    assert max(schedule_servers("n", crowd, _never, PACE).offsets.values()) < timedelta(0)
    home = HostPace(gap=0.6, requests=8.0, window=timedelta(hours=6), no_gap=True)
    elsewhere = [_server(number, "mine.example") for number in range(20)]
    assert max(schedule_servers("n", elsewhere, _never, home).offsets.values()) < timedelta(0)


def test_packages_wait_for_no_host() -> None:
    packages = [_package(number) for number in range(5000)]
    layout = schedule_servers("n", packages, _never, PACE)
    assert layout.carried == frozenset()
    assert max(layout.offsets.values()) < timedelta(0)


def test_the_order_is_that_of_the_night_and_of_no_other() -> None:
    servers = [_server(number, f"{number}.example") for number in range(200)]
    one, again, other = (_order(schedule_servers(night, servers, _never, PACE)) for night in ("1", "1", "2"))
    assert one == again
    assert one != other
    assert _order(schedule_servers("1", servers[::-1], _never, PACE)) == one
    assert one != sorted(one)


def test_hosts_have_their_first_turn_at_any_time_of_the_spread() -> None:
    servers = [_server(number, f"{number}.example") for number in range(1000)]
    spread = HostPace(gap=0.6, requests=8.0, window=timedelta(hours=6), spread=timedelta(hours=1))
    starts = schedule_servers("n", servers, _never, spread).offsets.values()
    by_tenth = [sum(start // timedelta(minutes=6) == tenth for start in starts) for tenth in range(10)]
    assert sum(by_tenth) >= 999
    assert 60 < min(by_tenth) <= max(by_tenth) < 140


def test_an_address_that_is_none_is_a_server_like_any_other() -> None:
    hostile = Server(
        ref="x", name="x", targets=(Target(type=TargetType.STREAMABLE_HTTP, identifier="https://[broken/mcp"),)
    )
    assert _turn(schedule_servers("n", [hostile], _never, PACE)) == {hostile.id}


def _order(layout: HostSchedule) -> list[ServerId]:
    return sorted(layout.offsets, key=lambda server: layout.offsets[server])
