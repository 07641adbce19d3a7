from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from crawler.advisories.http_client import AdvisoriesUnavailable
from crawler.advisories.lookup import LookupResult, look_up_by_api
from crawler.advisories.osv_api import Version
from crawler.advisories.version_order import OsvOrder
from evidence.advisories.package_matching import Package
from evidence.model import Reason
from tests.crawler.advisories.local_osv import Waits, api
from tests.servers.osv.records import advisory, affects, fixed_in
from tests.servers.osv.serving import running
from tests.servers.osv.world import Answer, OsvWorld

BATCH = "/v1/querybatch"


def ask(base: str, versions: list[Version], waits: Waits | None = None) -> list[frozenset[str] | None]:
    async def run() -> list[frozenset[str] | None]:
        async with api(base, waits) as asked:
            return await asked.affecting(versions)

    return asyncio.run(run())


def look(base: str, *packages: Package) -> LookupResult:
    async def run() -> LookupResult:
        async with api(base) as asked:
            return await look_up_by_api(asked, packages, OsvOrder())

    return asyncio.run(run())


def loaf(number: int = 0, version: str = "1.0.0") -> Version:
    return ("npm", f"loaf-{number}", version)


def world_of(count: int = 1, flaws: int = 1, **members: Any) -> OsvWorld:
    world = OsvWorld(**members)
    for number in range(count):
        world.add(
            *(advisory(f"GHSA-{number}-{flaw}", fixed_in("npm", f"loaf-{number}", "2.0.0")) for flaw in range(flaws))
        )
    return world


def test_a_thousand_queries_go_in_one_batch() -> None:
    world = world_of(3)
    with running(world) as base:
        answers = ask(base, [loaf(number) for number in range(1_203)])
    assert [len(batch) for batch in world.batches] == [1000, 203]
    assert answers[:4] == [frozenset({"GHSA-0-0"}), frozenset({"GHSA-1-0"}), frozenset({"GHSA-2-0"}), frozenset()]


def test_only_queries_with_more_pages_are_asked_again() -> None:
    world = world_of(1, flaws=5, page=2)
    with running(world) as base:
        answers = ask(base, [loaf(0), loaf(1)])
    assert answers == [frozenset(f"GHSA-0-{flaw}" for flaw in range(5)), frozenset()]
    assert [[query.get("page_token") for query in batch] for batch in world.batches] == [[None, None], ["2"], ["4"]]


def test_a_page_may_hold_nothing_but_a_token() -> None:
    with running(world_of(bare=True)) as base:
        assert ask(base, [loaf()]) == [frozenset({"GHSA-0-0"})]


def test_one_refused_query_costs_no_other_its_answer() -> None:
    world = world_of(8)
    world.refused = {"loaf-5"}
    with running(world) as base:
        answers = ask(base, [loaf(number) for number in range(8)])
    assert answers[5] is None
    assert [answers[number] for number in (0, 4, 6, 7)] == [frozenset({f"GHSA-{n}-0"}) for n in (0, 4, 6, 7)]


def test_pages_without_an_end_are_not_answered() -> None:
    world = world_of()
    world.raw[BATCH] = json.dumps({"results": [{"next_page_token": "again"}]}).encode()
    with running(world) as base:
        assert ask(base, [loaf()]) == [None]
    assert len(world.requests) == 50


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b'{"results": []}', b'{"results": 7}', b"<html>"])
def test_an_answer_of_another_shape_is_no_answer(answer: bytes) -> None:
    with running(world_of(raw={BATCH: answer})) as base, pytest.raises(AdvisoriesUnavailable):
        ask(base, [loaf()])


def test_rubbish_inside_of_an_answer_is_left_out() -> None:
    raw = json.dumps({"results": [{"vulns": [7, {}, {"id": 7}, {"id": "GHSA-0-0"}], "next_page_token": 7}]}).encode()
    with running(world_of(raw={BATCH: raw})) as base:
        assert ask(base, [loaf()]) == [frozenset({"GHSA-0-0"})]


def test_a_busy_api_is_asked_again_as_it_says() -> None:
    world = world_of()
    world.faults[BATCH] = [Answer(429, b"", {"retry-after": "3"}), Answer(502, b"")]
    waits = Waits()
    with running(world) as base:
        assert ask(base, [loaf()], waits) == [frozenset({"GHSA-0-0"})]
    assert waits == [3.0, 2.0]


def test_an_api_that_stays_busy_is_an_absence_with_a_reason() -> None:
    world = world_of(faults={BATCH: [Answer(429, b"")] * 9})
    with running(world) as base, pytest.raises(AdvisoriesUnavailable) as raised:
        ask(base, [loaf()])
    assert raised.value.absent().reason is Reason.RATE_LIMITED
    assert raised.value.absent().detail == "OSV answered HTTP 429"


def npm(number: int, version: str | None = "1.0.0") -> Package:
    return Package(ecosystem="npm", name=f"loaf-{number}", version=version)


def test_both_ways_decide_alike_about_what_the_api_names() -> None:
    world = world_of(2)
    world.refused = {"loaf-3"}
    with running(world) as base:
        looked = look(base, npm(0), npm(1, "3.0.0"), npm(2, "latest"), npm(3))
    assert (looked.by, looked.checked, looked.ecosystems) == ("api", 2, ("npm",))
    assert [(found.id, found.fixed) for found in looked.groups] == [("GHSA-0-0", "2.0.0")]
    assert [(one.name, one.why) for one in looked.unknown] == [("loaf-2", "not_a_version"), ("loaf-3", "not_answered")]


def test_a_record_that_cannot_be_had_is_a_flaw_of_unknown_severity() -> None:
    world = world_of()
    world.raw["/v1/vulns/GHSA-0-0"] = b"{"
    with running(world) as base:
        (found,) = look(base, npm(0)).groups
    assert (found.ids, found.severity.value, found.fixed) == (("GHSA-0-0",), "unknown", "")


def test_a_withdrawn_record_is_no_flaw_even_if_it_is_named() -> None:
    world = world_of()
    world.raw[BATCH] = json.dumps({"results": [{"vulns": [{"id": "GHSA-w"}]}]}).encode()
    world.add(advisory("GHSA-w", affects("npm", "loaf-0", versions=["1.0.0"]), withdrawn="2026-01-01T00:00:00Z"))
    with running(world) as base:
        assert look(base, npm(0)).groups == ()
