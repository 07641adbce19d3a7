"""The next visit: unchanged documents, failures of ours, and 100 servers of one package."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from crawler.collectors.package import PackageLimits
from crawler.http.address_guard import AddressGuard
from crawler.http.deadlines import limit_duration
from evidence.canonical import Json
from evidence.model import Absent, Reason, Record, Server
from tests.crawler.collectors.package.local_indexes import Bench, absent, body, dossier, npm, pypi
from tests.servers.indexes import Answer, PackageIndex, file, packument, project_json
from tests.servers.indexes.documents import attested


def test_an_unchanged_packument_keeps_the_content(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    first = bench.look(npm())
    bench.later(days=1)
    second = bench.look(npm(), earlier=first)
    assert [asked.etag != "" for asked in index.asked] == [False, True]
    assert second.content == first.content
    assert second.observation["archive"] == first.observation["archive"]
    assert second.observation["looked_at"] == "2026-11-23T12:00:00+00:00"
    third = bench.look(npm(), earlier=second)
    assert third.content == first.content
    assert len(index.asked) == 3


def test_a_changed_packument_is_asked_for_once(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one", "1.0.0")
    first = bench.look(npm())
    index.npm["one"] = packument("one", "1.0.0", "2.0.0")
    assert body(bench.look(npm(), earlier=first))["latest"] == "2.0.0"
    assert len(index.asked) == 2


def test_one_changed_document_of_a_project_is_enough_to_read_all(index: PackageIndex, bench: Bench) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.projects["two"] = project_json("two", "1.0")
    first = bench.look(pypi())
    index.asked.clear()
    assert bench.look(pypi(), earlier=first).content == first.content
    assert [bool(asked.etag) for asked in index.asked] == [True, True]
    index.projects["two"]["info"]["license_expression"] = "ISC"
    assert body(bench.look(pypi(), earlier=first))["licence"] == "ISC"


def test_an_index_without_etags_is_asked_plainly(index: PackageIndex, bench: Bench) -> None:
    index.etags = False
    index.npm["one"] = packument("one")
    first = bench.look(npm())
    assert bench.look(npm(), earlier=first).content == first.content
    assert [asked.etag for asked in index.asked] == ["", ""]


def test_an_answer_that_nothing_changed_is_not_believed_when_nothing_was_asked(
    index: PackageIndex, bench: Bench
) -> None:
    index.script("/npm/one", Answer(304))
    assert absent(bench.look(npm())).reason is Reason.UNREACHABLE


def test_an_index_that_is_no_longer_configured_is_not_asked(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    with PackageIndex() as former:
        former.npm["one"] = packument("one")
        bench.npm_at = f"{former.url}/npm/"
        first = bench.look(npm())
        former.asked.clear()
        bench.npm_at, bench.guard = "/npm/", AddressGuard(allow_private=True)
        assert bench.look(npm(), earlier=first).content == first.content
        assert former.asked == []
    assert [asked.etag for asked in index.asked] == [""]


@pytest.mark.parametrize("change", ["version", "collector"])
def test_an_earlier_record_about_something_else_is_not_asked_about(
    index: PackageIndex, bench: Bench, change: str
) -> None:
    index.npm["one"] = packument("one", "1.0.0", "2.0.0")
    first = bench.look(npm("one", "1.0.0"))
    index.asked.clear()
    match change:
        case "version":
            found = bench.look(npm("one", "2.0.0"), earlier=first)
            assert body(found)["version"] == "2.0.0"
        case "collector":
            bench.look(npm("one", "1.0.0"), earlier=replace(first, collector_version=0))
    assert [asked.etag for asked in index.asked] == [""]


@pytest.mark.parametrize("status", [429, 500, 503, 403])
def test_the_earlier_record_is_carried_over_when_the_index_fails(
    index: PackageIndex, bench: Bench, status: int
) -> None:
    index.npm["one"] = packument("one")
    first = bench.look(npm())
    index.script("/npm/one", Answer(status))
    bench.later(days=14)
    carried = bench.look(npm(), earlier=first)
    assert (carried.content, carried.observation) == (first.content, first.observation)
    assert carried.observed_at == bench.now


def test_an_old_record_is_not_carried_over(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    first = bench.look(npm())
    index.script("/npm/one", Answer(429))
    bench.later(days=14, seconds=1)
    assert absent(bench.look(npm(), earlier=first)) == Absent(Reason.RATE_LIMITED, "the npm index answered HTTP 429")


def test_carrying_over_does_not_make_a_record_younger(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    record = bench.look(npm())
    index.script("/npm/one", Answer(503))
    for _ in range(2):
        bench.later(days=7)
        record = bench.look(npm(), earlier=record)
        assert body(record)["exists"] is True
    bench.later(days=1)
    assert absent(bench.look(npm(), earlier=record)).reason is Reason.UNREACHABLE


def test_a_disappearance_is_no_failure_of_ours(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    first = bench.look(npm())
    index.npm.clear()
    assert body(bench.look(npm(), earlier=first))["exists"] is False


@pytest.mark.parametrize("probed_at", [None, "yesterday", 7, "2026-11-22T12:00:00", "2027-01-01T00:00:00+00:00"])
def test_a_record_that_does_not_say_when_it_was_taken_is_not_carried_over(
    index: PackageIndex, bench: Bench, probed_at: Json
) -> None:
    index.npm["one"] = packument("one")
    first = bench.look(npm())
    index.script("/npm/one", Answer(503))
    odd = replace(first, observation={**first.observation, "looked_at": probed_at})
    assert absent(bench.look(npm(), earlier=odd)).reason is Reason.UNREACHABLE


def test_a_document_that_is_only_helpful_may_fail(index: PackageIndex, bench: Bench) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.script("/pypi/two/json", Answer(500))
    found = bench.look(pypi())
    assert (body(found)["version"], body(found)["licence"]) == ("1.0", None)
    assert found.observation["incomplete"] == ["project"]


def test_what_was_incomplete_is_asked_for_again_although_the_rest_is_unchanged(
    index: PackageIndex, bench: Bench
) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.script("/pypi/two/json", Answer(500))
    first = bench.look(pypi())
    index.script("/pypi/two/json", Answer.of(project_json("two", "1.0")))
    second = bench.look(pypi(), earlier=first)
    assert (body(second)["licence"], second.observation["incomplete"]) == ("MIT", [])


def test_a_score_does_not_move_because_a_helpful_document_failed(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    index.npm["one"]["versions"]["1.0.0"] = attested("one", "1.0.0")
    incomplete = bench.look(npm())
    assert incomplete.observation["incomplete"] == []  # the index has none: that is an answer
    index.script("/npm/-/npm/v1/attestations/one@1.0.0", Answer(503))
    index.etags = False
    bench.later(days=1)
    carried = bench.look(npm(), earlier=incomplete)
    assert carried.observation == incomplete.observation
    bench.later(days=20)
    assert bench.look(npm(), earlier=incomplete).observation["incomplete"] == ["attestations"]


def test_an_incomplete_record_does_not_stand_in_for_another_incomplete_one(index: PackageIndex, bench: Bench) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.script("/pypi/two/json", Answer(500))
    first = bench.look(pypi())
    index.add_project("two", file("two-1.0.tar.gz"), file("two-2.0.tar.gz"))
    assert body(bench.look(pypi(), earlier=first))["latest"] == "2.0"


def test_a_hundred_servers_of_one_package_cost_one_request(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    servers = [Server(ref=f"test:{n}", name=f"{n}", targets=(npm(),)) for n in range(100)]

    async def all_of_them() -> list[Record]:
        collector = bench.collector()
        found = await asyncio.gather(*(collector.collect(server, dossier(server)) for server in servers))
        return [record for records in found for record in records]

    records = asyncio.run(all_of_them())
    assert index.paths == ["/npm/one"]
    assert {record.server for record in records} == {server.id for server in servers}
    assert len({record.digest for record in records}) == 1


def test_the_answer_serves_others_for_an_hour_and_a_failure_for_minutes(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    index.script("/npm/down", Answer(403))

    async def ask_again_after(seconds: float, name: str) -> int:
        collector, server = bench.collector(), Server(ref="test:1", name="1", targets=(npm(name),))
        await collector.collect(server, dossier(server))
        before = len(index.asked)
        bench.later(seconds=seconds)
        await collector.collect(server, dossier(server))
        return len(index.asked) - before

    asked = [
        asyncio.run(ask_again_after(s, name))
        for s, name in ((3599, "one"), (3600, "one"), (299, "down"), (300, "down"))
    ]
    assert asked == [0, 1, 0, 1]


def test_who_gives_up_waiting_does_not_stop_the_look_of_the_others(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")

    async def two_visitors() -> Record:
        collector = bench.collector()
        hasty, patient = (Server(ref=f"test:{n}", name=n, targets=(npm(),)) for n in "ab")
        first = asyncio.create_task(collector.collect(hasty, dossier(hasty)))
        second = asyncio.create_task(collector.collect(patient, dossier(patient)))
        await asyncio.sleep(0)
        first.cancel()
        (record,) = await second
        return record

    assert body(asyncio.run(two_visitors()))["exists"] is True


def test_waiting_for_an_index_does_not_count_as_time_of_the_server(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    server = Server(ref="test:1", name="1", targets=(npm(),))

    async def within_nothing() -> Record:
        async with limit_duration(0.001):
            (record,) = await bench.collector().collect(server, dossier(server))
        return record

    assert body(asyncio.run(within_nothing()))["exists"] is True


def test_few_looks_are_kept_in_memory(index: PackageIndex, bench: Bench) -> None:
    index.npm |= {name: packument(name) for name in ("a", "b", "c")}
    bench.limits = PackageLimits(most_kept=2)

    async def one_after_another() -> None:
        collector = bench.collector()
        for name in ("a", "b", "c", "c", "a"):
            server = Server(ref="test:1", name="1", targets=(npm(name),))
            await collector.collect(server, dossier(server))

    asyncio.run(one_after_another())
    assert index.paths == ["/npm/a", "/npm/b", "/npm/c", "/npm/a"]
