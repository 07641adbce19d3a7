"""A core probe keeps what the last full one found, so that no score moves because of how deep we looked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.collectors.protocol.probes import carry_over
from crawler.collectors.protocol.probes.carry_over import is_full_probe_due, read_full_probe_time
from evidence.canonical import Json
from evidence.kinds.exchanges import Exchange
from evidence.model import Observed, Record
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probes.test_remote_probe import always
from tests.crawler.collectors.protocol.probing import NOW, body, collector, records_of, remote, talk
from tests.servers.hostile import OPENING, TOOLS, UNKNOWN, Call, Mcp, serving
from tests.servers.scripted import running

DAY = timedelta(days=1)
MODERN = "2026-07-28"

Records = Mapping[str, Record]


class Changing:
    """A server of both eras whose parts a test changes between two visits."""

    def __init__(self) -> None:
        self.opening: dict[str, Any] = {**OPENING, "protocolVersion": "2025-11-25"}
        self.tools: list[Any] = list(TOOLS)
        self.pages = 1
        self.inner = Mcp({"initialize": self.open, "server/discover": self.discover, "tools/list": self.list})

    async def __call__(self, call: Call) -> None:
        await self.inner(call)

    async def open(self, call: Call) -> None:
        await call.result(self.opening)

    async def discover(self, call: Call) -> None:
        if call.headers.get("mcp-protocol-version") == MODERN:
            await call.result({"supportedVersions": [MODERN], "capabilities": self.opening["capabilities"]})
        else:
            await call.error(-32020, "mismatch", status=400)

    async def list(self, call: Call) -> None:
        page = int(call.message["params"].get("cursor", "0"))
        more = {"nextCursor": str(page + 1)} if page + 1 < self.pages else {}
        await call.result({"tools": self.tools, **more})


def visits(server: Changing, *between: Any, depths: str = "fcc", days: int = 1) -> list[Records]:
    """The records of one visit after another, `days` apart; `between` two of them the server is changed."""

    async def run() -> list[Records]:
        found: list[Records] = []
        async with serving(server) as url:
            for number, depth in enumerate(depths):
                if number and number <= len(between):
                    between[number - 1](server)
                prober = collector(depth={"f": "full", "c": "core", "w": "weekly"}[depth], at=NOW + number * days * DAY)
                found.append(await records_of(prober, remote(url), earlier=found[-1] if found else None))
        return found

    return asyncio.run(run())


def asked(records: Records) -> int:
    return int(str(records["listing"].observation["requests"]))


def rows(records: Records) -> dict[tuple[str, str, int], Exchange]:
    found = talk(records)
    return {(one.connection.era, one.step, one.page): one for one in found.exchanges if one.connection.index < 2}


def test_an_unchanged_server_keeps_the_body_of_its_full_probe() -> None:
    full, first, second = visits(Changing())

    assert body(first) == body(second) == body(full)
    assert asked(first) < 15 < asked(full)
    assert second["exchanges"].observation["full_at"] == NOW.isoformat()
    assert second["exchanges"].observation["carried_from"] == NOW.isoformat()
    assert "carried_from" not in full["exchanges"].observation


@pytest.mark.parametrize("target", ["stdio", "/s/0/sse", "/s/0/mcp", "/s/1/mcp", "/s/2/mcp", "/s/3/mcp", "/s/29/mcp"])
def test_it_is_so_over_every_transport_and_in_both_eras(target: str) -> None:
    async def run(base: str) -> list[Records]:
        where = module("tests.servers.scripted_stdio", "--number", "1") if target == "stdio" else remote(base + target)
        full = await records_of(collector(depth="full", launcher=PipeLauncher()), where)
        return [full, await records_of(collector(launcher=PipeLauncher()), where, earlier=full)]

    with running(30, 5) as base:
        full, core = asyncio.run(run(base))

    assert body(core) == body(full)
    assert talk(core).depth == "full"


def test_what_is_unchanged_is_found_without_reading_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: bytes) -> None:
        raise AssertionError("both bodies were parsed")

    monkeypatch.setattr(carry_over._Conversation, "read", read)

    full, first, second = visits(Changing())

    assert body(first) == body(second) == body(full)


def test_a_changed_list_is_recorded_and_the_rest_is_kept() -> None:
    def change(server: Changing) -> None:
        server.tools = [{"name": "other"}]

    full, core, _ = visits(Changing(), change)

    assert talk(core).depth == "full"
    assert rows(core)["modern", "list-tools", 0].fields["tools"] == [{"name": "other"}]
    assert rows(core)["legacy", "ping", 0] == rows(full)["legacy", "ping", 0]


def test_lists_of_two_nights_are_never_compared() -> None:
    def shuffle(server: Changing) -> None:
        server.tools = server.tools[::-1]

    server = Changing()
    original = server.list

    async def list_tools(call: Call) -> None:
        server.tools = server.tools[::-1]
        await original(call)

    server.inner.overrides["tools/list"] = list_tools
    _, core, _ = visits(server, shuffle)

    again = rows(core)["modern", "list-tools-again", 0]
    assert again.failure == "not_collected" or again.result == rows(core)["modern", "list-tools", 0].result


def test_more_and_fewer_pages_are_recorded() -> None:
    def more(server: Changing) -> None:
        server.pages = 3

    def fewer(server: Changing) -> None:
        server.pages = 1

    server = Changing()
    server.pages = 2
    full, longer, shorter = visits(server, more, fewer)

    pages = [
        [one for one in talk(found).of("list-tools") if one.connection.era == "modern"] for found in (full, longer)
    ]
    assert [len(found) for found in pages] == [2, 3]
    assert [one.succeeded for one in pages[1]] == [True] * 3
    kept = [one for one in talk(shorter).of("list-tools") if one.connection.era == "modern"]
    assert [one.failure for one in kept] == ["", "not_collected", "not_collected"]


def _rename(server: Changing) -> None:
    server.opening = {**server.opening, "serverInfo": {"name": "fixture", "version": "2.0.0"}}


def _declare(server: Changing) -> None:
    server.opening = {**server.opening, "capabilities": {"tools": {}, "prompts": {}}}


def _step_back(server: Changing) -> None:
    server.opening = {**server.opening, "protocolVersion": "2024-11-05"}


def _leave_modern(server: Changing) -> None:
    del server.inner.overrides["server/discover"]


@pytest.mark.parametrize("change", [_rename, _declare, _step_back, _leave_modern])
def test_another_server_under_the_same_address_starts_anew(change: Any) -> None:
    _, core, _ = visits(Changing(), change)

    assert talk(core).depth == "core"
    assert "full_at" not in core["exchanges"].observation


async def _out_of_order(call: Call) -> None:
    await call.reply(503)


def test_an_era_that_is_out_of_order_for_a_night_is_kept() -> None:
    def break_down(server: Changing) -> None:
        server.inner.overrides["initialize"] = _out_of_order

    def repair(server: Changing) -> None:
        server.inner.overrides["initialize"] = server.open

    full, core, again = visits(Changing(), break_down, repair)

    assert body(core) == body(again) == body(full)
    assert talk(core).eras == {"modern", "legacy"}


def test_a_full_probe_that_is_cut_short_keeps_what_the_last_one_found_and_is_due_again() -> None:
    def limit(server: Changing) -> None:
        server.inner.overrides["prompts/list"] = always(429)

    def relent(server: Changing) -> None:
        del server.inner.overrides["prompts/list"]

    full, short, again = visits(Changing(), limit, relent, depths="fff")

    assert asked(short) < asked(full)
    assert body(full) == body(short) == body(again)
    assert read_full_probe_time(short["exchanges"]) == read_full_probe_time(full["exchanges"])
    assert read_full_probe_time(again["exchanges"]) == NOW + 2 * DAY


def test_a_full_probe_that_is_cut_short_and_contradicts_the_last_one_stands_for_itself() -> None:
    async def known(call: Call) -> None:
        await call.error(-32000, "another answer")

    def change(server: Changing) -> None:
        server.inner.overrides |= {"prompts/list": always(429), UNKNOWN: known}

    full, short = visits(Changing(), change, depths="ff")

    assert body(short) != body(full)
    assert read_full_probe_time(short["exchanges"]) == NOW + DAY


def test_rows_of_one_era_are_never_read_with_the_lists_of_the_other() -> None:
    def break_down(server: Changing) -> None:
        server.inner.overrides["server/discover"] = _out_of_order

    _, core, _ = visits(Changing(), break_down)

    assert (talk(core).depth, set(talk(core).eras)) == ("core", {"legacy"})


@pytest.mark.parametrize(("days", "depth"), [(14, "full"), (15, "core")])
def test_nothing_is_kept_for_longer_than_14_days(days: int, depth: str) -> None:
    _, core = visits(Changing(), depths="fc", days=days)

    assert talk(core).depth == depth


def test_the_date_of_the_full_probe_does_not_move_with_what_is_kept() -> None:
    found = visits(Changing(), depths="fcccc", days=4)

    assert [talk(one).depth for one in found] == ["full", "full", "full", "full", "core"]


def test_a_weekly_probe_is_full_once_a_week() -> None:
    found = visits(Changing(), depths="wwwwwwwww")

    assert [asked(one) > 15 for one in found] == [True, *[False] * 6, True, False]
    assert len({body(one) for one in found}) == 1


def test_a_damaged_record_is_not_taken_over() -> None:
    async def run(change: dict[str, Any]) -> Records:
        async with serving(Changing()) as url:
            full = await records_of(collector(depth="full"), remote(url))
            record = full["exchanges"]
            spoilt = json.loads(body(full)) | change
            damaged = replace(record, content=Observed(json.dumps(spoilt).encode()))
            earlier = {**full, "exchanges": damaged}
            return await records_of(collector(), remote(url), earlier=earlier)

    damages: list[dict[str, Any]] = [{"exchanges": [1]}, {"exchanges": [{}]}, {"connections": 3}, {"depth": None}]
    for change in damages:
        assert talk(asyncio.run(run(change))).depth == "core"


def test_the_time_of_a_full_probe_may_be_missing_or_no_time() -> None:
    [full] = visits(Changing(), depths="f")
    record = full["exchanges"]
    unreadable: list[dict[str, Json]] = [{}, {"full_at": 7}, {"full_at": "yesterday"}]
    for observation in unreadable:
        assert read_full_probe_time(replace(record, observation=observation)) is None
    assert read_full_probe_time(record) == datetime.fromisoformat(NOW.isoformat())
    assert [is_full_probe_due(record, NOW + days * DAY) for days in (0, 6, 7)] == [False, False, True]
    assert is_full_probe_due(None, NOW)


def test_the_first_full_probes_of_many_servers_are_spread_over_the_week() -> None:
    due = [[is_full_probe_due(None, NOW + day * DAY, weekday) for day in range(7)] for weekday in range(7)]
    assert [days.count(True) for days in due] == [1] * 7
    assert sum(days[0] for days in due) == 1
    assert is_full_probe_due(None, NOW)


def test_full_probes_stay_spread_over_the_week_whenever_in_the_night_a_server_has_its_turn() -> None:
    [known] = visits(Changing(), depths="f")
    dice = Random(1)
    last: dict[int, datetime] = {}
    by_night = []
    for night in range(35):
        asked = 0
        for server in range(700):
            at = NOW + night * DAY + timedelta(minutes=dice.randrange(600))
            earlier = None
            if server in last:
                observation = {**known["exchanges"].observation, "full_at": last[server].isoformat()}
                earlier = replace(known["exchanges"], observation=observation)
            if is_full_probe_due(earlier, at, server % 7):
                last[server] = at
                asked += 1
        by_night.append(asked)
    assert by_night == [100] * 35


class Documented(Changing):
    """An open server that also publishes protected resource metadata."""

    async def __call__(self, call: Call) -> None:
        if call.method == "GET" and "oauth-protected-resource" in call.path:
            document = {"resource": f"http://{call.headers['host']}/mcp", "authorization_servers": []}
            await call.reply(200, json.dumps(document).encode(), ("Content-Type", "application/json"))
        else:
            await super().__call__(call)


def test_metadata_of_an_open_server_is_asked_for_in_full_probes_and_kept() -> None:
    full, core, again = visits(Documented(), depths="fcc")
    assert int(str(full["access"].observation["metadata_requests"])) > 0
    assert core["access"].observation["metadata_requests"] == again["access"].observation["metadata_requests"] == 0
    assert full["access"].content == core["access"].content == again["access"].content
    assert again["access"].observation["carried_from"] == core["access"].observation["carried_from"]


def test_metadata_is_not_kept_for_longer_than_two_weeks() -> None:
    late, never = visits(Documented(), depths="fc", days=15)[1], visits(Documented(), depths="c")[0]
    for records in (late, never):
        seen = records["access"].content
        assert isinstance(seen, Observed)
        assert b'"resource_metadata":[]' in seen.body


def test_metadata_is_not_kept_when_the_server_opens_differently() -> None:
    server = Documented()
    _, changed = visits(server, lambda one: one.opening.update(protocolVersion="2025-03-26"), depths="fc")
    seen = changed["access"].content
    assert isinstance(seen, Observed)
    assert b'"resource_metadata":[]' in seen.body
