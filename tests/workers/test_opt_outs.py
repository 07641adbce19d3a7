"""Who has opted out is not contacted by any step, has no score, and comes back when it wants to."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.opt_outs import OptOutList
from evidence.model import Absent, Observed, Reason, Run, Server, Target, TargetType, Trigger
from evidence.store import OptOut, OptOutScope, Stage
from scoring import receipt
from scoring.results.outcome import NotMeasured
from tests.workers.world import (
    NIGHT,
    ScriptedCollector,
    ScriptedFollower,
    ScriptedRegistry,
    ScriptedSampler,
    World,
    context,
    ref,
)
from workers import embedded, pipeline
from workers.opt_outs import find_opted_out_servers, load_opt_outs
from workers.retests import retest_requests
from workers.retests.retest_requests import RetestRefusal, RetestRefused
from workers.runs.options import RunOptions
from workers.settings.environment import InvalidSetting
from workers.stages import availability_samples

ADDRESSES = (
    "https://server-1.example/mcp",
    "https://SERVER-1.example./mcp",
    "https://a.server-1.example:8443/mcp",
    "https://not-server-1.example/",
    "https://b\u00fccher.example/",
    "ht\ntps://server-1.example/mcp",
    " https://server-1.example/mcp",
    "https://server-1.example. ",
    "https://user@server-1.example/",
    "https://server-1.example.other.org/",
    "https://other.org/server-1.example",
    "https://{host}/mcp",
    "not a url",
    f"https://{'a' * 300}.server-1.example/",
)
LISTS = (
    [],
    ["server-1.example"],
    ["host: server-1.example"],
    ["b\u00fccher.example"],
    ["host: a.server-1.example"],
    ["server: io.example/server-2"],
    ["server: https://other.org/server-1.example", "other.org"],
)


@pytest.mark.parametrize("entries", LISTS, ids=str)
def test_the_database_rules_out_no_server_that_has_opted_out(tmp_path: Path, entries: list[str]) -> None:
    remotes = [(one,) for one in ADDRESSES] + [("https://first.example/", one) for one in ADDRESSES]
    refs = [
        replace(
            ref(number),
            targets=tuple(Target(type=TargetType.STREAMABLE_HTTP, identifier=address) for address in addresses),
        )
        for number, addresses in enumerate(remotes)
    ]
    servers = [
        Server(ref=f"remote:{number}", name=one.name, targets=one.targets, seen_in=("first",))
        for number, one in enumerate(refs)
    ]
    servers.append(Server(ref="npm:plain", name="io.example/plain", targets=(), seen_in=("first",)))
    listed = OptOutList.parse("\n".join(entries))

    async def main() -> None:
        async with context(tmp_path, World([])) as ctx:
            (tmp_path / "out.txt").write_text("\n".join(entries))
            settings = replace(ctx.settings, opt_outs=tmp_path / "out.txt")
            ctx.store.add_run(Run(id="2026-1", trigger=Trigger.LOCAL, as_of=NIGHT, pins={}))
            page = [(server, replace(ref(number), name=server.name)) for number, server in enumerate(servers)]
            ctx.store.put_registry_page("2026-1", "first", page, cursor=None, done=True, at=NIGHT)
            expected = {server.id for server in servers if listed.why(server)}
            assert find_opted_out_servers(settings, ctx.store) == expected
            assert bool(expected) == bool(entries)

    asyncio.run(main())


FIRST = RunOptions(registries=("first",), fresh=True)
OUT = OptOut(scope=OptOutScope.HOST, value="server-1.example", at=NIGHT, who="ann", note="by mail")


def world() -> World:
    followed = ScriptedFollower("source", lambda _: Observed(b"{}"))
    registry = ScriptedRegistry("first", [[ref(number) for number in range(3)]])
    return World([registry], [ScriptedCollector()], following=(followed,))


def test_an_opted_out_server_is_not_probed_and_every_record_says_why(tmp_path: Path) -> None:
    async def main() -> None:
        around = world()
        async with context(tmp_path, around) as ctx:
            ctx.store.opt_outs.add_opt_out(OUT)
            result = await embedded.run_embedded(ctx, FIRST)
            assert result.ok
            servers = {
                one.name[-1]: one for one in ctx.store.find_servers(ctx.store.list_planned_servers(result.run.id))
            }
            (collector,), (follower,) = around.looking, around.following
            assert isinstance(collector, ScriptedCollector)
            assert isinstance(follower, ScriptedFollower)
            assert sorted(collector.probed) == sorted([servers["0"].id, servers["2"].id])
            assert len(follower.earlier) == 2

            (dossier,) = ctx.store.read_dossiers(result.run.id, [servers["1"].id])
            assert {"registration", "listing", "source", "drift"} <= dossier.records.keys()
            reasons = {
                record.content.reason for record in dossier.records.values() if isinstance(record.content, Absent)
            }
            assert reasons == {Reason.OPTED_OUT}
            assert all(isinstance(record.content, Absent) for record in dossier.records.values())
            cards = ctx.store.read_scorecards(result.run.id, servers=[servers["1"].id])
            assert cards
            assert all(isinstance(receipt.decode_scorecard(card.body).score, NotMeasured) for card in cards)
            assert all(card.score is None and card.grade is None for card in cards)

    asyncio.run(main())


def test_a_server_is_probed_again_after_its_opt_out_is_revoked(tmp_path: Path) -> None:
    async def main() -> None:
        around = world()
        async with context(tmp_path, around) as ctx:
            ctx.store.opt_outs.add_opt_out(OUT)
            await embedded.run_embedded(ctx, FIRST)
            ctx.store.opt_outs.revoke_opt_out(OUT.scope, OUT.value, at=NIGHT, who="ann")
            result = await embedded.run_embedded(ctx, FIRST)
            assert ctx.store.read_absences(result.run.id, "listing") == {}

    asyncio.run(main())


def test_the_file_of_the_settings_counts_and_a_broken_one_stops_the_run(tmp_path: Path) -> None:
    async def main(text: str) -> None:
        (tmp_path / "opt-outs.txt").write_text(text)
        around = world()
        async with context(tmp_path, around, opt_outs=tmp_path / "opt-outs.txt") as ctx:
            await embedded.run_embedded(ctx, FIRST)
            (collector,) = around.looking
            assert isinstance(collector, ScriptedCollector)
            assert collector.probed == []

    asyncio.run(main("server-0.example\nhost: server-1.example\nserver: io.example/server-2  # by its name"))
    with pytest.raises(InvalidSetting, match="line 1"):
        asyncio.run(main("what is this?"))


def test_no_sample_is_taken_and_no_retest_accepted(tmp_path: Path) -> None:
    async def main() -> None:
        around = world()
        async with context(tmp_path, around, registries=("first",)) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, FIRST)
            await pipeline.discover(ctx, run)
            servers = {one.name[-1]: one for one in ctx.store.find_servers(ctx.store.list_planned_servers(run.id))}
            ctx.store.opt_outs.add_opt_out(OUT)
            await availability_samples.sample_due_servers(ctx)
            assert isinstance(around.sampling, ScriptedSampler)
            assert len(around.sampling.visited) == 2
            assert "https://server-1.example/mcp" not in around.sampling.visited
            who = retest_requests.identify_asker(ctx.settings, "ann")
            refused = retest_requests.request_retest(ctx.store, ctx.settings, NIGHT, servers["1"].id, who)
            assert isinstance(refused, RetestRefused)
            assert refused.why is RetestRefusal.OPTED_OUT
            assert load_opt_outs(ctx.settings, ctx.store).why(servers["0"]) is None

    asyncio.run(main())


def test_a_night_that_cannot_look_at_everybody_keeps_no_evidence_of_who_opted_out(tmp_path: Path) -> None:
    async def main() -> None:
        crowd = [replace(ref(number), targets=(_shared(number),)) for number in range(6)]
        around = World([ScriptedRegistry("first", [crowd])])
        # The host takes three visits in its window; the others would keep what a night saw before.
        night = {"host_gap": 1.0, "visit_requests": 1.0, "host_window": timedelta(seconds=3)}
        async with context(tmp_path, around, **night) as ctx:
            await embedded.run_embedded(ctx, FIRST)
            for one in ctx.store.list_active_servers():
                entry = OptOut(scope=OptOutScope.SERVER, value=one.id, at=NIGHT, who="ann", note="by mail")
                ctx.store.opt_outs.add_opt_out(entry)
            run = pipeline.start_run(ctx, Trigger.NIGHTLY, FIRST, run_id="20991121T030000Z-nightly")
            await pipeline.discover(ctx, run)
            assert ctx.store.read_progress(run.id).carried == 0
            assert len(ctx.store.list_pending_servers(run.id, Stage.COLLECT)) == 6

    asyncio.run(main())


def _shared(number: int) -> Target:
    return Target(type=TargetType.STREAMABLE_HTTP, identifier=f"https://crowd.example/{number}/mcp")
